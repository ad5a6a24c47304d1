// The control sequences that make a terminal type: queries, and modes whose setting is answered at once. Tables, and rules
// for one sequence; this file does not know where sequences begin and end.

/** `CSI … t` with one of these first reports something of the window. */
const WINDOW_REPORTS: ReadonlySet<number> = new Set([11, 13, 14, 15, 16, 18, 19, 20, 21]);

/** Private modes that some terminals answer when they are set: the focus (xterm.js does), the size. */
const REPORTING_MODES: ReadonlySet<number> = new Set([1004, 2048]);

/** CSI that a terminal answers: private marker, intermediates and final byte. */
const CSI_QUERIES: ReadonlySet<number> = new Set(
  [
    "c", // DA1: device attributes, primary,
    ">c", // DA2, secondary,
    "=c", // DA3, tertiary
    "n", // DSR: device status, cursor position
    "?n", // DSR, private
    "$p", // DECRQM: is an ANSI mode set?
    "?$p", // DECRQM, private
    ">q", // XTVERSION
    "?u", // which flags of kitty's keyboard protocol?
    "?m", // XTQMODKEYS
    "?g", // XTQFMTKEYS
    "> q", // kitty: more cursors; those that it shows are put back
    "*z", // DECINVM: carries out a macro, whatever that holds
    "x", // DECREQTPARM
    "$w", // DECRQPSR: presentation state
    '"v', // DECRQDE: displayed extent
    "*y", // DECRQCRA: checksum of a rectangle
    "?S", // XTSMGRAPHICS
    "#|", // XTREPORTSGR
    "#R", // XTREPORTCOLORS
    "&u", // DECRQUPSS: preferred character set
    "$u", // DECRQTSR: terminal state
    "'|", // DECRQLP: locator position
  ].map(identOf),
);

/** CSI that do something beside drawing and asking, whatever their parameters are. */
const CSI_EFFECTS: ReadonlySet<number> = new Set(
  [
    "i", // MC: prints,
    "?i", // and the private one
    ",~", // DECPS: plays a note
    "$|", // DECSCPP: the window's columns
    "*|", // DECSNLS: the window's rows
    "]", // Linux: the bell, another console
  ].map(identOf),
);

/** Markers and intermediates that may precede the final byte of one of these, or of a mode's setting. */
const CSI_BEGINNINGS: ReadonlySet<number> = new Set(
  [...CSI_QUERIES, ...CSI_EFFECTS].flatMap((ident) => beginningsOf(ident >> 8)),
);

const DCS_QUERIES: ReadonlySet<number> = new Set(
  [
    "$q", // DECRQSS
    "+q", // XTGETTCAP
    "+Q", // XTGETXRES
    "!z", // DECDMAC: what a macro holds is not looked at
    "|", // DECUDK: what keys type
    "p", // ReGIS, which can ask; with 1000 tmux's control mode, in which iTerm2 types commands
    "@", // kitty's own: remote control, and an echo that types what it is given
  ].map(identOf),
);
const DCS_BEGINNINGS: ReadonlySet<number> = new Set([...DCS_QUERIES].flatMap((ident) => beginningsOf(ident >> 8)));

const SET_PRIVATE_MODE = identOf("?h");
const WINDOW_OPERATION = identOf("t");

/** Marker, intermediates and final byte as one number, eight bits each. */
function identOf(text: string): number {
  let ident = 0;
  for (const character of text) ident = (ident << 8) | character.charCodeAt(0);
  return ident;
}

/** `collected` itself, and each of its beginnings, the empty one included. */
function beginningsOf(collected: number): number[] {
  return collected === 0 ? [0] : [collected, ...beginningsOf(collected >> 8)];
}

/** Whether a CSI can still become a query with this marker and these intermediates. */
export function isCsiBeginning(collected: number): boolean {
  return CSI_BEGINNINGS.has(collected);
}

export function isDcsBeginning(collected: number): boolean {
  return DCS_BEGINNINGS.has(collected);
}

/** Whether a CSI without marker and intermediates may be a query that ends with this byte. */
export function canEndQuery(final: number): boolean {
  return final === WINDOW_OPERATION || CSI_QUERIES.has(final);
}

/** @param hasReportingMode Whether one of its parameters names a mode of {@link isReportingMode}. */
export function isCsiQuery(collected: number, final: number, first: number, hasReportingMode: boolean): boolean {
  const ident = (collected << 8) | final;
  if (ident === WINDOW_OPERATION) return WINDOW_REPORTS.has(first);
  if (ident === SET_PRIVATE_MODE) return hasReportingMode;
  return CSI_QUERIES.has(ident);
}

export function isDcsQuery(collected: number, final: number): boolean {
  return DCS_QUERIES.has((collected << 8) | final);
}

export function isReportingMode(mode: number): boolean {
  return REPORTING_MODES.has(mode);
}

