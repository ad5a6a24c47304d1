// Characters that are one picture: joined for drawing, each in the cells that the shell counts on.

import { expect, test } from "vitest";
import { clustersIn, mayHaveClusters } from "../../src/ui/clusters.ts";
import { useBrowser } from "../fixture.ts";

const browser = useBrowser();

test("flags, skin colours and joined emoji are one; neighbours, digits and variants of one cell are not joined", () => {
  const joined = (text: string) => clustersIn(text).map(([start, end]) => text.slice(start, end));
  expect(joined("a 🇩🇪🇫🇷 b 👍🏽 c 👩‍💻👨‍👩‍👧 d ❤️‍🔥 e")).toEqual(["🇩🇪", "🇫🇷", "👍🏽", "👩‍💻", "👨‍👩‍👧", "❤️‍🔥"]);
  expect(joined("plain 12# 日本 🚀✅ ❤️ 1️⃣ 🇩")).toEqual([]);
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect([mayHaveClusters(bytes("日本 é ❤️")), mayHaveClusters(bytes("🇩🇪"))]).toEqual([false, true]);
});

test("each is drawn as one, and what follows stands where it would anyhow", async () => {
  const page = await browser.attached();
  browser.server.process("main").print("🇩🇪|\r\n👍🏽|\r\n👩‍💻|\r\n❤️|\r\n");
  await page.page.locator(".xterm-rows span").filter({ hasText: /^👩‍💻/ }).waitFor();
  const rows = await page.page.locator(".xterm-rows > div").evaluateAll((all) => {
    const screen = document.querySelector(".xterm-screen")?.getBoundingClientRect();
    const cols = Number(document.querySelector<HTMLElement>(".sbx-terminal")?.dataset.cols);
    return all.slice(0, 4).map((row) => {
      const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const at = node.textContent?.indexOf("|") ?? -1;
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const { left } = range.getBoundingClientRect();
        return [
          row.firstElementChild?.textContent,
          Math.round(((left - (screen?.left ?? 0)) / (screen?.width ?? 1)) * cols),
        ];
      }
      return [];
    });
  });
  expect(rows.map(([, column]) => column)).toEqual([2, 4, 4, 1]);
  expect(rows.slice(0, 3).map(([first]) => first)).toEqual(["🇩🇪", "👍🏽", "👩‍💻"]);
});
