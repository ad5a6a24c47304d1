// The one program that `serve -- PROGRAM` shows: starts it as a session, and waits for its end. Speaks the HTTP interface.
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ask } from "../../../local/src/base/ask.ts";
import { ServeError } from "../base/refusal.ts";

export const SANDBOX = "home";
const SESSIONS = `sandboxes/${SANDBOX}/sessions/`;
/** The longest that a session lives with nobody there, and a wait may take. */
const KEEP_SECONDS = 86_400;
const WAIT_MS = 3_600_000;
const RETRY_MS = 1_000;

export type Api = { readonly socketPath: string; readonly token: () => Promise<string> };
type Waited = { readonly outcome?: string; readonly exit?: { readonly code: number } };
type Program = { readonly cmd: string; readonly args: readonly string[] };

/** @returns The status, and the answer's JSON. */
export async function askApi<Answer>({ socketPath, token }: Api, method: string, path: string, body: object) {
  const headers = { Authorization: `Bearer ${await token()}`, "Content-Type": "application/json" };
  const wish = { method, headers, body: JSON.stringify(body), socketPath };
  const { status, text } = await ask(`http://inner/api/${path}`, wish);
  return { status, answer: JSON.parse(text || "{}") as Answer };
}

/** Starts it, or finds it running. @returns The session's name. @throws {ServeError} */
export async function startProgram(api: Api, { cmd, args }: Program): Promise<string> {
  const session = basename(cmd)
    .replace(/[^A-Za-z0-9_.-]|^[.-]/g, "_")
    .slice(0, 64);
  const wish = { cmd, args, tty: true, keepSeconds: KEEP_SECONDS, ended: "replace", attempt: randomUUID() };
  const { status, answer } = await askApi<{ error: string; message: string }>(api, "PUT", SESSIONS + session, wish);
  if (status < 300) return session;
  const { error, message } = answer;
  if (error === "other_command")
    throw new ServeError(`A session "${session}" runs here with other arguments: sbx-stdio serve stop ends it`);
  throw new ServeError(`Cannot start ${cmd}: ${message} (${error})`);
}

/** Waits as long as it takes, over restarts of the Worker. @returns The exit code; 255 for a process that was lost. */
export async function exitOf(api: Api, session: string, signal: AbortSignal): Promise<number | undefined> {
  while (!signal.aborted) {
    try {
      const until = { until: { exit: true }, timeoutMs: WAIT_MS };
      const { status, answer } = await askApi<Waited>(api, "POST", `${SESSIONS}${session}/wait`, until);
      if (answer.outcome === "met") return answer.exit?.code ?? 255;
      if (answer.outcome === "lost" || status === 404) return 255;
    } catch {
      // The Worker is being started again.
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
