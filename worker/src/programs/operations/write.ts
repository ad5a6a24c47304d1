// *write* (W1 to W4): typed where the process is, once; answered when it is taken and, where a record is kept, stored.

import { type ClientRecord, defined, type InnerClient, type RelaySession, type WriteOutcome } from "sandbox-stdio/core";
import { encodeWrite, receiptOf, USUAL_MODES } from "sandbox-stdio/programs";
import type { SessionAudit } from "../../audit/session-audit.ts";
import { inTime } from "../../base/in-time.ts";
import { Turns } from "../../base/turns.ts";
import { type Operation, type ProgramAnswer, type ProgramCall, refused } from "./call.ts";
import { beginCall, notHolderWords } from "./drive.ts";
import type { Reached } from "./reached.ts";

export type Write = Extract<Operation, { type: "write" }>;
type Written = Extract<WriteOutcome, { type: "written" }>;
type Unwritten = Extract<WriteOutcome, { type: "unwritten" }>;

/** The bridge must be unreachable for at least this long before a call fails. */
export const HOP_PATIENCE_MS = 10_000;
const FAULT = { type: "fault" } as const;
const RETRY_AFTER_SECONDS = 1;

const STATUS: Readonly<Record<string, number>> = {
  bad_key: 400,
  bad_paste: 400,
  no_terminal: 400,
  input_too_long: 413,
  too_many_writers: 429,
  too_much_input: 429,
};
const MESSAGES: Readonly<Record<string, string>> = {
  exited: "the process has exited",
  stdin_closed: "the process takes no more input",
  input_gap: "this input begins behind what was received of this writer",
  input_too_long: "more than 65536 bytes of input in one call",
  too_many_writers: "64 writers have written to this process: there are no more",
  other_write: "another write has this id",
  too_much_input: "the process does not read: too much of this writer's input waits",
};

export interface WritePorts {
  readonly hop: InnerClient;
  readonly audit: SessionAudit | undefined;
  /** The id of a writer's client. */
  writerId(writer: string): string;
}

/** One session's: writes of one writer follow each other. */
export class Writes {
  readonly #turns = new Turns();
  readonly #waiting = new Set<() => void>();

  async write(reached: Reached, call: ProgramCall, asked: Write, ports: WritePorts): Promise<ProgramAnswer> {
    const { session } = reached;
    const { audit } = ports;
    const id = ports.writerId(asked.writer);
    if (session === undefined || session.exit !== undefined) return afterEnd(session?.client(id), asked);
    session.programs.onSettled = () => this.#wake();
    const client = beginCall(session, call, { id, writer: asked.writer }, audit);
    if (client === undefined) return refusal({ type: "unwritten", client: id, code: "too_many_writers" });
    const untilMs = Date.now() + Math.max(asked.waitMs, HOP_PATIENCE_MS) + (asked.roomMs ?? 0);
    try {
      const outcome = await this.#inTurn(id, untilMs, () => this.#saidWithRoom(session, client, asked, ports, untilMs));
      if (outcome.type === "unwritten") {
        audit?.note({ type: "refused", error: outcome.code, message: outcome.code }, id, call.actor);
        return refusal(outcome);
      }
      if (outcome.type === "fault") return session.exit === undefined ? unreachable() : afterEnd(client, asked);
      if (outcome.duplicate === true) {
        return { status: 200, body: { writer: asked.writer, from: outcome.from, to: outcome.to, duplicate: true } };
      }
      return await this.#receipt(session, client, asked, outcome);
    } finally {
      session.programs.endCall(client);
    }
  }

