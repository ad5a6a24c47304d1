// Ten hours of typing over links of the world: our command line with its predictions beside mosh and ssh, at the same time on the
// same link, and each person once more at a terminal without a link, which is the truth.

import { join } from "node:path";
import { ROOT } from "../../../local/src/base/paths.ts";
import { buildCli } from "../../../local/src/build/builds.ts";
import { median, scaled, show } from "../base/numbers.ts";
import { bringToLink, FAR, openIpLink } from "../subjects/ip-link.ts";
import { LINK_PORTS, startSubject } from "../subjects/subjects.ts";
import { startMoshServer } from "../subjects/terminal.ts";
import { judge, newVerdict, type Verdict } from "./judge.ts";
import { type Front, quoted, record, shellFolder } from "./record.ts";
import { typed } from "./typist.ts";

const ROUND_TRIPS_MS = [40, 100, 200, 500];
const LOSSES = [0, 0.01, 0.05];
const BYTES_PER_SECOND = 1e7;
/** On each of the twelve links: ten hours. */
const PEOPLE = 20;
const SECONDS = 150;

/** A client, up to its words for a command over there. */
type Client = {
  readonly name: string;
  readonly front: (command: readonly string[]) => Front;
  /** The server, if it is on loopback and its client goes by TCP, and the port by which the link has it. */
  readonly behind?: { readonly url: string; readonly port: number };
  stop(): Promise<void>;
};
type Row = { readonly link: string; readonly verdicts: ReadonlyMap<string, Verdict> };

/** @param share Of the people, at least two; with few of them, of the links and of the time. */
export async function measureTyping(share: number, where: string): Promise<string> {
  const people = scaled(PEOPLE, share, 2);
  const seconds = scaled(SECONDS, Math.min(1, share * 4), 40);
  const links = ROUND_TRIPS_MS.flatMap((roundTripMs) => LOSSES.map((loss) => ({ roundTripMs, loss })));
  const every = share < 0.1 ? 5 : 1;
  const clients = [await ours(), await sshClient(), moshClient()];
  const rows: Row[] = [];
  try {
    for (const [at, { roundTripMs, loss }] of links.entries()) {
      if (at % every !== 1 % every) continue;
      const link = await openIpLink({ delayMs: roundTripMs / 2, bytesPerSecond: BYTES_PER_SECOND, loss });
      const brought = await Promise.all(
        clients.flatMap(({ behind }) => (behind ? [bringToLink(behind.url, behind.port)] : [])),
      );
      try {
        const seeds = Array.from({ length: people }, (_, person) => at * PEOPLE + person);
        const row = { link: `${roundTripMs} ms, ${loss * 100} %`, verdicts: await onLink(clients, seeds, seconds) };
        rows.push(row);
        console.error(said(row));
      } finally {
        for (const server of brought) server.close();
        await link.close();
      }
    }
  } finally {
    for (const client of clients) await client.stop();
  }
  return typingTable(rows, `${where}, ${show((rows.length * people * seconds) / 3600)} hours with each client.`);
}

async function onLink(clients: readonly Client[], seeds: readonly number[], seconds: number) {
  const verdicts = new Map(clients.map(({ name }) => [name, newVerdict()]));
  const recordings = seeds.map(async (seed) => {
    const steps = typed(seed, seconds);
    const folders = [undefined, ...clients].map(() => shellFolder());
    const fronts = folders.map(({ command }, at) => clients[at - 1]?.front(command) ?? { words: command });
    const recorded = await Promise.allSettled(fronts.map((front) => record(front, steps)));
    for (const folder of folders) folder.remove();
    return { steps, recorded };
  });
  for (const { steps, recorded } of await Promise.all(recordings)) {
    const [truth, ...seen] = recorded;
    if (truth?.status !== "fulfilled") throw new Error(`no terminal without a link: ${truth?.reason}`);
    for (const [at, { name }] of clients.entries()) {
      const [one, verdict] = [seen[at], verdicts.get(name)];
      if (one?.status === "fulfilled" && verdict) await judge(steps, one.value, truth.value, verdict);
      else if (one?.status === "rejected") console.error(`${name} is left out once: ${one.reason}`);
    }
  }
  return verdicts;
}

async function ours(): Promise<Client> {
  const [subject] = [await startSubject("path"), await buildCli()];
  const { headers } = subject.spec([]);
  const [port = 0] = LINK_PORTS;
  const env = { SBX_TOKEN: (headers.Authorization ?? "").replace(/^Bearer /, "") };
  const words = [process.execPath, join(ROOT, "packages/sbx-cli/dist/sbx-stdio.js"), `http://${FAR}:${port}`];
  const options = ["--sandbox", "bench", "--predict", "auto"];
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

function moshClient(): Client {
  return {
    name: "mosh",
    front: (command) => {
      const { port, env, stop } = startMoshServer(command);
      return { words: ["mosh-client", FAR, port], env: { ...env, MOSH_PREDICTION_DISPLAY: "adaptive" }, ended: stop };
    },
    stop: () => Promise.resolve(),
  };
}

function said({ link, verdicts }: Row): string {
  const of = ([name, { programs, keys, differing, wrong }]: [string, Verdict]) =>
    `${link} ${name}: ${[...programs].map(([program, [all, shown]]) => `${program} ${show((100 * shown) / all)} %`).join(", ")}; ${keys} keys, ${wrong} wrong, ${differing} other screens in the end`;
  return [...verdicts].map(of).join("\n");
}

function typingTable(rows: readonly Row[], where: string): string {
  const names = [...(rows[0]?.verdicts.keys() ?? [])];
  const cells = (verdict: Verdict | undefined) => {
    const { keys, shown, wrong, mendMs } = verdict ?? newVerdict();
    return [show((100 * shown) / keys), show((100 * wrong) / keys), show(median(mendMs))];
  };
  const secrets = names.map((name) => rows.reduce((sum, row) => sum + (row.verdicts.get(name)?.secretsShown ?? 0), 0));
  return [
    `${where} Letters of passwords shown: ${names.map((name, at) => `${name} ${secrets[at]}`).join(", ")}.`,
    "",
    `| round trip, loss | ${names.map((name) => `${name}: at once, % | wrong, % | mended, ms`).join(" | ")} |`,
    `|---|${"---:|".repeat(3 * names.length)}`,
    ...rows.map(
      ({ link, verdicts }) => `| ${[link, ...names.flatMap((name) => cells(verdicts.get(name)))].join(" | ")} |`,
    ),
  ].join("\n");
}
