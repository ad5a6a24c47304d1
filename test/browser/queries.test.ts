// K5 in the page: replay types nothing, live queries are answered once, by the one page that is to answer. What is typed is
// recorded in the sandbox.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../e2e/support/wait.ts";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

/** Prints what is written to `out`, and keeps in `typed` what is typed. */
const RECORDER = "clear; mkfifo out; exec 3<>out; stty raw -echo; cat <&3 & exec cat > typed 3<&-";
const QUERIES =
  "\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[4$p\x1b[?2026$p\x1bP$qm\x1b\\\x1b]10;?\x07\x1b]11;?\x1b\\\x1b[>q\x1b[?1004h";
const ANSWERS = [
  ...["\x1b[?1;2c", "\x1b[>0;276;0c", "\x1b[0n", "\x1b[1;1R", "\x1b[4;2$y", "\x1b[?2026;2$y", "\x1bP1$r0m\x1b\\"],
  ...["\x1b]10;rgb:eaea/eaea/eaea\x1b\\", "\x1b]11;rgb:1a1a/1a1a/2e2e\x1b\\", "\x1bP>|xterm.js(6.0.0)\x1b\\"],
].join("");

test("a log full of queries types nothing into the process when the page is loaded again, and live ones are answered once", async () => {
  const { tab, directory } = await browser.shell();
  await tab.run(RECORDER);
  const typed = () => readFileSync(join(directory, "typed"), "latin1");
  const print = (text: string) => writeFileSync(join(directory, "out"), text);
  await until("the recorder", () => {
    try {
      return typed() === "";
    } catch {
      return false; // It is not there yet.
    }
  });

  const other = await browser.again(tab);
  print(`\x1b[2J\x1b[H${QUERIES.replace("\x1b[?1004h", "")}asked`);
  await other.find(/asked/);
  await until("the answers", () => typed() === ANSWERS);

  print(`${QUERIES.repeat(100)}\x1b[2J\x1b[Hend of log`);
  await tab.find(/^end of log/);
  // Whatever it is that both answer to so much, it is over when this is typed.
  await tab.type("1");
  await until("the end of the answers", () => typed().endsWith("1"));
  const before = typed();
  await tab.page.reload();
  await tab.state("attached");
  await tab.find(/^end of log/);
  await tab.type("2");
  await until("what is typed", () => typed().endsWith("2"));
  // That a window gains or loses the focus is no answer.
  const since = typed().slice(before.length).replaceAll("\x1b[I", "").replaceAll("\x1b[O", "");
  expect(since).toBe("2");
});
