// Lines of our own on standard error: one for each thing that a person should know. Knows no protocol.

import type { Output } from "./output.ts";
import { oneLine } from "./plain-text.ts";

/** Where lines go. `draw` puts text on a terminal in raw mode, if it may be put there now. */
export type NoticeTarget =
  | { readonly kind: "stream"; readonly output: Output }
  | { readonly kind: "terminal"; readonly draw: (text: string) => void; readonly isAlternate: () => boolean };

const STDERR = 2;
const BELL = "\x07";

export class Notices {
  readonly #isVerbose: boolean;
  readonly #isQuiet: boolean;
  #target: NoticeTarget;

  /** @param isQuiet Only {@link last} is said. */
  constructor(isVerbose: boolean, target: NoticeTarget, isQuiet = false) {
    this.#isVerbose = isVerbose;
    this.#isQuiet = isQuiet;
    this.#target = target;
  }

  aim(target: NoticeTarget): void {
    this.#target = target;
  }

  say(text: string): void {
    if (!this.#isQuiet) this.last(text);
  }

  /** The run's last words, which say why it ends: said in any case. */
  last(text: string): void {
    const line = `sbx-stdio: ${oneLine(text)}`;
    if (this.#target.kind === "stream") {
      this.#target.output.push(STDERR, Buffer.from(`${line}\n`));
    } else if (this.#target.isAlternate()) {
      // A full-screen application owns the screen: the last line is borrowed, and the cursor goes back to where it was.
      this.#target.draw(`\x1b7\x1b[999;1H\x1b[0;7m${line}\x1b[0m\x1b[K\x1b8`);
    } else this.#target.draw(`\r\n${line}\r\n`);
  }

  /** Only with --verbose. */
  detail(text: string): void {
    if (this.#isVerbose) this.say(text);
  }

  bell(): void {
    if (this.#target.kind === "terminal") this.#target.draw(BELL);
  }
}
