// Answers terminal queries while no attached client does (K5): finds them in the output, and types the emulator's answers to exactly
// those. Without a query it costs next to nothing: only a query makes the emulator parse at once. Which queries are the bridge's and
// their answers may become known in either order.

import { type Answerer, type OutputLog, type ProgramHost, QueryFilter, type Question } from "sandbox-stdio/core";
import { ChunkTable, type InputModes, inputModesOf, USUAL_MODES, WriteIds } from "sandbox-stdio/programs";
import type { Answer } from "../screen/emulator.ts";
import { withinLimit } from "../screen/read-screen.ts";
import { REPLAY_BYTES, type SessionScreen } from "../screen/session-screen.ts";
import type { InputWriter } from "./input-writer.ts";
import type { Lifespan } from "./lifespan.ts";
import type { LoggedProcess } from "./logged-process.ts";

/** A query that began before the bridge's turn is searched for this far back. */
const LOOK_BACK_BYTES = 4096;
const SCAN_BYTES = 65_536;
/** Queries that wait for their answers: more are not answered. */
const MAX_WAITING = 4096;
/** Answers that wait for their queries to be the bridge's: most never are. */
const MAX_UNCLAIMED = 4096;

const encoder = new TextEncoder();
/** Shared by all sessions: used within one call only. */
const scratch = new Uint8Array(SCAN_BYTES);

export class Answers {
  readonly #log: OutputLog;
  readonly #screen: Pick<SessionScreen, "parseTo">;
  readonly #writer: Pick<InputWriter, "pushOwn">;
  readonly #announce: (offset: number) => void;
  /** The bridge answers from here on; undefined: a client answers. */
  #from: number | undefined = 0;
  #scanned = 0;
  #filter = new QueryFilter((at) => this.#found(at));
  /** The offsets of the last bytes of queries whose answers are pending. */
  readonly #waiting = new Set<number>();
  /** Answers of the emulator that are not known to be the bridge's, by the end of the query; oldest first. */
  readonly #unclaimed = new Map<number, string>();

  /** @param announce Told before a client is sent the query's last byte: the bridge answers queries that end before `offset`. */
  constructor(
    log: OutputLog,
    screen: Pick<SessionScreen, "parseTo">,
    writer: Pick<InputWriter, "pushOwn">,
    announce: (offset: number) => void,
  ) {
    this.#log = log;
    this.#screen = screen;
    this.#writer = writer;
    this.#announce = announce;
  }

  /** Another client, or the bridge, answers from now on. Earlier queries keep their answerer. */
  answererIs({ id, offset }: Answerer): void {
    if (id !== "") {
      this.#from = undefined;
      return;
    }
    this.#from = offset;
    this.#scanned = Math.max(0, offset - LOOK_BACK_BYTES);
    this.#filter.flush();
    this.appended();
  }

  /** To be called after each commit to the log, before a client is sent the committed output. */
  appended(): void {
    if (this.#from === undefined) return;
    const log = this.#log;
    if (this.#scanned < log.startOffset) {
      this.#filter.flush();
      this.#scanned = log.startOffset;
    }
    while (this.#scanned < log.endOffset) {
      const length = Math.min(SCAN_BYTES, log.endOffset - this.#scanned);
      log.copy(this.#scanned, length, scratch, 0);
      this.#filter.filter(scratch.subarray(0, length), this.#scanned);
      this.#scanned += length;
    }
  }

  /**
   * The emulator has parsed the output before `offset`, and has answered so. If ESC \ ends a query, the emulator answers behind
   * both characters, and the query has ended with the first.
   */
  parsed(answers: readonly Answer[], offset: number): void {
    for (const { offset: end, text } of answers) {
      if (this.#waiting.has(end - 1) || this.#waiting.has(end - 2)) this.#write(text);
      else this.#unclaimed.set(end, (this.#unclaimed.get(end) ?? "") + text);
    }
    for (const end of this.#unclaimed.keys()) {
      if (end > this.#log.startOffset && this.#unclaimed.size <= MAX_UNCLAIMED) break;
      this.#unclaimed.delete(end);
    }
    // The emulator has no answer to the others.
    for (const at of this.#waiting) if (at + 1 < offset) this.#waiting.delete(at);
  }

  close(): void {
    this.#from = undefined;
    this.#waiting.clear();
    this.#unclaimed.clear();
  }

  #found(at: number): boolean {
    if (this.#from === undefined || at < this.#from || this.#waiting.size >= MAX_WAITING) return true;
    this.#announce(at + 1);
    const end = this.#unclaimed.has(at + 1) ? at + 1 : at + 2;
    const answer = this.#unclaimed.get(end);
    if (answer === undefined) {
      this.#waiting.add(at);
      this.#screen.parseTo(at + 1);
    } else {
      this.#unclaimed.delete(end);
      this.#write(answer);
    }
    return true;
  }

  #write(answer: string): void {
    this.#writer.pushOwn(encoder.encode(answer));
  }
}

/** A question to a screen for its modes alone. */
const MODES = { scrollback: 0, runs: false, ansi: false } as const;

/** The questions of programs to one process over the inner hop: its terminal's modes and screen, and its shell's commands. */
export class ProgramQuestions implements ProgramHost {
  readonly #process: LoggedProcess;
  readonly #lifespan: Lifespan;
  readonly writeIds = new WriteIds();
  readonly #chunks = new ChunkTable();

  constructor(process: LoggedProcess, lifespan: Lifespan) {
    this.#process = process;
    this.#lifespan = lifespan;
  }

  called(): void {
    this.#lifespan.called(performance.now());
  }

  get isMarked(): boolean {
    return this.#process.marks?.commands.isMarked === true;
  }

  async answer(question: Question): Promise<Uint8Array | undefined> {
    const { log, marks, screen, times } = this.#process;
    if (question.about === "commands") {
      const { list = [], isMarked = false } = marks?.commands ?? {};
      const outputTimes = { marks: times.marks, stepMs: times.stepMs };
      return encode({ commands: list, next: log.endOffset, isMarked, times: outputTimes });
    }
    if (question.about === "chunks") {
      this.#chunks.cut(log, question.to);
      return encode(this.#chunks.list(question.after, question.most));
    }
    const { scrollback, runs, ansi } = question;
    const state = await screen?.read({ scrollback, runs, ansi });
    return state === undefined ? undefined : encode(withinLimit(state));
  }

  /** A log that is whole and short tells the modes by itself, and at once; else the screen knows. */
  async modes(): Promise<InputModes | undefined> {
    const { log, screen } = this.#process;
    if (screen === undefined) return undefined;
    if (log.startOffset > 0 || log.endOffset > REPLAY_BYTES) return (await screen.read(MODES))?.modes ?? USUAL_MODES;
    const bytes = Buffer.allocUnsafe(log.endOffset);
    log.copy(0, bytes.length, bytes, 0);
    return inputModesOf(bytes.toString("latin1"));
  }
}

function encode(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
