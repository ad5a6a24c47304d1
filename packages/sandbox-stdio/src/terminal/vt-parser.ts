// Finds where control sequences begin and end, byte by byte: the states of the usual VT500 parser as in xterm.js, including its
// handling of invalid UTF-8. Keeps a few numbers, never the bytes.

import {
  isCsiBeginning,
  isCsiEffect,
  isCsiQuery,
  isDcsBeginning,
  isDcsQuery,
  isReportingMode,
  StringProbe,
} from "./queries.ts";

export const ESC = 0x1b;
/** Requests the answerback message. */
export const ENQ = 0x05;
/** First byte of a C1 control in UTF-8, and of other characters. */
export const C1_LEAD = 0xc2;
export const CAN = 0x18;
export const SUB = 0x1a;
export const BEL = 0x07;
const ST = 0x9c;
const DEL = 0x7f;
/** Stands for any character that is neither ASCII nor a control. */
const PRINTABLE = 0xa0;
/** A byte inside a character or invalid UTF-8: terminals ignore it. */
const NOTHING = -1;
const BYTE_ORDER_MARK = 0xfeff;
const MAX_PARAM = 0xffff;

export type SequenceKind = "escape" | "csi" | "osc" | "dcs" | "apc" | "string";

type State =
  | "ground"
  /** A character that may turn out to be a C1 control. */
  | "lead"
  | "escape"
  | "escape-intermediate"
  | "csi-entry"
  | "csi-param"
  | "csi-intermediate"
  | "csi-ignore"
  | "osc"
  | "dcs-entry"
  | "dcs-param"
  | "dcs-intermediate"
  | "dcs-ignore"
  | "dcs-string"
  | "apc"
  | "string";

/** The effect of a byte on the current sequence. */
export type Step =
  | "goes-on"
  /** The byte ends or aborts the sequence. */
  | "ends"
  /** The byte ends a sequence that a terminal answers. */
  | "ends-query"
  /** The byte begins another sequence; the previous one is aborted, or was a string that this byte ends. */
  | "restarts"
  /** The byte begins another sequence, and ends a string that a terminal answers. */
  | "restarts-after-query"
  /** The byte is ENQ or BEL in the middle of a sequence, which continues. */
  | "asks-aside";

/** By the byte after ESC; the C1 control is 0x40 higher. */
const INTRODUCERS: ReadonlyMap<number, State> = new Map<number, State>([
  [0x5b, "csi-entry"],
  [0x5d, "osc"],
  [0x50, "dcs-entry"],
  [0x5f, "apc"],
  [0x5e, "string"],
  [0x58, "string"],
]);
/** ESC Z and U+009A: request identification. */
const DECID = 0x5a;

export class VtParser {
  #state: State = "ground";
  #kind: SequenceKind = "escape";
  /** Marker and intermediates, eight bits each. */
  #collected = 0;
  #first = 0;
  #isFirst = true;
  #param = 0;
  #hasReportingMode = false;
  #isDcsQuery = false;
  #isCsiEffect = false;
  readonly #probe = new StringProbe();
  /** Bytes missing from the current character, its value so far, and the least value allowed for its length. */
  #missing = 0;
  #character = 0;
  #minCharacter = 0;

  /** Whether no sequence is being read. */
  get isGround(): boolean {
    return this.#state === "ground";
  }

  /** The kind of the current or last sequence. */
  get kind(): SequenceKind {
    return this.#kind;
  }

  /** Whether the next byte may belong to a character that has begun. */
  get isInCharacter(): boolean {
    return this.#missing > 0;
  }

  /** Whether bytes 0x20 to 0x7f neither end the current sequence nor matter to it. */
  get isLongString(): boolean {
    const state = this.#state;
    return state === "string" || ((state === "osc" || state === "dcs-string" || state === "apc") && !this.canBeQuery);
  }

  /** Whether the current or last sequence, if complete, has effects other than drawing and querying. */
  get isEffect(): boolean {
    return this.#kind === "osc" ? this.#probe.isEffect : this.#isCsiEffect;
  }

  /** Whether the next bytes decide {@link isEffect}. */
  get isEffectOpen(): boolean {
    return this.#state === "osc" && this.#probe.isEffectOpen;
  }

