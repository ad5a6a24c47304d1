// `sandbox-stdio/react`: the terminal as a component, with its styles.

export {
  BrowserConnection,
  type BrowserConnectionEvents,
  type BrowserConnectionOptions,
} from "./connection/browser-connection.ts";
export { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "./connection/resume-store.ts";
export { Terminal } from "./session/Terminal.tsx";
export type { Bars, TerminalProps } from "./session/terminal-props.ts";
export { TerminalSession, type TerminalSessionOptions, type View } from "./session/terminal-session.ts";
export type { Font, Look } from "./terminal/terminal-look.ts";
export { type Scheme, THEMES } from "./terminal/theme.ts";
export { ENGLISH, type OwnTexts, type Texts, textsWith } from "./texts/texts.ts";
