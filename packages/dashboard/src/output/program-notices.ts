// Parses notifications and progress of programs (OSC 9, 777 and 9;4). Pure.

import { preview } from "../ui/clipboard.ts";

/** A program's progress; undefined: none. */
export type Progress =
  | { readonly kind: "percent"; readonly percent: number; readonly tone: "normal" | "failed" | "paused" }
  | { readonly kind: "unknown" };

export type ProgramNotice = { readonly title: string; readonly text: string };

export type Attention =
  | { readonly kind: "notice"; readonly notice: ProgramNotice }
  | { readonly kind: "progress"; readonly progress: Progress | undefined };

const TONES: Readonly<Record<string, "normal" | "failed" | "paused">> = { 1: "normal", 2: "failed", 4: "paused" };

/** Parses an OSC 9: `4;STATE;PERCENT` is progress (ConEmu); other numbers with a semicolon are ignored; all else is a text. */
export function readOsc9(data: string, before?: Progress): Attention | undefined {
  const progress = /^4;([0-4])(?:;(\d{0,3}))?$/.exec(data);
  if (progress !== null) return { kind: "progress", progress: progressOf(progress[1], progress[2], before) };
  if (/^\d{1,2}(;|$)/.test(data)) return undefined;
  return noticeOf("", data);
}

/** Parses an OSC 777, `notify;TITLE;TEXT`. */
export function readOsc777(data: string): Attention | undefined {
  const [kind, title = "", ...text] = data.split(";");
  return kind === "notify" ? noticeOf(title, text.join(";")) : undefined;
}

function noticeOf(title: string, text: string): Attention | undefined {
  const notice = { title: preview(title), text: preview(text) };
  return notice.title === "" && notice.text === "" ? undefined : { kind: "notice", notice };
}

function progressOf(state = "0", percent = "", before?: Progress): Progress | undefined {
  if (state === "0") return undefined;
  const tone = TONES[state];
  if (tone === undefined) return { kind: "unknown" };
  // A failure or pause may omit the percentage.
  const known = percent === "" ? (before?.kind === "percent" ? before.percent : 0) : Number(percent);
  return { kind: "percent", percent: Math.min(100, known), tone };
}

/** A tab's title with the progress. */
export function titleWith(progress: Progress | undefined, title: string): string {
  if (progress === undefined) return title;
  if (progress.kind === "unknown") return `… ${title}`;
  const sign = { normal: "", failed: "✗ ", paused: "⏸ " }[progress.tone];
  return `${sign}${progress.percent}% ${title}`;
}

/** Shorter commands are not worth a notification. */
const LONG_COMMAND_MS = 10_000;

/** Whether a command's end is worth a notification: it took long, and the page is in the background. */
export function isWorthNotice(startedAtMs: number | undefined, endedAtMs: number, isHidden: boolean): boolean {
  return isHidden && startedAtMs !== undefined && endedAtMs - startedAtMs >= LONG_COMMAND_MS;
}

/** Limits notifications, since a program may print any number. */
export class NoticeLimit {
  readonly #times: number[] = [];

  /** @returns Whether one more may be shown now: at most five a minute. */
  take(nowMs: number): boolean {
    while ((this.#times[0] ?? Number.POSITIVE_INFINITY) <= nowMs - 60_000) this.#times.shift();
    if (this.#times.length >= 5) return false;
    this.#times.push(nowMs);
    return true;
  }
}
