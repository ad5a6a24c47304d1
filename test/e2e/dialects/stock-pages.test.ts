// What pages are made of that others have written, as it is: xterm.js with its AttachAddon. Pastes of real sizes come through
// byte for byte.
import { createHash, randomBytes } from "node:crypto";
import addonAttach from "@xterm/addon-attach";
import { Terminal } from "@xterm/headless";
import { afterAll, describe, test } from "vitest";
import WebSocket from "ws";
import { connect } from "../support/client.ts";
import { addonPath } from "../support/foreign-routes.ts";
import { fresh, type Person, person, system } from "../support/system.ts";
import { within } from "../support/wait.ts";

const MIB = 1024 * 1024;
const sockets: WebSocket[] = [];

afterAll(() => {
  for (const socket of sockets) socket.terminate();
});

const sum = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

async function dial(who: Person, path: string, protocol?: string): Promise<WebSocket> {
  const headers = { Authorization: `Bearer ${who.token}` };
  const socket = new WebSocket(`${system.origin.replace(/^http/, "ws")}${path}`, protocol, { headers });
  sockets.push(socket);
  await within("a connection", new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject)));
  return socket;
}

/** A terminal of the page's, in a real xterm.js. */
function terminal(): Terminal {
  return new Terminal({ cols: 80, rows: 24, allowProposedApi: true });
}

async function shows(screen: Terminal, text: string): Promise<void> {
  const isShown = () => {
    const { active } = screen.buffer;
    const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString() ?? "");
    return lines.join("").replaceAll(" ", "").includes(text);
  };
  await within(
    `${text} on the screen`,
    new Promise<void>((resolve) => {
      const look = () => isShown() && resolve();
      screen.onWriteParsed(look);
      look();
    }),
    60_000,
  );
}

describe("a paste of 4 MiB into xterm.js with its AttachAddon comes through whole", () => {
  const TAKE = `stty raw -echo; echo ready; head -c ${4 * MIB} | sha256sum`;
  test.each<[name: string, path: (sandbox: string) => string]>([
    [
      "a plain client with text=1",
      (sandbox) => `/attach?${new URLSearchParams({ sandbox, session: "main", text: "1" })}`,
    ],
    ["the sandbox addon's route", (sandbox) => addonPath(sandbox, { session: "main" })],
  ])("on %s", async (_name, path) => {
    const [who, sandbox] = [await person(), fresh("box")];
    const watcher = await connect(who, { sandbox, session: "main", tty: 1, cmd: "sh", arg: ["-c", TAKE] });
    await watcher.output("ready");
    const screen = terminal();
    const socket = await dial(who, path(sandbox));
    screen.loadAddon(new addonAttach.AttachAddon(socket as unknown as globalThis.WebSocket));
    await shows(screen, "ready");
    const text = randomBytes(3 * MIB)
      .toString("base64")
      .slice(0, 4 * MIB);
    screen.input(text);
    await watcher.output(`${sum(text)}  -`);
    await shows(screen, sum(text));
  });
});
