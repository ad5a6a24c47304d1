// Programs that call a session: each one's client, which of its writes are recorded and shown, and events for programs that read
// and wait by calls. Knows nothing of requests and responses.

import { MAX_WRITERS } from "../programs/writers.ts";
import { decodeUtf8 } from "../text/utf8-text.ts";
import type { Attention } from "../wire/attention.ts";
import { admit } from "./attendance.ts";
import { ackInput, settledInput } from "./client-input.ts";
import type { ClientRecord } from "./client-record.ts";
import type { SessionState } from "./session-state.ts";
import type { ProgramRequest } from "./session-types.ts";

/** Most command ends remembered: as many as the bridge lists. */
const MAX_COMMAND_ENDS = 1_000;
/** At most one arrives per second, so a stream between two calls misses none. */
const MAX_ATTENTIONS = 32;
/** Fields shared by all programs that write by calls. */
const PROGRAM = { role: "driver", kind: "program", delivery: "live", acknowledges: true } as const;

/** The end of a shell's command: the offset after its output, and the exit code if the shell reported it. */
export type CommandEnded = { readonly to: number; readonly exit?: number };

export class CallingPrograms {
  readonly #session: SessionState;
  readonly #attentions: Attention[] = [];
  readonly #commandEnds: CommandEnded[] = [];
  /** Called when more of a program's input has been taken or stored. */
  onSettled: (client: ClientRecord) => void = () => undefined;

  constructor(session: SessionState) {
    this.#session = session;
  }

  /**
   * Begins a program's call. Its writer stays a client of this session until {@link PROGRAM_GRACE_MS} after the last call.
   * @returns undefined if too many programs have written.
   */
  beginCall(request: ProgramRequest): ClientRecord | undefined {
    const { clients, log, now } = this.#session;
    const old = clients.get(request.id);
    if (old === undefined && clients.programCount >= MAX_WRITERS) return undefined;
    const sinceMs = now();
    if (old?.presence.phase === "calling" && this.#isCalling(old, request)) {
      old.presence = { ...old.presence, calls: old.presence.calls + 1, sinceMs };
      return old;
    }
    const calls = old?.presence.phase === "calling" ? old.presence.calls : 0;
    const presence = { phase: "calling", calls: calls + 1, sinceMs, acked: log.endOffset } as const;
    const client = admit(this.#session, { ...PROGRAM, ...request }, presence);
    client.isActive = true;
    return client;
  }

  /** Whether it is attached with the same rights. What an earlier life of this object knew does not count. */
  #isCalling(client: ClientRecord, { isAdmin }: ProgramRequest): boolean {
    const may = this.#session.keyboard.mayDrive(client.id);
    return client.isAdmin === isAdmin && (may.ok || may.fault !== "no_such_client");
  }

  endCall(client: ClientRecord): void {
    const { presence } = client;
    if (presence.phase !== "calling") return;
    client.presence = { ...presence, calls: Math.max(0, presence.calls - 1), sinceMs: this.#session.now() };
  }

  /** How much of a program's input is taken and, if a record is kept, stored. */
  settledOf(client: ClientRecord): number {
    return settledInput(this.#session, client);
  }

  /**
   * The bridge has queued these bytes of a program: they are recorded and count as received.
   * Does not keep `bytes`. @param fate `resent`: they were queued before this call.
   */
  recordWrite(client: ClientRecord, from: number, bytes: Uint8Array, fate: "typed" | "resent"): void {
    const { recorder } = this.#session;
    const { received } = client.input;
    if (bytes.length > 0) {
      recorder?.input(client, fate === "typed" ? Math.min(received, from) : received, from, bytes, fate);
    }
    client.input.receiveUpTo(from + bytes.length);
    if (fate === "typed" && bytes.length > 0) this.#showTyped(client, bytes);
    ackInput(this.#session, client, true);
  }

  /** Shows typed text to the people who may type here, unless it is secret (K9). */
  #showTyped(program: ClientRecord, bytes: Uint8Array): void {
    const { recorder, clients } = this.#session;
    if (recorder?.isSecret(program.id) === true) return;
    const text = typedText(bytes);
    for (const client of clients.all) {
      const mayKnow = client.role === "driver" && client.kind === "person" && client.acknowledges;
      if (mayKnow) client.greeted?.peer.send({ type: "typed", id: program.id, text });
    }
  }

  /** Attention requests since this life of the object began, newest last, for programs that read by calls (D6). */
  get attentions(): readonly Attention[] {
    return this.#attentions;
  }

  noteAttention(attention: Attention): void {
    this.#attentions.push(attention);
    if (this.#attentions.length > MAX_ATTENTIONS) this.#attentions.shift();
  }

  /** Command ends since this life of the object began, newest last. */
  get commandEnds(): readonly CommandEnded[] {
    return this.#commandEnds;
  }

  noteCommandEnd(end: CommandEnded): void {
    this.#commandEnds.push(end);
    if (this.#commandEnds.length > MAX_COMMAND_ENDS) this.#commandEnds.shift();
  }
}

/** Most characters shown, from the end. */
const MAX_TYPED_CHARACTERS = 80;
/** How many bytes at the end are examined. */
const LOOKED_AT_BYTES = 1_024;
const DEL = 0x7f;
const SIGNS: Readonly<Record<string, string>> = { "\r": "⏎", "\n": "⏎", "\t": "⇥", "\u001b": "⎋", "\u007f": "⌫" };

/** Formats a program's input for people: its end, with a symbol for each key that can't be shown. */
export function typedText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes.subarray(Math.max(0, bytes.length - LOOKED_AT_BYTES)));
  const shown = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    if (SIGNS[character] !== undefined) return SIGNS[character];
    if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
    // Omit characters that move a cursor, hide, or change the direction of text.
    return code === DEL || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character) ? "" : character;
  });
  return shown.slice(-MAX_TYPED_CHARACTERS).join("");
}
