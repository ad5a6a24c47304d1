// One *wait* (T1 to T6) as a state machine: it gets output, time, exit, keyboard, marks and screens, and reaches one outcome.
// A wait reads the log; it holds nothing back and polls nothing.

import type { OutputLog } from "../output/output-log.ts";
import { decodeUtf8, encodeUtf8, isLossy, unfinishedBytes } from "../text/utf8-text.ts";
import type { AskAnswer, ExitStatus } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import type { Gap } from "./output-range.ts";
import { PatternMachine, type PatternProgram } from "./pattern.ts";
import { plainTextOf } from "./plain-text.ts";
import { OutputSearch, resumeAt, type SearchMatch } from "./search.ts";
import { WORK_PAUSE_MS, WorkShare } from "./work-share.ts";

/** A condition of T1, with compiled expressions. */
export type WaitUntil =
  | { readonly kind: "exit" }
  | { readonly kind: "match"; readonly program: PatternProgram }
  | { readonly kind: "text"; readonly text: string }
  /** No output for this long since the call: weak evidence of anything (T5). */
  | { readonly kind: "idle"; readonly idleMs: number }
  | { readonly kind: "commandEnd" }
  | { readonly kind: "screen"; readonly program: PatternProgram }
  /** The keyboard is free or held by the caller. */
  | { readonly kind: "keyboard" }
  /** A person has answered this ask, or it has expired. */
  | { readonly kind: "ask"; readonly id: string };

export type WaitOutcome = "met" | "timeout" | "exited" | "lost";

export type WaitResult = {
  readonly outcome: WaitOutcome;
  /** The search was abandoned (`timeout`): a match may be there. */
  readonly undecided?: true;
  /** Where to continue: after the match, where the command ended, else at the end of the log. */
  readonly offset: number;
  /** For a screen, `from` and `to` are the offset at which it looked like this. */
  readonly match?: SearchMatch;
  readonly exit?: ExitStatus;
  readonly answer?: AskAnswer;
  /** Bytes that were lost before the wait reached them. */
  readonly gap?: Gap;
};

/** The end of a command: the start of its mark D, and the exit code in it. */
export type CommandEnd = { readonly offset: number; readonly exit?: number | undefined };

export type WaitSetup = {
  readonly until: WaitUntil;
  readonly log: OutputLog;
  /** Absent: the log's end at the call (T2). */
  readonly from?: number | undefined;
  readonly timeoutMs: number;
  readonly nowMs: number;
  /** Set for a wait that an earlier life began. */
  readonly kept?: KeptWait | undefined;
  /** Absent: no other wait shares the work. */
  readonly share?: WorkShare;
};

/** The stored state of a pending wait, beside its parameters. */
export type KeptWait = {
  /** Output before this offset has been examined. */
  readonly seen: number;
  readonly idleSinceMs: number;
};

type Ending = { readonly outcome: "timeout" | "exited" | "lost"; readonly exit?: ExitStatus };

/** A search is abandoned this long after the wait's timeout, whatever output is left. */
const WORK_GRACE_MS = 5_000;
/** How much of the log is converted to plain text for each byte of `output`, and at least. */
const OUTPUT_FACTOR = 4;
const MIN_OUTPUT_SOURCE = 65_536;

export class Wait {
  readonly until: WaitUntil;
  readonly from: number;
  readonly #log: OutputLog;
  readonly #deadlineMs: number;
  readonly #search: OutputSearch | undefined;
  readonly #share: WorkShare;
  #idleSinceMs: number;
  #seenEnd: number;
  #screen: ScreenSearch | undefined;
  /** Set once waiting has ended but earlier output is still to be searched. */
  #ending: Ending | undefined;
  #isBehind = false;
  #result: WaitResult | undefined;

  constructor({ until, log, from, timeoutMs, nowMs, kept, share }: WaitSetup) {
    this.until = until;
    this.from = from ?? log.endOffset;
    this.#log = log;
    this.#share =
      share ??
      new WorkShare(
        () => Number.POSITIVE_INFINITY,
        () => 1,
      );
    this.#deadlineMs = nowMs + timeoutMs;
    this.#idleSinceMs = kept?.idleSinceMs ?? nowMs;
    this.#seenEnd = kept?.seen ?? log.endOffset;
    const resumed = kept && resumeAt(log, this.from, kept.seen);
    if (until.kind === "match") {
      this.#search = new OutputSearch({ kind: "pattern", program: until.program }, this.from, resumed);
    } else if (until.kind === "text") this.#search = new OutputSearch(until, this.from, resumed);
  }

