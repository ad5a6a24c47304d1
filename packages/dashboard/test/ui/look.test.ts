// How the component looks on somebody's page: its texts, colours, type and bars, and that its styles are its own.

import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { COLOURS, coloursOf } from "../../src/sharing/ParticipantsBar.tsx";
import { ENGLISH, textsWith } from "../../src/texts/texts.ts";
import { pasteInto, STILL, type TerminalPage } from "../browser.ts";
import { MAIN, useBrowser, useOnePage } from "../fixture.ts";

const COMPONENT = "/component.html";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));
const sources = (pattern: string) =>
  globSync(pattern, { cwd: SOURCES }).map((name) => ({ name, text: readFileSync(SOURCES + name, "utf8") }));

describe("texts", () => {
  const browser = useBrowser();

  test("stand in one file: no component has any of its own", () => {
    const found = sources("**/*.tsx").flatMap(({ name, text }) => {
      const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
      const written = code.match(/>[^<>{}=;()]*\p{L}{2}[^<>{}=;()]*<|\b(?:title|aria-label|placeholder|alt)="[^"]+"/gu);
      return (written ?? []).map((each) => `${name}: ${each.trim()}`);
    });
    expect(found).toEqual([]);
  });

  test("are English but for those that were given", () => {
    const texts = textsWith({ status: { connected: "Verbunden" } });
    expect([texts.status.connected, texts.status.left]).toEqual(["Verbunden", ENGLISH.status.left]);
  });

  /** Whatever a person can read around the terminal that was not given by the page. */
  const unmarked = (page: TerminalPage) =>
    page.page.locator(".sbx-terminal").evaluate((terminal) => {
      const found: string[] = [];
      for (const element of [terminal, ...terminal.querySelectorAll("*:not(.xterm *)")]) {
        const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
        const names = ["title", "aria-label", "placeholder"].map((name) => element.getAttribute(name));
        const isGiven = element.matches(".sbx-face, pre");
        for (const text of isGiven ? [] : [...own.map((node) => node.textContent), ...names]) {
          if (text !== null && /\p{L}{2}/u.test(text) && !text.includes("‹")) found.push(text.trim());
        }
      }
      return found;
    });

  test("are all replaced: in every bar, question, card and notice", async () => {
    browser.server.mode = "exclusive";
    const page = await browser.attached(`${COMPONENT}?marked=1`);
    const process = browser.server.process("main", "dev");
    const bob = await browser.attached("/?sandbox=dev&session=main&renderer=dom&name=A-name-that-is-cut");
    await page.waitForData("people", 2);
    await bob.button("Ask");
    await page.page.getByRole("region", { name: /asks for the keyboard›/ }).waitFor();
    process.print(`\x1b]52;c;${Buffer.from("wanted").toString("base64")}\x07`);
    await page.page.getByRole("region", { name: "‹Clipboard›" }).waitFor();
    const shown: Record<string, string[]> = {
      bars: (await unmarked(page)).filter((text) => !/name-that-is/.test(text)),
    };
    await page.button("‹Not now›");
    await page.button("‹Release›");
    await page.page.getByText("‹The keyboard is free›").first().waitFor();
    await page.button("‹Take it›");
    await page.page.getByText("‹You have the keyboard›").first().waitFor();
    await page.page.locator(".xterm-helper-textarea").evaluate((textarea) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "one\ntwo\n");
      textarea.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    });
    await page.page.getByRole("dialog", { name: "‹Paste 2 lines?›" }).waitFor();
    shown.question = (await unmarked(page)).filter((text) => !/name-that-is/.test(text));
    await page.page.keyboard.press("Escape");
    process.exit({ code: 3 });
    await page.says("‹Process exited with code 3›");
    shown.exit = (await unmarked(page)).filter((text) => !/name-that-is/.test(text));
    browser.server.refusal = { code: 4403, reason: "", retry: "never" };
    await page.page.reload();
    await page.page.getByRole("heading", { name: "‹Not allowed›" }).waitFor();
    shown.refusal = await unmarked(page);
    expect(shown).toEqual({ bars: [], question: [], exit: [], refusal: [] });
  });
});