  /** Whether the current sequence is a picture that would be answered, and its keys have just ended. */
  get isBeforePicture(): boolean {
    return this.#state === "apc" && this.#probe.isBeforePicture;
  }

  /** Whether the current sequence can still become a query. */
  get canBeQuery(): boolean {
    switch (this.#state) {
      case "lead":
      case "escape":
        return true;
      case "csi-entry":
      case "csi-param":
      case "csi-intermediate":
        return isCsiBeginning(this.#collected);
      case "dcs-entry":
      case "dcs-param":
      case "dcs-intermediate":
        return isDcsBeginning(this.#collected);
      case "dcs-string":
        return this.#isDcsQuery;
      case "osc":
      case "apc":
        return this.#probe.canBeQuery;
      default:
        return false;
    }
  }

  /** Begins a sequence with an ESC, or with a byte that may be the first of a C1 control. */
  begin(byte: typeof ESC | typeof C1_LEAD): void {
    this.#missing = 0;
    if (byte === ESC) this.#enter("escape");
    else {
      this.#enter("lead");
      this.#decode(byte);
    }
  }

  /** Forgets the current sequence. */
  reset(): void {
    this.#state = "ground";
    this.#missing = 0;
  }

  /** Takes the next byte of the sequence begun with {@link begin}. */
  push(byte: number): Step {
    let code = byte;
    if (byte < 0x80) this.#missing = 0;
    else if (this.#state === "lead" && byte >= 0xc0) {
      if (byte !== C1_LEAD) return this.#end();
      this.begin(C1_LEAD);
      return "restarts";
    } else {
      code = this.#decode(byte);
      if (code === NOTHING) return "goes-on";
    }
    if (code === ESC) return this.#restart("escape", this.#isQueryString());
    if (code === CAN || code === SUB) return this.#end();
    if (code >= 0x80 && code < PRINTABLE) return this.#control(code);
    return this.#step(code);
  }

  #enter(state: State): void {
    this.#state = state;
    this.#collected = 0;
    this.#first = 0;
    this.#isFirst = true;
    this.#param = 0;
    this.#hasReportingMode = false;
    this.#isDcsQuery = false;
    this.#isCsiEffect = false;
    if (state === "osc" || state === "apc") this.#probe.start(state);
    if (state === "csi-entry") this.#kind = "csi";
    else if (state === "dcs-entry") this.#kind = "dcs";
    else if (state === "osc" || state === "apc" || state === "string") this.#kind = state;
    else this.#kind = "escape";
  }

  #restart(state: State, isAfterQuery: boolean): Step {
    this.#enter(state);
    return isAfterQuery ? "restarts-after-query" : "restarts";
  }

