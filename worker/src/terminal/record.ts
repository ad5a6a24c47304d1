// The audit of one connection that is passed on to a ttyd: its owner, its start and its end, and each message that was typed.
// Output is not in it.

import { InputBatch, type InputKeeping } from "../audit/input-batch.ts";
import type { Actor, AttachDeed } from "../audit/record.ts";
import type { SessionAudit } from "../audit/session-audit.ts";

/** A longer message is kept in several records: one has to fit into a row. */
const MAX_RECORD_BYTES = 64 * 1024;

export class ConnectionRecord {
  readonly #audit: Pick<SessionAudit, "note">;
  readonly #keeping: InputKeeping;
  readonly #actor: Actor;
  readonly #client = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  #offset = 0;

  constructor(
    audit: Pick<SessionAudit, "note">,
    keeping: InputKeeping,
    actor: Actor,
    who: Pick<AttachDeed, "name" | "kind">,
  ) {
    this.#audit = audit;
    this.#keeping = keeping;
    this.#actor = actor;
    audit.note({ type: "attach", name: who.name, role: "driver", kind: who.kind }, this.#client, actor);
  }

  /** Reads `content` at once. */
  input(content: Uint8Array): void {
    for (let at = 0; at < content.length; at += MAX_RECORD_BYTES) {
      const piece = content.subarray(at, at + MAX_RECORD_BYTES);
      const batch = new InputBatch(this.#client, this.#offset, "typed", this.#keeping, false);
      batch.add(this.#client, this.#offset, piece, "typed", false);
      this.#offset += piece.length;
      this.#audit.note(batch.finish(), this.#client, this.#actor);
    }
  }

  ended(code: number): void {
    this.#audit.note({ type: "detach", code }, this.#client, this.#actor);
  }
}
