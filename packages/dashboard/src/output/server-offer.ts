// Offers to open a web server whose address a program prints, such as `http://localhost:5173/`. Reads the lines that were drawn since
// the last frame, never the replay, and never more lines than one screen has.

import type { IDisposable, IMarker, Terminal } from "@xterm/xterm";
import { findServers, type LocalAddress } from "../terminal/text-links.ts";
import { Store } from "../ui/store.ts";

export type ServerOfferState = {
  readonly server: LocalAddress | undefined;
  /** Also those that were dismissed, latest last. */
  readonly known: readonly LocalAddress[];
};

const MAX_KNOWN = 4;

export class ServerOffer extends Store<ServerOfferState> {
  readonly #terminal: Terminal;
  readonly #hasPreview: (server: LocalAddress) => boolean;
  readonly #disposables: IDisposable[];
  /** Ports offered to this person since the command began: a server prints its address with every request. */
  readonly #offered = new Set<number>();
  /** The row to read from; a cleared screen disposes it. */
  #from: IMarker | undefined;
  #frame: number | undefined;

  constructor(terminal: Terminal, hasPreview: (server: LocalAddress) => boolean) {
    super({ server: undefined, known: [] });
    this.#terminal = terminal;
    this.#hasPreview = hasPreview;
    this.#disposables = [terminal.onWriteParsed(() => this.#written())];
  }

  get ports(): readonly number[] {
    return this.state.known.map(({ port }) => port);
  }

  /** Drops the offer: the server may have ended with its command. */
  commandEnded(): void {
    this.#offered.clear();
    this.skip();
    if (this.state.known.length > 0) this.change({ server: undefined, known: [] });
  }

  /** The rows above the cursor will not be read. */
  skip(): void {
    this.#from?.dispose();
    this.#from = this.#terminal.registerMarker(0);
  }

  dismiss(): void {
    if (this.state.server !== undefined) this.change({ server: undefined });
  }

  dispose(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    for (const disposable of this.#disposables) disposable.dispose();
    this.#from?.dispose();
    this.forgetListeners();
  }

  #written(): void {
    this.#frame ??= requestAnimationFrame(() => this.#read());
  }

  #read(): void {
    this.#frame = undefined;
    const { buffer, rows } = this.#terminal;
    // Full-screen programs draw an address again and again.
    if (buffer.active.type === "alternate") return;
    const { baseY, cursorY } = buffer.active;
    const end = baseY + cursorY;
    const marked = this.#from?.isDisposed === false ? this.#from.line : 0;
    this.skip();
    for (const server of findServers(this.#text(Math.max(marked, end - rows, 0), end))) {
      if (this.#offered.has(server.port) || !this.#hasPreview(server)) continue;
      this.#offered.add(server.port);
      this.change({ server, known: [...this.state.known, server].slice(-MAX_KNOWN) });
    }
  }

  /** The text of these rows, wrapped ones joined. */
  #text(from: number, end: number): string {
    const { active } = this.#terminal.buffer;
    let text = "";
    for (let row = from; row <= end; row += 1) {
      const line = active.getLine(row);
      if (line !== undefined) text += (line.isWrapped ? "" : "\n") + line.translateToString(true);
    }
    return text;
  }
}
