// The marks of one session: scans its output as it is read, keeps the shell's commands, and reports ends of commands, titles and calls
// for attention at limited rates.

import { clipUtf8, defined, MAX_TITLE_BYTES } from "sandbox-stdio/core";
import type { Attention } from "sandbox-stdio/programs";
import { type CommandEnd, Commands } from "./commands.ts";

/** The time between two calls for attention (N1). */
const ATTENTION_MS = 1_000;
/** The time between two titles. */
const TITLE_MS = 200;
/** OSC 0 and 2; 1 is an icon's. */
const TITLE = /^[02];/;
/** Ends of commands that are reported in a second. The list has all of them. */
const ENDS_PER_SECOND = 200;

/** Characters of a notification. */
const MAX_TITLE = 256;
const MAX_BODY = 1_024;
/** The most pieces of a notification. */
const MAX_PIECES = 16;

export interface SessionMarkEvents {
  commandEnded(end: CommandEnd): void;
  attention(attention: Attention): void;
  titled(title: string): void;
}

export class SessionMarks {
  readonly commands: Commands;
  readonly #events: SessionMarkEvents;
  readonly #now: () => number;
  readonly #notifications = new Notifications();
  readonly #marks: OutputMarks;
  #attentionAtMs = Number.NEGATIVE_INFINITY;
  #newTitle = "";
  #toldTitle = "";
  #titleAtMs = Number.NEGATIVE_INFINITY;
  #titleTimer: ReturnType<typeof setTimeout> | undefined;
  #second = Number.NEGATIVE_INFINITY;
  #endsInSecond = 0;

  /** @param now Milliseconds of a clock that never goes back. */
  constructor(events: SessionMarkEvents, now: () => number) {
    this.#events = events;
    this.#now = now;
    this.commands = new Commands((end) => this.#ended(end));
    this.#marks = new OutputMarks({
      osc: (text, start, end) => {
        if (this.commands.take(text, start, end)) return;
        if (TITLE.test(text)) {
          this.#title(visible(text.slice(2), MAX_TITLE_BYTES));
          return;
        }
        const note = this.#notifications.take(text);
        if (note !== undefined) this.#attend({ kind: "notify", ...note, offset: end });
      },
      bell: (end) => {
        this.#attend({ kind: "bell", offset: end });
        return false;
      },
    });
  }

  /** @param offset Where the output, which was just read, begins. */
  scan(bytes: Uint8Array, offset: number): void {
    this.#marks.scan(bytes, offset, this.#now() - this.#attentionAtMs >= ATTENTION_MS);
  }

  /** Reports some of the texts of a spinner in a title, and always the last one. */
  #title(title: string): void {
    this.#newTitle = title;
    if (this.#titleTimer !== undefined || title === this.#toldTitle) return;
    const waitMs = Math.max(0, this.#titleAtMs + TITLE_MS - this.#now());
    if (waitMs === 0) this.#tellTitle();
    else {
      this.#titleTimer = setTimeout(() => {
        this.#titleTimer = undefined;
        this.#tellTitle();
      }, waitMs);
      this.#titleTimer.unref();
    }
  }

  #tellTitle(): void {
    this.#titleAtMs = this.#now();
    if (this.#newTitle === this.#toldTitle) return;
    this.#toldTitle = this.#newTitle;
    this.#events.titled(this.#newTitle);
  }

  #attend(attention: Attention): void {
    const now = this.#now();
    if (now - this.#attentionAtMs < ATTENTION_MS) return;
    this.#attentionAtMs = now;
    this.#events.attention(attention);
  }

  #ended(end: CommandEnd): void {
    const now = this.#now();
    if (now - this.#second >= 1_000) {
      this.#second = now;
      this.#endsInSecond = 0;
    }
    this.#endsInSecond += 1;
    if (this.#endsInSecond <= ENDS_PER_SECOND) this.#events.commandEnded(end);
  }
}

type Note = Pick<Attention, "title" | "body">;

/** Finds calls for attention in OSC 9, 99 and 777 of iTerm2, kitty and urxvt (N1). */
class Notifications {
  /** kitty sends title and body in several sequences. */
  #pending: { title: string; body: string; pieces: number } = { title: "", body: "", pieces: 0 };

  /** @returns The finished note; undefined: none, or its end has yet to come. */
  take(text: string): Note | undefined {
    const [number = "", ...rest] = text.split(";");
    switch (number) {
      case "9":
        // ConEmu uses 4 for progress and 9 for the directory.
        return rest[0] === "4" || rest[0] === "9" || rest.length === 0 ? undefined : note("", rest.join(";"));
      case "99":
        return this.#kitty(rest[0] ?? "", rest.slice(1).join(";"));
      case "777":
        return rest[0] === "notify" ? note(rest[1] ?? "", rest.slice(2).join(";")) : undefined;
      default:
        return undefined;
    }
  }

  #kitty(metadata: string, payload: string): Note | undefined {
    const keys = new Map(metadata.split(":").map((pair): [string, string] => [pair.slice(0, 1), pair.slice(2)]));
    const part = keys.get("p") ?? "title";
    const text = keys.get("e") === "1" ? Buffer.from(payload, "base64").toString("utf8") : payload;
    const pending = this.#pending;
    if (part === "title" || part === "body") pending[part] = (pending[part] + text).slice(0, MAX_BODY);
    else return undefined; // A query, an icon, buttons.
    pending.pieces += 1;
    if (keys.get("d") === "0" && pending.pieces < MAX_PIECES) return undefined;
    this.#pending = { title: "", body: "", pieces: 0 };
    return note(pending.title, pending.body);
  }
}

