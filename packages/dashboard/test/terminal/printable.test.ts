// Each printable character leaves its ink in its own cell, at every size: an underscore below the row would be invisible.
// `PRINTABLE=whole` (test:long) tries all fonts, sizes and densities.

import { inflateSync } from "node:zlib";
import type { Terminal } from "@xterm/xterm";
import { describe, expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { useBrowser } from "../fixture.ts";

const PRINTABLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i));
const PER_ROW = PRINTABLE.length / 2;
const isWhole = process.env.PRINTABLE === "whole";
const SIZES = isWhole ? [10, 11, 12, 13, 14, 15, 16, 18, 20] : [10, 14];
/** Where fonts are missing the browser draws in another, which is tried as well. */
const FONTS = isWhole ? ["DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono"] : ["DejaVu Sans Mono"];

/** The pixels of a screenshot, as RGB. Chromium writes 8 bits without interlacing. */
function pixels(png: Buffer): { width: number; channels: number; at: (x: number, y: number) => number[] } {
  const width = png.readUInt32BE(16);
  const channels = png[25] === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  for (let row = 0; row < png.readUInt32BE(20); row += 1) unfilter(raw, row * (stride + 1), stride, channels);
  const at = (x: number, y: number) => {
    const from = y * (stride + 1) + 1 + x * channels;
    return [...raw.subarray(from, from + 3)];
  };
  return { width, channels, at };
}

/** Undoes one row's filter (PNG 9.2), in place. */
function unfilter(raw: Buffer, start: number, stride: number, channels: number): void {
  const filter = raw[start];
  for (let x = 0; x < stride; x += 1) {
    const at = start + 1 + x;
    const left = x < channels ? 0 : (raw[at - channels] ?? 0);
    const up = start === 0 ? 0 : (raw[at - stride - 1] ?? 0);
    const corner = x < channels || start === 0 ? 0 : (raw[at - stride - 1 - channels] ?? 0);
    const nearest = [left, up, corner].reduce((best, one) =>
      Math.abs(left + up - corner - one) < Math.abs(left + up - corner - best) ? one : best,
    );
    const before = [0, left, up, (left + up) >> 1, nearest][filter ?? 0] ?? 0;
    raw[at] = ((raw[at] ?? 0) + before) & 255;
  }
}

type Shot = ReturnType<typeof pixels>;
type Cell = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

/** The strongest difference to the paper in a cell, and two pixels below, where WebGL may draw as well. */
function inkIn(shot: Shot, { left, top, width, height }: Cell, paper: readonly number[]): number {
  let ink = 0;
  for (let y = Math.round(top); y < top + height + 2; y += 1) {
    for (let x = Math.round(left); x < left + Math.floor(width); x += 1) {
      ink = Math.max(ink, ...shot.at(x, y).map((part, i) => Math.abs(part - (paper[i] ?? 0))));
    }
  }
  return ink;
}

/** Sets the font, and waits until it is drawn: in the frame after the next one at the latest. */
async function draw({ page }: TerminalPage, family: string, size: number): Promise<void> {
  await page.evaluate(
    ({ fontFamily, fontSize }) => {
      const { sbx } = window as unknown as { sbx: { terminal: Pick<Terminal, "options" | "write"> } };
      Object.assign(sbx.terminal.options, { fontFamily, fontSize });
      return new Promise<void>((resolve) =>
        sbx.terminal.write("", () => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
      );
    },
    { fontFamily: `"${family}", monospace`, fontSize: size },
  );
}

/** The characters without ink. Between them nothing is printed, so that no letter's ink is taken for its neighbour's. */
async function unseenIn(page: TerminalPage, ratio: number): Promise<string[]> {
  const box = await page.page.locator(".xterm-screen").boundingBox();
  if (box === null) throw new Error("There is no screen");
  const width = (box.width / Number(await page.data("cols"))) * ratio;
  const height = (box.height / Number(await page.data("rows"))) * ratio;
  const shot = pixels(await page.page.screenshot());
  const cell = (row: number, column: number) => {
    return { left: box.x * ratio + width * column, top: box.y * ratio + height * row, width, height };
  };
  const beside = cell(0, 1);
  const paper = shot.at(Math.round(beside.left + width / 2), Math.round(beside.top + height / 2));
  return PRINTABLE.filter((_, i) => inkIn(shot, cell(2 * Math.floor(i / PER_ROW), 2 * (i % PER_ROW)), paper) < 60);
}

// Emulated, another ratio would leave the canvas of WebGL empty: the browser itself has to have it.
describe.each(isWhole ? [1, 1.25, 1.5, 2] : [1])("at %s pixels a point", (ratio) => {
  const browser = useBrowser(`--force-device-scale-factor=${ratio}`, "--window-size=1400,700");

  test.each(["dom", "webgl"])("%s: every printable character is seen, in each size and font", async (renderer) => {
    const page = await browser.open(`/?session=main&renderer=${renderer}&debug=1`, undefined, { viewport: null });
    await page.state("attached");
    await page.waitForData("renderer", renderer);
    const rows = [PRINTABLE.slice(0, PER_ROW), PRINTABLE.slice(PER_ROW)].map((row) => row.join(" "));
    browser.server.process("main").print(`\x1b[?25l${rows.join("\r\n\r\n")}\r\n`);
    const unseen: Record<string, string[]> = {};
    for (const family of FONTS) {
      for (const size of SIZES) {
        await draw(page, family, size);
        const found = await unseenIn(page, ratio);
        if (found.length > 0) unseen[`${family}, ${size} px`] = found;
      }
    }
    expect(unseen).toEqual({});
  });
});