/** OSC that do something to a person beside drawing: notices, the clipboard, transfers of files. */
const EFFECT_OSCS: ReadonlySet<number> = new Set([
  9,
  51, // Vim's terminal, and Emacs': calls a function there
  52,
  99,
  440, // mintty: plays a sound
  777,
  5113,
  5522,
  9001, // Windows Terminal: offers to install what was not found
]);
const ITERM = 1337;
/** What of iTerm2's draws, or is kept for later; `File=` without `inline=1` is a download. */
const ITERM_DRAWS =
  /^(?:File=(?:[^:]*;)?inline=1(?:;|:|$)|MultipartFile=(?:[^:]*;)?inline=1(?:;|:|$)|FilePart=|FileEnd|SetMark|CurrentDir=|RemoteHost=|ShellIntegrationVersion=|SetUserVar=|CursorShape=|UnicodeVersion=)/;
const MAX_ITERM_HEAD = 1_024;
const COLON = 0x3a;
/** `CSI … t` up to one of these, or from the other on, moves the window or makes it another size. */
const MAX_WINDOW_EFFECT = 10;
const MIN_WINDOW_ROWS = 24;

/** Whether a CSI does something beside drawing and asking: to a window, a printer or a loudspeaker. */
export function isCsiEffect(collected: number, final: number, first: number): boolean {
  const ident = (collected << 8) | final;
  if (ident === WINDOW_OPERATION) return (first >= 1 && first <= MAX_WINDOW_EFFECT) || first >= MIN_WINDOW_ROWS;
  return CSI_EFFECTS.has(ident);
}

/** Where a question mark that stands for a value is to be looked for. */
type OscRule = "slots" | "keys" | "clipboard" | "names" | "always";

