// The callers that wait for one screen: one drawing for all snapshots, and one answer for each reader, in the order of asking.

import type { Snapshot } from "sandbox-stdio/core";
import type { ScreenState, ScreenWish } from "./read-screen.ts";

type Reader = { readonly wish: ScreenWish; readonly resolve: (state?: ScreenState) => void };

/** A screen that is read again sooner than this is read often. */
const OFTEN_MS = 2_000;

export class ScreenWaiters {
  #drawing:
    | { readonly promise: Promise<Snapshot | undefined>; readonly resolve: (snapshot?: Snapshot) => void }
    | undefined;
  #readers: Reader[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isReadOften = false;

  get isDrawingWanted(): boolean {
    return this.#drawing !== undefined;
  }

  /** Whether no question waits, and none is likely to come in a moment. */
  get isQuiet(): boolean {
    return this.#drawing === undefined && this.#readers.length === 0 && !this.#isReadOften;
  }

  /** The wishes still to be answered, oldest first. */
  get wishes(): readonly ScreenWish[] {
    return this.#readers.map(({ wish }) => wish);
  }

  /** @param request Called if no caller has wanted the drawing before. */
  waitForDrawing(request: () => void): Promise<Snapshot | undefined> {
    if (this.#drawing !== undefined) return this.#drawing.promise;
    const drawing = Promise.withResolvers<Snapshot | undefined>();
    this.#drawing = drawing;
    request();
    return drawing.promise;
  }

  waitForState(wish: ScreenWish): Promise<ScreenState | undefined> {
    const nowMs = performance.now();
    this.#isReadOften = nowMs - this.#readAtMs < OFTEN_MS;
    this.#readAtMs = nowMs;
    return new Promise((resolve) => {
      this.#readers.push({ wish, resolve });
    });
  }

  drawn(snapshot: Snapshot | undefined): void {
    const drawing = this.#drawing;
    this.#drawing = undefined;
    drawing?.resolve(snapshot);
  }

  shown(state: ScreenState | undefined): void {
    this.#readers.shift()?.resolve(state);
  }

  /** There will be no screen. */
  giveUp(): void {
    this.drawn(undefined);
    const readers = this.#readers;
    this.#readers = [];
    for (const { resolve } of readers) resolve(undefined);
  }
}
