// Calls for attention in an OSC (N1): OSC 9, 99 and 777 of iTerm2, kitty and urxvt.

import { clipUtf8, defined } from "sandbox-stdio/core";
import type { Attention } from "sandbox-stdio/programs";

const MAX_TITLE = 256;
const MAX_BODY = 1_024;
/** The most pieces of a notification. */
const MAX_PIECES = 16;

type Note = Pick<Attention, "title" | "body">;

export class Notifications {
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
export function visible(text: string, max: number): string {
  return clipUtf8(text.replace(/[\p{Cc}\p{Cf}]/gu, ""), max);
}
