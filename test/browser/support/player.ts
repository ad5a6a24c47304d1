// The stock asciinema-player on a page of somebody's, and the cells that it shows: characters and attributes from its text, the
// background from its canvas. The same cells of stock xterm.js, to compare them with.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import headless from "@xterm/headless";
import type { BrowserContext, Page } from "playwright-core";
import type { Fixture } from "./fixture.ts";

const FOLDER = "/player/";
const BUNDLE = "asciinema-player/dist/bundle/";

/** Where, what, and how: the colours only where a program has chosen them by value. */
export type Cell = `${number},${number} ${string}`;

const PAGE = `<!doctype html>
<title>Somebody's page</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${FOLDER}asciinema-player.css">
<div id="player"></div>
<script src="${FOLDER}asciinema-player.min.js"></script>
`;

declare global {
  interface Window {
    AsciinemaPlayer: { create(source: unknown, element: HTMLElement, options?: object): StockPlayer };
    /** Set by the page below. */
    stock: { readonly player: StockPlayer; readonly events: string[] };
  }
}

type StockPlayer = {
  play(): Promise<void>;
  seek(where: number | string): Promise<void>;
  addEventListener(name: string, listener: (event?: { message?: string }) => void): void;
};

/** Watches a live session. The time between its attempts is short, for tests that cut; the rest is as it comes. */
export async function watchWith(browser: Fixture, profile: BrowserContext, url: string): Promise<Page> {
  const page = await playerPage(browser, profile);
  await page.evaluate((url) => {
    const source = { driver: "websocket", url, reconnectDelay: () => 20 };
    const player = window.AsciinemaPlayer.create(source, document.getElementById("player") as HTMLElement);
    const events: string[] = [];
    for (const name of ["playing", "ended", "offline", "loading"])
      player.addEventListener(name, (event) => events.push([name, event?.message ?? ""].join(" ").trim()));
    window.stock = { player, events };
    return player.play();
  }, url);
  return page;
}

/** Plays a recording to its end. */
export async function playWith(browser: Fixture, profile: BrowserContext, cast: string): Promise<Page> {
  const page = await playerPage(browser, profile);
  await page.evaluate(async (data) => {
    const options = { preload: true, speed: 1_000_000 };
    const player = window.AsciinemaPlayer.create({ data }, document.getElementById("player") as HTMLElement, options);
    const ended = new Promise<void>((resolve) => player.addEventListener("ended", () => resolve()));
    window.stock = { player, events: [] };
    await player.play();
    await ended;
  }, cast);
  return page;
}

async function playerPage(browser: Fixture, profile: BrowserContext): Promise<Page> {
  await profile.route(
    (url) => url.pathname.startsWith(FOLDER),
    async (route) => {
      const name = new URL(route.request().url()).pathname.slice(FOLDER.length);
      const contentType = name.endsWith(".css") ? "text/css" : "text/javascript";
      const file = fileURLToPath(import.meta.resolve(`${BUNDLE}${name}`));
      await route.fulfill({ contentType, body: await readFile(file, "utf8") });
    },
  );
  // A document that did not come from the loopback itself may not connect to it: so one that did is written over.
  const { page } = await browser.open(profile, "/healthz");
  await page.setContent(PAGE);
  await page.waitForFunction(() => "AsciinemaPlayer" in window);
  return page;
}

/** All that is not blank on the player's screen. */
export function playerCells(page: Page): Promise<Cell[]> {
  return page.evaluate(() => {
    const cells: string[] = [];
    const rows = [...document.querySelectorAll(".ap-term-text > .ap-line")];
    const canvas = document.querySelector<HTMLCanvasElement>(".ap-term canvas");
    const context = canvas?.getContext("2d");
    rows.forEach((row, y) => {
      const at = new Map<number, string>();
      for (const span of row.querySelectorAll<HTMLElement>("span")) {
        const left = Number(span.style.getPropertyValue("--offset"));
        const styles = [span.style.color.replaceAll(" ", ""), ...[...span.classList].sort()];
        [...(span.textContent ?? "")].forEach((char, n) => {
          if (char !== " ") at.set(left + n, [char, ...styles.filter((style) => style !== "")].join(" "));
        });
      }
      const columns = canvas === null ? 0 : canvas.width / 8;
      const height = canvas === null ? 0 : canvas.height / rows.length;
      for (let x = 0; x < columns; x += 1) {
        const [r, g, b, alpha] = context?.getImageData(x * 8 + 4, y * height + height / 2, 1, 1).data ?? [];
        const ground = alpha === 255 ? `on rgb(${r},${g},${b})` : "";
        const shown = [at.get(x) ?? "", ground].filter((part) => part !== "").join(" ");
        if (shown !== "") cells.push(`${x},${y} ${shown}`);
      }
    });
    return cells as `${number},${number} ${string}`[];
  });
}

/** The same of stock xterm.js that was fed with this. */
export async function xtermCells(bytes: Uint8Array, size: { cols: number; rows: number }): Promise<Cell[]> {
  const terminal = new headless.Terminal({ ...size, allowProposedApi: true });
  // The player counts the columns of an emoji as our page does.
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const cells: Cell[] = [];
  const buffer = terminal.buffer.active;
  for (let y = 0; y < terminal.rows; y += 1) {
    for (let x = 0; x < terminal.cols; x += 1) {
      const cell = buffer.getLine(buffer.baseY + y)?.getCell(x);
      if (cell === undefined || cell.getWidth() === 0) continue;
      const rgb = (value: number) => `rgb(${value >> 16},${(value >> 8) & 255},${value & 255})`;
      const char = cell.getChars().trim();
      const styles = [
        cell.isFgRGB() ? rgb(cell.getFgColor()) : "",
        ...(cell.isBold() ? ["ap-bold"] : []),
        ...(cell.isItalic() ? ["ap-italic"] : []),
        ...(cell.isUnderline() ? ["ap-underline"] : []),
      ];
      const text = char === "" ? [] : [char, ...styles];
      const shown = [...text, cell.isBgRGB() ? `on ${rgb(cell.getBgColor())}` : ""].filter((part) => part !== "");
      if (shown.length > 0) cells.push(`${x},${y} ${shown.join(" ")}`);
      // The second half of a wide character has its background.
      if (cell.getWidth() === 2 && cell.isBgRGB()) cells.push(`${x + 1},${y} on ${rgb(cell.getBgColor())}`);
    }
  }
  terminal.dispose();
  return cells;
}
