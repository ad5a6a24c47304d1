// The command lines that people sit at: ours, ssh and mosh, each over the link of ip-link.ts.

import { join } from "node:path";
import { ROOT } from "../../../local/src/base/paths.ts";
import { buildCli } from "../../../local/src/build/builds.ts";
import { bringToLink, FAR } from "../subjects/ip-link.ts";
import { LINK_PORTS, startSubject } from "../subjects/subjects.ts";
import { startMoshServer } from "../subjects/terminal.ts";
import { type Front, quoted } from "./record.ts";

/** A client, up to its words for a command over there. */
export type Client = {
  readonly name: string;
  readonly front: (command: readonly string[]) => Front;
  /** The server, if it is on loopback and its client goes by TCP, and the port by which the link has it. */
  readonly behind?: { readonly url: string; readonly port: number };
  stop(): Promise<void>;
};
export type Prediction = "on" | "off";

export async function startClients(prediction: Prediction): Promise<readonly Client[]> {
  return [await ours(prediction), await sshClient(), moshClient(prediction)];
}

/** Has all be reached over a link that is open. @returns What ends that. */
export async function bringAll(clients: readonly Client[]): Promise<() => void> {
  const behind = clients.flatMap((client) => client.behind ?? []);
  const brought = await Promise.all(behind.map(({ url, port }) => bringToLink(url, port)));
  return () => {
    for (const server of brought) server.close();
  };
}

async function ours(prediction: Prediction): Promise<Client> {
  const [subject] = [await startSubject("path"), await buildCli()];
  const { headers } = subject.spec([]);
  const [port = 0] = LINK_PORTS;
  const env = { SBX_TOKEN: (headers.Authorization ?? "").replace(/^Bearer /, "") };
  const words = [process.execPath, join(ROOT, "packages/sbx-cli/dist/sbx-stdio.js"), `http://${FAR}:${port}`];
  const options = ["--sandbox", "bench", "--predict", prediction === "on" ? "auto" : "never"];
  return {
    name: "sbx-stdio",
    front: (command) => ({ words: [...words, ...options, "--", ...command], env }),
    behind: { url: subject.url, port },
    stop: () => subject.stop(),
  };
}

async function sshClient(): Promise<Client> {
  const subject = await startSubject("ssh");
  const [, port = 0] = LINK_PORTS;
  const { ssh = [] } = subject.spec([]);
  const words = ["ssh", "-p", `${port}`, "-o", `HostName=${FAR}`, ...ssh];
  return {
    name: "ssh",
    front: (command) => ({ words: [...words, command.map(quoted).join(" ")] }),
    behind: { url: subject.url, port },
    stop: () => subject.stop(),
  };
}

function moshClient(prediction: Prediction): Client {
  return {
    name: "mosh",
    front: (command) => {
      const { port, env, stop } = startMoshServer(command);
      return {
        words: ["mosh-client", FAR, port],
        env: { ...env, MOSH_PREDICTION_DISPLAY: prediction === "on" ? "adaptive" : "never" },
        ended: stop,
      };
    },
    stop: () => Promise.resolve(),
  };
}
