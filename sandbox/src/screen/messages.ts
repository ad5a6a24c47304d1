// The messages between the bridge and the worker that holds the screens.

import type { Snapshot } from "sandbox-stdio/core";
import type { Answer, Size, Skip } from "./emulator.ts";
import type { ScreenRequest, ScreenState } from "./read-screen.ts";

/** `id`: the session of the screen. The messages of a session are handled in order. */
export type ToWorker =
  /** The first message: the memory for the worker's progress. */
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
  | { readonly kind: "show"; readonly id: number; readonly request: ScreenRequest }
  /** The emulator is not needed for now: `open` will be the next message. */
  | { readonly kind: "rest"; readonly id: number }
  /** Handled at once: earlier messages are dropped. */
  | { readonly kind: "close"; readonly id: number };

export type FromWorker =
  | { readonly kind: "parsed"; readonly id: number; readonly answers: readonly Answer[]; readonly ms: number }
  | { readonly kind: "drawn"; readonly id: number; readonly snapshot: Snapshot }
  | { readonly kind: "shown"; readonly id: number; readonly state: ScreenState }
  /** The screen is lost: open it anew. */
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
  /** The screen is lost because its output takes too long to parse: continue behind it. */
  | { readonly kind: "exceeded"; readonly id: number };
