// Where a terminal's control sequences begin and end, and which of them ask the terminal something. Pure; keeps nothing.

export const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** Asks for the answerback message. */
export const ENQ = 0x05;

export type SequenceKind = "csi" | "osc" | "dcs" | "apc" | "other";

export type Sequence = {
  readonly kind: SequenceKind;
  /** Index after its last byte. */
  readonly end: number;
  /** The text between introducer and terminator; for `csi` and `other` with the final byte. Latin-1. */
  readonly text: string;
};

/** Kinds of string by the byte after ESC. PM and SOS are skipped by terminals, as APC mostly is. */
const STRINGS: Readonly<Record<number, SequenceKind>> = {
  93: "osc", // ]
  80: "dcs", // P
  95: "apc", // _
  94: "apc", // ^
  88: "apc", // X
};

/**
 * Reads the sequence that begins with the ESC at `at`.
 * @returns undefined where it goes on beyond the end of `bytes`.
 */
export function readSequence(bytes: Uint8Array, at: number): Sequence | undefined {
  const introducer = bytes[at + 1];
  if (introducer === undefined) return undefined;
  if (introducer === 0x5b) return readCsi(bytes, at + 2);
  const string = STRINGS[introducer];
  if (string !== undefined) return readString(bytes, at + 2, string);
  // ESC, intermediates 0x20 to 0x2f, and one final byte.
  let i = at + 1;
  for (; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0;
    if (byte >= 0x20 && byte <= 0x2f) continue;
    const isFinal = byte >= 0x30 && byte <= 0x7e;
    return { kind: "other", end: isFinal ? i + 1 : i, text: isFinal ? latin1(bytes, at + 1, i + 1) : "" };
  }
  return undefined;
}

function readCsi(bytes: Uint8Array, start: number): Sequence | undefined {
  for (let i = start; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0;
    if (byte >= 0x40 && byte <= 0x7e) return { kind: "csi", end: i + 1, text: latin1(bytes, start, i + 1) };
    if (byte === ESC || byte >= 0x7f) return { kind: "other", end: i, text: "" };
    if (byte === CAN || byte === SUB) return { kind: "other", end: i + 1, text: "" };
    // Other control characters are carried out in the middle of a sequence, which goes on.
  }
  return undefined;
}

function readString(bytes: Uint8Array, start: number, kind: SequenceKind): Sequence | undefined {
  const found = findStringEnd(bytes, start, kind);
  if (found === undefined) return undefined;
  return { kind: found.isWhole ? kind : "other", end: found.end, text: latin1(bytes, start, found.textEnd) };
}

/** Where a string ends that goes on at `start`; undefined where it does not. `isWhole`: terminated, not broken off. */
export function findStringEnd(
  bytes: Uint8Array,
  start: number,
  kind: SequenceKind,
): { end: number; textEnd: number; isWhole: boolean } | undefined {
  for (let i = start; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (byte === BEL && kind === "osc") return { end: i + 1, textEnd: i, isWhole: true };
    if (byte === CAN || byte === SUB) return { end: i + 1, textEnd: i, isWhole: false };
    if (byte !== ESC) continue;
    if (i + 1 === bytes.length) return undefined;
    if (bytes[i + 1] === 0x5c) return { end: i + 2, textEnd: i, isWhole: true };
    return { end: i, textEnd: i, isWhole: false };
  }
  return undefined;
}

/** The parts of a CSI: private marker, parameters, intermediates, final byte. */
export const CSI_PARTS = /^([<-?]?)([\d;:]*)([ -/]*)([@-~])$/;

/** `CSI … t` with one of these first reports something of the window. */
const WINDOW_REPORTS: ReadonlySet<number> = new Set([11, 13, 14, 15, 16, 18, 19, 20, 21]);

/** CSI that a terminal answers: private marker, intermediates and final byte. */
const CSI_QUERIES: ReadonlySet<string> = new Set([
  "c", // device attributes: primary,
  ">c", // secondary,
  "=c", // tertiary
  "n", // device status, cursor position
  "?n",
  "$p", // modes
  "?$p",
  ">q", // name and version
  "?u", // keyboard protocol
  "?m", // key modifier options
  "x", // terminal parameters
  "$w", // presentation state
  "*y", // checksum of a rectangle
  "?S", // graphics attributes
  "#|", // graphic rendition
  "#R", // colour stack
  "&u", // preferred character set
  "$u", // terminal state
  "'|", // locator position
]);

/** Whether a terminal answers this sequence by typing. */
export function isQuery({ kind, text }: Sequence): boolean {
  switch (kind) {
    case "csi": {
      const parts = CSI_PARTS.exec(text);
      if (parts === null) return false;
      const [, marker = "", params = "", intermediates = "", final = ""] = parts;
      if (marker + intermediates + final === "t") return WINDOW_REPORTS.has(Number.parseInt(params, 10));
      return CSI_QUERIES.has(marker + intermediates + final);
    }
    case "osc":
      // Colours, clipboard, fonts: a `?` stands where the value would. iTerm2's have names.
      return text.split(";").some((part) => part.startsWith("?")) || /^1337;(Report|Capabilities)/.test(text);
    case "dcs":
      return text.startsWith("$q") || text.startsWith("+q");
    case "apc":
      // Kitty's graphics: does the terminal know them?
      return /^G(?:[^;]*,)?a=q/.test(text);
    case "other":
      return text === "Z";
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i += 1) text += String.fromCharCode(bytes[i] ?? 0);
  return text;
}
