// Values that the Worker and a session object exchange about recordings.

import type { SegmentFacts } from "sandbox-stdio/recording";
import type { ChainPoint } from "../audit/chain.ts";
import type { Grant } from "./grant.ts";

/** The reader of a running recording. */
export type RecordingReader = {
  readonly who: Grant;
  readonly pass: { readonly connection: string; readonly address: string; readonly homeKey: string };
};

/** A stored segment. */
export type StoredSegment = SegmentFacts &
  ChainPoint & {
    /** As it is stored. */
    readonly bytes: number;
    readonly sha256: string;
    /** Its key in the bucket; absent: it is in the object's storage. */
    readonly key?: string;
  };

export type RecordingListing = {
  readonly incarnation: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly bytes: number;
  readonly seconds: number;
  readonly gap?: { readonly from: number; readonly to: number };
  readonly held?: { readonly reason: string; readonly by: string; readonly at: string };
};

export type RecordingIndex =
  /** The session was never recorded, or its recording has been removed. */
  | { readonly kind: "none" | "removed" }
  | {
      readonly kind: "found";
      readonly incarnation: string;
      readonly startedAtMs: number;
      readonly endedAtMs?: number;
      readonly isTty: boolean;
      readonly command: string;
      readonly redacted: number;
      /** Oldest first. */
      readonly segments: readonly StoredSegment[];
      /** Encoded segments that are not stored yet. */
      readonly open: readonly Uint8Array[];
      /** Where the recording ends now. */
      readonly end: number;
      /** Whether nothing follows. */
      readonly isOver: boolean;
    };

export type Removal =
  | { readonly kind: "done"; readonly count: number }
  | { readonly kind: "none" | "removed" | "forbidden" }
  | { readonly kind: "held"; readonly reason: string };

/** Takes the next encoded segment of a running recording; called without one after a quiet while. */
export type TellRecording = (encoded?: Uint8Array) => Promise<void>;
