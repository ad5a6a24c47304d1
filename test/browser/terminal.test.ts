// What a person does with a terminal: sizes, full-screen programs, colours, wide characters, the end of the shell.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../e2e/support/system/wait.ts";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

test("S1: the screen that programs read is the one that the page shows: a shell's, colours, wide characters, vim's", async () => {
  const { tab } = await browser.sameShell();
  const readByProgram = () =>
    tab.page.evaluate(async () => {
      const at = new URLSearchParams(location.search);
      const answer = await fetch(`/api/sandboxes/${at.get("sandbox")}/sessions/${at.get("session")}/screen`);
      return ((await answer.json()) as { lines: string[] }).lines;
    });
  const isSame = async () => JSON.stringify(await readByProgram()) === JSON.stringify(await tab.rows());
  await tab.run("printf '\\033[31mrot\\033[0m 日本 é 😀\\n\\033[3;9Hhere\\033[6;1H'; seq 40 43");
  await tab.shows("43");
  await tab.prompt();
  await until("the same screen in the shell", isSame);
  expect((await readByProgram()).join("\n")).toContain("rot 日本 é 😀");
  await tab.run("vim -u NONE -N --cmd 'set showmode ruler' other.txt");
  await tab.find(/^"other.txt" \[New\]/);
  await tab.type("ieins — zwei");
  await tab.find(/^-- INSERT --/);
  await tab.shows("eins — zwei");
  await until("the same screen in vim", isSame);
  expect((await readByProgram())[0]).toBe("eins — zwei");
  await tab.page.keyboard.press("Escape");
  await tab.run(":q!");
  await tab.prompt();
});

test("vim, less, top and tmux draw, take keys, and give the shell its screen back", async () => {
  const { tab, directory } = await browser.sameShell();
  // With its own settings it asks the terminal what it can: none of the answers is typed into the file.
  await tab.run("vim note.txt");
  await tab.find(/^"note.txt" \[New\]/);
  await tab.type("ione two");
  await tab.page.keyboard.press("Enter");
  await tab.type("drei — 日本");
  await tab.page.keyboard.press("Escape");
  await tab.shows("drei — 日本");
  expect((await tab.rows()).slice(0, 3)).toEqual(["one two", "drei — 日本", "~"]);
  await tab.type("ggx:wq");
  await tab.page.keyboard.press("Enter");
  await tab.prompt();
  expect(readFileSync(join(directory, "note.txt"), "utf8")).toBe("ne two\ndrei — 日本\n");

  writeFileSync(join(directory, "numbers"), Array.from({ length: 500 }, (_, i) => `number ${i + 1}\n`).join(""));
  await tab.clear();
  await tab.run("less numbers");
  await tab.shows("numbers");
  const rows = Number(await tab.data("rows"));
  expect((await tab.rows())[0]).toBe("number 1");
  await tab.page.keyboard.press("PageDown");
  await tab.shows(`number ${2 * (rows - 1)}`);
  await tab.type("q");
  await tab.prompt();
  expect((await tab.lines()).slice(-2)).toEqual(["$ less numbers", "$"]);

  await tab.run("top -d 0.3");
  const first = (await tab.find(/^top - (\d\d:\d\d:\d\d) up /))[1];
  await tab.page.waitForFunction((was) => {
    const text = window.sbx.terminal.buffer.active.getLine(0)?.translateToString() ?? "";
    return text.startsWith("top - ") && !text.startsWith(`top - ${was}`);
  }, first);
  await tab.type("q");
  await tab.prompt();

  await tab.run("tmux -f /dev/null -S ./tmux new -s inner");
  await tab.find(/^\[inner\] 0:/);
  await tab.page.keyboard.press("Control+B");
  await tab.type("%");
  await tab.find(/│/);
  await tab.run("clear; tput cols");
  await tab.find(new RegExp(`│${Math.floor((Number(await tab.data("cols")) - 1) / 2)}$`));
  await tab.page.keyboard.press("Control+B");
  await tab.type("d");
  await tab.shows("[detached (from session inner)]");
  await tab.prompt();
  await tab.run("tmux -S ./tmux kill-server; echo killed $?");
  await tab.shows("killed 0");
});

