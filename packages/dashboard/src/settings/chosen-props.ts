// A person's preferences as properties of the terminal. Pure.

import { defined } from "sandbox-stdio/core";
import type { TerminalProps } from "../session/terminal-props.ts";
import type { Preferences } from "./preferences.ts";

type Chosen =
  | "scheme"
  | "theme"
  | "font"
  | "cursor"
  | "hasLigatures"
  | "isOptionMeta"
  | "scrollback"
  | "alerts"
  | "prediction"
  | "isReader"
  | "warnsOnClose";

export function chosenProps(preferences: Preferences): Pick<TerminalProps, Chosen> {
  const { scheme, theme, fontFamily, fontSize, lineHeight, hasLigatures, scrollback, cursorStyle, cursorBlinks } =
    preferences;
  const { bellSounds, bellFlashes, bellNotifies, programsNotify, isReader, warnsOnClose, prediction, isOptionMeta } =
    preferences;
  return {
    scheme,
    ...defined({ theme: theme?.colours }),
    font: { ...defined({ family: fontFamily || undefined }), size: fontSize, lineHeight },
    cursor: { style: cursorStyle, blinks: cursorBlinks },
    hasLigatures,
    isOptionMeta,
    scrollback,
    alerts: { bellSounds, bellFlashes, bellNotifies, programsNotify },
    prediction,
    isReader,
    warnsOnClose,
  };
}