function note(title: string, body: string): Note {
  return defined({ title: visible(title, MAX_TITLE) || undefined, body: visible(body, MAX_BODY) || undefined });
}

/** For people: without control characters, and characters that hide or reorder text. */
function visible(text: string, max: number): string {
  return clipUtf8(text.replace(/[\p{Cc}\p{Cf}]/gu, ""), max);
}

/** A longer OSC is ignored. The line of a command may be long. */
const MAX_TEXT_BYTES = 16 * 1024;

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const BRACKET = 0x5d;
/** The first digits of the numbers 0, 2, 133, 633, 777, 9 and 99. Links, which are frequent, have another. */
const FIRST_DIGITS = [0x30, 0x32, 0x31, 0x36, 0x37, 0x39];
const NOTHING = Buffer.alloc(0);
const OSC = Buffer.from("\x1b]");
/** Behind ESC, these begin DCS, SOS, PM and APC: a BEL in one of them does not ring. */
const STRINGS = [0x50, 0x58, 0x5e, 0x5f];

interface MarkEvents {
  /** @param start Where the OSC begins. @param end Where the output behind it begins. */
  osc(text: string, start: number, end: number): void;
  /** A BEL outside sequences. @param end Where the output behind it begins. @returns Whether more of them are wanted. */
  bell(end: number): boolean;
}

/**
 * Finds the OSC of shell marks, titles and calls for attention, and BEL, in a terminal's output (C1, N1), wherever the output is
 * cut: two native searches over each piece.
 */
class OutputMarks {
  readonly #events: MarkEvents;
  /** The open OSC: where it begins, and its text so far, undefined if that does not matter. */
  #open: { readonly start: number; text: Buffer | undefined } | undefined;
  #endsWithEsc = false;
  #isInString = false;

  constructor(events: MarkEvents) {
    this.#events = events;
  }

  /**
   * @param offset The offset of the first byte, which follows the last of the call before.
   * @param wantsBells Whether a BEL matters: most of a thousand a second don't.
   */
  scan(bytes: Uint8Array, offset: number, wantsBells: boolean): void {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    if (this.#open !== undefined) at = this.#goOn(piece, 0, offset);
    else if (this.#endsWithEsc && piece[0] === BRACKET) at = this.#begin(piece, 1, offset, offset - 1);
    else if (this.#endsWithEsc) this.#isInString = STRINGS.includes(piece[0] ?? 0);
    let isListening = wantsBells;
    let bell = isListening ? piece.indexOf(BEL, at) : -1;
    let osc = piece.indexOf(OSC, at);
    while (at < piece.length && (bell >= 0 || osc >= 0)) {
      if (bell >= 0 && (osc < 0 || bell < osc)) {
        if (!this.#isString(piece, bell)) isListening = this.#events.bell(offset + bell + 1);
        at = bell + 1;
      } else at = this.#begin(piece, osc + OSC.length, offset, offset + osc);
      if (!isListening) bell = -1;
      else if (bell < at) bell = piece.indexOf(BEL, at);
      if (osc < at) osc = piece.indexOf(OSC, at);
    }
    this.#endsWithEsc = piece.at(-1) === ESC;
    const last = piece.lastIndexOf(ESC);
    if (last >= 0) this.#isInString = STRINGS.includes(piece[last + 1] ?? 0);
  }

  /** Whether the BEL at `bell` is within a string other than an OSC. */
  #isString(piece: Buffer, bell: number): boolean {
    const last = piece.subarray(0, bell).lastIndexOf(ESC);
    if (last < 0) return this.#isInString;
    return STRINGS.includes(piece[last + 1] ?? 0);
  }

  #begin(piece: Buffer, at: number, offset: number, start: number): number {
    const first = piece[at];
    const mayMatter = first === undefined || FIRST_DIGITS.includes(first);
    this.#open = { start, text: mayMatter ? NOTHING : undefined };
    return this.#goOn(piece, at, offset);
  }

  /** Reads the open OSC from `from` on. @returns The index where the scan goes on. */
  #goOn(piece: Buffer, from: number, offset: number): number {
    const open = this.#open;
    if (open === undefined) return from;
    let at = from;
    while (at < piece.length && !isEnd(piece[at] ?? 0)) at += 1;
    const length = (open.text?.length ?? 0) + at - from;
    const isWhole = at < piece.length;
    if (length > MAX_TEXT_BYTES) open.text = undefined;
    else if (open.text === NOTHING && isWhole) open.text = piece.subarray(from, at);
    // Text that continues in the next piece is copied, as this memory is reused.
    else if (open.text !== undefined) open.text = Buffer.concat([open.text, piece.subarray(from, at)]);
    if (!isWhole) return at;
    this.#open = undefined;
    const ending = piece[at];
    if (ending === CAN || ending === SUB) return at + 1;
    // ESC \ ends it with two bytes; any other ESC begins what comes next.
    const isBell = ending === BEL;
    const end = isBell ? at + 1 : at + 2;
    if (open.text !== undefined) this.#events.osc(open.text.toString("utf8"), open.start, offset + end);
    return isBell ? at + 1 : at;
  }
}

function isEnd(byte: number): boolean {
  return byte === BEL || byte === ESC || byte === CAN || byte === SUB;
}
