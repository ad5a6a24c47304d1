// xterm.js itself, fed with output: what a screen must be like that was drawn in any other way.
import { Unicode11Addon } from "@xterm/addon-unicode11";
import headless from "@xterm/headless";
import { mendFaults, screenFacts, textsOf, visibleRuns, xtermCoreOf } from "sandbox-stdio/core";

export class Reference {
  readonly #terminal: headless.Terminal;

  constructor(size: { readonly cols: number; readonly rows: number }) {
    this.#terminal = new headless.Terminal({ ...size, scrollback: 1_000, allowProposedApi: true, logLevel: "off" });
    this.#terminal.loadAddon(new Unicode11Addon() as unknown as headless.ITerminalAddon);
    this.#terminal.unicode.activeVersion = "11";
    mendFaults(this.#terminal);
  }

  feed(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(bytes, resolve));
  }

  /** As programs are told a screen (S1), but for its modes. */
  screen() {
    const core = xtermCoreOf(this.#terminal);
    const { active } = core.buffers;
    const { cols, rows } = this.#terminal;
    const { modes: _, ...facts } = screenFacts(core, this.#terminal);
    return {
      ...facts,
      lines: textsOf(active, active.ybase, rows, cols),
      runs: visibleRuns(active, this.#terminal),
    };
  }
}
