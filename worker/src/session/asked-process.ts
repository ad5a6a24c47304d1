// The process that an attach asks for: whether its command may be started, how the bridge is asked for it, and its record when
// it has been started.

import {
  attachParams,
  CLOSE,
  commandWords,
  defined,
  type InnerHello,
  type ProcessWish,
  type RelaySession,
} from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import { type RecordingEnv, recordingRefusal } from "../attach/recording-settings.ts";
import type { AttachParams } from "../bridge/upstream.ts";
import { newRecord } from "../records/new-record.ts";
import type { SessionRecord } from "../records/session-store.ts";
import type { Refusal } from "../refusal/refusal.ts";

export const ASLEEP: Refusal = {
  code: CLOSE.unavailable,
  error: "not_running",
  message: "the container does not run, and wake=0 asks not to start it",
};

/** The command of a process if the client asks for none. */
const DEFAULT_COMMAND = "bash";

/** Why the process may not be started; undefined if it may. */
export function startRefusal(env: CommandEnv & RecordingEnv, spec: AttachSpec): Refusal | undefined {
  const { isAdmin } = spec.who;
  const process = processOf(spec);
  // The pane already exists. A client that may use tmux can start anything in another pane, so its lists are checked too.
  if (process.pane !== undefined) return undefined;
  const [cmd = DEFAULT_COMMAND] = commandWords(process) ?? [];
  const refusal = recordingRefusal(env, process.record) ?? commandRefusal(env, cmd, isAdmin, spec.line);
  return refusal ?? (process.panes === true ? commandRefusal(env, "tmux", isAdmin) : undefined);
}

/** Whether this attach replaces a process that has ended (`ended=replace`). */
export function mayReplace(env: CommandEnv & RecordingEnv, record: SessionRecord, spec: AttachSpec): boolean {
  const { query, who, pass } = spec;
  const mayStart = who.mayCreate && query.role === "driver" && query.resume === undefined;
  if (query.ended !== "replace" || !mayStart || pass.noRoom !== undefined) return false;
  // A client never starts two processes in one life: the second attempt finds the first one's.
  return record.attemptLife !== query.attempt?.life && startRefusal(env, spec) === undefined;
}

/** Asks the bridge for the known process from where its output continues; else for the one with the name, or to start it. */
export function hopParams(
  record: SessionRecord | undefined,
  session: RelaySession | undefined,
  wish: AttachSpec | undefined,
): AttachParams {
  if (record !== undefined) return knownParams(record.facts, session?.log.endOffset);
  return wish === undefined ? [] : startParams(wish);
}

/** @param offset Where output continues; if absent, the bridge decides. */
function knownParams({ session, incarnation }: SessionRecord["facts"], offset: number | undefined): AttachParams {
  const process: AttachParams = [
    ["session", session],
    ["incarnation", incarnation],
  ];
  return offset === undefined ? process : [...process, ["offset", String(offset)]];
}

function startParams(spec: AttachSpec): AttachParams {
  const { size, sandbox } = spec.query;
  const wish = { session: spec.session, process: processOf(spec), ...defined({ size }) };
  return [["label", sandbox], ...attachParams(wish)];
}

export function askedRecord(hello: InnerHello, spec: AttachSpec): SessionRecord {
  const { process, sandbox, attempt, isUnnamed } = spec.query;
  return newRecord(hello, spec, { ...process, ...processOf(spec) }, { sandbox, attemptLife: attempt?.life, isUnnamed });
}

/** The process of a new session: from the query, else from the route. */
function processOf({ query, command }: AttachSpec): ProcessWish {
  if (commandWords(query.process) !== undefined || command === undefined) return query.process;
  const [cmd, ...args] = command;
  return { ...query.process, cmd, args };
}
