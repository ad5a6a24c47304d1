// The calls of a codex client to the session of one of its processes: the programs' own operations, as its person.

import { hash } from "node:crypto";
import { CodexError, type CodexParams, ERROR, pathOf } from "sandbox-stdio/codex";
import type { CodexPlace, CodexSpec } from "../attach/codex-spec.ts";
import { type EntryEnv, giveBack, pass } from "../attach/entry-limits.ts";
import { nameProject, type ProjectEnv } from "../auth/project-gate.ts";
import { ask } from "../programs/ask.ts";
import type { Operation, ProgramAnswer, ProgramCall, ProgramProcess } from "../programs/operations/call.ts";
import { processOf } from "../programs/parse.ts";

const KEEP_SECONDS = 86_400;
const KEEP_EXITED_SECONDS = 3_600;
const NAME_DIGITS = 20;

export type Target = { readonly env: EntryEnv & ProjectEnv; readonly spec: CodexSpec; readonly signal: AbortSignal };

/** The name of the session of a process (E3). */
export function nameOf(session: string, processId: string): string {
  return `codex-${hash("sha256", session + processId).slice(0, NAME_DIGITS)}`;
}

/** Asks the session of this name once. @returns 503 where its object restarted. */
export async function call({ env, spec, signal }: Target, name: string, operation: Operation): Promise<ProgramAnswer> {
  return ask({ env, sessionKey: await keyOf(env, spec, name), signal }, callOf(spec, name, operation));
}

/** The same for a process that is most likely not there: as every start, it is let in first. */
export async function start(target: Target, name: string, process: ProgramProcess): Promise<ProgramAnswer> {
  const { env, spec, signal } = target;
  const operation = { type: "create", process } as const;
  const { tenant, sandbox, sandboxKey, who, user } = spec;
  const key = await keyOf(env, spec, name);
  const right = { tenant, grant: who, asker: { tenant, asked: { user } } };
  const asked = { sessionKey: key, sandboxKey, sandbox, kind: "other", resume: undefined } as const;
  const passed = await pass(env, requestOf(spec), right, asked, { user });
  if ("code" in passed) return { status: 429, body: { error: passed.error, message: passed.message } };
  try {
    const started = { ...callOf(spec, name, operation), pass: passed.pass, mayStart: true };
    return await ask({ env, sessionKey: key, signal }, started);
  } finally {
    await giveBack(env, passed.pass);
  }
}

/** The Project Service was asked when the client connected. @throws {AuthFault} */
export async function keyOf(env: ProjectEnv, { tenant, sandbox, user }: CodexPlace, name: string): Promise<string> {
  return (await nameProject(env, { tenant, asked: { user } }, sandbox)).sessionKey(name);
}

/** @throws {CodexError} If it can't be one. */
export function processFor(params: CodexParams["process/start"]): ProgramProcess {
  const { argv, cwd, env, envPolicy, tty, pipeStdin = false, arg0 } = params;
  const [cmd = "", ...args] = argv;
  // Another name for the program than its path: the shell's own `exec` gives it one.
  const words = arg0 == null || arg0 === cmd ? [cmd, ...args] : ["bash", "-c", 'exec -a "$0" "$@"', arg0, ...argv];
  const body = {
    cmd: words[0] ?? "",
    args: words.slice(1),
    cwd: pathOf(cwd),
    env: { ...env },
    tty,
    mode: "collaborative",
    delivery: "live",
    keepSeconds: KEEP_SECONDS,
    keepExitedSeconds: KEEP_EXITED_SECONDS,
    shellIntegration: false,
    awaited: true,
  } as const;
  const parsed = processOf(body, "", !tty && !pipeStdin);
  if (!parsed.ok) throw new CodexError(ERROR.badParams, String(parsed.answer.body.message));
  return { ...parsed.value, ...(envPolicy == null ? {} : { envPolicy }) };
}

/** @throws {CodexError} Unless it is an answer. */
export function requireAnswer({ status, body }: ProgramAnswer): Readonly<Record<string, unknown>> {
  if (status < 300) return body;
  const { holder } = body;
  const whose = typeof holder === "string" && holder !== "" ? ` (${holder})` : "";
  throw new CodexError(ERROR.failed, `${String(body.message)}${whose}`);
}

function callOf(
  { sandboxKey, sandbox, who, actor, pass }: CodexSpec,
  session: string,
  operation: Operation,
): ProgramCall {
  return { sandboxKey, sandbox, session, who, actor, pass, mayStart: false, operation };
}

/** As the client's own request would be: it counts for its address. */
function requestOf({ actor: { address } }: CodexSpec): Request {
  return new Request("http://codex/", address === "" ? {} : { headers: { "CF-Connecting-IP": address } });
}
