// Text of an input method before it is committed, as Chinese, Japanese and Korean are typed.

import type { CDPSession } from "playwright-core";
import { expect, test } from "vitest";
import { MAIN, useBrowser } from "../fixture.ts";

const browser = useBrowser();

test.each(["dark", "light"] as const)(
  "%s: is shown at the cursor in the terminal's type and colours, and typed once when it is committed",
  async (scheme) => {
    const page = await browser.open(MAIN, undefined, { colorScheme: scheme });
    await page.state("attached");
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
    const colours = {
      dark: ["rgb(213, 213, 227)", "rgb(26, 26, 46)"],
      light: ["rgb(38, 38, 60)", "rgb(251, 251, 254)"],
    }[scheme];
    expect(look).toEqual({
      colours,
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
  },
);

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

async function typing() {
  const page = await browser.attached();
  await page.page.locator(".xterm-helper-textarea").focus();
  const method = new Method(await page.page.context().newCDPSession(page.page));
  return { method, page, process: browser.server.process("main") };
}

test("keys that an input method has looked at and not used are sent, once, also where it hides which they are", async () => {
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
  const { method, process } = await typing();
  for (const [key, code, modifiers] of keys) await method.press(key, code, modifiers);
  await method.write("!");
  await expect.poll(() => process.typed).toContain("!");
  expect(process.typed).toBe(`${keys.map(([, , , bytes]) => bytes).join("")}!`);
});

test("letters that an input method writes at once come in order, none lost and none twice, however fast", async () => {
  const { method, process } = await typing();
  const text = "the quick brown fox, aabbccdd 1223";
  await Promise.all([...text].map((letter) => method.write(letter)));
  await method.write("!");
  await expect.poll(() => process.typed).toContain("!");
  expect(process.typed).toBe(`${text}!`);
});

test("what is written right after a composition is neither lost nor written twice", async () => {
  const { method, process } = await typing();
  await Promise.all([
    ...[method.compose("ㅎ"), method.compose("하"), method.compose("한"), method.commit("한"), method.write("1")],
    ...[method.compose("ㄱ"), method.compose("그"), method.commit("그"), method.write("."), method.write("!")],
  ]);
  await expect.poll(() => process.typed).toContain("!");
  expect(process.typed).toBe("한1그.!");
});

test("while something is composed the keys that the method looks at are its own", async () => {
  const { method, process } = await typing();
  await method.compose("に");
  for (const key of ["Escape", "Enter", "ArrowDown", "Backspace"]) await method.press(key, key);
  await method.press("c", "KeyC", 2);
  await method.commit("日");
  await method.write("!");
  await expect.poll(() => process.typed).toContain("!");
  expect(process.typed).toBe("日!");
});

test("a key that the method does not use comes behind what is composed, which is written once", async () => {
  const { method, process } = await typing();
  await method.compose("日本");
  await method.press("ArrowLeft", "ArrowLeft", 0, 37);
  await method.write("!");
  await expect.poll(() => process.typed).toContain("!");
  expect(process.typed).toBe("日本\x1b[D!");
});

test("a composition that is given up writes nothing, and nothing of it is shown any more", async () => {
  const { method, page, process } = await typing();
  await method.compose("に");
  await method.compose("");
  await method.write("!");
  await expect.poll(() => process.typed).toContain("!");
  expect([process.typed, await page.page.locator(".composition-view.active").count()]).toEqual(["!", 0]);
});
