// What is drawn and what size it has, in a real browser against the real session core.

import { describe, expect, test } from "vitest";
import { type Fixture, MAIN, useBrowser } from "../fixture.ts";

const browser: Fixture = useBrowser();
const encode = (text: string) => new TextEncoder().encode(text);

describe("what is drawn", () => {
  test("colours are the theme's, bold does not change them, inverse text is the paper's, wide characters take two cells", async () => {
    const page = await browser.attached();
    const process = browser.server.process("main");
    process.print("abcd|\r\n🚀✅|\r\n日本|\r\n");
    process.print(
      "\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[0m \x1b[38;2;10;200;30mtrue\x1b[0m \x1b[7minverse\x1b[0m plain\r\n",
    );
    await page.shows("red green true inverse plain");
    const colors = await page.page.locator(".xterm-rows span").evaluateAll((spans) =>
      spans.map((span) => {
        const { color, backgroundColor } = getComputedStyle(span);
        return [span.textContent, color, backgroundColor];
      }),
    );
    const none = "rgba(0, 0, 0, 0)";
    expect(colors.filter(([text]) => /^(red|green|true|inverse)$/.test(text ?? ""))).toEqual([
      ["red", "rgb(255, 122, 144)", none],
      ["green", "rgb(126, 226, 168)", none],
      ["true", "rgb(10, 200, 30)", none],
      ["inverse", "rgb(23, 24, 28)", "rgb(227, 228, 233)"],
    ]);
    const ends = await page.page.locator(".xterm-rows > div").evaluateAll((rows) =>
      rows.slice(0, 3).map((row) => {
        const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
          const at = node.textContent?.indexOf("|") ?? -1;
          if (at < 0) continue;
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          return Math.round(range.getBoundingClientRect().left);
        }
        return -1;
      }),
    );
    expect(ends[0]).toBeGreaterThan(0);
    expect(ends).toEqual([ends[0], ends[0], ends[0]]);
    // The tests' Chromium draws no scroll bar of the emulator's own, which scrolls nothing: what it would draw is in the style.
    const viewport = page.page.locator(".xterm-viewport");
    expect(await viewport.evaluate((element) => getComputedStyle(element).overflowY)).toBe("hidden");
  });

  test("colours that a program has set outlast the change to read only and back, until it takes them back", async () => {
    browser.server.mode = "exclusive";
    const page = await browser.attached(`${MAIN}&name=Ann`);
    await browser.attached(`${MAIN}&name=Bob`);
    await page.waitForData("people", 2);
    const process = browser.server.process("main");
    process.print(
      "\x1b]4;1;#123456\x07\x1b]10;#abcdef\x07\x1b]11;#102030\x07\x1b[31mred\x1b[0m plain \x1b[32mgreen\x1b[0m\r\n",
    );
    await page.shows("red plain green");
    const colours = () =>
      page.page.locator(".xterm").evaluate((terminal) => {
        const spans = [...terminal.querySelectorAll(".xterm-rows span")];
        const of = (text: string) => spans.find((span) => span.textContent === text);
        const [red, green] = ["red", "green"].map((text) => getComputedStyle(of(text) ?? terminal).color);
        const rows = getComputedStyle(terminal.querySelector(".xterm-rows") ?? terminal).color;
        const paper = getComputedStyle(terminal.querySelector(".xterm-scrollable-element") ?? terminal).backgroundColor;
        return [red, green, rows, paper];
      });
    const set = ["rgb(18, 52, 86)", "rgb(126, 226, 168)", "rgb(171, 205, 239)", "rgb(16, 32, 48)"];
    expect(await colours()).toEqual(set);
    await page.button("Release");
    await page.waitForData("read-only", "true");
    expect(await colours()).toEqual(set);
    await page.button("Take it");
    await page.waitForData("read-only", "false");
    expect(await colours()).toEqual(set);
    process.print("\x1b]104\x07\x1b]110\x07\x1b]111\x07there\r\n");
    await page.shows("there");
    expect(await colours()).toEqual(["rgb(255, 122, 144)", set[1], "rgb(227, 228, 233)", "rgb(23, 24, 28)"]);
  });

  test("a screen erased from its last cell back, and bytes that are no text, do not stop the page; a title is shown with where it is", async () => {
    const page = await browser.attached();
    const process = browser.server.process("main");
    for (const erase of ["\x1b[1J", "\x1b[?1J"]) {
      process.print(`before${erase.length}\x1b[999;999H`);
      await page.shows(`before${erase.length}`);
      process.print(erase);
      process.print(`\x1b[Hafter${erase.length}\r\n`);
      await page.shows(`after${erase.length}`);
      expect((await page.rows()).filter((row) => row !== "")).toEqual([`after${erase.length}`]);
    }
    process.print("\x7f\x1b[\x7f1;\u0416\x1bP\u0416\x1b\\\x18text\r\n\x1b]2;vim README.md\x07");
    await page.shows("text");
    // Without a line in the browser's console for each.
    expect(page.problems).toEqual([]);
    await page.page.waitForFunction(() => document.title === "vim README.md · main");
  });

  test("2 MB at once are drawn to the last line, and all of it is acknowledged", async () => {
    const page = await browser.attached();
    const process = browser.server.process("main");
    const lines = encode(`${"x".repeat(98)}\r\n`.repeat(200));
    // A process that is held while its reader is behind, as a bridge holds it.
    let left = 100;
    while (left > 0) {
      for (; left > 0 && !process.session.shouldHold; left -= 1) process.print(lines);
      await new Promise((resolve) => setImmediate(resolve));
    }
    process.print("the end\r\n");
    await page.shows("the end");
    await expect.poll(() => [...process.session.clients].map((client) => client.acked)).toEqual([2_000_009]);
    expect(await page.data("missed-bytes")).toBe("0");
  });
});

