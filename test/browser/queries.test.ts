// K5 in the page: replay types nothing, live queries are answered once, by the one page that is to answer. What is typed is
// recorded in the sandbox.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fresh, person } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";
import { directoryOf, setUpBrowser } from "./support/fixture.ts";
import { openPlain } from "./support/other-clients.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

/** Prints what is written to `out`, and keeps in `typed` what is typed. */
const RECORDER = "clear; mkfifo out; exec 3<>out; stty raw -echo; cat <&3 & exec cat > typed 3<&-";
const QUERIES =
  "\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[4$p\x1b[?2026$p\x1bP$qm\x1b\\\x1b]10;?\x07\x1b]11;?\x1b\\\x1b[>q\x1b[?1004h";
const ANSWERS = [
  ...["\x1b[?62;4;9;22c", "\x1b[>0;276;0c", "\x1b[0n", "\x1b[1;1R", "\x1b[4;2$y", "\x1b[?2026;2$y", "\x1bP1$r0m\x1b\\"],
  ...["\x1b]10;rgb:e3e3/e4e4/e9e9\x1b\\", "\x1b]11;rgb:1717/1818/1c1c\x1b\\", "\x1bP>|xterm.js(6.1.0-beta.303)\x1b\\"],
].join("");

/** Has the tab's shell record: what is typed from then on, and how something is printed. */
async function record(tab: Tab, directory: string) {
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
  return { typed, print };
}

/** That a window gains or loses the focus is no answer. */
const withoutFocus = (typed: string): string => typed.replaceAll("\x1b[I", "").replaceAll("\x1b[O", "");

test("a log full of queries types nothing into the process when the page is loaded again, and live ones are answered once", async () => {
  const { tab, directory } = await browser.shell();
  const { typed, print } = await record(tab, directory);

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
  expect(withoutFocus(typed().slice(before.length))).toBe("2");
});

// As the first protocol's page did, it decodes each frame by itself: half a character at the end of one would be lost.
test("a page with stock xterm.js as a plain client types, sees its echo, each character whole, and its replay types nothing", async () => {
  const { token } = await person();
  const sandbox = fresh("plain");
  const tab = await openPlain(browser, await browser.profile(), sandbox, token);
  await tab.find(/[$#]$/);
  await tab.run("PS1='$ '; clear");
  await tab.prompt();
  await tab.type("echo é日。👩 $((6 * 7))");
  await tab.shows("$ echo é日。👩 $((6 * 7))");
  await tab.page.keyboard.press("Enter");
  await tab.shows("é日。👩 42");
  await tab.run('for byte in 343 200 202 360 237 221 251; do printf "\\\\$byte"; sleep 0.1; done; echo .');
  await tab.shows("。👩.");

  const { typed, print } = await record(tab, directoryOf(sandbox));
  print(`${QUERIES.repeat(100)}\x1b[2J\x1b[Hend of log`);
  await tab.find(/^end of log/);
  // It is the answerer: its answers to what is live come before this.
  await tab.type("1");
  await until("the end of the answers", () => typed().endsWith("1"));
  expect(typed().length).toBeGreaterThan(1);
  const before = typed();
  // The next client is the answerer, as after a reload.
  await tab.page.close();
  const other = await openPlain(browser, await browser.profile(), sandbox, token);
  await other.find(/^end of log/);
  await other.type("2");
  await until("what is typed", () => typed().endsWith("2"));
  expect(withoutFocus(typed().slice(before.length))).toBe("2");
});
