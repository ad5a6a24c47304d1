// 39: what keys send with kitty's keyboard protocol, pressed in a real browser and read by a program in the sandbox. The other sets of
// flags are in long/kitty-flags.test.ts.
import { expect, test } from "vitest";
import { fresh } from "../../e2e/support/system/system.ts";
import { directoryOf, setUpBrowser } from "../support/fixture.ts";
import { pressAll, SOME_KEYS, setFlags, startProgram } from "./kitty-program.ts";

const browser = setUpBrowser();

test("39: sixty keys send what they did, and with flags what the specification says; a reload and a hand-over keep the flags", async () => {
  const sandbox = fresh("kitty");
  const address = `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom`;
  const tab = await browser.open(await browser.freshMember(), address);
  await tab.shell();
  const program = await startProgram(tab, directoryOf(sandbox));
  await pressAll(tab, program, 0);
  await setFlags(program, 1);
  await pressAll(tab, program, 1, SOME_KEYS);

  // The flags of both screens, and those that a pop brings back, come with the snapshot.
  program.print("\x1b[=5u\x1b[>1u\x1b[?1049h\x1b[=0u\x1b[>31u");
  await program.before("\x1b[?u", "\x1b[?31u");
  await tab.page.reload();
  await tab.state("attached");
  await program.before("\x1b[?u", "\x1b[?31u");
  await pressAll(tab, program, 31);
  await program.before("\x1b[?1049h\x1b[?u", "\x1b[?31u");
  await program.before("\x1b[?1049l\x1b[?1049l\x1b[?u", "\x1b[?1u");
  await program.before("\x1b[<u\x1b[?u", "\x1b[?5u");
  program.print("\x1b[?9001h");
  await program.before("\x1b[?9001$p", "\x1b[?9001;1$y");
  await tab.page.keyboard.press("a");
  expect(await program.before("\x1b[?9001l\x1b[5n", "\x1b[0n")).toBe("\x1b[65;30;97;1;0;1_\x1b[65;30;97;0;0;1_");

  // What a killed program left on is off before the shell's prompt, and what the shell sets for its prompt is on.
  const killed = "\x1b]133;C\x07\x1b[>7u\x1b]133;D;137\x07";
  await program.before(`\x1b[=0u${killed}\x1b[?u`, "\x1b[?0u");
  await program.before(`${killed}\x1b[=5u\x1b[?u`, "\x1b[?5u");

  // A page that comes later, and gets the keyboard.
  await setFlags(program, 9);
  const other = await browser.open(await browser.freshMember(), address);
  await other.state("attached");
  await tab.page.close();
  await other.waitForData("people", 1);
  await pressAll(other, program, 9, SOME_KEYS);
});
