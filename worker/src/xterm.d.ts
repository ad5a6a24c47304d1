// xterm.js without a page, by the files that exist: its package names one as a module that it lacks. The addon's own declarations bring in
// the browser's, which are not the Worker's.

declare module "@xterm/headless/lib-headless/xterm-headless.mjs" {
  export { Terminal } from "@xterm/headless";
}

declare module "@xterm/addon-unicode11/lib/addon-unicode11.mjs" {
  import type { ITerminalAddon, Terminal } from "@xterm/headless";

  export class Unicode11Addon implements ITerminalAddon {
    activate(terminal: Terminal): void;
    dispose(): void;
  }
}
