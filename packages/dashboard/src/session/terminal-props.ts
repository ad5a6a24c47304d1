// The properties that a page gives the Terminal component.

import type { ITheme } from "@xterm/xterm";
import type { ReactNode } from "react";
import type { Role } from "sandbox-stdio/core";
import type { ResumeStore } from "../connection/resume-store.ts";
import type { Alerts } from "../output/attention.ts";
import type { PredictionMode } from "../terminal/echo-prediction.ts";
import type { CursorLook, Font } from "../terminal/terminal-look.ts";
import type { RendererWish } from "../terminal/terminal-view.ts";
import type { Scheme } from "../terminal/theme.ts";
import type { OwnTexts } from "../texts/texts.ts";
import type { TerminalSession } from "./terminal-session.ts";

/** Each is there unless it is false. */
export type Bars = {
  /** The bar above: the people here, and the keyboard. */
  readonly people?: boolean;
  /** Below: the connection in words. */
  readonly status?: boolean;
  /** On touch screens: the keys that their keyboards lack. */
  readonly keys?: boolean;
};

export type TerminalProps = {
  /** Address of `/attach`, http(s) or ws(s), with the parameters of sandbox and process in its query. */
  readonly wsUrl: string;
  /** A bearer token. Without one the browser's cookie speaks. A new one is told to the session without reconnecting. */
  readonly token?: string;
  /** The process has ended. `signal` where one killed it; `code` is then 128 and its number. */
  readonly onExit?: (code: number, signal?: string) => void;
  /** The session's name; else that in `wsUrl`, else one made up for this mount. */
  readonly session?: string;
  /** Where the place in the session is kept over a reload; read once, when the terminal is mounted. */
  readonly resumes?: ResumeStore;
  /** `auto` (WebGL, where a graphics card draws it), `dom`, or `webgl` in any case. */
  readonly renderer?: RendererWish;
  /** Whether this person may take the keyboard without asking (scope `sandbox:admin`). The server decides. */
  readonly isAdmin?: boolean;
  /** Asked, again and again, when the token runs out: a fresh one, or a ticket made with one; undefined as long as there is none. */
  readonly freshCredential?: (role: Role) => Promise<string | undefined>;
  /** The action of the button "Share"; without it there is none. */
  readonly onShare?: () => void;
  /** The actions of the buttons "Log in" and "New session"; without one, its button is missing. */
  readonly onLogin?: () => void;
  readonly onNewSession?: () => void;
  /** The action of the button "Close", and of Escape after the end of the process; without it there is none. */
  readonly onClose?: () => void;
  /** Whether the browser is to ask before it closes a page in which a person typed into a process that still runs. */
  readonly warnsOnClose?: boolean;
  /** Whether a screen reader follows the output, and who is to hear of a change; without them, the component keeps that. */
  readonly isReader?: boolean;
  readonly onReader?: (isOn: boolean) => void;
  /** The process names its window. */
  readonly onTitle?: (title: string) => void;
  /** Called with the session behind the component, once it is mounted: for debugging and tests. */
  readonly onReady?: (session: TerminalSession) => void;
  /** How it looks; default dark. `system` follows the browser's preference. */
  readonly scheme?: Scheme | "system";
  /** The terminal's colours that differ from the scheme's. Those around it are custom properties of CSS. */
  readonly theme?: ITheme;
  readonly font?: Font;
  readonly cursor?: CursorLook;
  /** Whether characters are joined that a font may draw as one; the font has to have them. */
  readonly hasLigatures?: boolean;
  /** The effect of a bell and a program's notices; default nothing. */
  readonly alerts?: Alerts;
  /** Whether keys are shown before the process has echoed them; `auto`: from 50 ms on. Default `never`. */
  readonly prediction?: PredictionMode;
  /** Whether files are uploaded that are dropped or pasted, and downloaded; read once, when it is mounted. */
  readonly takesFiles?: boolean;
  /**
   * Where servers in the sandbox can be looked at: `https://{port}--{sandbox}.preview.example`, or a path of the page's server that leads
   * on to another origin, as `/preview/{sandbox}/{port}`; read once, when it is mounted.
   */
  readonly previews?: string;
  /** The action of Ctrl+Shift+,; without it, the key is the process's. */
  readonly onSettings?: () => void;
  /** Which bars stand around the terminal; default all. Without any, `data-state` alone says how the connection is. */
  readonly bars?: boolean | Bars;
  /** Texts that differ from the English ones: another language, or other words. */
  readonly texts?: OwnTexts;
  /** Whether it has the process's size, whatever fits, and gives none: its owner places it, as a pane. Read once, when it is mounted. */
  readonly isSized?: boolean;
  /** Drawn over the terminal, which stays behind it. `onStandIn` is told which session is typed into there, for the bar of keys. */
  readonly over?: (session: TerminalSession, onStandIn: (session: TerminalSession | undefined) => void) => ReactNode;
  /** More for the end of the bar. */
  readonly children?: ReactNode;
};

/** What the terminal of a pane has for itself, by the name of the pane's session. */
export type OfPane = (session: string) => Pick<TerminalProps, "resumes" | "freshCredential">;

export function barsOf(bars: boolean | Bars = true): Required<Bars> {
  if (typeof bars === "boolean") return { people: bars, status: bars, keys: bars };
  return { people: true, status: true, keys: true, ...bars };
}