test("16, 256 and 16 million colours and attributes reach the cells; wide characters take what the shell counts on", async () => {
  const { tab } = await browser.sameShell();
  await tab.run(
    String.raw`clear; printf '\e[31mA\e[1;44mB\e[0;38;5;208mC\e[0;38;2;10;200;30;48;2;1;2;3mD\e[0;3;4;7mE\e[0m.\n'`,
  );
  await tab.shows("ABCDE.");
  const cells = await tab.page.evaluate(() => {
    const line = window.sbx.terminal.buffer.active.getLine(0);
    return Array.from({ length: 6 }, (_, x) => {
      const cell = line?.getCell(x);
      if (cell === undefined) return undefined;
      const mode = cell.isFgRGB() ? "rgb" : cell.isFgPalette() ? "palette" : "default";
      const on = {
        bold: cell.isBold(),
        italic: cell.isItalic(),
        underline: cell.isUnderline(),
        inverse: cell.isInverse(),
      };
      const flags = Object.entries(on)
        .filter(([, value]) => value !== 0)
        .map(([name]) => name);
      return [cell.getChars(), mode, cell.getFgColor(), cell.getBgColor(), ...flags];
    });
  });
  expect(cells).toEqual([
    ["A", "palette", 1, -1],
    ["B", "palette", 1, 4, "bold"],
    ["C", "palette", 208, -1],
    ["D", "rgb", 0x0ac81e, 0x010203],
    ["E", "default", -1, -1, "italic", "underline", "inverse"],
    [".", "default", -1, -1],
  ]);
  // And what is in the cells is drawn, in the next frame: a row that was just replaced has no colours.
  const drawn = () =>
    tab.page.locator(".xterm-rows span").evaluateAll((spans) =>
      spans
        .filter((span) => span.textContent === "D")
        .map((span) => {
          const { color, backgroundColor } = getComputedStyle(span);
          return [color, backgroundColor];
        }),
    );
  await expect.poll(drawn).toEqual([["rgb(10, 200, 30)", "rgb(1, 2, 3)"]]);

  await tab.clear();
  const words = "日本語 👩‍💻 ✅ 🇩🇪 👍🏽 ❤️";
  // Each change is drawn before the next key: keys that come together can have the editor draw other cells.
  await tab.type(`echo ${words}`);
  await tab.find(new RegExp(`^\\$ echo ${words}$`, "u"));
  // The editor redraws the line from its own count of cells: one that differs garbles it.
  await tab.page.keyboard.press("Control+A");
  await tab.type("x");
  await tab.find(new RegExp(`^\\$ xecho ${words}$`, "u"));
  await tab.page.keyboard.press("Control+E");
  await tab.type("!");
  await tab.find(new RegExp(`^\\$ xecho ${words}!$`, "u"));
  await tab.page.keyboard.press("Control+A");
  await tab.page.keyboard.press("Control+D");
  await tab.find(new RegExp(`^\\$ echo ${words}!$`, "u"));
  await tab.page.keyboard.press("Control+E");
  await tab.page.keyboard.press("Enter");
  await tab.shows(`${words}!`);
  await tab.prompt();
  expect(await tab.lines()).toEqual([`$ echo ${words}!`, `${words}!`, "$"]);
  const widths = await tab.page.evaluate(() => {
    const line = window.sbx.terminal.buffer.active.getLine(1);
    return Array.from({ length: 25 }, (_, x) => [line?.getCell(x)?.getChars(), line?.getCell(x)?.getWidth()]);
  });
  expect(widths.filter(([chars]) => chars !== "")).toEqual([
    ["日", 2],
    ["本", 2],
    ["語", 2],
    [" ", 1],
    ["👩\u200d", 2],
    ["💻", 2],
    [" ", 1],
    ["✅", 2],
    [" ", 1],
    ["🇩", 1],
    ["🇪", 1],
    [" ", 1],
    ["👍", 2],
    ["🏽", 2],
    [" ", 1],
    ["❤️", 1],
    ["!", 1],
  ]);
});

test("35: sequences with the highest count there is leave the page alive, and the screen right", async () => {
  const { tab, directory } = await browser.sameShell();
  const attack = `i=64; while [ $i -lt 127 ]; do f=$(printf '\\\\%o' $i); n=2147483647
printf "ab\\033[$n$f\\302\\233$n;$n:$n$f\\033[?$n$f\\033[$n $f\\033[$n'$f\\033[$n\\"$f"; i=$((i + 1)); done
printf '\\033c'; echo survived
`;
  writeFileSync(join(directory, "attack.sh"), attack);
  await tab.run("sh attack.sh");
  await tab.shows("survived");
  await tab.run("echo typed $((40 + 2))");
  await tab.shows("typed 42");
});
