// A phone: fingers on the terminal, and the keys that its keyboard lacks. Chromium's emulation of a phone, with touches.

import { expect, test } from "vitest";
import { NO_MODIFIERS, withModifiers } from "../../src/ui/modifiers.ts";
import type { TerminalPage } from "../browser.ts";
import { MAIN, useOnePage } from "../fixture.ts";

const PHONE = { width: 360, height: 640 };
const TOUCH = { hasTouch: true, isMobile: true };
const browser = useOnePage(MAIN, PHONE, TOUCH);

/** A finger that goes from row to row, down on the glass all the way. */
async function drag(
  page: TerminalPage,
  from: readonly [x: number, y: number],
  to: readonly [x: number, y: number],
  restMs = 0,
) {
  const client = await page.page.context().newCDPSession(page.page);
  const startedAt = Date.now() / 1_000;
  // Without a rest, a quick finger's times, however slowly a busy machine gets them here.
  const send = (
    type: "touchStart" | "touchMove" | "touchEnd",
    points: readonly (readonly [number, number])[],
    at = 0,
  ) =>
    client.send("Input.dispatchTouchEvent", {
      ...{ type, touchPoints: points.map(([x, y]) => ({ x, y })) },
      ...(restMs === 0 && { timestamp: startedAt + at }),
    });
  await send("touchStart", [from]);
  if (restMs > 0)
    await page.page.waitForFunction(
      () => getSelection()?.type !== undefined && document.querySelector(".xterm-selection > div"),
    );
  for (let step = 1; step <= 5; step += 1) {
    const point = [from[0] + ((to[0] - from[0]) * step) / 5, from[1] + ((to[1] - from[1]) * step) / 5] as const;
    await send("touchMove", [point], step / 50);
  }
  await send("touchEnd", [], 0.2);
}

test("a finger scrolls the lines that were, and what a program shows in full screen with the keys of a wheel", async () => {
  // The terminal scrolls on after the finger has gone, so no other test has this page.
  const page = await browser.open("/?session=fingers&renderer=dom", PHONE, TOUCH);
  await page.state("attached");
  const process = browser.server.process("fingers");
  process.print(Array.from({ length: 200 }, (_, i) => `line ${i}\r\n`).join(""));
  await page.shows("line 199");
  await drag(page, [150, 150], [150, 450]);
  await expect.poll(async () => (await page.rows()).includes("line 199")).toBe(false);
  await drag(page, [150, 450], [150, 100]);
  await page.shows("line 199");
  expect(process.typed).toBe("");
  process.print("\x1b[?1049h\x1b[Hfull screen");
  await page.shows("full screen");
  await drag(page, [150, 400], [150, 100]);
  await expect.poll(() => process.typed.length).toBeGreaterThan(0);
  expect(process.typed.replaceAll("\x1b[B", "").replaceAll("\x1bOB", "")).toBe("");
});

test("an upright phone shows Escape, Tab, Ctrl and the arrows; the others begin where it fades", async () => {
  const page = await browser.blank();
  const keys = page.page.getByRole("toolbar", { name: "Keys" });
  const seen = await keys.getByRole("button").evaluateAll((all, width) => {
    const isWhole = (key: Element) => key.getBoundingClientRect().right <= width;
    return all.filter(isWhole).map((key) => key.textContent);
  }, PHONE.width);
  expect(seen).toEqual(["Esc", "Tab", "Ctrl", "↑", "↓", "←", "→"]);
  /** What the last pixels of the row show over the key there: the fade, or nothing at the row's end. */
  const last = () =>
    keys.evaluate((row) => {
      const box = [...row.querySelectorAll("button")].at(-1)?.getBoundingClientRect();
      return (box?.right ?? 0) <= row.getBoundingClientRect().right - 16;
    });
  expect(await last()).toBe(false);
  await keys.evaluate((row) => row.scrollTo({ left: row.scrollWidth }));
  expect(await last()).toBe(true);
  for (const name of ["/, slash", "|, vertical bar", "-, hyphen", "~, tilde"]) await page.button(name);
  await expect.poll(() => browser.server.process("main").typed).toBe("/|-~");
});

