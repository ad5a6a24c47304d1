// What happens in a recording, in its order. Formats that players read are made of these. Times are as Date.now().

export type RecordedEvent =
  /** `text` has whole characters only; `offset` is that of its first byte. Bytes that are not UTF-8 are U+FFFD. */
  | { readonly kind: "output"; readonly atMs: number; readonly offset: number; readonly text: string }
  /** The terminal has this size from `offset` on. */
  | {
      readonly kind: "size";
      readonly atMs: number;
      readonly offset: number;
      readonly cols: number;
      readonly rows: number;
    }
  /** A command starts: `line` is as its shell told it, or empty. */
  | { readonly kind: "command"; readonly atMs: number; readonly offset: number; readonly line: string }
  /** Output between these offsets is not in the recording. `state` redraws the screen behind it, where that is known. */
  | { readonly kind: "gap"; readonly atMs: number; readonly from: number; readonly to: number }
  | { readonly kind: "exit"; readonly atMs: number; readonly code: number; readonly signal?: string };

/** The beginning of a stream of events. */
export type RecordedStart = {
  readonly incarnation: string;
  readonly atMs: number;
  readonly cols: number;
  readonly rows: number;
  /** Whether all of the output from the offset on is UTF-8, as far as is known. */
  readonly isLossy: boolean;
  /** How many patterns of redaction were applied. */
  readonly redacted: number;
  readonly title?: string;
  readonly command?: readonly string[];
};
