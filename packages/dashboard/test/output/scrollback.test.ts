// The way in the scrollback: search, commands by their marks, the bottom. In a real browser against the real session core.

import { describe, expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { MAIN, useBrowser, useOnePage } from "../fixture.ts";

const lines = (from: number, to: number, text = "line") =>
  Array.from({ length: to - from }, (_, index) => `${text} ${from + index}\r\n`).join("");

/** What a shell with marks prints for a command. */
const command = (line: string, output: string, exit: number) =>
  `\x1b]133;A\x07$ \x1b]133;B\x07${line}\r\n\x1b]133;C\x07${output}\x1b]133;D;${exit}\x07`;

const field = (page: TerminalPage) => page.page.getByRole("textbox", { name: "Find" });
const found = (page: TerminalPage, words: string) =>
  page.page.locator(".sbx-found").filter({ hasText: words }).waitFor();

describe("search", () => {
  const browser = useOnePage();

  /** A search without any option, over this text. */
  async function searching(text: string): Promise<TerminalPage> {
    const page = await browser.blank();
    browser.server.process("main").print(text);
    await page.shows("end");
    await page.type("");
    await page.page.keyboard.press("Control+Shift+F");
    await field(page).fill("");
    const options = page.page.locator('.sbx-search [aria-pressed="true"]');
    while ((await options.count()) > 0) await options.first().click();
    await field(page).focus();
    return page;
  }

  test("finds upwards from the newest, says which of how many, goes around, and leads back to its field and the terminal", async () => {
    const page = await searching(`${lines(0, 300)}end\r\n`);
    await page.page.keyboard.type("line 29");
    await found(page, "11 of 11");
    await page.page.keyboard.press("Enter");
    await found(page, "10 of 11");
    await page.page.keyboard.press("Shift+Enter");
    await page.page.keyboard.press("Shift+Enter");
    await found(page, "1 of 11");
    await page.shows("line 29");
    // Asked for again from the terminal, and after a click on one of its buttons, it is typed into.
    await page.type("");
    await page.page.keyboard.press("Control+Shift+F");
    await page.page.keyboard.type("line 2[0-3]");
    await found(page, "Not found");
    await page.button("Regular expression");
    await found(page, "44 of 44");
    await page.page.keyboard.press("Enter");
    await found(page, "43 of 44");
    expect(browser.server.process("main").typed).toBe("");
    await page.page.keyboard.press("Escape");
    await field(page).waitFor({ state: "detached" });
    await page.page.keyboard.type("k");
    await expect.poll(() => browser.server.process("main").typed).toBe("k");
    await page.page.keyboard.press("Control+Shift+F");
    expect(await field(page).inputValue()).toBe("line 2[0-3]");
  });

  test("heeds case, whole words and patterns, and says what is no pattern", async () => {
    const page = await searching("Alpha alphabet alpha\r\nend\r\n");
    await page.page.keyboard.type("alpha");
    await found(page, "3 of 3");
    await page.button("Case sensitive");
    await found(page, "2 of 2");
    await page.button("Whole words");
    await found(page, "1 of 1");
    await page.button("Regular expression");
    await field(page).fill("alph(a|");
    await found(page, "Invalid pattern");
    await field(page).fill("al.{3}\\b");
    await found(page, "1 of 1");
    await field(page).fill("nowhere");
    await found(page, "Not found");
  });
});

describe("commands", () => {
  const browser = useOnePage();
  const marks = (page: TerminalPage) =>
    page.page.locator(".sbx-command-mark").evaluateAll((all) => all.map((mark) => (mark as HTMLElement).dataset.state));

  test("have marks in the margin, in the state they are in, and a title that says how far they are", async () => {
    const page = await browser.blank();
    const process = browser.server.process("main");
    await page.type("");
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    await page.page.getByText("This shell has no shell integration").waitFor();
    process.print(`${command("true", "", 0)}${command("false", "out\r\n", 3)}`);
    process.print("\x1b]133;A\x07$ \x1b]133;B\x07sleep\r\n\x1b]133;C\x07end\r\n");
    await page.shows("end");
    await expect.poll(() => marks(page)).toEqual(["good", "bad", "running"]);
    const [mark, text] = await Promise.all(
      [".sbx-command-mark", ".xterm-rows"].map((each) => page.page.locator(each).first().boundingBox()),
    );
    expect((mark?.x ?? 0) + (mark?.width ?? 0)).toBeLessThanOrEqual(text?.x ?? 0);
    expect(await page.page.locator(".sbx-command-mark").nth(1).getAttribute("title")).toMatch(/^Exit 3/);
    process.print("\x1b]9;4;1;40\x07");
    await expect.poll(() => page.page.title()).toBe("40% main");
    process.print("\x1b]9;4;2\x07");
    await expect.poll(() => page.page.title()).toBe("✗ 40% main");
    process.print("\x1b]133;D;1\x07");
    await expect.poll(() => page.page.title()).toBe("main");
  });

  test("are gone back to one by one, and the bottom is a key or a button away", async () => {
    const page = await browser.blank();
    const process = browser.server.process("main");
    process.print(`${command("one", lines(0, 100, "a"), 0)}${command("two", lines(0, 100, "b"), 0)}end\r\n`);
    await page.shows("end");
    await page.type("");
    const top = async () => (await page.rows())[0];
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    await expect.poll(top).toBe("$ two");
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    await expect.poll(top).toBe("$ one");
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    await page.page.getByText("This is the first command in the scrollback").waitFor();
    await page.page.keyboard.press("Control+Shift+ArrowDown");
    await expect.poll(top).toBe("$ two");
    await page.button("↓ Newest");
    await page.shows("end");
    await page.page.locator(".sbx-to-bottom").waitFor({ state: "detached" });
    expect(process.typed).toBe("");
  });

  test("keep their line above their output, which is copied with it and run again at the prompt alone", async () => {
    const page = await browser.blank();
    await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const clipboard = () => page.page.evaluate(() => navigator.clipboard.readText());
    const process = browser.server.process("main");
    process.print(`\x1b]133;A\x07$ \x1b]133;B\x07make\r\n\x1b]633;E;make -j8\x07\x1b]133;C\x07${lines(0, 60, "b")}`);
    const block = page.page.getByRole("group", { name: "Command make -j8" });
    await block.getByText("running").waitFor();
    await block.getByRole("button", { name: "Run again" }).click();
    await page.page.getByText("The shell is busy").waitFor();
    process.print("\x1b]133;D;2\x07\x1b]133;A\x07$ \x1b]133;B\x07");
    await block.getByText("exit 2").waitFor();
    await block.getByRole("button", { name: "Copy command" }).click();
    await expect.poll(clipboard).toBe("make -j8");
    await block.getByRole("button", { name: "Copy output" }).click();
    await expect.poll(clipboard).toBe(lines(0, 60, "b").trimEnd().replaceAll("\r", ""));
    expect(process.typed).toBe("");
    await block.getByRole("button", { name: "Run again" }).click();
    await expect.poll(() => process.typed).toBe("make -j8\r");
    process.print(`make -j8\r\n\x1b]133;C\x07done\r\n\x1b]133;D;0\x07${lines(0, 80, "c")}`);
    await page.shows("c 79");
    await block.waitFor({ state: "detached" });
  });

  test("have their output copied: the last one's, that of the one gone to, and that of a mark", async () => {
    const page = await browser.blank();
    await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const clipboard = () => page.page.evaluate(() => navigator.clipboard.readText());
    const process = browser.server.process("main");
    const wide = "w".repeat(300);
    process.print(`${command("one", `${wide}\r\nend of one\r\n`, 0)}${command("two", lines(0, 60, "b"), 1)}`);
    process.print("\x1b]133;A\x07$ \x1b]133;B\x07");
    await page.shows("b 59");
    await page.type("");
    await page.page.keyboard.press("Control+Shift+Y");
    await page.page.getByText("Copied 60 lines of output").waitFor();
    expect(await clipboard()).toBe(lines(0, 60, "b").trimEnd().replaceAll("\r", ""));
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    await page.page.keyboard.press("Control+Shift+Y");
    await page.page.getByText("Copied 2 lines of output").waitFor();
    expect(await clipboard()).toBe(`${wide}\nend of one`);
    expect(process.typed).toBe("");
  });

  test("are gone to while all are in view: each is framed and is the one whose output is copied, until a key is typed", async () => {
    const page = await browser.blank();
    await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const process = browser.server.process("main");
    process.print(["one", "two", "three"].map((name) => command(name, `out of ${name}\r\n`, 0)).join(""));
    process.print("\x1b]133;A\x07$ \x1b]133;B\x07");
    await page.shows("out of three");
    await page.type("");
    const copies = async (steps: string, copied: string) => {
      for (const step of steps) await page.page.keyboard.press(`Control+Shift+Arrow${step === "u" ? "Up" : "Down"}`);
      await page.page.keyboard.press("Control+Shift+Y");
      await page.page.getByText("Copied 1 line of output").waitFor();
      await expect.poll(() => page.page.evaluate(() => navigator.clipboard.readText())).toBe(copied);
    };
    await copies("uu", "out of two");
    await page.page.locator(".sbx-command-chosen").waitFor();
    await copies("u", "out of one");
    await copies("d", "out of two");
    await page.type("x");
    await page.page.locator(".sbx-command-chosen").waitFor({ state: "detached" });
    await copies("", "out of three");
  });

  test("are told to a screen reader as they end, with their exit status, and not again by a replay", async () => {
    const page = await browser.blank();
    const process = browser.server.process("main");
    const announced = () => page.page.locator(".sbx-announced").textContent();
    process.print(`${command("ls", "end\r\n", 0)}`);
    await page.shows("end");
    expect(await announced()).toBe("");
    await page.button("Reader");
    process.print(`${command("make test", "out\r\n", 2)}`);
    await expect.poll(announced).toBe("make test: exit 2");
    process.print(`${command("true", "", 0)}`);
    await expect.poll(announced).toBe("true: exit 0");
    await page.page.reload();
    await page.state("attached");
    await page.shows("$ true");
    expect(await announced()).toBe("");
    await page.button("Reader");
  });

  test("head their own output alone: the chosen one has its buttons at its own line, and both stay in the frame", async () => {
    const page = await browser.blank();
    await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    browser.server
      .process("main")
      .print(`${command(`seq ${"9".repeat(300)}`, lines(0, 60, "s"), 0)}${command("ls", "file\r\n", 0)}`);
    await page.shows("file");
    await page.type("");
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    const [head, chosen] = ["Command seq", "Command ls"].map((name) => page.page.getByRole("group", { name }));
    if (head === undefined || chosen === undefined) throw new Error("Cannot find the commands");
    await chosen.getByRole("button", { name: "Copy output" }).click();
    await expect.poll(() => page.page.evaluate(() => navigator.clipboard.readText())).toBe("file");
    const boxes = () =>
      page.page.evaluate(() => {
        const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
        const { top, left, right, height } = box(".xterm-screen");
        const rows = Number(document.querySelector<HTMLElement>(".sbx-terminal")?.dataset.rows);
        const [head, own, line, icon] = [
          ".sbx-block",
          '[data-chosen="true"]',
          ".sbx-command-chosen",
          ".sbx-block svg",
        ].map(box);
        const middle = (of = new DOMRect()) => of.top + of.height / 2;
        return {
          // The bar ends where a row ends.
          cut: ((head?.bottom ?? 0) - top) % (height / rows),
          from: left - (head?.left ?? 0),
          isInside: (head?.right ?? 0) <= right + 1,
          // How far the icons are off the bar's middle, and the chosen command's buttons off its line.
          off: [middle(icon) - middle(head), middle(own) - middle(line)].map(Math.abs).map(Math.floor),
        };
      });
    await expect.poll(boxes).toEqual({ cut: 0, from: 8, isInside: true, off: [0, 0] });
    const small = await browser.attached(MAIN, { width: 420, height: 480 });
    await page.waitForData("framed", "true");
    await page.page.keyboard.press("Control+Shift+ArrowUp");
    await page.page.keyboard.press("Control+Shift+ArrowDown");
    await expect.poll(boxes).toEqual({ cut: 0, from: 7, isInside: true, off: [0, 0] });
    await small.state("attached");
    // The bar is dimmed like the terminal.
    await page.page.locator(".sbx-terminal").evaluate((terminal) => terminal.setAttribute("data-state", "waiting"));
    const shade = () => page.page.locator(".sbx-block-line").evaluate((line) => getComputedStyle(line).opacity);
    await expect.poll(shade).toBe("0.55");
  });
});

describe("what is said to be noticed", () => {
  const browser = useBrowser();

  test("a bell flashes, and sounds where a person wants it to; a replay's does neither", async () => {
    const page = await browser.open();
    await page.page.addInitScript(() => {
      const bells: string[] = [];
      Object.assign(window, { bells });
      const { animate } = Element.prototype;
      Element.prototype.animate = function (...given) {
        bells.push("flash");
        return animate.apply(this, given);
      };
      const { start } = OscillatorNode.prototype;
      OscillatorNode.prototype.start = function (...given) {
        bells.push("tone");
        start.apply(this, given);
      };
    });
    const process = browser.server.process("main");
    const bells = async (chosen: object, mark: string) => {
      await page.page.evaluate((text) => localStorage.setItem("sbx.preferences", text), JSON.stringify(chosen));
      await page.page.reload();
      await page.state("attached");
      process.print(`\x07${mark}\r\n`);
      await page.shows(mark);
      return page.page.evaluate(() => (window as unknown as { bells: string[] }).bells.sort());
    };
    expect(await bells({}, "first")).toEqual(["flash"]);
    expect(await bells({ bellSounds: true }, "second")).toEqual(["flash", "tone"]);
    expect(await bells({ bellFlashes: false }, "third")).toEqual([]);
  });

  test("a notice comes while nobody looks, if it is wanted: of the program, and not of a replay", async () => {
    const page = await browser.open();
    await page.page.context().grantPermissions(["notifications"]);
    await page.page.addInitScript(() => {
      localStorage.setItem("sbx.preferences", JSON.stringify({ programsNotify: true }));
      const told: string[] = [];
      Object.assign(window, { told });
      Object.defineProperty(document, "hasFocus", { value: () => false });
      class Told {
        static readonly permission = "granted";
        onclick: unknown;
        constructor(title: string, { body }: { body: string }) {
          told.push(`${title}: ${body}`);
        }
      }
      Object.assign(window, { Notification: Told });
    });
    await page.state("attached");
    const process = browser.server.process("main");
    process.print("\x1b]777;notify;Old;news\x07there\r\n");
    await page.shows("there");
    await page.page.reload();
    await page.state("attached");
    await page.shows("there");
    process.print("\x1b]9;Build done\x07\x1b]777;notify;Tests;3 failed\x07\x1b]9;4;1;50\x07next\r\n");
    await page.shows("next");
    expect(await page.page.evaluate(() => (window as unknown as { told: string[] }).told)).toEqual([
      "Message from a program: Build done",
      "Tests: 3 failed",
    ]);
  });

  test("a scroll bar without marks covers no part of a letter", async () => {
    const page = await browser.attached();
    const covered = () =>
      page.page.locator(".xterm-decoration-overview-ruler").evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
        return data?.some((value) => value > 0);
      });
    await expect.poll(covered).toBe(false);
  });
});

