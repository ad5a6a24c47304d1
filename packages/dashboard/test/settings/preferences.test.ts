// What a person has chosen, for every page of theirs in a browser.

import { expect, test } from "vitest";
import { homeSearch } from "../../src/app/page-address.ts";
import { DEFAULT_PREFERENCES, PreferenceStore } from "../../src/settings/preferences.ts";
import { useBrowser } from "../fixture.ts";

const browser = useBrowser();

/** localStorage, as it would be found. */
function storage(text?: string) {
  const items = new Map(text === undefined ? [] : [["sbx.preferences", text]]);
  return {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, it: string) => items.set(name, it),
  };
}

test("is kept, and what can't be read is as if it had never been chosen", () => {
  const kept = storage();
  new PreferenceStore(kept).set({ warnsOnClose: false });
  expect(new PreferenceStore(kept).get()).toEqual({ ...DEFAULT_PREFERENCES, warnsOnClose: false });
  for (const text of ["", "{", "null", "[]", '{"warnsOnClose":"no"}']) {
    expect(new PreferenceStore(storage(text)).get(), text).toEqual(DEFAULT_PREFERENCES);
  }
  expect(new PreferenceStore(undefined).get()).toEqual(DEFAULT_PREFERENCES);
});

test("the reader that was turned on is on after a reload, and takes no key from the process", async () => {
  const page = await browser.attached();
  const reader = page.page.getByRole("button", { name: "Reader" });
  await reader.click();
  await page.type("k");
  await page.page.reload();
  await page.state("attached");
  expect(await reader.getAttribute("aria-pressed")).toBe("true");
  await page.page.locator(".xterm-accessibility-tree").waitFor({ state: "attached" });
  await page.page.keyboard.type("l");
  // The terminal takes every key but Ctrl+F6, also in screen reader mode.
  for (const key of ["Shift+Tab", "Tab", "m"]) await page.page.keyboard.press(key);
  await expect.poll(() => browser.server.process("main").typed).toBe("kl\x1b[Z\tm");
});

test("the bare address leads to the last session, else to the server's home, else nowhere else", () => {
  expect(homeSearch("", "sandbox=a&session=s", "dev")).toBe("?sandbox=a&session=s");
  expect(homeSearch("?debug=1", undefined, "dev")).toBe("?sandbox=dev&debug=1");
  expect(homeSearch("?debug=1", undefined, undefined)).toBe("?debug=1");
  for (const search of ["?sandbox=b", "?session=t", "?cmd=ls"]) {
    expect(homeSearch(search, "sandbox=a&session=s", "dev")).toBe(search);
  }
});
