// Changes a terminal's theme and keeps colours that the program set (OSC 4, 10, 11, 12), which xterm.js would drop and can't report.

import type { ITheme, Terminal } from "@xterm/xterm";
import { defined } from "sandbox-stdio/core";

type Colours = { foreground: unknown; background: unknown; cursor: unknown; ansi: unknown[] };

/** xterm.js's private state. A colour that differs from the theme's was set by the program. */
type ThemeService = {
  readonly colors: Colours;
  /** The theme's colours, which OSC 104 and 110 to 112 restore. */
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

/** @returns Sets the program's colours again; undefined if it set none. */
function setColours({ colors, _restoreColors: own }: ThemeService): ((colours: Colours) => void) | undefined {
  const { foreground, background, cursor } = colors;
  const ansi = [...colors.ansi.entries()].filter(([index, colour]) => colour !== own.ansi[index]);
  const special = defined({
    foreground: foreground === own.foreground ? undefined : foreground,
    background: background === own.background ? undefined : background,
    cursor: cursor === own.cursor ? undefined : cursor,
  });
  if (ansi.length === 0 && Object.keys(special).length === 0) return undefined;
  return (colours) => {
    for (const [index, colour] of ansi) colours.ansi[index] = colour;
    Object.assign(colours, special);
  };
}
