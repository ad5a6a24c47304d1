// What `logs` and its like print on a person's terminal, which is tmux here, and into a pipe. And tmux as the oracle of the
// ledger of modes: after any modes and what undoes them it is as it was.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ANY_MODES } from "../../../sandbox-stdio/test/support/mode-sequences.ts";
import { TerminalOutput } from "../../src/base/terminal-output.ts";
import { runCli, scratch } from "../fixture/cli.ts";
import { startServer } from "../fixture/server.ts";
import { Terminal } from "../fixture/tmux.ts";

const [COLS, ROWS] = [70, 20];
/** A full-screen program that asks who is there, copies, and is killed. */
const OUTPUT =
  "start\r\n\x1b[?1049h\x1b[?1003;1006h\x1b[?25l\x1b[c\x1b[6n\x05\x1b]52;c;Y29waWVk\x07\x1b]10;?\x07\x07\x1b(0full screen\r\n";
const STATE = [
  ...["alternate_on", "cursor_flag", "insert_flag", "keypad_cursor_flag", "keypad_flag", "mouse_any_flag", "wrap_flag"],
  ...["mouse_sgr_flag", "mouse_utf8_flag", "origin_flag", "scroll_region_upper", "scroll_region_lower", "pane_tabs"],
];

let terminal: Terminal;
beforeEach(async () => {
  terminal = new Terminal(COLS, ROWS);
  await terminal.shows(/^local\$/m);
});
afterEach(() => terminal.close());

/** Asked at once: each question is a program of its own. */
const stateOf = () => terminal.ask(STATE.join("} #{"));

/** A server whose every session has that log, and still runs where it is followed. */
async function serverOf(log: string): Promise<string> {
  const output = Buffer.from(log, "latin1").toString("base64");
  const { length } = log;
  const server = createServer((request, response) => {
    if (request.url?.includes("/events") === true) {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": here\n\n");
      return;
    }
    const body = { incarnation: "i", state: "exited", from: 0, next: length, end: length, output };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("K6c: on a terminal, a program's output", () => {
  test.each(["logs", "read"])("%s makes it answer, copy and keep nothing", async (verb) => {
    const before = stateOf();
    terminal.runCli(`${verb} ${await serverOf(OUTPUT)} --session s; printf '\\r\\ncode %d\\033[K\\r\\n' $?`);
    await terminal.shows(/^code 0$/m);
    terminal.run("echo typed");
    // An answer would stand before what is typed here.
    expect(await terminal.shows(/^typed$/m)).toMatch(/^local\$ echo typed$/m);
    expect([stateOf(), terminal.clipboard()]).toEqual([before, ""]);
  });

  test("logs -f, too, when ^C ends it", async () => {
    const before = stateOf();
    terminal.runCli(`logs -f ${await serverOf(OUTPUT)} --session s`);
    await terminal.asks("alternate_on", "1");
    terminal.press("C-c");
    await terminal.asks("alternate_on", "0");
    terminal.run("echo code $?");
    await terminal.shows(/^code 130$/m);
    expect(stateOf()).toEqual(before);
  });
});

test("K6d: a process on pipes, whose output is a terminal, makes it answer and copy nothing either", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const before = stateOf();
  const script = "printf 'started\\033[c\\033[?1003h\\033]52;c;aGk=\\007\\r\\n'";
  terminal.runCli(`${server.url} --session main --cmd sh --arg -c --arg "${script}" </dev/null; echo code $?`);
  await terminal.shows(/^code 0$/m);
  terminal.run("echo typed");
  expect(await terminal.shows(/^typed$/m)).toMatch(/^local\$ echo typed$/m);
  expect([stateOf(), terminal.clipboard()]).toEqual([before, ""]);
});

test("17: while this program is stopped the terminal is as it was found, and the modes are back when it goes on", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const program = "printf '\\033[?1049h\\033[?1003hdrawn'; exec cat";
  terminal.runCli(`${server.url} --session main --cmd sh --arg -c --arg "${program}"`);
  await terminal.asks("mouse_any_flag", "1");
  // The Enter first, by itself: three keys in one read are text.
  terminal.run("x");
  await terminal.shows(/^x$/m);
  for (const key of ["~", "C-z"]) terminal.press(key);
  await terminal.asks("alternate_on", "0");
  await terminal.shows(/Stopped/);
  expect(terminal.ask("mouse_any_flag")).toBe("0");
  terminal.run("fg");
  await terminal.asks("mouse_any_flag", "1");
  await terminal.asks("alternate_on", "1");
});

test("K6c: a pipe gets the bytes as they are", async () => {
  const { stdout } = await runCli(["logs", await serverOf(OUTPUT), "--session", "s"]);
  expect(stdout).toBe(OUTPUT);
});

test("17: any modes, and then what undoes them: tmux is as it was", async () => {
  const [before, file] = [stateOf(), join(scratch(), "modes")];
  for (const [at, modes] of fc.sample(ANY_MODES, { seed: 18, numRuns: 10 }).entries()) {
    const screen = new TerminalOutput(
      () => true,
      () => ({ cols: COLS, rows: ROWS }),
    );
    screen.draw(Buffer.from(modes), 0);
    writeFileSync(file, modes + screen.resetSequence);
    terminal.run(`cat ${file}; printf '\\r\\n\\033[2Kq${at}q\\r\\n'`);
    await terminal.shows(new RegExp(`^q${at}q$`, "m"));
    expect([stateOf(), terminal.drawn(new RegExp(`q${at}q$`))], JSON.stringify(modes)).toEqual([before, `q${at}q`]);
  }
});