describe("a key", () => {
  const browser = useBrowser();

  test("asks for no frame of its own, and the cursor stands still meanwhile: its echo would wait for a frame", async () => {
    const page = await browser.attached("/?session=main&debug=1&renderer=dom");
    const process = browser.server.process("main");
    await page.type("a");
    await expect.poll(() => process.typed).toBe("a");
    await page.page.evaluate(() => {
      const ask = window.requestAnimationFrame;
      window.requestAnimationFrame = (callback) => {
        document.body.dataset.frames = `${document.body.dataset.frames ?? ""}x`;
        return ask(callback);
      };
    });
    await page.page.keyboard.press("b");
    await expect.poll(() => process.typed).toBe("ab");
    expect(await page.page.locator("body").getAttribute("data-frames")).toBeNull();
    // What blinks delays an echo by a frame: the cursor stands still while a person types, and blinks again.
    await page.page.emulateMedia({ reducedMotion: "no-preference" });
    await page.page.locator(".xterm-cursor-blink").waitFor();
    const blinking = () => page.page.evaluate(() => document.getAnimations().length);
    await expect.poll(blinking).toBe(1);
    // Again after a second in which this machine did something else.
    await expect.poll(() => page.type("c").then(blinking)).toBe(0);
    await expect.poll(blinking).toBe(1);
  });
});
