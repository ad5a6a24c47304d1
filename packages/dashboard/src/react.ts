// `sandbox-stdio/react`: the terminal as a component, with its styles.

export {
  BrowserConnection,
  type BrowserConnectionEvents,
  type BrowserConnectionOptions,
} from "./browser-connection.ts";
export { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "./resume-store.ts";
export { Terminal } from "./Terminal.tsx";
export type { Font, Look } from "./terminal-look.ts";
export type { Bars, TerminalProps } from "./terminal-props.ts";
export { TerminalSession, type TerminalSessionOptions, type View } from "./terminal-session.ts";
export { ENGLISH, type OwnTexts, type Texts, textsWith } from "./texts.ts";
export { type Scheme, THEMES } from "./theme.ts";
