// Keeps a client's frames, within limits, until its session is ready.

import { KIB, MAX_SHARED_WAITING_INPUT_BYTES, MAX_WAITING_INPUT_BYTES } from "../wire/constants.ts";
import type { Frame } from "./dialect.ts";

/** Most bytes that a client may send before its session is ready. */
const MAX_EARLY_BYTES = 256 * KIB;
/** A client that is not told when to begin or to wait may send as much as may wait later. */
const MAX_EARLY_FED_BYTES = MAX_WAITING_INPUT_BYTES + MAX_EARLY_BYTES;
/** Cost of a frame beside its bytes. */
const FRAME_COST_BYTES = 16;

export class EarlyFrames {
  readonly #frames: Frame[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** All frames, in order of arrival. */
  get all(): readonly Frame[] {
    return this.#frames;
  }

  /**
   * Keeps the frame, whose bytes must not change.
   * @param isTold Whether the dialect tells its clients when to begin.
   * @param sharedBytes Waiting bytes of all connections of the session, including this frame's.
   * @returns Whether the client may go on; if not, it has sent too much.
   */
  push(frame: Frame, isTold: boolean, sharedBytes: () => number): boolean {
    this.#frames.push(frame);
    this.#bytes += frame.length + FRAME_COST_BYTES;
    if (this.#bytes <= MAX_EARLY_BYTES) return true;
    return !isTold && this.#bytes <= MAX_EARLY_FED_BYTES && sharedBytes() <= MAX_SHARED_WAITING_INPUT_BYTES;
  }
}
