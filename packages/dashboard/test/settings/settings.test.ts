// What a person chooses, and takes to another browser: read, checked, written. No browser.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DEFAULT_PREFERENCES,
  exportPreferences,
  importPreferences,
  PreferenceStore,
} from "../../src/settings/preferences.ts";
import { ligaturesIn } from "../../src/terminal/ligatures.ts";
import { READ_ONLY_CURSORS, type Scheme, THEMES } from "../../src/terminal/theme.ts";
import { MAX_THEME_LENGTH, readColour, readTheme } from "../../src/terminal/theme-import.ts";

describe("preferences", () => {
  const own = {
    ...DEFAULT_PREFERENCES,
    scheme: "contrast",
    theme: { name: "Mine", colours: { background: "#102030" } },
    fontFamily: "'Fira Code', Iosevka",
    fontSize: 17,
    hasLigatures: true,
    cursorStyle: "bar",
    prediction: "auto",
  } as const;

  test("are the same after they were exported and imported", () => {
    expect(importPreferences(exportPreferences(own))).toEqual(own);
  });

  test("of another file are not taken", () => {
    for (const text of ["", "{}", '{"fontSize":20}', '{"format":"else"}', "[]", "null", "x".repeat(200_000)]) {
      expect(importPreferences(text), text.slice(0, 20)).toBeUndefined();
    }
  });

  test("that can't be are as if they had not been chosen", () => {
    const read = (preferences: object) =>
      importPreferences(JSON.stringify({ format: "sbx-stdio preferences", ...preferences }));
    for (const wrong of [
      { fontSize: 5 },
      { fontSize: "20" },
      { fontFamily: "x; } body { display: none" },
      { fontFamily: '"Fira' },
      { fontFamily: "a".repeat(201) },
      { scheme: "toString" },
      { cursorStyle: 1 },
      { theme: { name: "T", colours: { background: "url(https://evil.example)" } } },
      { theme: "dark" },
      { unknown: true },
    ]) {
      expect(read(wrong), JSON.stringify(wrong)).toEqual(DEFAULT_PREFERENCES);
    }
    expect(read({ fontSize: 40, fontFamily: "A, 'B C'" })).toMatchObject({ fontSize: 40, fontFamily: "A, 'B C'" });
  });

  test("that another page changed are known here", () => {
    const store = new PreferenceStore(undefined);
    let told = 0;
    store.subscribe(() => (told += 1));
    store.changedElsewhere("other", '{"fontSize":20}');
    store.changedElsewhere("sbx.preferences", '{"fontSize":20}');
    expect([store.get().fontSize, told]).toEqual([20, 1]);
  });
});

describe("themes of others", () => {
  const dict = (red: number, green: number, blue: number) =>
    `<dict><key>Alpha Component</key><real>1</real><key>Blue Component</key><real>${blue}</real>
     <key>Color Space</key><string>sRGB</string><key>Green Component</key><real>${green}</real>
     <key>Red Component</key><real>${red}</real></dict>`;

  test("iTerm2's colours are read", () => {
    const text = `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict>
      <key>Ansi 1 Color</key>${dict(1, 0.5, 0)}
      <key>Ansi 15 Color</key>\n${dict(1, 1, 1)}
      <key>Background Color</key>${dict(0.1, 2, -1)}
      <key>Badge Color</key>${dict(0, 0, 0)}</dict></plist>`;
    expect(readTheme("Sunset.itermcolors", text)).toEqual({
      name: "Sunset",
      colours: { red: "#ff8000", brightWhite: "#ffffff", background: "#1aff00" },
    });
  });

  test("a VS Code theme is read, with comments, and the editor's colours where the terminal has none", () => {
    const text = `{
      // "name": "no"
      "name": "Night // not a comment",
      "colors": {
        "editor.background": "#123", /* all */
        "terminal.foreground": "#ABCDEF",
        "editor.foreground": "#000000",
        "terminal.ansiBrightRed": "#ff0000",
        "terminal.selectionBackground": "#11223344",
        "terminal.ansiBlue": "blue",
      },
    }`;
    expect(readTheme("night.json", text)).toEqual({
      name: "Night // not a comment",
      colours: {
        background: "#112233",
        foreground: "#abcdef",
        brightRed: "#ff0000",
        selectionBackground: "#11223344",
      },
    });
  });

  test.each(["", "{}", "[1]", "null", "<plist>", '{"colors":{"terminal.background":"red"}}', "not a theme"])(
    "%j is no theme",
    (text) => {
      expect(readTheme("x.json", text)).toBeUndefined();
    },
  );

  // Read anew from each beginning, a million of them would take minutes.
  test.each<[string, string, string]>([
    ["texts without an end", "{", '\\"'],
    ["comments without an end", "{", "/*-"],
    ["colours without an end", "<plist>", "<key>Ansi 1 Color</key><dict>"],
  ])("1 MB of %s is no theme, and is read through once", (_what, start, part) => {
    const text = start + part.repeat(Math.floor((MAX_THEME_LENGTH - start.length) / part.length));
    expect(readTheme("x.json", text)).toBeUndefined();
  });

  test("whatever a file holds, a colour is only ever digits", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, colour) => {
        const theme = readTheme(name, JSON.stringify({ colors: { "terminal.background": colour } }));
        for (const each of Object.values(theme?.colours ?? {})) expect(each).toMatch(/^#([\da-f]{6}|[\da-f]{8})$/);
      }),
    );
    expect(["#fff", "#fffa", "#12345", "#ggg", "fff"].map(readColour)).toEqual([
      "#ffffff",
      "#ffffffaa",
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test("ligatures are the longest that fit, from left to right", () => {
  const joined = (text: string) => ligaturesIn(text).map(([start, end]) => text.slice(start, end));
  expect(joined("a => b !== c -> d ===> e")).toEqual(["=>", "!==", "->", "==="]);
  expect(joined("plain text, a-b 1.5")).toEqual([]);
});

/** Of WCAG 2: 1 to 21. */
function contrast(one = "", other = ""): number {
  const light = (colour: string) => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
    const [red = 0, green = 0, blue = 0] = parts.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, bright = 0] = [light(one), light(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

test("in high contrast every colour but black stands out from the ground by 7 to 1, the cursor too", () => {
  const {
    background,
    black: _,
    cursorAccent: __,
    selectionBackground: ___,
    selectionInactiveBackground: ____,
    ...rest
  } = THEMES.contrast;
  for (const [name, colour] of Object.entries(rest)) {
    expect(contrast(String(colour), background), name).toBeGreaterThanOrEqual(7);
  }
  const schemes: Scheme[] = ["dark", "light", "contrast"];
  expect(schemes.filter((scheme) => READ_ONLY_CURSORS[scheme].cursor === THEMES[scheme].cursor)).toEqual([]);
});
