// Bells and notifications of programs (BEL, OSC 9, OSC 777) and their progress, on one terminal. The person's settings choose the
// effect. A replay has none. No React.

import type { IDisposable, Terminal } from "@xterm/xterm";
import type { Texts } from "../texts/texts.ts";
import type { CommandBlock } from "./command-blocks.ts";
import {
  isWorthNotice,
  type Attention as Noticed,
  NoticeLimit,
  type Progress,
  readOsc9,
  readOsc777,
} from "./program-notices.ts";
import { type Sign, signOfEnd } from "./sign.ts";

/** Which events have which effect. */
export type Alerts = {
  readonly bellSounds: boolean;
  readonly bellFlashes: boolean;
  readonly bellNotifies: boolean;
  readonly programsNotify: boolean;
};

export const QUIET: Alerts = { bellSounds: false, bellFlashes: false, bellNotifies: false, programsNotify: false };

export type AttentionOptions = {
  readonly words: Texts["attention"];
  readonly isReplay: () => boolean;
  /** Whether the page is in the background. */
  readonly isHidden: () => boolean;
  readonly now: () => number;
  readonly progressed: (progress: Progress | undefined) => void;
  readonly notify: (title: string, text: string) => void;
  readonly sound: () => void;
  readonly flash: () => void;
  /** Something happened that a person may not have seen. */
  readonly signed: (sign: Sign) => void;
};

/** Bells within this interval count as one. */
const BELL_INTERVAL_MS = 200;

export class Attention {
  alerts: Alerts = QUIET;
  readonly #options: AttentionOptions;
  readonly #limit = new NoticeLimit();
  readonly #disposables: IDisposable[];
  #progress: Progress | undefined;
  #lastBellMs = Number.NEGATIVE_INFINITY;

  constructor(terminal: Terminal, options: AttentionOptions) {
    this.#options = options;
    this.#disposables = [
      terminal.onBell(() => this.#bell()),
      terminal.parser.registerOscHandler(9, (data) => this.#take(readOsc9(data, this.#progress))),
      terminal.parser.registerOscHandler(777, (data) => this.#take(readOsc777(data))),
    ];
  }

  /** A command ended: clears the progress, and may notify. */
  commandEnded({ exit, startedAtMs, endedAtMs = this.#options.now() }: CommandBlock): void {
    this.endProgress();
    this.#options.signed(signOfEnd(exit));
    const { alerts, words } = { alerts: this.alerts, words: this.#options.words };
    if (!alerts.programsNotify || !isWorthNotice(startedAtMs, endedAtMs, this.#options.isHidden())) return;
    this.#notify(
      words.commandEnded(exit),
      words.tookSeconds(Math.round((endedAtMs - (startedAtMs ?? endedAtMs)) / 1000)),
    );
  }

  endProgress(): void {
    this.#setProgress(undefined);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #take(noticed: Noticed | undefined): boolean {
    if (noticed?.kind === "progress") this.#setProgress(noticed.progress);
    else if (
      noticed?.kind === "notice" &&
      !this.#options.isReplay() &&
      this.alerts.programsNotify &&
      this.#options.isHidden()
    ) {
      const { title, text } = noticed.notice;
      this.#notify(title === "" ? this.#options.words.fromProgram : title, text);
    }
    return true;
  }

  #bell(): void {
    const now = this.#options.now();
    if (this.#options.isReplay() || now - this.#lastBellMs < BELL_INTERVAL_MS) return;
    this.#lastBellMs = now;
    this.#options.signed("bell");
    if (this.alerts.bellSounds) this.#options.sound();
    if (this.alerts.bellFlashes) this.#options.flash();
    if (this.alerts.bellNotifies && this.#options.isHidden()) this.#notify(this.#options.words.bell, "");
  }

  #notify(title: string, text: string): void {
    if (this.#limit.take(this.#options.now())) this.#options.notify(title, text);
  }

  #setProgress(progress: Progress | undefined): void {
    if (progress === this.#progress) return;
    this.#progress = progress;
    this.#options.progressed(progress);
  }
}
