// The marks of one session: scans its output as it is read, keeps the shell's commands, and reports ends of commands, titles and calls
// for attention at limited rates.

import { clipUtf8, defined, MAX_TITLE_BYTES } from "sandbox-stdio/core";
import type { Attention } from "sandbox-stdio/programs";
import { type CommandEnd, Commands } from "./commands.ts";
import { OutputMarks } from "./output-marks.ts";

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

  /** Of a spinner in a title, some texts are reported, and always the last one. */
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
