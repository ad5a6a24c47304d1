// Text of an input method before it is committed, as Chinese, Japanese and Korean are typed.

import { expect, test } from "vitest";
import { MAIN, useBrowser } from "./fixture.ts";

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
