// Keeps the frames of a client, within limits, until its session is ready.

import { KIB, MAX_SHARED_WAITING_INPUT_BYTES, MAX_WAITING_INPUT_BYTES } from "../wire/constants.ts";
import type { Frame } from "./dialect.ts";

/** Bytes that a client may send before its session is ready. */
const MAX_EARLY_BYTES = 256 * KIB;
/** A client that is not told when to begin, or that it has to wait, may have sent as much as may wait. */
const MAX_EARLY_FED_BYTES = MAX_WAITING_INPUT_BYTES + MAX_EARLY_BYTES;
/** The cost of a frame beside its bytes. */
const FRAME_COST_BYTES = 16;

export class EarlyFrames {
  readonly #frames: Frame[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** In the order in which they came. */
  get all(): readonly Frame[] {
    return this.#frames;
  }

  /**
   * Keeps the frame; its bytes must stay as they are.
   * @param isTold Whether its client is told when it may begin.
   * @param sharedBytes The waiting bytes of all connections of the session, this frame's among them.
   * @returns Whether the client may go on; else it has sent too much.
   */
  push(frame: Frame, isTold: boolean, sharedBytes: () => number): boolean {
    this.#frames.push(frame);
    this.#bytes += frame.length + FRAME_COST_BYTES;
    if (this.#bytes <= MAX_EARLY_BYTES) return true;
    return !isTold && this.#bytes <= MAX_EARLY_FED_BYTES && sharedBytes() <= MAX_SHARED_WAITING_INPUT_BYTES;
  }
}
