// The colours of what the pointer is over: axe sees no hovered state, so their contrast is computed from the style sheet.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { matchColours, schemeUnder, THEMES } from "../../src/terminal/theme.ts";

const CSS = readFileSync(new URL("../../src/ui/base.css", import.meta.url), "utf8");
/** WCAG 2.2, AA, for text of the usual size. */
const ENOUGH = 4.5;

/** A colour of a scheme, as base.css has it. */
function colour(name: string, scheme: "dark" | "light" | "contrast"): string {
  const contrast = /data-scheme="contrast"\] [^{},]*\{([^}]*)\}/.exec(CSS)?.[1] ?? "";
  const usual = new RegExp(`--_${name}: var\\(--sbx-${name}, light-dark\\((#\\w{6}), (#\\w{6})\\)\\)`).exec(CSS) ?? [];
  const own = new RegExp(`--_${name}: var\\(--sbx-${name}, (#\\w{6})\\)`).exec(contrast)?.[1];
  const found = scheme === "contrast" ? own : scheme === "light" ? usual[1] : usual[2];
  if (found === undefined) throw new Error(`Cannot find the colour ${name} of ${scheme}`);
  return found;
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Text on its ground, while the pointer is over it: see controls.css, desk.css and session-panes.css. */
const HOVERED = [
  ["text", "button-hover"],
  ["primary-text", "primary-hover"],
  ["warn", "button-hover"],
  ["paper", "bad"],
  ["text", "bar"],
] as const;

test.each(["dark", "light", "contrast"] as const)("%s: whatever the pointer is over can be read", (scheme) => {
  const poor = HOVERED.map(
    ([text, ground]) => [text, ground, contrast(colour(text, scheme), colour(ground, scheme))] as const,
  )
    .filter(([, , found]) => found < ENOUGH)
    .map(([text, ground, found]) => `${text} on ${ground}: ${found.toFixed(2)}`);
  expect(poor).toEqual([]);
});

test("a theme that leaves colours out has those of our scheme as light or dark as its background", () => {
  const under = (background?: string) =>
    (["dark", "light", "contrast"] as const).map((scheme) =>
      schemeUnder(background === undefined ? {} : { background }, scheme),
    );
  expect(under("#10241c")).toEqual(["dark", "dark", "contrast"]);
  expect(under("#fdf6e3")).toEqual(["light", "light", "light"]);
  // What is not #rrggbb is not looked at.
  expect(under("white")).toEqual(["dark", "light", "contrast"]);
  expect(under()).toEqual(["dark", "light", "contrast"]);
});

test("light: each colour can be read on the background, and black can be read on each colour", () => {
  const { background = "", black = "", ...others } = THEMES.light;
  const poor = Object.entries(others)
    .filter(([name]) => !/cursor|selection|foreground/.test(name))
    .flatMap(([name, colour]) => [background, black].map((ground) => [name, contrast(String(colour), ground)] as const))
    .filter(([, found]) => found < ENOUGH)
    .map(([name, found]) => `${name}: ${found.toFixed(2)}`);
  expect(poor).toEqual([]);
});

/** Of the text that a search has found; black and the dim grey have no contrast to the ground either. */
const COLOURED = ["foreground", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "brightGreen"] as const;

test.each(["dark", "light", "contrast"] as const)(
  "%s: text of any colour can be read where a search has found it",
  (scheme) => {
    const theme = THEMES[scheme];
    const { matchBackground } = matchColours(theme.background);
    const poor = COLOURED.map((name) => [name, contrast(theme[name] ?? "", matchBackground)] as const)
      .filter(([, found]) => found < 3)
      .map(([name, found]) => `${name}: ${found.toFixed(2)}`);
    expect(poor).toEqual([]);
  },
);
