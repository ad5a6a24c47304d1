// What the package offers to other pages. Everything is listed, so that a reader sees the whole surface here.

export {
  BrowserConnection,
  type BrowserConnectionEvents,
  type BrowserConnectionOptions,
} from "./browser-connection.ts";
export { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "./resume-store.ts";
export { Terminal, type TerminalProps } from "./Terminal.tsx";
export { StdioAddon, type TerminalLink } from "./terminal-addon.ts";
export { TerminalSession, type TerminalSessionOptions, type View } from "./terminal-session.ts";
export { THEME } from "./theme.ts";
