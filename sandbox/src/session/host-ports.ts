// The questions of programs to one process over the inner hop: its terminal's modes and screen, and its shell's commands.

import type { OutputLog, ProgramPorts, Question } from "sandbox-stdio/core";
import { type InputModes, inputModesOf, type TimeIndex, USUAL_MODES } from "sandbox-stdio/programs";
import type { SessionMarks } from "../marks/session-marks.ts";
import { withinLimit } from "../screen/screen-limit.ts";
import { REPLAY_BYTES, type SessionScreen } from "../screen/session-screen.ts";
import type { LoggedProcess } from "./logged-process.ts";

/** The question to a screen for its modes alone. */
const MODES = { scrollback: 0, runs: false, ansi: false } as const;

export class HostPorts implements ProgramPorts {
  readonly called: () => void;
  readonly #log: OutputLog;
  readonly #screen: SessionScreen | undefined;
  readonly #marks: SessionMarks | undefined;
  readonly #times: TimeIndex;

  /** @param screen Absent on pipes, as are the marks. */
  constructor(
    { log, screen, marks, times }: Pick<LoggedProcess, "log" | "screen" | "marks" | "times">,
    called: () => void,
  ) {
    this.#log = log;
    this.#times = times;
    this.#screen = screen;
    this.#marks = marks;
    this.called = called;
  }

  get isMarked(): boolean {
    return this.#marks?.commands.isMarked === true;
  }

  async answer(question: Question): Promise<Uint8Array | undefined> {
    if (question.about === "commands") {
      const { list = [], isMarked = false } = this.#marks?.commands ?? {};
      const { marks, stepMs } = this.#times;
      return encode({ commands: list, next: this.#log.endOffset, isMarked, times: { marks, stepMs } });
    }
    const { scrollback, runs, ansi } = question;
    const state = await this.#screen?.read({ scrollback, runs, ansi });
    return state === undefined ? undefined : encode(withinLimit(state));
  }

  /** A log that is whole and short says it by itself, and at once; else its screen knows. */
  async modes(): Promise<InputModes | undefined> {
    if (this.#screen === undefined) return undefined;
    const log = this.#log;
    if (log.startOffset > 0 || log.endOffset > REPLAY_BYTES) {
      return (await this.#screen.read(MODES))?.modes ?? USUAL_MODES;
    }
    const bytes = Buffer.allocUnsafe(log.endOffset);
    log.copy(0, bytes.length, bytes, 0);
    return inputModesOf(bytes.toString("latin1"));
  }
}

function encode(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
