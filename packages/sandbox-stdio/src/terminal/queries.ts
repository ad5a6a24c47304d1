// The control sequences that make a terminal send input: queries, and modes that are answered when they are set. Tables and
// rules for one sequence; knows nothing of where sequences begin and end.

/** `CSI … t` with one of these parameters reports on the window. */
const WINDOW_REPORTS: ReadonlySet<number> = new Set([11, 13, 14, 15, 16, 18, 19, 20, 21]);

/** Private modes that some terminals answer when they are set: focus (in xterm.js), size. */
const REPORTING_MODES: ReadonlySet<number> = new Set([1004, 2048]);

/** Answered CSI: private marker, intermediates and final byte. */
const CSI_QUERIES: ReadonlySet<number> = new Set(
  [
    "c", // DA1: primary device attributes
    ">c", // DA2: secondary
    "=c", // DA3: tertiary
    "n", // DSR: device status, cursor position
    "?n", // DSR, private
    "$p", // DECRQM: is an ANSI mode set?
    "?$p", // DECRQM, private
    ">q", // XTVERSION
    "?u", // query the flags of kitty's keyboard protocol
    "?m", // XTQMODKEYS
    "?g", // XTQFMTKEYS
    "> q", // kitty's extra cursors; setting them is kept
    "*z", // DECINVM: runs a macro, whatever it contains
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

/** CSI with effects other than drawing and querying, whatever their parameters. */
const CSI_EFFECTS: ReadonlySet<number> = new Set(
  [
    "i", // MC: prints
    "?i", // MC, private
    ",~", // DECPS: plays a note
    "$|", // DECSCPP: the window's columns
    "*|", // DECSNLS: the window's rows
    "]", // Linux: bell, switch of console
  ].map(identOf),
);

/** Markers and intermediates that may precede the final byte of these, or of setting a mode. */
const CSI_BEGINNINGS: ReadonlySet<number> = new Set(
  [...CSI_QUERIES, ...CSI_EFFECTS].flatMap((ident) => beginningsOf(ident >> 8)),
);

const DCS_QUERIES: ReadonlySet<number> = new Set(
  [
    "$q", // DECRQSS
    "+q", // XTGETTCAP
    "+Q", // XTGETXRES
    "!z", // DECDMAC: defines a macro, whose content is not examined
    "|", // DECUDK: defines what keys send
    "p", // ReGIS, which can query; with 1000 tmux's control mode, in which iTerm2 sends commands
    "@", // kitty: remote control, and an echo of its input
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

/** `collected` and each of its prefixes, including the empty one. */
function beginningsOf(collected: number): number[] {
  return collected === 0 ? [0] : [collected, ...beginningsOf(collected >> 8)];
}

/** Whether a CSI with this marker and these intermediates can still become a query. */
export function isCsiBeginning(collected: number): boolean {
  return CSI_BEGINNINGS.has(collected);
}

export function isDcsBeginning(collected: number): boolean {
  return DCS_BEGINNINGS.has(collected);
}

/** Whether a query without marker and intermediates may end with this byte. */
export function canEndQuery(final: number): boolean {
  return final === WINDOW_OPERATION || CSI_QUERIES.has(final);
}

/** @param hasReportingMode Whether a parameter satisfies {@link isReportingMode}. */
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

/** OSC with effects other than drawing: notifications, clipboard, file transfers. */
const EFFECT_OSCS: ReadonlySet<number> = new Set([
  9,
  51, // Vim's and Emacs' terminals: calls a function
  52,
  99,
  440, // mintty: plays a sound
  777,
  5113,
  5522,
  9001, // Windows Terminal: offers to install a missing program
]);
const ITERM = 1337;
/** iTerm2 sequences that draw or store something; `File=` without `inline=1` is a download. */
const ITERM_DRAWS =
  /^(?:File=(?:[^:]*;)?inline=1(?:;|:|$)|MultipartFile=(?:[^:]*;)?inline=1(?:;|:|$)|FilePart=|FileEnd|SetMark|CurrentDir=|RemoteHost=|ShellIntegrationVersion=|SetUserVar=|CursorShape=|UnicodeVersion=)/;
const MAX_ITERM_HEAD = 1_024;
const COLON = 0x3a;
/** `CSI … t` up to the first or from the second number on moves or resizes the window. */
const MAX_WINDOW_EFFECT = 10;
const MIN_WINDOW_ROWS = 24;

/** Whether a CSI affects more than the screen: a window, a printer or a loudspeaker. */
export function isCsiEffect(collected: number, final: number, first: number): boolean {
  const ident = (collected << 8) | final;
  if (ident === WINDOW_OPERATION) return (first >= 1 && first <= MAX_WINDOW_EFFECT) || first >= MIN_WINDOW_ROWS;
  return CSI_EFFECTS.has(ident);
}

/** Where a question mark in the place of a value makes an OSC a query. */
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
  // rxvt and mintty: colours, locale, version, font.
  ...[39, 49, 701, 702, 704, 705, 706, 707, 708, 7704, 7721, 7770, 7777].map((id): [number, OscRule] => [id, "slots"]),
  // xterm's allowed and disallowed features; kitty's file transfers and clipboard.
  ...[60, 61, 5113, 5522].map((id): [number, OscRule] => [id, "always"]),
]);
const ITERM_QUERIES = ["ReportCellSize", "ReportVariable=", "Capabilities", "RequestUpload="];
const QUESTION = 0x3f;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const MAX_OSC_NUMBER = 9999;
const MAX_GRAPHICS_KEYS = 256;
/** Appended to a picture's keys to suppress the answer. */
export const QUIET = ",q=2";

/** Reads the text of an OSC or of kitty graphics (APC) by character: is it a query, or can it become one? */
export class StringProbe {
  #kind: "osc" | "apc" = "osc";
  #id = -1;
  #rule: OscRule | undefined;
  #slot = 0;
  #isSlotStart = false;
  /** The text so far, if it is compared with names. */
  #head = "";
  #isHeadWhole = false;
  /** Whether the last character ended it. */
  #hasHeadEnded = false;
  #hasQuestion = false;
  #canBeQuery = true;
  /** The start of an iTerm2 sequence, which says what it does; undefined for other sequences. */
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

  /** Whether it has an effect other than drawing if it ends here. */
  get isEffect(): boolean {
    return this.#isEffect || (this.#iterm !== undefined && !ITERM_DRAWS.test(this.#iterm));
  }

  /** Whether the next characters decide {@link isEffect}. */
  get isEffectOpen(): boolean {
    return (
      this.#kind === "osc" &&
      !this.#isEffect &&
      !this.#isItermHeadWhole &&
      (this.#rule === undefined ? this.#canBeQuery : this.#iterm !== undefined)
    );
  }

  /** Whether the terminal answers if the string ends here. */
  get isQuery(): boolean {
    if (this.#kind === "osc") return this.#hasQuestion || OSC_RULES.get(this.#id) === "always";
    const isTold = !this.#isHeadWhole && isAnsweredPicture(this.#head);
    return this.#canBeQuery && (this.#hasQuestion || isTold || isGraphicsQuery(this.#head));
  }

  /** Whether a picture's data follows whose arrival would be answered; {@link QUIET} before it prevents that. */
  get isBeforePicture(): boolean {
    return this.#hasHeadEnded && !this.#canBeQuery && isAnsweredPicture(this.#head);
  }

  get canBeQuery(): boolean {
    return this.#canBeQuery;
  }

  /** @param code A character; all that are not ASCII are equivalent. */
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

  /** Reads `G`, keys with values, a semicolon, and the picture. */
  #graphics(code: number): void {
    // Too many keys for a picture: treat it as a query.
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

/** A picture with an id or number is answered, even a broken one. */
function isAnsweredPicture(head: string): boolean {
  const keys = head.slice(1).split(",");
  return head.startsWith("G") && !keys.includes("q=2") && keys.some((key) => /^[iI]=0*[1-9]/.test(key));
}

/**
 * Removes the queries of a sequence that also does something else: keeps unanswered modes and set colours.
 * @param text Marker, parameters, intermediates and final byte of a CSI, or the text of an OSC or APC; Latin-1.
 * @returns A whole sequence, or "" if it only queries.
 */
export function withoutQuestions(kind: "csi" | "osc" | "apc", text: string): string {
  if (kind === "apc") {
    const isPicture =
      text.length <= MAX_GRAPHICS_KEYS && isAnsweredPicture(text) && !isGraphicsQuery(text.replace(/;.*/s, ""));
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
  // Consecutive colours; an empty slot changes nothing.
  if (id >= 10 && id <= 19) return slots.map((slot) => (asks(slot) ? "" : slot));
  return id === 21 ? slots.filter((slot) => !slot.includes("=?")) : [];
}
