// `sandbox-stdio/react`: the terminal as a component, with its styles.

export {
  BrowserConnection,
  type BrowserConnectionEvents,
  type BrowserConnectionOptions,
} from "./browser-connection.ts";
export { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "./resume-store.ts";
export { Terminal, type TerminalProps } from "./Terminal.tsx";
export { TerminalSession, type TerminalSessionOptions, type View } from "./terminal-session.ts";
export { THEME } from "./theme.ts";
