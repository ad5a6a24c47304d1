// The questions of programs to one process over the inner hop: its terminal's modes and screen, and its shell's commands.

import type { ProgramHost, Question } from "sandbox-stdio/core";
import { ChunkTable, type InputModes, inputModesOf, USUAL_MODES, WriteIds } from "sandbox-stdio/programs";
import { withinLimit } from "../screen/read-screen.ts";
import { REPLAY_BYTES } from "../screen/session-screen.ts";
import type { Lifespan } from "./lifespan.ts";
import type { LoggedProcess } from "./logged-process.ts";

/** A question to a screen for its modes alone. */
const MODES = { scrollback: 0, runs: false, ansi: false } as const;

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
