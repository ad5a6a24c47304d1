// Ten themes to choose from: our own schemes are apart. Colours are those that their authors published. Pure.

import { COLOUR_NAMES, type Colours, type ThemeFile } from "../terminal/theme-import.ts";

/** Background, foreground, cursor, selection, then the sixteen colours. */
type Row = readonly [name: string, base: string, dark: string, bright: string];

// biome-ignore format: a line a theme.
const ROWS: readonly Row[] = [
  ["Catppuccin Mocha", "1e1e2e cdd6f4 f5e0dc 45475a", "45475a f38ba8 a6e3a1 f9e2af 89b4fa f5c2e7 94e2d5 bac2de", "585b70 f38ba8 a6e3a1 f9e2af 89b4fa f5c2e7 94e2d5 a6adc8"],
  ["Catppuccin Latte", "eff1f5 4c4f69 dc8a78 bcc0cc", "5c5f77 d20f39 40a02b df8e1d 1e66f5 ea76cb 179299 acb0be", "6c6f85 d20f39 40a02b df8e1d 1e66f5 ea76cb 179299 bcc0cc"],
  ["Dracula", "282a36 f8f8f2 f8f8f2 44475a", "21222c ff5555 50fa7b f1fa8c bd93f9 ff79c6 8be9fd f8f8f2", "6272a4 ff6e6e 69ff94 ffffa5 d6acff ff92df a4ffff ffffff"],
  ["Everforest Dark", "2d353b d3c6aa d3c6aa 475258", "475258 e67e80 a7c080 dbbc7f 7fbbb3 d699b6 83c092 d3c6aa", "859289 e67e80 a7c080 dbbc7f 7fbbb3 d699b6 83c092 d3c6aa"],
  ["Gruvbox Dark", "282828 ebdbb2 ebdbb2 504945", "282828 cc241d 98971a d79921 458588 b16286 689d6a a89984", "928374 fb4934 b8bb26 fabd2f 83a598 d3869b 8ec07c ebdbb2"],
  ["Gruvbox Light", "fbf1c7 3c3836 3c3836 d5c4a1", "fbf1c7 cc241d 98971a d79921 458588 b16286 689d6a 7c6f64", "928374 9d0006 79740e b57614 076678 8f3f71 427b58 3c3836"],
  ["Nord", "2e3440 d8dee9 d8dee9 434c5e", "3b4252 bf616a a3be8c ebcb8b 81a1c1 b48ead 88c0d0 e5e9f0", "4c566a bf616a a3be8c ebcb8b 81a1c1 b48ead 8fbcbb eceff4"],
  ["Solarized Dark", "002b36 839496 93a1a1 073642", "073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5", "586e75 cb4b16 859900 b58900 839496 6c71c4 93a1a1 fdf6e3"],
  ["Solarized Light", "fdf6e3 657b83 586e75 eee8d5", "073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5", "586e75 cb4b16 859900 b58900 839496 6c71c4 93a1a1 fdf6e3"],
  ["Tokyo Night", "1a1b26 c0caf5 c0caf5 33467c", "15161e f7768e 9ece6a e0af68 7aa2f7 bb9af7 7dcfff a9b1d6", "414868 f7768e 9ece6a e0af68 7aa2f7 bb9af7 7dcfff c0caf5"],
];

const BASE = ["background", "foreground", "cursor", "selectionBackground"] as const;
const ANSI = COLOUR_NAMES.slice(-16);

export const GALLERY: readonly ThemeFile[] = ROWS.map(([name, base, dark, bright]) => {
  const colours: Colours = {};
  const hexes = `${base} ${dark} ${bright}`.split(" ");
  for (const [i, colour] of [...BASE, ...ANSI].entries()) colours[colour] = `#${hexes[i]}`;
  colours.cursorAccent = colours.background ?? "";
  return { name, colours };
});
