// A tmux server whose pane is read as the bridge's sessions read theirs.

import { PaneProcess } from "../../src/panes/pane-process.ts";
import { SharedPanes } from "../../src/panes/shared-panes.ts";
import { SESSION, TmuxServer } from "./tmux-harness.ts";

const TAIL_BYTES = 4_096;

/** One reader: what it was given, and the sizes at their places in that. */
export class Reader {
  readonly process: PaneProcess;
  readonly sizes: { at: number; cols: number; rows: number }[] = [];
  hasEnded = false;
  /** The end of it: cheap to look at. */
  tail = "";
  #pieces: string[] = [];
  #length = 0;

  constructor(panes: SharedPanes, pane: string, look: () => void) {
    const room = new Uint8Array(64 * 1024);
    const sink = {
      reserve: () => room,
      commit: (length: number) => {
        const text = Buffer.from(room.buffer, 0, length).toString("latin1");
        this.#pieces.push(text);
        this.#length += length;
        this.tail = (this.tail + text).slice(-TAIL_BYTES);
      },
      flush: look,
    };
    const process = PaneProcess.open(panes, pane, sink, {
      onWritable: () => undefined,
      onResized: (cols, rows) => this.sizes.push({ at: this.#length, cols, rows }),
      onExit: () => {
        this.hasEnded = true;
        look();
      },
    });
    if (process === undefined) throw new Error(`there is no pane ${pane}`);
    this.process = process;
  }

  get text(): string {
    return this.#pieces.join("");
  }
}

type Limits = ConstructorParameters<typeof SharedPanes>[3];

export class FollowedPane extends TmuxServer {
  readonly panes: SharedPanes;
  losses = 0;

  constructor(command: readonly string[], { cols, rows }: { cols: number; rows: number }, limits?: Limits) {
    super();
    this.run("new-session", "-d", "-s", SESSION, "-x", String(cols), "-y", String(rows), ...command);
    const told = { changed: () => this.look(), lost: () => this.losses++ };
    this.panes = new SharedPanes(this.place, SESSION, told, limits);
    this.panes.start();
  }

  /** Once the pane is there. */
  async reader(pane = "%0"): Promise<Reader> {
    await this.until(() => this.panes.session.find(pane)?.id === pane);
    return new Reader(this.panes, pane, () => this.look());
  }

  type(text: string, pane = "%0"): void {
    const bytes = Buffer.from(text, "latin1");
    if (this.panes.session.write(pane, bytes) < bytes.length) throw new Error("too much is typed at once");
  }

  override close(): void {
    this.panes.close();
    super.close();
  }
}