describe("styles", () => {
  test("name nothing outside the component, but for those of our own page", () => {
    const outside = sources("**/*.css")
      .filter(({ name }) => name !== "page.css")
      .flatMap(({ name, text }) => {
        const rules = text.replace(/\/\*[\s\S]*?\*\/|:not\([^()]*\)/g, "").matchAll(/([^{};]+)\{/g);
        const selectors = [...rules].flatMap(([, list = ""]) => list.split(/,(?![^(]*\))/).map((each) => each.trim()));
        const isScoped =
          /^(?::is\()?[^ ]*\.sbx-|^@(?:media|container sbx-|keyframes sbx-)|^(?:\d+%|from|to)$|^\[data-\w+="\w+"\] > \.sbx-|^:is\(\[data-tone/;
        return selectors.filter((selector) => !isScoped.test(selector)).map((selector) => `${name}: ${selector}`);
      });
    expect(outside).toEqual([]);
  });

  test("use one set of type sizes, of distances, and of colours", () => {
    const others = sources("**/*.css").flatMap(({ name, text }) => {
      const rules = text.replace(/\/\*[\s\S]*?\*\//g, "");
      const declared = (pattern: RegExp) => [...rules.matchAll(pattern)].map(([all]) => all);
      const sizes = declared(/\bfont(?:-size)?: [^;]*/g).filter((one) => !/: (?:0$|inherit|var\(--_|calc\()/.test(one));
      const distances = declared(/\b(?:padding|margin|gap)[\w-]*: [^;]*/g).filter((one) =>
        // Larger ones leave room for something that is so large; 9 is half a divider.
        [...one.matchAll(/[\d.]+(?=px)/g)].some(([px]) => Number(px) < 33 && !/^(?:0|2|4|6|8|9|12|16|24|32)$/.test(px)),
      );
      const colours = /(?:^|\/)(?:base|page)\.css$/.test(name) ? [] : declared(/#[\da-f]{3,8}\b|\brgb\(/g);
      return [...sizes, ...distances, ...colours].map((one) => `${name}: ${one}`);
    });
    expect(others).toEqual([]);
  });
});

const colours = (page: TerminalPage) =>
  page.page.locator(".sbx-terminal").evaluate((terminal) => {
    const of = (selector: string) => getComputedStyle(terminal.querySelector(selector) ?? terminal);
    return [
      of(".sbx-people").backgroundColor,
      of(".xterm-scrollable-element").backgroundColor,
      of(".xterm-rows").color,
    ];
  });

const DARK = ["rgb(18, 19, 23)", "rgb(23, 24, 28)", "rgb(227, 228, 233)"];
const LIGHT = ["rgb(247, 247, 249)", "rgb(255, 255, 255)", "rgb(30, 32, 38)"];

describe("the component", () => {
  const browser = useOnePage(COMPONENT);

  /** The page of all tests here, with another address. */
  async function shown(path: string): Promise<TerminalPage> {
    const page = await browser.blank();
    await page.page.goto(browser.server.url + path);
    await page.state("attached");
    return page;
  }
  const component = (query: string) => shown(`${COMPONENT}?${query}`);

  test("sets no custom property on the page, and takes those that it sets on any element around the component", async () => {
    const page = await component("");
    const ground = () => page.page.locator(".sbx-bar").evaluate((bar) => getComputedStyle(bar).backgroundColor);
    expect(await ground()).toBe("rgb(18, 19, 23)");
    const names = ["--sbx-bar", "--sbx-paper", "--sbx-text", "--_bar"];
    const set = await page.page.evaluate((names) => {
      const { style } = document.getElementById("root") ?? document.body;
      style.setProperty("--sbx-bar", "rgb(1, 2, 3)");
      const root = getComputedStyle(document.documentElement);
      return names.map((name) => root.getPropertyValue(name));
    }, names);
    expect([set, await ground()]).toEqual([["", "", "", ""], "rgb(1, 2, 3)"]);
  });

  test("is dark, or light, or follows the system while it changes", async () => {
    const page = await component("");
    await page.page.emulateMedia({ colorScheme: "light" });
    expect(await colours(page)).toEqual(DARK);
    expect(await colours(await component("scheme=light"))).toEqual(LIGHT);
    await page.page.emulateMedia({ colorScheme: "dark" });
    await component("scheme=system");
    expect(await colours(page)).toEqual(DARK);
    await page.page.emulateMedia({ colorScheme: "light" });
    await expect.poll(() => colours(page)).toEqual(LIGHT);
    await page.page.emulateMedia({ colorScheme: "dark" });
    await shown(MAIN);
    expect(await colours(page)).toEqual(DARK);
    await page.page.emulateMedia({ colorScheme: "light" });
    await expect.poll(() => colours(page)).toEqual(LIGHT);
    await page.page.emulateMedia({ colorScheme: "dark" });
  });

  test("has the texts, the colours and the type that it is given: larger type, fewer cells", async () => {
    const usual = Number(await (await component("")).data("cols"));
    const page = await component("background=%23102030&size=28&connected=Verbunden");
    await page.says("Verbunden");
    await page.page.getByRole("button", { name: "Reader" }).waitFor();
    expect((await colours(page))[1]).toBe("rgb(16, 32, 48)");
    const stage = page.page.locator(".sbx-stage-area");
    expect(await stage.evaluate((area) => getComputedStyle(area).backgroundColor)).toBe("rgb(16, 32, 48)");
    const cols = Number(await page.data("cols"));
    expect(Math.abs(cols - usual / 2)).toBeLessThanOrEqual(1);
  });

  test("has the bars that it is given, and the terminal the room of the others", async () => {
    const bars = (page: TerminalPage) =>
      page.page.locator(".sbx-people, .sbx-bar, .sbx-touch-keys").evaluateAll((all) => all.map((bar) => bar.className));
    const rows: number[] = [];
    for (const [query, expected] of [
      ["", ["sbx-people", "sbx-touch-keys", "sbx-bar"]],
      ["bars=status", ["sbx-bar"]],
      ["bars=0", []],
    ] as const) {
      const page = await component(query);
      expect(await bars(page)).toEqual(expected);
      rows.push(Number(await page.data("rows")));
    }
    expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b));
  });
});

describe("the page", () => {
  const browser = useOnePage();

  /** Blank, for a person who has asked the system for nothing but dark colours and less motion. */
  async function usual(): Promise<TerminalPage> {
    const page = await browser.blank();
    await page.page.emulateMedia({ ...STILL, contrast: "no-preference", forcedColors: "none" });
    return page;
  }

  test("stands still for a person who wants less motion", async () => {
    const page = await usual();
    await page.page.emulateMedia({ reducedMotion: "no-preference" });
    await page.page.locator(".xterm-cursor-blink").waitFor();
    await page.page.emulateMedia({ reducedMotion: "reduce" });
    await page.page.locator(".xterm-cursor-blink").waitFor({ state: "detached" });
  });

  test("with system is high contrast where more contrast or forced colours are asked for, dialogs too", async () => {
    const page = await usual();
    const paper = () =>
      page.page.evaluate(() =>
        [".sbx-people", "dialog", ".xterm-scrollable-element"].map((selector) => {
          const element = document.querySelector(selector);
          return element === null ? "" : getComputedStyle(element).backgroundColor;
        }),
      );
    await page.button("Settings");
    const black = "rgb(0, 0, 0)";
    expect(await paper()).not.toContain(black);
    await page.page.emulateMedia({ contrast: "more" });
    await expect.poll(paper).toEqual([black, black, black]);
    await page.page.emulateMedia({ contrast: "no-preference" });
    await expect.poll(paper).not.toContain(black);
    await page.page.keyboard.press("Escape");
    await page.page.emulateMedia({ forcedColors: "active" });
    browser.server.process("main").print("\x1b[7minverse\x1b[0m\r\n");
    await page.shows("inverse");
    const inverse = page.page.locator(".xterm-rows span", { hasText: "inverse" });
    await expect
      .poll(() => inverse.evaluate((span) => [getComputedStyle(span).color, getComputedStyle(span).backgroundColor]))
      .toEqual([black, "rgb(255, 255, 255)"]);
    const ground = async () => (await paper())[2];
    expect(await ground()).toBe(black);
    await page.page.emulateMedia({ colorScheme: "light" });
    await expect.poll(ground).toBe("rgb(255, 255, 255)");
  });

  test("at 400 % has the answers of a long question in sight", async () => {
    const page = await usual();
    await page.page.setViewportSize({ width: 320, height: 200 });
    await pasteInto(page, Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n"));
    const answer = page.page.getByRole("dialog").getByRole("button", { name: "Paste 20 lines" });
    const isInSight = () => answer.evaluate((button) => button.getBoundingClientRect().bottom <= innerHeight);
    await expect.poll(isInSight).toBe(true);
    await page.page.keyboard.press("Escape");
    await page.page.getByRole("dialog").waitFor({ state: "detached" });
    await page.page.setViewportSize({ width: 900, height: 500 });
  });

  test("with forced colours, and in high contrast, has a line where only the ground would tell: chosen, divided, connected", async () => {
    const page = await usual();
    await page.type("");
    await page.page.keyboard.press("Control+Shift+D");
    await expect.poll(() => page.page.locator('.sbx-terminal[data-state="attached"]').count()).toBe(2);
    await page.page.keyboard.press("Control+Shift+F");
    await page.page.locator('.sbx-search [aria-pressed="false"]').first().click();
    const lines = () =>
      page.page.evaluate(() => {
        const line = (selector: string, name: string, pseudo?: string) => {
          const element = document.querySelector(selector);
          const style = element === null ? undefined : getComputedStyle(element, pseudo);
          const isSeen = style?.getPropertyValue(`${name}-width`) !== "0px";
          return isSeen ? style?.getPropertyValue(`${name}-color`) : "none";
        };
        return {
          tab: line('.sbx-tab[data-current="true"]', "outline"),
          option: line('.sbx-search [aria-pressed="true"]', "outline"),
          header: line(".sbx-people", "border-bottom"),
          divider: line(".sbx-divider", "border-left", "::before"),
          dot: line(".sbx-dot", "border-left"),
          ...(document.querySelector(".sbx-palette") !== null && {
            entry: line('.sbx-palette-entry[aria-selected="true"]', "outline"),
          }),
        };
      });
    const [clear, white, yellow] = ["rgba(0, 0, 0, 0)", "rgb(255, 255, 255)", "rgb(255, 225, 77)"];
    expect(await lines()).toMatchObject({ tab: clear, option: clear, header: clear });
    await page.page.emulateMedia({ contrast: "more" });
    const mixed = "color(srgb 0.970588 0.970588 0.970588)";
    const contrast = { tab: yellow, option: yellow, header: white, divider: mixed, dot: "rgb(93, 255, 139)" };
    await expect.poll(lines).toEqual(contrast);
    const ring = () => page.page.locator(".sbx-search input").evaluate((field) => getComputedStyle(field).outlineColor);
    await page.page.locator(".sbx-search input").focus();
    await expect.poll(ring).toBe(yellow);
    await page.page.emulateMedia({ contrast: "no-preference", forcedColors: "active" });
    const forced = { tab: white, option: white, header: white, divider: white, dot: white };
    await expect.poll(lines).toEqual(forced);
    await page.page.keyboard.press("Escape");
    await page.page.keyboard.press("Control+Shift+P");
    await expect.poll(async () => (await lines()).entry).toBe(white);
  });
});

test("no two people have one colour as long as there are enough, and whoever knows the same people sees the same", () => {
  const people = Array.from({ length: 30 }, (_, i) => [{ id: `client-${i * 7}`, name: "", role: "driver" as const }]);
  for (let count = 1; count <= COLOURS; count += 1) {
    expect(new Set(coloursOf(people.slice(0, count))).size, `${count} people`).toBe(count);
  }
  expect(coloursOf(people).every((colour) => colour >= 0 && colour < COLOURS)).toBe(true);
  expect(coloursOf([...people])).toEqual(coloursOf(people));
});