const OSC_RULES: ReadonlyMap<number, OscRule> = new Map<number, OscRule>([
  [4, "slots"], // colours of the palette
  [5, "slots"], // special colours
  ...[10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((id): [number, OscRule] => [id, "slots"]), // foreground and the like
  [21, "keys"], // kitty's colours
  [22, "slots"], // the pointer's shape
  [50, "slots"], // the font
  [52, "clipboard"],
  [99, "keys"], // kitty's notifications
  [1337, "names"], // iTerm2's
  // Of rxvt and mintty: colours, the locale, the version, the font.
  ...[39, 49, 701, 702, 704, 705, 706, 707, 708, 7704, 7721, 7770, 7777].map((id): [number, OscRule] => [id, "slots"]),
  // xterm's features that are allowed, and not; kitty's file transfers and clipboard.
  ...[60, 61, 5113, 5522].map((id): [number, OscRule] => [id, "always"]),
]);
const ITERM_QUERIES = ["ReportCellSize", "ReportVariable=", "Capabilities", "RequestUpload="];
const QUESTION = 0x3f;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const MAX_OSC_NUMBER = 9999;
const MAX_GRAPHICS_KEYS = 256;
/** Behind the keys of a picture: nothing is answered. */
export const QUIET = ",q=2";

/** Reads an OSC's text, or that of kitty's graphics (an APC), a character at a time: is it a query, and can it become one? */
export class StringProbe {
  #kind: "osc" | "apc" = "osc";
  #id = -1;
  #rule: OscRule | undefined;
  #slot = 0;
  #isSlotStart = false;
  /** The text so far, where it is to be compared with names. */
  #head = "";
  #isHeadWhole = false;
  /** The character that was put last has ended it. */
  #hasHeadEnded = false;
  #hasQuestion = false;
  #canBeQuery = true;
  /** Of iTerm2's sequences, as far as it says what they do; undefined: it is another sequence. */
  #iterm: string | undefined;
  #isItermHeadWhole = false;
  #isEffect = false;

  start(kind: "osc" | "apc"): void {
    this.#kind = kind;
    this.#id = -1;
    this.#rule = undefined;
    this.#slot = 0;
    this.#isSlotStart = false;
    this.#head = "";
    this.#isHeadWhole = false;
    this.#hasHeadEnded = false;
    this.#hasQuestion = false;
    this.#canBeQuery = true;
    this.#iterm = undefined;
    this.#isItermHeadWhole = false;
    this.#isEffect = false;
  }

  /** Whether it does something to a person beside drawing, if it ends here. */
  get isEffect(): boolean {
    return this.#isEffect || (this.#iterm !== undefined && !ITERM_DRAWS.test(this.#iterm));
  }

  /** Whether what comes next decides {@link isEffect}. */
  get isEffectOpen(): boolean {
    return (
      this.#kind === "osc" &&
      !this.#isEffect &&
      !this.#isItermHeadWhole &&
      (this.#rule === undefined ? this.#canBeQuery : this.#iterm !== undefined)
    );
  }

  /** Whether the terminal answers, if the string ends here. */
  get isQuery(): boolean {
    if (this.#kind === "osc") return this.#hasQuestion || OSC_RULES.get(this.#id) === "always";
    const isTold = !this.#isHeadWhole && isToldPicture(this.#head);
    return this.#canBeQuery && (this.#hasQuestion || isTold || isGraphicsQuery(this.#head));
  }

  /** Whether the bytes of a picture come next whose arrival the terminal would tell: {@link QUIET} before them keeps it from that. */
  get isBeforePicture(): boolean {
    return this.#hasHeadEnded && !this.#canBeQuery && isToldPicture(this.#head);
  }

  get canBeQuery(): boolean {
    return this.#canBeQuery;
  }

  /** @param code A character; any that is not ASCII may be given as any other such. */
  put(code: number): void {
    this.#hasHeadEnded = false;
    if (this.#iterm !== undefined && !this.#isItermHeadWhole) this.#itermHead(code);
    if (!this.#canBeQuery) return;
    if (this.#kind === "apc") this.#graphics(code);
    else if (this.#rule === undefined) this.#number(code);
    else this.#payload(this.#rule, code);
  }

  #number(code: number): void {
    const isDigit = code >= 0x30 && code <= 0x39;
    if (isDigit) this.#id = Math.max(0, this.#id) * 10 + code - 0x30;
    else if (code === SEMICOLON) {
      this.#rule = OSC_RULES.get(this.#id);
      this.#isEffect = EFFECT_OSCS.has(this.#id);
      if (this.#id === ITERM) this.#iterm = "";
    }
    this.#isSlotStart = true;
    if (isDigit ? this.#id > MAX_OSC_NUMBER : this.#rule === undefined) this.#canBeQuery = false;
  }

  #payload(rule: OscRule, code: number): void {
    const isAtStart = this.#isSlotStart;
    this.#isSlotStart = code === SEMICOLON || (rule === "keys" && code === EQUALS);
    if (code === SEMICOLON) this.#slot += 1;
    switch (rule) {
      case "slots":
      case "keys":
        if (isAtStart && code === QUESTION) this.#hasQuestion = true;
        return;
      case "clipboard":
        if (!isAtStart || this.#slot !== 1 || code === SEMICOLON) return;
        this.#hasQuestion = code === QUESTION;
        this.#canBeQuery = this.#hasQuestion;
        return;
      case "always":
        return;
      case "names":
        this.#head += String.fromCharCode(code);
        if (ITERM_QUERIES.includes(this.#head)) this.#hasQuestion = true;
        this.#canBeQuery = this.#hasQuestion || ITERM_QUERIES.some((name) => name.startsWith(this.#head));
    }
  }

  #itermHead(code: number): void {
    this.#iterm += String.fromCharCode(code);
    this.#isItermHeadWhole = code === COLON || (this.#iterm?.length ?? 0) >= MAX_ITERM_HEAD;
  }

  /** `G`, keys with values, a semicolon, and the picture. */
  #graphics(code: number): void {
    // No picture has so many keys: it asks, for all that is known.
    if (this.#head.length > MAX_GRAPHICS_KEYS) this.#hasQuestion = true;
    if (this.#isHeadWhole || this.#hasQuestion) return;
    this.#isHeadWhole = code === SEMICOLON;
    this.#hasHeadEnded = this.#isHeadWhole;
    if (!this.#isHeadWhole) this.#head += String.fromCharCode(code);
    if (!this.#head.startsWith("G") || (this.#isHeadWhole && !this.isQuery)) this.#canBeQuery = false;
  }
}

function isGraphicsQuery(head: string): boolean {
  return head.slice(1).split(",").includes("a=q");
}

/** A picture with an id or a number of its own is answered, also one that is broken. */
function isToldPicture(head: string): boolean {
  const keys = head.slice(1).split(",");
  return head.startsWith("G") && !keys.includes("q=2") && keys.some((key) => /^[iI]=0*[1-9]/.test(key));
}

/**
 * The rest of a sequence that asks and does more besides: the modes that are not answered, the colours that are set.
 * @param text Marker, parameters, intermediates and final byte of a CSI, or the text of an OSC or APC; Latin-1.
 * @returns A whole sequence, or "" if it does nothing but ask.
 */
export function withoutQuestions(kind: "csi" | "osc" | "apc", text: string): string {
  if (kind === "apc") {
    const isPicture =
      text.length <= MAX_GRAPHICS_KEYS && isToldPicture(text) && !isGraphicsQuery(text.replace(/;.*/s, ""));
    return isPicture ? `\x1b_${text}${QUIET}\x1b\\` : "";
  }
  if (kind === "csi") {
    if (/^>(?!10\d )\d.* q$/.test(text)) return `\x1b[${text}`;
    const [, modes = ""] = /^\?([\d;:]*)h$/.exec(text) ?? [];
    const kept = modes.split(";").filter((mode) => !isReportingMode(Number.parseInt(mode, 10)));
    return modes === "" || kept.length === 0 ? "" : `\x1b[?${kept.join(";")}h`;
  }
  const [id = "", ...slots] = text.split(";");
  const kept = keptSlots(Number(id), slots);
  return kept.some((slot) => slot !== "") ? `\x1b]${id};${kept.join(";")}\x1b\\` : "";
}

function keptSlots(id: number, slots: readonly string[]): string[] {
  const asks = (slot: string | undefined) => slot?.startsWith("?") ?? true;
  // Pairs of index and colour.
  if (id === 4 || id === 5) return slots.filter((_, i) => !asks(slots[i | 1]));
  // One after the other: an empty place changes nothing.
  if (id >= 10 && id <= 19) return slots.map((slot) => (asks(slot) ? "" : slot));
  return id === 21 ? slots.filter((slot) => !slot.includes("=?")) : [];
}
