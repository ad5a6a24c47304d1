// Matches tmux's answers to their commands. tmux answers in order: each command of a line, up to the first that fails.

import type { CommandLine } from "./commands.ts";
import type { Reply } from "./control-mode.ts";

export type Answer =
  | { readonly ok: true; readonly lines: readonly (readonly Uint8Array[])[] }
  /** tmux's error message. Commands before the failed one were executed, later ones were not. */
  | { readonly ok: false; readonly lines: readonly Uint8Array[] };

type Question = {
  readonly commands: number;
  readonly lines: (readonly Uint8Array[])[];
  answered(answer: Answer): void;
};

export class PendingCommands {
  readonly #questions: Question[] = [];
  #head = 0;

  get length(): number {
    return this.#questions.length - this.#head;
  }

  push({ commands }: CommandLine, answered: (answer: Answer) => void): void {
    this.#questions.push({ commands, lines: [], answered });
  }

  /** @returns False if nothing was asked, so the stream is not what it seems. */
  take({ isError, lines }: Reply): boolean {
    const question = this.#questions[this.#head];
    if (question === undefined) return false;
    if (isError) {
      this.#shift();
      question.answered({ ok: false, lines });
      return true;
    }
    // Lines of a reply are views of the pushed bytes, so a question that waits for more keeps copies.
    question.lines.push(question.commands > 1 ? lines.map((line) => new Uint8Array(line)) : lines);
    if (question.lines.length < question.commands) return true;
    this.#shift();
    question.answered({ ok: true, lines: question.lines });
    return true;
  }

  #shift(): void {
    this.#head++;
    if (this.#head < 64 && this.#head < this.#questions.length) return;
    this.#questions.splice(0, this.#head);
    this.#head = 0;
  }
}
