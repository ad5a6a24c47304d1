// The addon's own declarations bring in the browser's, which are not Bun's.

declare module "@xterm/addon-unicode11/lib/addon-unicode11.mjs" {
  import type { ITerminalAddon, Terminal } from "@xterm/headless";

  export class Unicode11Addon implements ITerminalAddon {
    activate(terminal: Terminal): void;
    dispose(): void;
  }
}