test("a viewer's phone shows the larger terminal in a size that can be read; fingers pan and zoom", async () => {
  const shared = "/?session=shared&renderer=dom";
  const wide = await browser.attached(shared, { width: 1200, height: 700 });
  browser.server.process("shared").print("\x1b[3;120Hfar right\x1b[H");
  const page = await browser.open(`${shared}&role=viewer`, PHONE, TOUCH);
  await page.waitForData("framed", "true");
  const at = () =>
    page.page.locator(".sbx-stage").evaluate((stage) => {
      const rows = stage.querySelector(".xterm-rows");
      return { left: stage.scrollLeft, font: rows === null ? 0 : Number.parseFloat(getComputedStyle(rows).fontSize) };
    });
  await expect.poll(async () => (await at()).font).toBeGreaterThan(10.5);
  await drag(page, [300, 300], [60, 300]);
  await expect.poll(async () => (await at()).left).toBeGreaterThan(200);
  const client = await page.page.context().newCDPSession(page.page);
  const pinch = async (from: number, to: number) => {
    const points = (apart: number) => [180 - apart, 180 + apart].map((x, id) => ({ x, y: 300, id }));
    await client.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(from) });
    await client.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(to) });
    await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  };
  await pinch(100, 40);
  await expect.poll(async () => (await at()).font).toBeLessThan(6);
  await pinch(20, 120);
  await expect.poll(async () => (await at()).font).toBe(14);
  expect(await wide.data("cols")).toBe(await page.data("cols"));
});

test("a long press selects a word and more, which is copied at a press", async () => {
  const page = await browser.blank();
  await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  browser.server.process("main").print("take these words away\r\n");
  await page.shows("take these words away");
  const box = await page.page.locator(".xterm-screen").boundingBox();
  const cols = Number(await page.data("cols"));
  const at = (x: number) => [(box?.x ?? 0) + ((x + 0.5) * (box?.width ?? 0)) / cols, (box?.y ?? 0) + 8] as const;
  await drag(page, at(6), at(12), 1);
  await page.button("Copy the selection");
  await expect.poll(() => page.page.evaluate(() => navigator.clipboard.readText())).toBe("these words");
  await page.page.getByRole("button", { name: "Copy the selection" }).waitFor({ state: "detached" });
  await page.button("Paste");
  await expect.poll(() => browser.server.process("main").typed).toBe("these words");
});

test("keys are as large as fingers, stay on the screen, and Ctrl and Alt stay for one key", async () => {
  const page = await browser.blank();
  const keys = page.page.getByRole("toolbar", { name: "Keys" }).getByRole("button");
  const sizes = await keys.evaluateAll((all) =>
    all.map((key) => key.getBoundingClientRect()).map(({ width, height }) => [width, height]),
  );
  expect(sizes.length).toBeGreaterThan(12);
  expect(sizes.every(([width = 0, height = 0]) => width >= 44 && height >= 44)).toBe(true);
  expect(await page.page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  await page.page.locator(".xterm-helper-textarea").focus();
  await page.button("Ctrl, for the next key");
  await page.page.keyboard.type("ab");
  await page.button("Alt, for the next key");
  await page.button("Left");
  await page.button("PgUp, page up");
  await expect.poll(() => browser.server.process("main").typed).toBe("\x01b\x1b[1;3D\x1b[5~");
});

test.each([
  ["c", true, false, "\x03"],
  ["C", true, false, "\x03"],
  [" ", true, false, "\0"],
  ["[", true, false, "\x1b"],
  ["1", true, false, "1"],
  ["x", false, true, "\x1bx"],
  ["x", true, true, "\x1b\x18"],
  ["\x1b[A", true, false, "\x1b[1;5A"],
  ["\x1bOA", false, true, "\x1b[1;3A"],
  ["\x1b[5~", true, true, "\x1b[5;7~"],
  ["two", true, true, "two"],
])("%j with Ctrl %j and Alt %j is %j", (key, isControl, isAlt, sent) => {
  expect(withModifiers(key, { isControl, isAlt })).toBe(sent);
  expect(withModifiers(key, NO_MODIFIERS)).toBe(key);
});
