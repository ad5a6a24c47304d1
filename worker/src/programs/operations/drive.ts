// *signal*, *resize* and *keyboard* (R5, K11): a program's actions on the process beside typing. Its writer is a client of the session,
// with the rights of one.

import { type ClientRecord, isSecretFor, openAsk, type RelaySession, type SignalName } from "sandbox-stdio/core";
import type { SessionAudit } from "../../audit/session-audit.ts";
import { type Operation, type ProgramAnswer, type ProgramCall, refused, SECRET_ENTRY } from "./call.ts";
import type { Reached } from "./reached.ts";

export type Drive = Extract<Operation, { type: "signal" | "resize" | "keyboard" | "kill" }>;

export interface DrivePorts {
  /** Whether the process can be reached now: if not, the action would be lost. */
  readonly isReachable: boolean;
  readonly audit: SessionAudit | undefined;
  /** The id of the client that a writer of the caller's is. */
  writerId(writer: string): string;
  /** The person whose programs the caller's are: opaque. */
  readonly asker: string;
}

const DONE: ProgramAnswer = { status: 204, body: {} };
const RETRY_AFTER_SECONDS = 1;

export function drive(reached: Reached, call: ProgramCall, asked: Drive, ports: DrivePorts): ProgramAnswer {
  const { session } = reached;
  if (reached.state === "lost") return refused(409, "lost", "the process is lost");
  if (session === undefined || session.exit !== undefined) return refused(409, "exited", "the process has exited");
  if (!ports.isReachable) {
    const answer = refused(503, "unavailable", "the process can't be reached just now: ask again");
    return { ...answer, retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
  const id = ports.writerId(asked.writer);
  const client = beginCall(session, call, { id, writer: asked.writer }, ports.audit);
  if (client === undefined) return refused(429, "too_many_writers", "64 writers have called this process");
  try {
    if (asked.type !== "keyboard") return carryOut(session, client, asked);
    if (asked.do === "ask") return askPerson(session, client, asked, ports);
    return keyboard(session, client, asked.do, ports.asker);
  } finally {
    session.programs.endCall(client);
  }
}

function carryOut(
  session: RelaySession,
  client: ClientRecord,
  asked: Exclude<Drive, { type: "keyboard" }>,
): ProgramAnswer {
  if (!session.keyboard.mayDrive(client.id).ok) return notHolder(session);
  if (asked.type === "signal") {
    session.command(client, { type: "signal", signal: asked.signal as SignalName });
    return DONE;
  }
  if (asked.type === "kill") {
    session.command(client, { type: "kill" });
    return DONE;
  }
  if (!session.facts.tty) return refused(409, "no_terminal", "a process on pipes has no size");
  session.command(client, { type: "resize", cols: asked.cols, rows: asked.rows });
  return DONE;
}

/** K11: people who may drive are asked to take the keyboard. */
function askPerson(
  session: RelaySession,
  client: ClientRecord,
  { writer, reason = "", secret = false }: Extract<Drive, { type: "keyboard" }>,
  { asker, audit }: DrivePorts,
): ProgramAnswer {
  if (secret && audit?.allowsSecret === false) {
    const words = "secret input is recorded here like all other (AUDIT_SECRET): a person can't type a secret";
    return refused(403, "secret_off", words);
  }
  const ask = crypto.randomUUID();
  const fault = openAsk(session.state, client, { id: ask, asker, writer, reason, secret });
  if (fault === "ask_open") return refused(409, fault, "an ask of this writer is open: wait for its answer");
  if (fault !== undefined) {
    return { ...refused(429, fault, "more than 10 asks of this writer in an hour"), retryAfterSeconds: 3_600 };
  }
  return { status: 200, body: { ask, holder: session.keyboard.holder } };
}

function keyboard(
  session: RelaySession,
  client: ClientRecord,
  wish: "request" | "release" | "take",
  asker: string,
): ProgramAnswer {
  const { keyboard } = session;
  if (wish === "take" && !client.isAdmin) {
    return refused(403, "insufficient_scope", "to take the keyboard needs the scope sandbox:admin");
  }
  if (wish === "take" && isSecretFor(session.state, asker)) return SECRET_ENTRY;
  if (wish === "release" && keyboard.holder !== client.id) return notHolder(session);
  const types = { request: "request_stdin", release: "release_stdin", take: "force_take" } as const;
  session.command(client, { type: types[wish] });
  return { status: 200, body: { holder: keyboard.holder, mine: keyboard.holder === client.id } };
}

function notHolder({ keyboard }: RelaySession): ProgramAnswer {
  return refused(409, "not_stdin_holder", notHolderWords(keyboard.holder), { holder: keyboard.holder });
}

/** W4: whose the keyboard is, and how to have it. */
export function notHolderWords(holder = ""): string {
  return holder === ""
    ? 'the keyboard is free: take it with POST …/keyboard {"do":"request"} first'
    : 'the keyboard is another\'s: ask for it with POST …/keyboard {"do":"request"}';
}

/** @returns undefined if 64 writers have called this process. Otherwise `endCall` ends the call. */
export function beginCall(
  session: RelaySession,
  { who, actor }: ProgramCall,
  { id, writer }: { readonly id: string; readonly writer: string },
  audit: SessionAudit | undefined,
): ClientRecord | undefined {
  audit?.acting(id, actor);
  const { name, isAdmin } = who;
  return session.programs.beginCall({ id, name: writer === "api" ? name : `${name} ${writer}`, isAdmin });
}
