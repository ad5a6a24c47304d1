// `sandbox-stdio/xterm`: a session on a terminal of xterm.js, without React.

export {
  BrowserConnection,
  type BrowserConnectionEvents,
  type BrowserConnectionOptions,
} from "./connection/browser-connection.ts";
export { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "./connection/resume-store.ts";
export { StdioAddon, type TerminalLink } from "./terminal/terminal-addon.ts";
export type { Font, Look } from "./terminal/terminal-look.ts";
export { type Scheme, THEMES } from "./terminal/theme.ts";
export { ENGLISH, type Texts } from "./texts/texts.ts";
