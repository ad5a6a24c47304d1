// Every way in which a run at a terminal ends, on Node and as the compiled program: echo and lines, screen, cursor, mouse,
// bracketed paste, keypad and title are then as they were found. What kill -9 leaves is in test/e2e/cli/interactive.test.ts.
// The compiled program is tried in what depends on its runtime, with `SBX_COMPILED=whole` (test:long) in all.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerConnection } from "sandbox-stdio/core";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildBinary } from "../../../local/src/build/binaries.ts";
import { cleanEnv, PROGRAM, RUNTIME, scratch } from "../fixture/cli.ts";
import { HeldTerminal } from "../fixture/held-terminal.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

/** All that a full-screen program may switch on, and its title. */
const ON = ["?1049h", "?1h", "?1003h", "?1006h", "?1004h", "?2004h", "?25l", "?7l", "4h", "2;9r", "?6h", "7m"];
const SCRIPT = `stty raw -echo; printf '${ON.map((mode) => `\\033[${mode}`).join("")}\\033=\\033]2;program\\007'; echo ready; exec cat`;
const AS_FOUND = {
  ...{ same: true, lines: true, echo: true, title: "before", screen: "normal", cursor: "shown" },
  ...{ applicationCursorKeysMode: false, applicationKeypadMode: false, bracketedPasteMode: false, insertMode: false },
  ...{ mouseTrackingMode: "none", originMode: false, sendFocusMode: false, wraparoundMode: true },
};

let binary = "";
let server: TestServer;
let terminal: HeldTerminal;
let connection: ServerConnection | undefined;
beforeAll(async () => {
  binary = await buildBinary("linux-x64", scratch());
});
beforeEach(async () => {
  server = await startServer();
  server.onConnection = (made) => {
    connection = made;
  };
});
afterEach(async () => {
  terminal.kill();
  await server.close();
});

function signal(first: NodeJS.Signals, ...more: NodeJS.Signals[]) {
  return () => {
    process.kill(terminal.pid, first);
    try {
      for (const name of more) process.kill(terminal.pid, name);
    } catch {
      // The first has ended it already.
    }
  };
}
/** The server ends this client's connection. */
const told = (code: number, reason: string) => () => connection?.bye(code, reason, "never");
/** The connection breaks, and the server says no to the next one. */
function refused(code: number, reason: string) {
  return () => {
    server.onConnection = (made) => made.bye(code, reason, "never");
    server.cut();
  };
}
function refusedByHttp(): void {
  server.refusal = { status: 403, body: "" };
  server.cut();
}
async function outage(): Promise<void> {
  server.refusal = { status: 503, body: "" };
  server.cut();
  await terminal.wrote(/connection lost/);
}

type Death = { readonly what: string; readonly dies: () => unknown; readonly giveUp?: number };
const DEATHS: readonly Death[] = [
  { what: "the program is killed, and leaves all that on", dies: () => server.host().kill("SIGKILL") },
  { what: "the process is lost with its sandbox", dies: refused(4404, "process lost") },
  { what: "the server is gone for good", dies: () => server.close(), giveUp: 1 },
  { what: "the server refuses", dies: refused(4403, "not your sandbox") },
  { what: "an answer that is no WebSocket refuses", dies: refusedByHttp },
  { what: "the session is taken away", dies: told(4404, "the session has been ended") },
  { what: "the login is revoked", dies: told(4401, "the login has been revoked") },
  {
    what: "another connection takes its place",
    dies: told(4409, "another connection has typed in this client's place"),
  },
  { what: "SIGTERM", dies: signal("SIGTERM") },
  { what: "SIGHUP", dies: signal("SIGHUP") },
  { what: "SIGQUIT", dies: signal("SIGQUIT") },
  { what: "SIGINT", dies: signal("SIGINT") },
  { what: "SIGINT twice", dies: signal("SIGINT", "SIGINT") },
  { what: "SIGTERM in an outage", dies: () => outage().then(signal("SIGTERM")) },
  { what: "SIGINT twice in an outage", dies: () => outage().then(signal("SIGINT", "SIGINT")) },
  { what: "it crashes", dies: signal("SIGALRM") },
  { what: "Ctrl+]", dies: () => terminal.type("\x1d") },
  { what: "Ctrl+] in an outage", dies: () => outage().then(() => terminal.type("\x1d")) },
];

const OF_RUNTIME = DEATHS.filter(({ what }) => /^(SIGTERM|SIGINT twice|it crashes|Ctrl\+\])$/.test(what));

describe.each(["Node", "the compiled program"])("on %s the terminal is as it was found, if", (runtime) => {
  /** A fault of ours, on a signal that nothing else listens to. */
  function crashing(): Record<string, string> {
    const file = join(scratch(), "crash.mjs");
    writeFileSync(file, `process.once("SIGALRM", () => { throw new Error("a fault of ours"); });\n`);
    return { NODE_OPTIONS: `--import=${file}`, BUN_OPTIONS: `--preload=${file}` };
  }

  const isWhole = runtime === "Node" || process.env.SBX_COMPILED === "whole";
  test.each(isWhole ? DEATHS : OF_RUNTIME)("$what", async ({ dies, giveUp = 600 }) => {
    const program = runtime === "Node" ? [RUNTIME, PROGRAM] : [binary];
    const words = [server.url, "--session", "main", "--give-up", String(giveUp), "--", "sh", "-c", SCRIPT];
    terminal = new HeldTerminal([...program, ...words], cleanEnv(crashing()), "before");
    await terminal.wrote(/ready/);
    expect(terminal.screen()).toMatchObject({ screen: "alternate", cursor: "hidden", mouseTrackingMode: "any" });
    await dies();
    const { status: _, ...found } = await terminal.found();
    expect(found).toEqual(AS_FOUND);
  });
});
