// The properties of the Terminal component.

import type { ITheme } from "@xterm/xterm";
import type { ReactNode } from "react";
import type { Participants, PredictionMode, Role } from "sandbox-stdio/core";
import type { ResumeStore } from "../connection/resume-store.ts";
import type { Alerts } from "../output/attention.ts";
import type { Moment } from "../recording/recording-model.ts";
import type { CursorLook, Font } from "../terminal/terminal-look.ts";
import type { RendererChoice } from "../terminal/terminal-view.ts";
import type { Scheme } from "../terminal/theme.ts";
import type { OwnTexts } from "../texts/texts.ts";
import type { TerminalSession, View } from "./terminal-session.ts";

/** Each is shown unless false. */
export type Bars = {
  /** Above: participants and keyboard. */
  readonly people?: boolean;
  /** Below: the connection's status. */
  readonly status?: boolean;
  /** On touch screens: keys that their keyboards lack. */
  readonly keys?: boolean;
};

/** What a session says of itself to the page around it. */
export type PageFacts = Pick<View, "title" | "shell" | "sign"> & {
  /** Whether the server no longer knows the session, as after its restart. */
  readonly isGone: boolean;
  /** The progress that a program reports, as the start of a title. */
  readonly progress: string;
  /** The oldest ask for a person that nobody has taken. */
  readonly ask: Participants["asks"][number] | undefined;
};

export type TerminalProps = {
  /** Address of `/attach`, http(s) or ws(s), with the parameters of sandbox and process in its query. */
  readonly wsUrl: string;
  /** A bearer token; without one the browser's cookie authenticates. A new one is sent without reconnecting. */
  readonly token?: string;
  /** The process ended, by `signal` if one killed it; `code` is then 128 + its number. */
  readonly onExit?: (code: number, signal?: string) => void;
  /** The session's name; default that in `wsUrl`, else a generated one. */
  readonly session?: string;
  /** What the status bar calls the session; default: the session's name. */
  readonly name?: string;
  /** Keeps the position over a reload; read once, at mount. */
  readonly resumes?: ResumeStore;
  /** `auto`: WebGL if a graphics card draws it. */
  readonly renderer?: RendererChoice;
  /** Whether this person may take the keyboard without asking (scope `sandbox:admin`). The server decides. */
  readonly isAdmin?: boolean;
  /** Called repeatedly when the token expires: a fresh one or a ticket made with one; undefined until there is one. */
  readonly freshCredential?: (role: Role) => Promise<string | undefined>;
  /** The action of "Share", which is hidden without it. */
  readonly onShare?: () => void;
  /** The actions of "Log in" and "New session", each hidden without its action. */
  readonly onLogin?: () => void;
  readonly onNewSession?: () => void;
  /** The action of "Close", and of Escape after the process's end. */
  readonly onClose?: () => void;
  /** Whether the browser asks before closing a page whose person typed into a running process. */
  readonly warnsOnClose?: boolean;
  /** Screen reader mode, and its change; without them the component keeps it. */
  readonly isReader?: boolean;
  readonly onReader?: (isOn: boolean) => void;
  /** The terminal's title changed, with the progress that a program reports in front of it. */
  readonly onTitle?: (title: string, facts: PageFacts) => void;
  /** Receives the session after mounting, for debugging and tests. */
  readonly onReady?: (session: TerminalSession) => void;
  /** Colour scheme; default dark. `system` follows the browser. */
  readonly scheme?: Scheme | "system";
  /** Terminal colours that differ from the scheme's. The surroundings use CSS custom properties. */
  readonly theme?: ITheme;
  readonly font?: Font;
  readonly cursor?: CursorLook;
  /** Whether to draw ligatures, if the font has them. */
  readonly hasLigatures?: boolean;
  /** Whether Option on a Mac is Alt for programs; else it types characters, as `@` and `å`. */
  readonly isOptionMeta?: boolean;
  /** Lines that are kept above the screen; default 10,000. */
  readonly scrollback?: number;
  /** Effects of bells and notifications; default none. */
  readonly alerts?: Alerts;
  /** Echo prediction; `auto`: from 50 ms of round trip on. Default `auto`. */
  readonly prediction?: PredictionMode;
  /** Whether files can be uploaded and downloaded; read once, at mount. */
  readonly takesFiles?: boolean;
  /**
   * Address of previews: `https://{port}--{sandbox}.preview.example`, or a path that redirects to another origin, such as
   * `/preview/{sandbox}/{port}`; read once, at mount.
   */
  readonly previews?: string;
  /** The moment of the session's recording to show first; read once, at mount. */
  readonly moment?: Moment;
  /** The action of Ctrl+Shift+, which goes to the process without it. */
  readonly onSettings?: () => void;
  /** The page's own place for the bar below; null: it is not shown now. Default: below the terminal. */
  readonly statusBar?: HTMLElement | null;
  /** Whether the line above goes into that place too. */
  readonly isCompact?: boolean;
  /** Elements of the page at the start and at the end of the line above. */
  readonly heading?: ReactNode;
  readonly menu?: ReactNode;
  /** An element of the page before the keys for touch screens. */
  readonly keys?: ReactNode;
  /** The bars around the terminal; default all. Without any, `data-state` alone shows the connection. */
  readonly bars?: boolean | Bars;
  /** Texts that replace the English ones. */
  readonly texts?: OwnTexts;
  /** Whether the terminal takes the process's size and its owner places it, as a pane. Read once, at mount. */
  readonly isSized?: boolean;
  /** Drawn over the terminal. `onStandIn` receives the session that is typed into there. */
  readonly over?: (session: TerminalSession, onStandIn: (session: TerminalSession | undefined) => void) => ReactNode;
};

/** A pane's own properties, by the name of its session. */
export type OfPane = (session: string) => Pick<TerminalProps, "resumes" | "freshCredential">;

export function barsOf(bars: boolean | Bars = true): Required<Bars> {
  if (typeof bars === "boolean") return { people: bars, status: bars, keys: bars };
  return { people: true, status: true, keys: true, ...bars };
}
