// The callers that wait for one screen: all snapshots share a drawing, and each reader gets an answer, in order.

import type { Snapshot } from "sandbox-stdio/core";
import type { ScreenRequest, ScreenState } from "./read-screen.ts";

type Reader = { readonly request: ScreenRequest; readonly resolve: (state?: ScreenState) => void };

/** A screen that is read again within this time is read often. */
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

  /** Whether no request waits, and none is likely to come soon. */
  get isQuiet(): boolean {
    return this.#drawing === undefined && this.#readers.length === 0 && !this.#isReadOften;
  }

  /** Unanswered requests, oldest first. */
  get requests(): readonly ScreenRequest[] {
    return this.#readers.map(({ request }) => request);
  }

  /** @param request Called unless another caller waits for the drawing. */
  waitForDrawing(request: () => void): Promise<Snapshot | undefined> {
    if (this.#drawing !== undefined) return this.#drawing.promise;
    const drawing = Promise.withResolvers<Snapshot | undefined>();
    this.#drawing = drawing;
    request();
    return drawing.promise;
  }

  waitForState(request: ScreenRequest): Promise<ScreenState | undefined> {
    const nowMs = performance.now();
    this.#isReadOften = nowMs - this.#readAtMs < OFTEN_MS;
    this.#readAtMs = nowMs;
    return new Promise((resolve) => {
      this.#readers.push({ request, resolve });
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

  /** The screen is given up. */
  giveUp(): void {
    this.drawn(undefined);
    const readers = this.#readers;
    this.#readers = [];
    for (const { resolve } of readers) resolve(undefined);
  }
}
