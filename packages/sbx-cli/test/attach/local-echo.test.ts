// Typed characters that are shown before their echo: a shell in tmux runs the command line, through a relay that holds back output.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scratch, until } from "../fixture/cli.ts";
import { type HoldingRelay, startHoldingRelay } from "../fixture/holding-relay.ts";
import { startServer, type TestServer } from "../fixture/server.ts";
import { Terminal } from "../fixture/tmux.ts";

/** Nothing comes while output is held, which on a busy machine is for longer than a link may be silent: such waits are stretched. */
const PATIENCE = "const real = setTimeout; globalThis.setTimeout = (act, ms) => real(act, ms < 1000 ? ms : 100 * ms)";
const PATIENT = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PATIENCE)}` };

let server: TestServer;
let relay: HoldingRelay;
let terminal: Terminal;
beforeEach(async () => {
  server = await startServer();
  relay = await startHoldingRelay(server.port);
  terminal = new Terminal(100, 30, PATIENT);
  await terminal.shows(/^local\$/m);
});
afterEach(async () => {
  terminal.close();
  await relay.close();
  await server.close();
});

async function shell(predict: string): Promise<void> {
  const command = "--cmd bash --arg --norc --arg --noprofile --env 'PS1=remote$ '";
  terminal.runCli(`http://127.0.0.1:${relay.port} --session main --predict ${predict} ${command}`);
  await terminal.shows(/^remote\$/m);
}

/** The prompt's line with the sequences of its attributes. */
const line = (): string => terminal.drawn(/remote\$/) ?? "";

/** Types until a character is shown without its echo: the emulator is loaded by then. @returns The typed text. */
async function predicted(): Promise<string> {
  for (let typed = "aa"; ; typed += "ab") {
    terminal.type(typed.slice(-2));
    await terminal.shows(new RegExp(`^remote\\$ ${typed}$`, "m"));
    relay.hold();
    terminal.type("c");
    // tmux has handled the key once it has handled another request after the relay's time for an echo.
    for (let look = 0; look < 15; look += 1) {
      if (line().includes("\x1b[4mc")) return `${typed}c`;
    }
    relay.release();
    typed += "c";
    await terminal.shows(new RegExp(`^remote\\$ ${typed}$`, "m"));
  }
}

test.each([
  { predict: "always", delayMs: 0 },
  // A round trip of 60 ms is slow.
  { predict: "auto", delayMs: 60 },
])("$predict: typed characters are underlined until their echo, and the screen is right in the end", async (way) => {
  relay.delayMs = way.delayMs;
  await shell(way.predict);
  const typed = await predicted();
  terminal.type("de");
  // One is taken back, and one goes before another.
  for (const key of ["BSpace", "Left"]) terminal.press(key);
  terminal.type("x");
  await until(
    () => line().includes("\x1b[4mcxd"),
    () => line(),
  );
  relay.release();
  terminal.press("BSpace");
  terminal.press("Right");
  terminal.type("e");
  await until(
    () => line() === `remote$ ${typed}de`,
    () => JSON.stringify(line()),
  );
  // The cursor is where the process has it.
  terminal.press("C-a");
  terminal.type("# ");
  terminal.press("Enter");
  await terminal.shows(new RegExp(`^remote\\$ # ${typed}de *\nremote\\$ *$`, "m"));
});

test("output that comes instead of an echo replaces the predictions", async () => {
  const fifo = join(scratch(), "fifo");
  execFileSync("mkfifo", [fifo]);
  await shell("always");
  terminal.run(`{ read -r _ < ${fifo}; printf '\\r\\033[Kother text\\r\\nremote$ '; } & clear`);
  await terminal.shows(/^remote\$$/);
  const typed = await predicted();
  writeFileSync(fifo, "now\n");
  relay.release();
  // tmux leaves out blanks at the end of a line.
  await terminal.shows(/^other text\nremote\$( c)?$/m);
  terminal.press("C-l");
  await terminal.shows(new RegExp(`^remote\\$ ${typed}$`));
});

test("a password is not shown, and its prompt ends the predictions", async () => {
  await shell("always");
  await predicted();
  relay.release();
  terminal.press("C-u");
  terminal.run('read -rsp "word: " word; echo got "$word" | wc -c');
  await terminal.shows(/^word:$/m);
  relay.hold();
  terminal.type("secret");
  for (let look = 0; look < 20; look += 1) expect(terminal.screen()).not.toContain("secret");
  relay.release();
  terminal.press("Enter");
  await terminal.shows(/^(word: )?11$/m);
  expect(terminal.screen()).not.toContain("secret");
});

test("never is never", async () => {
  await shell("never");
  terminal.type("aaaa");
  await terminal.shows(/^remote\$ aaaa$/m);
  relay.hold();
  terminal.type("b");
  for (let look = 0; look < 20; look += 1) expect(line()).toBe("remote$ aaaa");
  relay.release();
  await terminal.shows(/^remote\$ aaaab$/m);
});
