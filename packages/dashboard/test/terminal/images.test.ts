// Images in the output, in a real browser under the Worker's policy: sixel and iTerm2's, whose decoder comes with the first one.

import { expect, test } from "vitest";
import { MAX_IMAGE_LENGTH } from "../../src/terminal/images.ts";
import type { TerminalPage } from "../browser.ts";
import { useOnePage } from "../fixture.ts";

const browser = useOnePage();

/** Twelve red pixels by six. */
const SIXEL = '\x1bPq"1;1;12;6#1;2;100;0;0#1!12~\x1b\\';
/** A pixel of half-transparent green, drawn over two cells by one. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const iterm = (base64: string, size = Buffer.from(base64, "base64").length) =>
  `\x1b]1337;File=inline=1;size=${size};width=2;height=1:${base64}\x07`;

const addons = (page: TerminalPage) =>
  page.page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .map(({ name }) => name)
      .filter((name) => name.includes("addon-image")),
  );

/** The colour of the pixel there in what is drawn over the cells; transparent where nothing is. */
const colourAt = (page: TerminalPage, x: number, y: number) =>
  page.page.evaluate(
    ([x = 0, y = 0]) => {
      const canvas = document.querySelector<HTMLCanvasElement>("canvas.xterm-image-layer-top");
      return [...(canvas?.getContext("2d")?.getImageData(x, y, 1, 1).data ?? [])].join();
    },
    [x, y],
  );

test("an image is drawn, its code comes with it, and what follows in the output waits for both", async () => {
  const page = await browser.blank();
  expect(await addons(page)).toEqual([]);
  browser.server.process("main").print(`${SIXEL}\r\nafter\r\n`);
  await page.shows("after");
  await expect.poll(() => colourAt(page, 2, 2)).toBe("255,0,0,255");
  expect((await addons(page)).length).toBe(1);
  await page.page.reload();
  await page.shows("after");
  await expect.poll(() => colourAt(page, 2, 2)).toBe("255,0,0,255");
});

test("iTerm2's are drawn too; one that is none, or too long, is nothing, and breaks nothing", async () => {
  const page = await browser.blank();
  const process = browser.server.process("main");
  process.print(`${iterm(Buffer.from("no picture").toString("base64"))}${iterm(PNG.slice(0, 60), 70)}`);
  process.print(`${iterm("A".repeat(MAX_IMAGE_LENGTH))}\x1bPq"1;1;99999;99999~\x1b\\`);
  process.print(`\x1b[H\x1b[2J${iterm(PNG)}\r\nafter\r\n`);
  await page.shows("after");
  await expect.poll(() => colourAt(page, 2, 2)).toBe("0,255,0,127");
});

test("queries about images are answered by the page that answers, before and after the first image", async () => {
  const page = await browser.blank();
  const process = browser.server.process("main");
  const [width, height] = await page.page.evaluate(() => {
    const screen = document.querySelector<HTMLElement>(".xterm-screen");
    return [screen?.offsetWidth, screen?.offsetHeight];
  });
  const answers = `\x1b[?62;4;9;22c\x1b[?1;0;256S\x1b[?2;0;${width};${height}S\x1b[?1;2S`;
  const queries = "\x1b[c\x1b[?1;1;0S\x1b[?2;1;0S\x1b[?1;3;1024S\x1b[?2147483647S\x1b[?S";
  process.print(queries);
  await expect.poll(() => process.typed).toBe(answers);
  process.print(`${SIXEL}${queries}`);
  await expect.poll(() => process.typed).toBe(answers + answers);
  // A replay types nothing, with the addon there.
  await page.page.reload();
  await page.state("attached");
  await page.type("x");
  await expect.poll(() => process.typed).toBe(`${answers}${answers}x`);
});
