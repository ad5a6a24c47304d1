// Programs' calls at the bridge: writes (W1 to W4), typed whole or not at all, and questions. An answer goes back on the
// connection of its call.

import { encodeWrite, needsModes } from "../programs/encode-write.ts";
import { WriteIds } from "../programs/writers.ts";
import type { ServerSocket } from "../server/outgoing.ts";
import { planWrite, typePlanned } from "../session/client-input.ts";
import type { ProcessSession } from "../session/process-session.ts";
import { MAX_FRAME_BYTES, MAX_KEPT_INPUT_BYTES } from "../wire/constants.ts";
import { defined } from "../wire/fields.ts";
import { encodeAnswer } from "../wire/frames.ts";
import type { InnerCommand, InnerMessage, Question } from "../wire/inner-messages.ts";
import type { InputModes, Written } from "../wire/write-messages.ts";

/** What the bridge knows beyond the session: the terminal and the shell's commands. */
export interface ProgramHost {
  /** The modes set on the terminal; undefined on pipes. */
  modes(): InputModes | undefined | Promise<InputModes | undefined>;
  /** UTF-8 JSON; undefined if there is no answer. */
  answer(question: Question): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Whether the shell has marked any commands. */
  readonly isMarked: boolean;
  readonly writeIds: WriteIds;
  /** A program has called, so the session is in use. */
  called(): void;
}

export const NO_PROGRAMS: ProgramHost = {
  modes: () => undefined,
  answer: () => undefined,
  isMarked: false,
  writeIds: new WriteIds(),
  called: () => undefined,
};

/** The bridge's end of one inner hop. */
export type BridgeEnd = {
  readonly session: ProcessSession;
  readonly socket: ServerSocket;
  readonly programs: ProgramHost;
  isClosed: boolean;
};

/** Most input of one program that may wait for a process that does not read; beyond it writes are refused. */
const MAX_WAITING_WRITE_BYTES = 256 * 1024;

/** Most bytes of an answer in one message: a full frame with its header (F5). */
const ANSWER_PIECE_BYTES = MAX_FRAME_BYTES - 8;

export function sendMessage({ socket }: BridgeEnd, message: InnerMessage): void {
  socket.send(JSON.stringify(message));
}

export async function answerWrite(end: BridgeEnd, command: Extract<InnerCommand, { type: "write" }>): Promise<void> {
  const { session, programs } = end;
  programs.called();
  const modes = needsModes(command) ? await programs.modes() : undefined;
  const { client: id, again, once, eof = false } = command;
  // The client may have left while the terminal was queried.
  const client = session.client(id);
  if (client?.isProgram !== true) {
    refuse(end, id, { code: "too_many_writers" });
    return;
  }
  const known = once && programs.writeIds.look(once.id, once.hash);
  if (known === "other") {
    refuse(end, id, { code: "other_write" });
    return;
  }
  if (known === "known") {
    const { received } = client.input;
    reply(end, { type: "written", client: id, from: received, to: received, output: 0, duplicate: true });
    return;
  }
  // A write identified by id follows everything else.
  const at = once === undefined ? command.at : client.input.received;
  const last = client.lastWrite?.at === at ? client.lastWrite : undefined;
  if (again === true && last !== undefined && once === undefined) {
    confirm(end, id, last);
    return;
  }
  const encoded = encodeWrite(command, modes);
  // A repetition is answered with `duplicate`, even if its body differs.
  const length = encoded.ok ? encoded.bytes.length : 0;
  const plan = planWrite(session.state, client, { length, eof, at });
  if (plan.kind === "duplicate") {
    const told = defined({ last: last?.to, modes: last?.modes });
    reply(end, { type: "written", client: id, from: at, to: plan.to, output: 0, duplicate: true, ...told });
    return;
  }
  if (!encoded.ok) {
    refuse(end, id, { code: encoded.code, message: encoded.message });
    return;
  }
  if (plan.kind === "refuse") {
    const { kind: _, ...why } = plan;
    refuse(end, id, why);
    return;
  }
  const most = once === undefined ? MAX_WAITING_WRITE_BYTES : MAX_KEPT_INPUT_BYTES;
  if (client.input.queuedBytes > 0 && client.input.queuedBytes + (once?.whole ?? length) > most) {
    refuse(end, id, { code: "too_much_input" });
    return;
  }
  const written = defined({ from: plan.from, to: plan.to, output: session.log.endOffset, modes });
  client.lastWrite = { at, ...written };
  if (once !== undefined) programs.writeIds.note(once.id, once.hash);
  // Answer before typing: reports of taken bytes come after the answer.
  confirm(end, id, written);
  typePlanned(session.state, client, encoded.bytes, eof);
}

export async function answerQuestion(end: BridgeEnd, question: Extract<InnerCommand, { type: "ask" }>): Promise<void> {
  const { id } = question;
  const text = await end.programs.answer(question);
  if (end.isClosed) return;
  for (let at = 0; text !== undefined && at < text.length; at += ANSWER_PIECE_BYTES) {
    end.socket.send(encodeAnswer(id, text.subarray(at, at + ANSWER_PIECE_BYTES)));
  }
  sendMessage(end, { type: "answer", id, ok: text !== undefined });
}

function confirm(end: BridgeEnd, client: string, { from, to, output, modes }: Written): void {
  reply(end, { type: "written", client, from, to, output, ...defined({ modes }) });
}

type Refusal = Omit<Extract<InnerMessage, { type: "unwritten" }>, "type" | "client">;

function refuse(end: BridgeEnd, client: string, why: Refusal): void {
  reply(end, { type: "unwritten", client, ...why });
}

function reply(end: BridgeEnd, message: InnerMessage): void {
  if (!end.isClosed) sendMessage(end, message);
}
