// Names for a shell's completion: contexts, sandboxes, sessions, tickets. On any failure there are none, silently.

import { isRecord } from "sandbox-stdio/core";
import { contextNames, readDefaults } from "../account/contexts.ts";
import { tokenSource } from "../account/credentials.ts";
import { isAddress, targetOf } from "../args/target.ts";
import type { Environment } from "../base/environment.ts";
import type { Outcome } from "../base/outcome.ts";
import { print } from "../base/print.ts";
import { fetchJson } from "../connection/api-call.ts";
import { entriesOf, listSessions, runningOf } from "./sessions.ts";

/** Limit of a completion. */
const TIMEOUT_MS = 3_000;
/** The shell would interpret other text. */
const NAME = /^\w[\w.-]*$/;
/** Generated names, which nobody types. */
const UNNAMED = /^(?:cli|tcp|cp)-[a-z0-9]{8}$/;
/** Verbs that also work on ended sessions. */
const OF_ENDED: readonly string[] = ["logs", "read", "screen", "commands"];

/** @param what `contexts`, `sandboxes`, `sessions` or `tickets`. @param typed The words typed so far, without the program. */
export async function complete([what, ...typed]: readonly string[], env: Environment): Promise<Outcome> {
  const names = namesOf(what, typed, env).catch(() => []);
  const late = new Promise<string[]>((resolve) => setTimeout(() => resolve([]), TIMEOUT_MS).unref());
  const found = (await Promise.race([names, late])).filter((name) => NAME.test(name) && !UNNAMED.test(name));
  return print(found.map((name) => `${name}\n`).join(""));
}

async function namesOf(what: string | undefined, typed: readonly string[], env: Environment): Promise<string[]> {
  if (what === "contexts") return contextNames(env);
  if (what !== "sandboxes" && what !== "sessions" && what !== "tickets") return [];
  const after = (flag: string) => typed[typed.lastIndexOf(flag) + 1 || typed.length];
  const defaults = readDefaults(env, process.cwd(), after("--context"));
  const sandbox = after("--sandbox");
  const target = targetOf(typed.find(isAddress), sandbox === undefined ? {} : { sandbox }, defaults);
  const token = await tokenSource(target, env).token();
  if (what === "sandboxes") {
    const answer = await fetchJson(target.endpoint, "/api/sandboxes", token);
    const list = isRecord(answer) && Array.isArray(answer.sandboxes) ? answer.sandboxes.filter(isRecord) : [];
    return list.map((one) => String(one.sandbox));
  }
  if (what === "tickets") {
    const session = after("--session") ?? defaults.session;
    if (session === undefined) return [];
    const path = `/api/sandboxes/${encodeURIComponent(target.sandbox)}/sessions/${encodeURIComponent(session)}/tickets`;
    const answer = await fetchJson(target.endpoint, path, token);
    const list = isRecord(answer) && Array.isArray(answer.tickets) ? answer.tickets.filter(isRecord) : [];
    return list.map((one) => String(one.id));
  }
  const listed = await listSessions(target.endpoint, target.sandbox, token);
  const shown = OF_ENDED.includes(typed[0] ?? "") ? entriesOf(listed) : runningOf(listed);
  return shown.map(({ session }) => String(session));
}