describe("size", () => {
  test("the process is started with the window's size and follows it, once for each change", async () => {
    const page = await browser.attached();
    const process = browser.server.process("main");
    const first = process.sizes[0];
    expect(`${browser.server.attaches[0]?.get("cols")}x${browser.server.attaches[0]?.get("rows")}`).toBe(first);
    await page.waitForData("cols", first?.split("x")[0] ?? "");
    await page.page.setViewportSize({ width: 600, height: 380 });
    await expect.poll(() => process.sizes.length).toBe(2);
    await page.page.waitForFunction((size) => {
      const { cols, rows } = document.querySelector<HTMLElement>(".sbx-terminal")?.dataset ?? {};
      return `${cols}x${rows}` === size;
    }, process.sizes[1]);
    expect([process.sizes.length, await page.data("framed")]).toEqual([2, "false"]);
    expect(await page.page.locator(".sbx-size").textContent()).toBe(process.sizes[1]?.replace("x", "×"));
    // It is not framed then, however long it stands.
    await page.page.clock.install();
    await page.page.reload();
    await page.state("attached");
    await page.page.clock.runFor(5_000);
    expect(await page.data("framed")).toBe("false");
  });

  test("beside a smaller window the terminal is framed in the size that both can show, and grows back", async () => {
    const wide = await browser.attached();
    const process = browser.server.process("main");
    const own = process.sizes[0];
    const small = await browser.attached(MAIN, { width: 420, height: 400 });
    await wide.waitForData("framed", "true");
    const shared = process.sizes[1];
    expect(`${await wide.data("cols")}x${await wide.data("rows")}`).toBe(shared);
    const [stage, screen] = await Promise.all(
      [".sbx-stage", ".xterm-screen"].map((selector) => wide.page.locator(selector).boundingBox()),
    );
    if (!stage || !screen) throw new Error("Cannot find the screen");
    // In the middle, but for the scrollbar's place.
    expect(Math.abs(screen.x + (screen.width + 14) / 2 - (stage.x + stage.width / 2))).toBeLessThan(2);
    await small.page.locator(".sbx-terminal").evaluate(() => location.assign("about:blank"));
    await expect
      .poll(() => {
        // As if the grace of a client that vanished had passed.
        for (const client of process.session.clients) {
          if (client.presence.phase === "vanished") process.session.leave(client);
        }
        return process.sizes;
      })
      .toEqual([own, shared, own]);
    await wide.waitForData("framed", "false");
  });

  test("a smaller window that only looks on shows the whole screen, scaled, and lets go of no cell", async () => {
    const wide = await browser.attached();
    const process = browser.server.process("main");
    process.print("\x1b[1;90Hedge\x1b[H");
    const size = `${await wide.data("cols")}x${await wide.data("rows")}`;
    const small = await browser.attached(`${MAIN}&role=viewer`, { width: 420, height: 400 });
    await small.waitForData("framed", "true");
    await small.shows(`${" ".repeat(89)}edge`);
    const boxes = async () => {
      const [stage, screen] = await Promise.all(
        [".sbx-stage", ".xterm-screen"].map((selector) => small.page.locator(selector).boundingBox()),
      );
      if (!stage || !screen) throw new Error("Cannot find the screen");
      return screen.width <= stage.width && screen.height <= stage.height && screen.width > stage.width / 2;
    };
    await expect.poll(boxes).toBe(true);
    expect(`${await small.data("cols")}x${await small.data("rows")}`).toBe(size);
    expect(process.sizes).toEqual([size]);
    await small.page.setViewportSize({ width: 900, height: 500 });
    await small.waitForData("framed", "false");
    expect(await small.page.locator(".xterm-rows").evaluate((rows) => getComputedStyle(rows).fontSize)).toBe("14px");
  });

  test("a replay wraps as it did live: sizes change between the bytes between which they changed", async () => {
    const page = await browser.attached();
    const process = browser.server.process("main");
    // A place that the narrow window doesn't have: in it, the text would stand elsewhere.
    process.print("\x1b[3;90Hfar right\r\n");
    await page.shows(`${" ".repeat(89)}far right`);
    await page.page.setViewportSize({ width: 500, height: 500 });
    await expect.poll(() => process.sizes.length).toBe(2);
    process.print("\x1b[8;50Hnear\r\nlast\r\n");
    await page.shows("last");
    const live = await page.rows();
    await page.page.reload();
    await page.shows("last");
    expect(await page.rows()).toEqual(live);
  });
});
