// Names for a shell's Tab: contexts, sandboxes, sessions, tickets. Whatever goes wrong, there are none, and nothing is said.

import { isRecord } from "sandbox-stdio/core";
import { contextNames, readDefaults } from "../account/contexts.ts";
import { tokenSource } from "../account/credentials.ts";
import { isAddress, placeOf } from "../args/place.ts";
import type { Environment } from "../base/environment.ts";
import type { Outcome } from "../base/outcome.ts";
import { print } from "../base/print.ts";
import { askJson } from "../connection/api-call.ts";
import { entriesOf, listSessions, runningOf } from "./sessions.ts";

/** Nobody waits longer for a Tab. */
const PATIENCE_MS = 3_000;
/** What is no name would be read by the shell. */
const NAME = /^\w[\w.-]*$/;
/** Nobody types the name that a session without one was given. */
const UNNAMED = /^(?:cli|tcp|cp)-[a-z0-9]{8}$/;
/** Verbs for which what has ended is there, too. */
const OF_ENDED: readonly string[] = ["logs", "read", "screen", "commands"];

/** @param what `contexts`, `sandboxes`, `sessions` or `tickets`. @param typed The words of the line so far, without the program. */
export async function complete([what, ...typed]: readonly string[], env: Environment): Promise<Outcome> {
  const names = namesOf(what, typed, env).catch(() => []);
  const late = new Promise<string[]>((resolve) => setTimeout(() => resolve([]), PATIENCE_MS).unref());
  const found = (await Promise.race([names, late])).filter((name) => NAME.test(name) && !UNNAMED.test(name));
  return print(found.map((name) => `${name}\n`).join(""));
}

async function namesOf(what: string | undefined, typed: readonly string[], env: Environment): Promise<string[]> {
  if (what === "contexts") return contextNames(env);
  if (what !== "sandboxes" && what !== "sessions" && what !== "tickets") return [];
  const after = (flag: string) => typed[typed.lastIndexOf(flag) + 1 || typed.length];
  const defaults = readDefaults(env, process.cwd(), after("--context"));
  const sandbox = after("--sandbox");
  const place = placeOf(typed.find(isAddress), sandbox === undefined ? {} : { sandbox }, defaults);
  const token = await tokenSource(place, env).token();
  if (what === "sandboxes") {
    const answer = await askJson(place.endpoint, "/api/sandboxes", token);
    const list = isRecord(answer) && Array.isArray(answer.sandboxes) ? answer.sandboxes.filter(isRecord) : [];
    return list.map((one) => String(one.sandbox));
  }
  if (what === "tickets") {
    const session = after("--session") ?? defaults.session;
    if (session === undefined) return [];
    const path = `/api/sandboxes/${encodeURIComponent(place.sandbox)}/sessions/${encodeURIComponent(session)}/tickets`;
    const answer = await askJson(place.endpoint, path, token);
    const list = isRecord(answer) && Array.isArray(answer.tickets) ? answer.tickets.filter(isRecord) : [];
    return list.map((one) => String(one.id));
  }
  const listed = await listSessions(place.endpoint, place.sandbox, token);
  const shown = OF_ENDED.includes(typed[0] ?? "") ? entriesOf(listed) : runningOf(listed);
  return shown.map(({ session }) => String(session));
}
