// Filters the output of a client that can't be told who answers terminal queries. Removes queries while the client is not the
// answerer and from the replay (K6), and from the replay also bells and the clipboard (K6c); leaves file transfers alone (K6b).
// Splits the rest so that stock terminals lose no character (D11). Follows the session's messages; knows no dialect.

import { type Answerer, AnswererHistory } from "../terminal/answerer-history.ts";
import { FileTransfers } from "../terminal/file-transfers.ts";
import { QueryFilter } from "../terminal/query-filter.ts";
import { SplitCharacters } from "../text/split-characters.ts";
import { joined } from "../text/utf8-text.ts";
import { STREAM_STDOUT } from "../wire/constants.ts";
import type { ServerMessage } from "../wire/control.ts";

const NO_BYTES = new Uint8Array(0);

export class QueryGate {
  #answerers: AnswererHistory | undefined;
  #filter = new QueryFilter((at) => this.#answerers?.mayAnswer(at) ?? false, { replayEnd: () => this.#live });
  readonly #characters: SplitCharacters;
  readonly #transfers = new FileTransfers();
  /** Output before this offset is replay; transfers in it are over. */
  #live = 0;
  /** Offset of the next output byte. */
  #offset = 0;

  /** @param readsFrameByFrame Whether no frame may end inside a character, or only where stock xterm.js would lose it. */
  constructor(readsFrameByFrame = false) {
    this.#characters = new SplitCharacters(readsFrameByFrame);
  }

  /**
   * Follows a message from the session to the client.
   * @returns Output to send before it: held bytes that later output must not complete.
   */
  note(message: ServerMessage): Uint8Array | undefined {
    switch (message.type) {
      case "hello":
        // Pipes carry bytes, not a terminal's output, so no queries are removed.
        if (message.tty) this.#answerers = new AnswererHistory(message.you.id, message.live, message.answerer);
        this.#offset = message.offset;
        this.#live = message.live;
        return undefined;
      case "answerer":
        this.#answerers?.note(message, this.#offset);
        return undefined;
      case "gap":
        this.#offset = message.to;
        this.#transfers.reset();
        return frameOf(STREAM_STDOUT, [this.#characters.flush(), this.#filter.breakOff()]);
      case "resize":
        // Held bytes belong to the old size.
        return this.flush();
      case "exit":
        return frameOf(STREAM_STDOUT, [this.#characters.flush(), this.#filter.flush()]);
      default:
        return undefined;
    }
  }

  /** Whether no bytes are held, and no sequence or character is unfinished. */
  get isAtRest(): boolean {
    return this.#filter.isAtRest && this.#characters.isAtRest && this.#transfers.isAtRest;
  }

  /** Resumes at this offset, in a session that has slept. */
  resume({ tty, offset, me, answerer }: { tty: boolean; offset: number; me: string; answerer: Answerer }): void {
    if (tty) this.#answerers = new AnswererHistory(me, 0, answerer);
    this.#offset = offset;
  }

  /** Whether a file is being transferred to the client. */
  get isTransfer(): boolean {
    return this.#transfers.isTransfer;
  }

  /** Input of the client, which may type: it may accept an offered file. */
  typed(bytes: Uint8Array, nowMs: number): void {
    this.#transfers.typed(bytes, nowMs);
  }

  /** The client may not type any more, which ends its transfer. */
  endTransfer(): void {
    this.#transfers.reset();
  }

  /** @returns The frame to send instead: `frame` itself if nothing is removed, undefined if nothing is left. */
  pass(frame: Uint8Array, nowMs: number): Uint8Array | undefined {
    if (this.#answerers === undefined) return frame;
    const bytes = frame.subarray(1);
    const replayed = Math.min(bytes.length, Math.max(0, this.#live - this.#offset));
    if (replayed === bytes.length) return this.#draw(frame);
    const type = frame[0] ?? STREAM_STDOUT;
    const parts = replayed === 0 ? [] : [this.#draw(frame.subarray(0, 1 + replayed))?.subarray(1) ?? NO_BYTES];
    for (const piece of this.#transfers.cut(replayed === 0 ? bytes : bytes.subarray(replayed), nowMs)) {
      const isWhole = piece.bytes.length === bytes.length;
      if (piece.isTransfer) {
        this.#offset += piece.bytes.length;
        if (isWhole) return frame;
        parts.push(piece.bytes);
      } else {
        const drawn = this.#draw(isWhole ? frame : (frameOf(type, [piece.bytes]) ?? frame));
        if (isWhole) return drawn;
        parts.push(drawn?.subarray(1) ?? NO_BYTES);
      }
    }
    return frameOf(type, parts);
  }

  /** Like {@link pass}, for bytes outside file transfers. */
  #draw(frame: Uint8Array): Uint8Array | undefined {
    const bytes = frame.subarray(1);
    const parts = this.#filter.filter(bytes, this.#offset);
    this.#offset += bytes.length;
    const type = frame[0] ?? STREAM_STDOUT;
    const left = parts[0] === bytes ? frame : frameOf(type, parts);
    if (left === undefined) return undefined;
    const text = left === frame ? bytes : left.subarray(1);
    const ready = this.#characters.pass(text);
    return ready === text ? left : frameOf(type, [ready]);
  }

  /** @returns The incomplete character that was held. */
  flush(): Uint8Array | undefined {
    return frameOf(STREAM_STDOUT, [this.#characters.flush()]);
  }

  /** @returns Output that redraws the screen. It replaces everything before it, and does not count. */
  redraw(snapshot: Uint8Array): Uint8Array {
    this.#transfers.reset();
    const before = [this.#characters.flush(), this.#filter.breakOff()];
    const screen = new QueryFilter(() => false, { replayEnd: () => Number.POSITIVE_INFINITY });
    const parts = [...before, ...screen.filter(snapshot, 0), screen.flush()];
    return frameOf(STREAM_STDOUT, parts) ?? Uint8Array.of(STREAM_STDOUT);
  }
}

/** undefined if there are no bytes. */
function frameOf(type: number, parts: readonly Uint8Array[]): Uint8Array | undefined {
  const frame = joined([Uint8Array.of(type), ...parts]);
  return frame.length === 1 ? undefined : frame;
}
