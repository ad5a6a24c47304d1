// The messages between the bridge and the worker that holds the screens.

import type { Snapshot } from "sandbox-stdio/core";
import type { Answer, Size, Skip } from "./emulator.ts";
import type { ScreenState, ScreenWish } from "./read-screen.ts";

/** `id`: the session of the screen. Worked off in order, each session's. */
export type ToWorker =
  /** The first: the memory into which the worker writes its state. */
  { readonly kind: "watch"; readonly shared: SharedArrayBuffer } | SessionMessage;

export type SessionMessage =
  | {
      readonly kind: "open";
      readonly id: number;
      readonly size: Size;
      readonly offset: number;
      readonly isExact: boolean;
    }
  /** Acknowledged by `parsed`. */
  | { readonly kind: "write"; readonly id: number; readonly size: Size; readonly bytes: Uint8Array }
  | { readonly kind: "skip"; readonly id: number; readonly skip: Skip }
  | { readonly kind: "draw"; readonly id: number }
  /** Asks for the screen, as {@link readScreen} puts it. Answered by `shown`, in order. */
  | { readonly kind: "show"; readonly id: number; readonly wish: ScreenWish }
  /** The emulator is not needed for now: `open` comes before anything else. */
  | { readonly kind: "rest"; readonly id: number }
  /** At once: earlier messages are dropped. */
  | { readonly kind: "close"; readonly id: number };

export type FromWorker =
  | { readonly kind: "parsed"; readonly id: number; readonly answers: readonly Answer[]; readonly ms: number }
  | { readonly kind: "drawn"; readonly id: number; readonly snapshot: Snapshot }
  | { readonly kind: "shown"; readonly id: number; readonly state: ScreenState }
  /** The screen is lost: open it anew. */
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
  /** The same, because the output to parse takes too long: go on behind it. */
  | { readonly kind: "exceeded"; readonly id: number };