  #end(isQuery = false): Step {
    this.#state = "ground";
    this.#missing = 0;
    return isQuery ? "ends-query" : "ends";
  }

  /** Handles a C1 control. Only ST ends a string regularly. */
  #control(code: number): Step {
    if (code === ST) return this.#end(this.#isQueryString());
    const wasLead = this.#state === "lead";
    const state = INTRODUCERS.get(code - 0x40);
    if (state === undefined) return this.#end(wasLead && code - 0x40 === DECID);
    this.#enter(state);
    return wasLead ? "goes-on" : "restarts";
  }

  #step(code: number): Step {
    switch (this.#state) {
      case "ground":
      case "lead":
        this.#end();
        return code === ENQ || code === BEL ? "asks-aside" : "ends";
      case "escape": {
        if (code < 0x20) return this.#aside(code);
        if (code === DEL) return "goes-on";
        const state = INTRODUCERS.get(code);
        if (state !== undefined) {
          this.#enter(state);
          return "goes-on";
        }
        if (code >= 0x30) return this.#end(code === DECID);
        this.#state = "escape-intermediate";
        return "goes-on";
      }
      case "escape-intermediate":
        if (code < 0x20) return this.#aside(code);
        return code < 0x30 || code === DEL ? "goes-on" : this.#end();
      case "csi-entry":
      case "csi-param":
      case "csi-intermediate":
      case "csi-ignore":
        return this.#csi(code);
      case "dcs-entry":
      case "dcs-param":
      case "dcs-intermediate":
        return this.#dcs(code);
      case "osc":
        if (code === BEL) return this.#end(this.#probe.isQuery);
        if (code >= 0x20) this.#probe.put(code);
        return "goes-on";
      case "apc":
        if (code >= PRINTABLE) return this.#end();
        if (code >= 0x20 && code !== DEL) this.#probe.put(code);
        return "goes-on";
      case "string":
        return code >= PRINTABLE ? this.#end() : "goes-on";
      case "dcs-ignore":
      case "dcs-string":
        return "goes-on";
    }
  }

  /** Handles a control character inside a sequence: the terminal executes it and continues the sequence. */
  #aside(code: number): Step {
    return code === ENQ || code === BEL ? "asks-aside" : "goes-on";
  }

  #csi(code: number): Step {
    if (code < 0x20) return this.#aside(code);
    if (code === DEL) return "goes-on";
    const isIgnored = this.#state === "csi-ignore";
    if (code >= PRINTABLE) return isIgnored ? "goes-on" : this.#end();
    if (code >= 0x40) {
      if (isIgnored) return this.#end();
      this.#endParam();
      this.#isCsiEffect = isCsiEffect(this.#collected, code, this.#first);
      return this.#end(isCsiQuery(this.#collected, code, this.#first, this.#hasReportingMode));
    }
    if (!isIgnored) this.#state = this.#parameters(code, "csi") as State;
    return "goes-on";
  }

  #dcs(code: number): Step {
    if (code < 0x20 || code === DEL) return "goes-on";
    if (code >= PRINTABLE) return this.#end();
    if (code >= 0x40) {
      this.#isDcsQuery = isDcsQuery(this.#collected, code);
      this.#state = "dcs-string";
    } else this.#state = this.#parameters(code, "dcs") as State;
    return "goes-on";
  }

  /** Marker, parameters, intermediates, in this order. @returns The next state. */
  #parameters(code: number, kind: "csi" | "dcs"): `${"csi" | "dcs"}-${"param" | "intermediate" | "ignore"}` {
    if (code < 0x30) {
      this.#collect(code);
      return `${kind}-intermediate`;
    }
    if (this.#state === `${kind}-intermediate`) return `${kind}-ignore`;
    if (code >= 0x3c) {
      if (this.#state !== `${kind}-entry`) return `${kind}-ignore`;
      this.#collect(code);
    } else if (code >= 0x3a) this.#endParam();
    else this.#param = Math.min(MAX_PARAM, this.#param * 10 + code - 0x30);
    return `${kind}-param`;
  }

  #collect(code: number): void {
    // No known sequence has more than three of these, so a longer one must not look like a known one.
    this.#collected = this.#collected > 0xffff ? 0xffffff : (this.#collected << 8) | code;
  }

  #endParam(): void {
    if (this.#isFirst) this.#first = this.#param;
    this.#isFirst = false;
    if (isReportingMode(this.#param)) this.#hasReportingMode = true;
    this.#param = 0;
  }

  #isQueryString(): boolean {
    if (this.#state === "osc" || this.#state === "apc") return this.#probe.isQuery;
    return this.#state === "dcs-string" && this.#isDcsQuery;
  }

  /** Decodes one byte from 0x80 on. @returns A control from 0x80 to 0x9f, {@link PRINTABLE}, or {@link NOTHING}. */
  #decode(byte: number): number {
    if (this.#missing > 0 && byte < 0xc0) {
      this.#character = (this.#character << 6) | (byte & 0x3f);
      this.#missing -= 1;
      if (this.#missing > 0) return NOTHING;
      const character = this.#character;
      const isSurrogate = character >= 0xd800 && character <= 0xdfff;
      if (character < this.#minCharacter || isSurrogate || character > 0x10ffff) return NOTHING;
      if (character === BYTE_ORDER_MARK) return NOTHING;
      return Math.min(character, PRINTABLE);
    }
    this.#missing = missingAfter(byte);
    this.#minCharacter = [0, 0x80, 0x800, 0x10000][this.#missing] ?? 0;
    this.#character = byte & (0x3f >> this.#missing);
    return NOTHING;
  }
}

/** How many bytes must follow this first byte of a character. */
export function missingAfter(byte: number): number {
  if (byte < 0xc0 || byte >= 0xf8) return 0;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}
