// `sandbox-stdio/xterm`: a session on a terminal of xterm.js, without React.

export {
  BrowserConnection,
  type BrowserConnectionEvents,
  type BrowserConnectionOptions,
} from "./browser-connection.ts";
export { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "./resume-store.ts";
export { StdioAddon, type TerminalLink } from "./terminal-addon.ts";
export type { Font, Look } from "./terminal-look.ts";
export { ENGLISH, type Texts } from "./texts.ts";
export { type Scheme, THEMES } from "./theme.ts";
