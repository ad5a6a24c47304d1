// Another theme for a terminal whose program has set colours (OSC 4, 10, 11, 12): those stay. xterm.js drops them with the old
// theme, and has no interface to read them.

import type { ITheme, Terminal } from "@xterm/xterm";

type Colours = { foreground: unknown; background: unknown; cursor: unknown; ansi: unknown[] };

/** The state that xterm.js keeps of colours. A colour that is another than the theme's is the program's. */
type ThemeService = {
  readonly colors: Colours;
  /** The theme's, to which OSC 104 and 110 to 112 go back. */
  readonly _restoreColors: Colours;
  modifyColors(change: (colours: Colours) => void): void;
};

export function changeTheme(terminal: Terminal, theme: ITheme): void {
  const { theme: present = {} } = terminal.options;
  const names = new Set([...Object.keys(present), ...Object.keys(theme)]) as Set<keyof ITheme>;
  if ([...names].every((name) => present[name] === theme[name])) return;
  const service = (terminal as unknown as { readonly _core?: { readonly _themeService?: ThemeService } })._core
    ?._themeService;
  const restore = service && setColours(service);
  terminal.options.theme = theme;
  if (restore !== undefined) service?.modifyColors(restore);
}

/** @returns A function that sets the program's colours again; undefined if it has set none. */
function setColours({ colors, _restoreColors: own }: ThemeService): ((colours: Colours) => void) | undefined {
  const { foreground, background, cursor } = colors;
  const ansi = [...colors.ansi.entries()].filter(([index, colour]) => colour !== own.ansi[index]);
  const special = {
    ...(foreground === own.foreground ? {} : { foreground }),
    ...(background === own.background ? {} : { background }),
    ...(cursor === own.cursor ? {} : { cursor }),
  };
  if (ansi.length === 0 && Object.keys(special).length === 0) return undefined;
  return (colours) => {
    for (const [index, colour] of ansi) colours.ansi[index] = colour;
    Object.assign(colours, special);
  };
}