  /** What another life needs to resume. Not while {@link isBehind}: it would skip output not yet searched. */
  get kept(): KeptWait {
    return { seen: this.#search?.offset ?? this.#seenEnd, idleSinceMs: this.#idleSinceMs };
  }

  /** The outcome, once there is one; it is final. */
  get result(): WaitResult | undefined {
    return this.#result;
  }

  /** Whether it has not reached the end of the output. */
  get isBehind(): boolean {
    return this.#isBehind && this.#result === undefined;
  }

  /** When to call {@link output} even without more output; undefined if never. */
  nextWorkMs(nowMs: number): number | undefined {
    return this.isBehind ? nowMs + WORK_PAUSE_MS : undefined;
  }

  /** When to call {@link tick}. */
  get nextTickMs(): number | undefined {
    if (this.#result !== undefined || this.#ending !== undefined) return undefined;
    if (this.until.kind !== "idle") return this.#deadlineMs;
    return Math.min(this.#deadlineMs, this.#idleSinceMs + this.until.idleMs);
  }

  /** The log may have grown. */
  output(nowMs: number): void {
    if (this.#log.endOffset > this.#seenEnd) {
      this.#seenEnd = this.#log.endOffset;
      this.#idleSinceMs = nowMs;
    }
    this.work();
    if (nowMs >= this.#deadlineMs + WORK_GRACE_MS) this.#giveUp();
  }

  /** Continues the search, for about as long as its share allows. */
  work(): void {
    if (this.#result !== undefined) return;
    const granted = this.#share.grant();
    const allowance = { left: granted };
    this.#isBehind =
      this.#search === undefined ? this.#searchScreen(allowance) : this.#searchOutput(this.#search, allowance);
    this.#share.spend(granted - allowance.left);
    if (!this.#isBehind && this.#ending !== undefined) this.#end(this.#ending);
  }

  tick(nowMs: number): void {
    if (this.#result !== undefined) return;
    if (this.until.kind === "idle" && nowMs >= this.#idleSinceMs + this.until.idleMs) this.#succeed();
    else if (nowMs >= this.#deadlineMs) this.#endAfterSearch({ outcome: "timeout" });
  }

  /** The caller's own time limit has passed. */
  timeOver(nowMs: number): void {
    this.tick(nowMs);
    this.#endAfterSearch({ outcome: "timeout" });
  }

  /** The process has ended, and all its output is in the log. */
  exited(exit: ExitStatus): void {
    if (this.until.kind === "exit") this.#succeed({ exit });
    else this.#endAfterSearch({ outcome: "exited", exit });
  }

  /** The process is lost: no more output will arrive. */
  lost(): void {
    this.#endAfterSearch({ outcome: "lost" });
  }

  /** Whether the keyboard is free or the caller's; called first and on every change. */
  keyboard(isOpen: boolean): void {
    if (this.until.kind === "keyboard" && isOpen) this.#succeed();
  }

  /** How the ask ended; undefined while it is open. Called first and on every change of an ask. */
  answered(answer: AskAnswer | undefined): void {
    if (this.until.kind === "ask" && answer !== undefined) this.#succeed({ answer });
  }

  /** A command has ended; called in order, including commands between `from` and the call. */
  commandEnded(end: CommandEnd): void {
    if (this.until.kind !== "commandEnd" || end.offset < this.from) return;
    this.#succeed(defined({ offset: end.offset, exit: end.exit === undefined ? undefined : { code: end.exit } }));
  }

  /** The screen as drawn at `offset`, one string per row; called first and on every change. */
  screen(rows: readonly string[], offset: number): void {
    // A match that only lacks its groups counts, whatever is drawn since.
    if (this.until.kind !== "screen" || this.#result !== undefined || this.#screen?.isFound === true) return;
    this.#screen = new ScreenSearch(this.until.program, rows, offset);
    this.work();
  }

  #searchOutput(search: OutputSearch, allowance: { left: number }): boolean {
    const progress = search.advance(this.#log, allowance);
    if (progress.kind === "found") this.#succeed({ match: progress.match, offset: progress.match.to });
    return progress.kind === "more";
  }

  #searchScreen(allowance: { left: number }): boolean {
    const screen = this.#screen;
    const match = screen?.advance(allowance);
    if (screen === undefined || match === "more") return match === "more";
    this.#screen = undefined;
    const { offset } = screen;
    if (match !== undefined) this.#succeed({ match: { from: offset, to: offset, ...match }, offset });
    return false;
  }

  #endAfterSearch(ending: Ending): void {
    if (this.#result !== undefined) return;
    // The first ending counts.
    this.#ending ??= ending;
    this.work();
  }

  #succeed(more: Partial<Pick<WaitResult, "offset" | "match" | "exit" | "answer">> = {}): void {
    this.#answer({ outcome: "met", offset: this.#log.endOffset, ...more });
  }

  #end(ending: Ending): void {
    this.#answer({ ...ending, offset: this.#search?.offset ?? this.#log.endOffset });
  }

  /** Ends although earlier output is not searched, if waiting has ended; `offset` is where to continue. */
  #giveUp(): void {
    if (this.#ending === undefined || this.#result !== undefined) return;
    const offset = this.#search?.undecidedOffset ?? this.#seenEnd;
    this.#answer({ ...this.#ending, outcome: "timeout", undecided: true, offset });
  }

  /** Keeps the first answer. */
  #answer(answer: WaitResult): void {
    const gap = this.#search?.missed;
    this.#result ??= gap === undefined ? answer : { ...answer, gap };
  }
}

export type TextOfOutput = {
  readonly output: string;
  /** Set if some bytes are not UTF-8. */
  readonly lossy?: true;
};

/**
 * The last `maxBytes` bytes before the log's end, as plain text in whole characters (T3).
 * @param canGrow Whether more output can follow: an unfinished character is then left out.
 */
export function lastOutput(log: OutputLog, maxBytes: number, canGrow = false): TextOfOutput {
  const source = Math.max(maxBytes * OUTPUT_FACTOR, MIN_OUTPUT_SOURCE);
  const from = Math.max(log.startOffset, log.endOffset - source);
  const all = outputBetween(log, from, log.endOffset);
  const bytes = canGrow ? all.subarray(0, all.length - unfinishedBytes(all)) : all;
  // An incomplete first line may begin inside an escape sequence.
  const firstLine = from > 0 ? bytes.indexOf(0x0a) + 1 : 0;
  const plain = encodeUtf8(plainTextOf(bytes.subarray(firstLine), from + firstLine));
  let cut = Math.max(0, plain.length - maxBytes);
  while (cut < plain.length && ((plain[cut] ?? 0) & 0xc0) === 0x80) cut += 1;
  const output = decodeUtf8(plain.subarray(cut));
  return isLossy(output, bytes.subarray(firstLine)) ? { output, lossy: true } : { output };
}

/** The part of a range that the log still holds. */
export function outputBetween(log: OutputLog, from: number, to: number): Uint8Array {
  const first = Math.max(log.startOffset, from);
  const bytes = new Uint8Array(Math.max(0, Math.min(to, log.endOffset) - first));
  log.copy(first, bytes.length, bytes, 0);
  return bytes;
}

type ScreenMatch = { readonly text: string; readonly groups: readonly (string | null)[] };

/** Searches one screen as drawn: first for the match, then for its groups, each within an allowance of work. */
class ScreenSearch {
  /** Offset of the output that led to this screen. */
  readonly offset: number;
  readonly #program: PatternProgram;
  readonly #text: string;
  readonly #finder: PatternMachine;
  #at = 0;
  #capture: { readonly machine: PatternMachine; readonly start: number; readonly end: number } | undefined;

  constructor(program: PatternProgram, rows: readonly string[], offset: number) {
    this.offset = offset;
    this.#program = program;
    this.#text = rows.join("\n");
    this.#finder = new PatternMachine(program, "find", 0);
  }

  /** Whether a match was found, perhaps without its groups. */
  get isFound(): boolean {
    return this.#capture !== undefined;
  }

  /**
   * @param allowance About how many instructions to run; reduced by those used.
   * @returns `more`: call again; undefined: no match.
   */
  advance(allowance: { left: number }): ScreenMatch | "more" | undefined {
    if (this.#capture === undefined) {
      this.#at = feed(this.#finder, this.#text, this.#at, this.#text.length, allowance);
      if (this.#at < this.#text.length && !this.#finder.isDecided) return "more";
      const found = this.#finder.matchHere(this.#finder.isDecided ? this.#text.codePointAt(this.#at) : undefined);
      if (found === undefined) return undefined;
      const start = found.slots[0] ?? 0;
      if (this.#program.groups === 0) return { text: this.#text.slice(start, found.end), groups: [] };
      const machine = new PatternMachine(this.#program, "capture", start, codePointBefore(this.#text, start));
      this.#capture = { machine, start, end: found.end };
    }
    const { machine, start, end } = this.#capture;
    feed(machine, this.#text, machine.at, end, allowance);
    if (machine.at < end && !machine.isDecided) return "more";
    const slots = machine.matchHere(this.#text.codePointAt(end))?.slots ?? [];
    const groups = Array.from({ length: this.#program.groups }, (_, i) => {
      const from = slots[2 * i + 2] ?? -1;
      const to = slots[2 * i + 3] ?? -1;
      return from < 0 || to < 0 ? null : this.#text.slice(from, to);
    });
    return { text: this.#text.slice(start, end), groups };
  }
}

function feed(machine: PatternMachine, text: string, from: number, to: number, allowance: { left: number }): number {
  const before = machine.work;
  const at = machine.feed(text, from, to, allowance.left);
  allowance.left -= machine.work - before;
  return at;
}

/** -1 at the start of the text. */
function codePointBefore(text: string, at: number): number {
  const isPair = /[\uDC00-\uDFFF]/.test(text.charAt(at - 1));
  return at === 0 ? -1 : (text.codePointAt(isPair ? at - 2 : at - 1) ?? -1);
}
