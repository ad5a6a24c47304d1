// The one program that `serve -- PROGRAM` shows: starts it as a session, and waits for its end. Speaks the HTTP interface.
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ServeError } from "../base/refusal.ts";

export const SANDBOX = "home";
/** The longest that a session lives with nobody there, and a wait may take. */
const KEEP_SECONDS = 86_400;
const WAIT_MS = 3_600_000;
const RETRY_MS = 1_000;

export type Api = { readonly url: string; readonly token: () => Promise<string> };
type Program = { readonly cmd: string; readonly args: readonly string[] };

async function ask({ url, token }: Api, method: string, path: string, body: object): Promise<Response> {
  const headers = { Authorization: `Bearer ${await token()}`, "Content-Type": "application/json" };
  return fetch(`${url}/api/sandboxes/${SANDBOX}/sessions/${path}`, { method, headers, body: JSON.stringify(body) });
}

/** Starts it, or finds it running. @returns The session's name. @throws {ServeError} */
export async function startProgram(api: Api, { cmd, args }: Program): Promise<string> {
  const session = basename(cmd)
    .replace(/[^A-Za-z0-9_.-]|^[.-]/g, "_")
    .slice(0, 64);
  const wish = { cmd, args, tty: true, keepSeconds: KEEP_SECONDS, ended: "replace", attempt: randomUUID() };
  const response = await ask(api, "PUT", session, wish);
  if (response.ok) return session;
  const { error, message } = (await response.json()) as { error: string; message: string };
  if (error === "other_command")
    throw new ServeError(`A session "${session}" runs here with other arguments: sbx-stdio serve stop ends it`);
  throw new ServeError(`Cannot start ${cmd}: ${message} (${error})`);
}

/** Waits as long as it takes, over restarts of the Worker. @returns The exit code; 255 for a process that was lost. */
export async function exitOf(api: Api, session: string, signal: AbortSignal): Promise<number | undefined> {
  while (!signal.aborted) {
    try {
      const response = await ask(api, "POST", `${session}/wait`, { until: { exit: true }, timeoutMs: WAIT_MS });
      const { outcome, exit } = (await response.json()) as { outcome?: string; exit?: { code: number } };
      if (outcome === "met") return exit?.code ?? 255;
      if (outcome === "lost" || response.status === 404) return 255;
    } catch {
      // The Worker is being started again.
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
