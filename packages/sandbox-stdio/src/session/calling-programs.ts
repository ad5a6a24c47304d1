// The programs that call a session: the client that each of them writes as, which of its writes are recorded and shown; the
// news for programs that read and wait by calls. Knows nothing of requests and answers.

import { typedText } from "../programs/typed-text.ts";
import { MAX_WRITERS } from "../programs/writers.ts";
import type { Attention } from "../wire/attention.ts";
import { admit } from "./attendance.ts";
import { ackInput, settledInput } from "./client-input.ts";
import type { ClientRecord } from "./client-record.ts";
import type { SessionState } from "./session-state.ts";
import type { ProgramRequest } from "./session-types.ts";

/** Ends of commands that are remembered: as many as the bridge lists. */
const MAX_COMMAND_ENDS = 1_000;
/** One a second comes at most: a stream between two calls misses none of them. */
const MAX_ATTENTIONS = 32;
/** The common fields of all programs that write by calls. */
const PROGRAM = { role: "driver", kind: "program", delivery: "live", acknowledges: true } as const;

/** The end of a shell's command: the offset behind its output, and its exit code if the shell said it. */
export type CommandEnded = { readonly to: number; readonly exit?: number };

export class CallingPrograms {
  readonly #session: SessionState;
  readonly #attentions: Attention[] = [];
  readonly #commandEnds: CommandEnded[] = [];
  /** Told when more of a program's input has been taken, or stored. */
  onSettled: (client: ClientRecord) => void = () => undefined;

  constructor(session: SessionState) {
    this.#session = session;
  }

  /**
   * A program calls: its writer is a client of this session, here until {@link PROGRAM_GRACE_MS} after its last call.
   * @returns undefined if as many have written as may.
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

  /** Whether it is here with the rights that it had. The knowledge of another life of this object is not enough. */
  #isCalling(client: ClientRecord, { isAdmin }: ProgramRequest): boolean {
    const may = this.#session.keyboard.mayDrive(client.id);
    return client.isAdmin === isAdmin && (may.ok || may.fault !== "no_such_client");
  }

  endCall(client: ClientRecord): void {
    const { presence } = client;
    if (presence.phase !== "calling") return;
    client.presence = { ...presence, calls: Math.max(0, presence.calls - 1), sinceMs: this.#session.now() };
  }

  /** How much of a program's input is taken and, where a record is kept, stored. */
  settledOf(client: ClientRecord): number {
    return settledInput(this.#session, client);
  }

  /**
   * The bridge has queued these bytes of a program's: they go into the record, and count as received.
   * Nothing keeps `bytes`. @param fate `resent`: it had queued them before this call.
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

  /** Tells the text that a program has typed to the people that may type here, unless it is secret (K9). */
  #showTyped(program: ClientRecord, bytes: Uint8Array): void {
    const { recorder, clients } = this.#session;
    if (recorder?.isSecret(program.id) === true) return;
    const text = typedText(bytes);
    for (const client of clients.all) {
      const mayKnow = client.role === "driver" && client.kind === "person" && client.acknowledges;
      if (mayKnow) client.greeted?.peer.send({ type: "typed", id: program.id, text });
    }
  }

  /** The calls for attention since this life of the object began, newest last, for programs that read by calls (D6). */
  get attentions(): readonly Attention[] {
    return this.#attentions;
  }

  noteAttention(attention: Attention): void {
    this.#attentions.push(attention);
    if (this.#attentions.length > MAX_ATTENTIONS) this.#attentions.shift();
  }

  /** Ends of a shell's commands that were told since this life of the object began, newest last. */
  get commandEnds(): readonly CommandEnded[] {
    return this.#commandEnds;
  }

  noteCommandEnd(end: CommandEnded): void {
    this.#commandEnds.push(end);
    if (this.#commandEnds.length > MAX_COMMAND_ENDS) this.#commandEnds.shift();
  }
}
