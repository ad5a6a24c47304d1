// Text of an input method before it is committed, as Chinese, Japanese and Korean are typed.

import type { CDPSession } from "playwright-core";
import { expect, test } from "vitest";
import { useOnePage } from "../fixture.ts";

const browser = useOnePage(undefined, undefined, { colorScheme: "light" });

test("is shown at the cursor in the terminal's type and colours, and typed once when it is committed", async () => {
  const page = await browser.blank();
  const process = browser.server.process("main");
  process.print("type: ");
  await page.shows("type:");
  await page.page.locator(".xterm-helper-textarea").focus();
  const client = await page.page.context().newCDPSession(page.page);
  await client.send("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
  const preview = page.page.locator(".composition-view.active");
  await preview.filter({ hasText: "にほ" }).waitFor();
  const look = await preview.evaluate((view) => {
    const { color, backgroundColor, fontSize, textDecorationLine } = getComputedStyle(view);
    const rows = document.querySelector(".xterm-rows");
    const screen = document.querySelector(".xterm-screen")?.getBoundingClientRect();
    const { left, top, width } = view.getBoundingClientRect();
    const cell = (screen?.width ?? 0) / Number(document.querySelector<HTMLElement>(".sbx-terminal")?.dataset.cols);
    return {
      colours: [color, backgroundColor],
      isOfTheRows: rows !== null && fontSize === getComputedStyle(rows).fontSize,
      column: Math.round((left - (screen?.left ?? 0)) / cell),
      row: Math.round(top - (screen?.top ?? 0)),
      // How wide its characters are is up to the fonts of the machine.
      isSeen: width > cell,
      textDecorationLine,
    };
  });
  expect(look).toEqual({
    colours: ["rgb(30, 32, 38)", "rgb(255, 255, 255)"],
    isOfTheRows: true,
    column: 6,
    row: 0,
    isSeen: true,
    textDecorationLine: "underline",
  });
  expect(process.typed).toBe("");
  await client.send("Input.insertText", { text: "日本" });
  await expect.poll(() => process.typed).toBe("日本");
  await page.page.keyboard.type("!");
  await expect.poll(() => process.typed).toBe("日本!");
  expect(await page.page.locator(".composition-view.active").count()).toBe(0);
});

/** What the browser itself does where an input method looks at a key. */
class Method {
  readonly #client: CDPSession;

  constructor(client: CDPSession) {
    this.#client = client;
  }

  /** A key that it has looked at. `modifiers`: 1 Alt, 2 Ctrl, 8 Shift. */
  async press(key: string, code: string, modifiers = 0, windowsVirtualKeyCode = 229): Promise<void> {
    const event = { key, code, modifiers, windowsVirtualKeyCode };
    await Promise.all([
      this.#client.send("Input.dispatchKeyEvent", { ...event, type: "rawKeyDown" }),
      this.#client.send("Input.dispatchKeyEvent", { ...event, type: "keyUp" }),
    ]);
  }

  /** A key by which it writes at once. Nothing is waited for in between, as a fast typist does not. */
  async write(text: string): Promise<void> {
    const event = { key: text, windowsVirtualKeyCode: 229 };
    await Promise.all([
      this.#client.send("Input.dispatchKeyEvent", { ...event, type: "rawKeyDown" }),
      this.#client.send("Input.insertText", { text }),
      this.#client.send("Input.dispatchKeyEvent", { ...event, type: "keyUp" }),
    ]);
  }

  async compose(text: string): Promise<void> {
    await this.#client.send("Input.imeSetComposition", {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    });
  }

  async commit(text: string): Promise<void> {
    await this.#client.send("Input.insertText", { text });
  }
}

/** What a method does, by what it shows, and what the process is sent. Another key follows each. */
const DONE: readonly (readonly [string, (method: Method) => Promise<unknown>, string])[] = [
  [
    "a composition that is given up writes nothing",
    async (method) => {
      await method.compose("に");
      await method.compose("");
    },
    "",
  ],
  [
    "letters that it writes at once come in order, however fast",
    (method) => Promise.all([..."the quick brown fox, aabbccdd 1223"].map((letter) => method.write(letter))),
    "the quick brown fox, aabbccdd 1223",
  ],
  [
    "what is written right after a composition is neither lost nor written twice",
    (method) =>
      Promise.all([
        ...[method.compose("ㅎ"), method.compose("하"), method.compose("한"), method.commit("한"), method.write("1")],
        ...[method.compose("ㄱ"), method.compose("그"), method.commit("그"), method.write(".")],
      ]),
    "한1그.",
  ],
  [
    "while something is composed the keys that the method looks at are its own",
    async (method) => {
      await method.compose("に");
      for (const key of ["Escape", "Enter", "ArrowDown", "Backspace"]) await method.press(key, key);
      await method.press("c", "KeyC", 2);
      await method.commit("日");
    },
    "日",
  ],
  [
    "a key that the method does not use comes behind what is composed, which is written once",
    async (method) => {
      await method.compose("日本");
      await method.press("ArrowLeft", "ArrowLeft", 0, 37);
    },
    "日本\x1b[D",
  ],
];

test("each key of a method is sent once: those that it has looked at and not used, those that it writes, those after a composition", async () => {
  const page = await browser.blank();
  await page.page.locator(".xterm-helper-textarea").focus();
  const method = new Method(await page.page.context().newCDPSession(page.page));
  const process = browser.server.process("main");
  // Also where it hides which they are.
  const keys: readonly (readonly [string, string, number, string])[] = [
    ["c", "KeyC", 2, "\x03"],
    ["Process", "KeyC", 2, "\x03"],
    // On a Korean keyboard.
    ["ㅊ", "KeyC", 2, "\x03"],
    ["Escape", "Escape", 0, "\x1b"],
    ["Process", "Escape", 0, "\x1b"],
    [" ", "Space", 2, "\0"],
    ["Process", "Space", 2, "\0"],
    ["[", "BracketLeft", 2, "\x1b"],
    ["Enter", "Enter", 0, "\r"],
    ["Backspace", "Backspace", 0, "\x7f"],
    ["ArrowUp", "ArrowUp", 0, "\x1b[A"],
    ["F5", "F5", 0, "\x1b[15~"],
  ];
  let before = "";
  for (const [what, does, sent] of DONE) {
    await does(method);
    await method.write("!");
    await expect.poll(() => process.typed.slice(before.length), { message: what }).toMatch(/!$/);
    expect(process.typed.slice(before.length), what).toBe(`${sent}!`);
    before = process.typed;
    expect(await page.page.locator(".composition-view.active").count(), what).toBe(0);
  }
  for (const [key, code, modifiers] of keys) await method.press(key, code, modifiers);
  await method.write("!");
  const sent = `${keys.map(([, , , bytes]) => bytes).join("")}!`;
  await expect.poll(() => process.typed.slice(before.length)).toBe(sent);
});

test.each(["off", "on"])(
  "with Reader %s, text without a key is sent, as of emoji and dictation, and text of keys once",
  async (reader) => {
    const page = await browser.blank();
    const { keyboard } = page.page;
    if (reader === "on") await page.button("Reader");
    await page.page.locator(".xterm-helper-textarea").focus();
    const method = new Method(await page.page.context().newCDPSession(page.page));
    const process = browser.server.process("main");
    await keyboard.insertText("😀");
    await keyboard.type("aB~ ");
    // Said to the microphone while a key is down.
    await keyboard.down("Shift");
    await keyboard.insertText("é");
    await keyboard.up("Shift");
    await keyboard.down("x");
    await keyboard.insertText("日本");
    await keyboard.up("x");
    await keyboard.press("Enter");
    await keyboard.insertText("one two");
    await keyboard.press("Backspace");
    await method.compose("に");
    await method.commit("荷");
    await keyboard.insertText("👩‍💻");
    await method.write("k");
    await method.press("Backspace", "Backspace");
    await keyboard.insertText("ü");
    await keyboard.type("Z!");
    await expect.poll(() => process.typed).toMatch(/!$/);
    expect(process.typed).toBe("😀aB~ éx日本\rone two\x7f荷👩‍💻k\x7füZ!");
  },
);