  /**
   * Does this after what this writer asked before, if its turn comes in time. What is under way at the end of the time goes on, as the
   * bridge may have typed it: only the caller waits no longer.
   */
  async #inTurn(id: string, untilMs: number, task: () => Promise<WriteOutcome>): Promise<WriteOutcome> {
    const turn = this.#turns.of(id, async () => (Date.now() < untilMs ? task() : FAULT));
    return (await inTime(turn, Math.max(0, untilMs - Date.now()))) ?? FAULT;
  }

  /** A full queue is waited for, if the caller wishes: asked again whenever the process has taken more, or has ended. */
  async #saidWithRoom(
    session: RelaySession,
    client: ClientRecord,
    asked: Write,
    ports: WritePorts,
    untilMs: number,
  ): Promise<WriteOutcome> {
    const deadlineMs = Date.now() + (asked.roomMs ?? 0);
    const unwatch = session.watch(() => {
      if (session.exit !== undefined) this.#wake();
    });
    try {
      for (;;) {
        const outcome = await said(session, client, asked, ports, untilMs);
        const isFull = outcome.type === "unwritten" && outcome.code === "too_much_input";
        if (!isFull || Date.now() >= deadlineMs) return outcome;
        await this.#settled(deadlineMs - Date.now());
      }
    } finally {
      unwatch();
    }
  }

  /** 200 once it is taken and stored; 202 if that takes longer than the caller waits. */
  async #receipt(session: RelaySession, client: ClientRecord, asked: Write, written: Written): Promise<ProgramAnswer> {
    const { from, to, output } = written;
    const receipt = () => receiptOf(client.input, to, session.programs.settledOf(client));
    const deadlineMs = Date.now() + asked.waitMs;
    // When the process ends, input that it had taken is still on its way into the record.
    const canSettle = () => session.exit === undefined || client.input.taken >= to;
    while (receipt().status === 202 && Date.now() < deadlineMs && canSettle()) {
      await this.#settled(deadlineMs - Date.now());
    }
    const { status, ...taken } = receipt();
    return { status, body: { writer: asked.writer, from, to, outputOffset: output, ...taken } };
  }

  #settled(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}

/** Has the bridge type it; the typed text goes into the record. */
async function said(
  session: RelaySession,
  client: ClientRecord,
  asked: Write,
  { hop, audit }: WritePorts,
  untilMs: number,
): Promise<WriteOutcome> {
  const { at, bytes, keys, paste, enter, eof, once, waitMs } = asked;
  const wish = { at, bytes, keys, paste, enter, eof, once };
  const { answer, withdraw } = hop.write(client, wish);
  const timer = setTimeout(withdraw, Math.min(untilMs - Date.now(), Math.max(waitMs, HOP_PATIENCE_MS)));
  const outcome = await answer;
  clearTimeout(timer);
  if (outcome.type !== "written") return outcome;
  const modes = session.facts.tty ? (outcome.modes ?? USUAL_MODES) : undefined;
  const typed = encodeWrite(wish, modes);
  const isSame = outcome.duplicate !== true || outcome.last === outcome.from + (typed.ok ? typed.bytes.length : -1);
  if (typed.ok && isSame) {
    session.programs.recordWrite(client, outcome.from, typed.bytes, outcome.duplicate === true ? "resent" : "typed");
  }
  if (eof === true && outcome.duplicate !== true) audit?.note({ type: "eof", offset: outcome.to }, client.id);
  return outcome;
}

/** Nothing can be typed any more; a repeated call gets this answer. */
function afterEnd(client: ClientRecord | undefined, { writer, at }: Write): ProgramAnswer {
  const received = client?.input.received ?? 0;
  const isRepeated = at !== undefined && (at < received || (at === received && client?.input.eof === at));
  if (isRepeated) return { status: 200, body: { writer, from: at, to: received, duplicate: true } };
  return refusal({ type: "unwritten", client: "", code: "exited" });
}

function refusal({ code, message, expected, holder }: Unwritten): ProgramAnswer {
  const more = {
    ...defined({ expected, holder }),
  };
  const status = STATUS[code] ?? 409;
  const words = code === "not_stdin_holder" ? notHolderWords(holder) : MESSAGES[code];
  const answer = refused(status, code, message ?? words ?? code, more);
  return code === "too_much_input" ? { ...answer, retryAfterSeconds: RETRY_AFTER_SECONDS } : answer;
}

function unreachable(): ProgramAnswer {
  const words = 'the session can\'t be reached just now, and may have taken this: ask again with the same "at"';
  const answer = refused(503, "unavailable", words);
  return { ...answer, retryAfterSeconds: RETRY_AFTER_SECONDS };
}
