// The content of a request, checked by its route's schema.

import { nearestName, type processSchemas, unknownFieldOf, unknownFieldWords } from "@sbx/api";
import { defined, fromBody, isName, type ProcessWish, sizeOf, utf8Length } from "sandbox-stdio/core";
import { MAX_WORD_BYTES, MAX_WORDS } from "sandbox-stdio/programs";
import type * as z from "zod";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { type ProgramAnswer, type ProgramProcess, refused } from "./operations/call.ts";

/** Bytes of a body: a process of 1 MiB, escaped. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Bytes of all words of a process together (P1). */
const MAX_PROCESS_BYTES = 1024 * 1024;
const BODY_PATIENCE_MS = 10_000;

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly answer: ProgramAnswer };

/** @param tooLong What a body has too much of where it is too long: a process's words (P1), or input (W1). */
export async function parseBody<S extends z.ZodObject>(
  request: Request,
  schema: S,
  tooLong: "process" | "input" = "process",
): Promise<Parsed<z.output<S>>> {
  const fields = await readFields(request, tooLong);
  if (!fields.ok) return fields;
  const inQuery = [...new URL(request.url).searchParams.keys()].find((name) => name !== "incarnation");
  if (inQuery !== undefined) return unknownInQuery(inQuery, Object.keys(schema.shape));
  return check(schema, withIncarnation(fields.value, request));
}

/** The JSON of a body; an empty one has no fields. */
export async function readFields(request: Request, tooLong: "process" | "input"): Promise<Parsed<unknown>> {
  const body = await readText(request, MAX_BODY_BYTES, BODY_PATIENCE_MS, REST_BYTES);
  if (body.kind === "cut") {
    if (body.reason === "too_slow") return bad(`the body did not come in ${BODY_PATIENCE_MS} ms`);
    const [status, error] = tooLong === "input" ? ([413, "input_too_long"] as const) : ([422, "cmd_too_long"] as const);
    return fail(refused(status, error, `the body is longer than ${MAX_BODY_BYTES} bytes`));
  }
  if (!body.isUtf8) return fail(refused(400, "bad_encoding", BAD_ENCODING));
  try {
    return { ok: true, value: JSON.parse(body.text === "" ? "{}" : body.text) };
  } catch {
    return bad("the body is not JSON");
  }
}

export const BAD_ENCODING = "the body is not UTF-8: give other bytes as base64";

function unknownInQuery(field: string, names: readonly string[]) {
  const nearest = nearestName(field, names);
  const advice = nearest === field ? "it belongs in the body" : `the body has "${nearest}"`;
  return fail(refused(400, "unknown_field", `unknown field "${field}" in the query: ${advice}`, { field, nearest }));
}

/** R2: the incarnation may stand in the query of every call. */
function withIncarnation(body: unknown, request: Request): unknown {
  const incarnation = new URL(request.url).searchParams.get("incarnation");
  const isFields = typeof body === "object" && body !== null && !Array.isArray(body);
  return incarnation === null || !isFields ? body : { incarnation, ...body };
}

export function parseQuery<S extends z.ZodObject>(request: Request, schema: S): Parsed<z.output<S>> {
  return check(schema, Object.fromEntries(new URL(request.url).searchParams));
}

type ProcessBody = z.output<typeof processSchemas.createRequest>;

/** @param stdin The first input, base64, and whether it ends there. */
export function processOf(body: ProcessBody, stdin: string, isStdinEnded: boolean): Parsed<ProgramProcess> {
  const { command, cols, rows, attempt, mode = "collaborative" } = body;
  const cwd = body.cwd || undefined;
  const cmd = command === undefined ? (body.cmd ?? "") : "bash";
  const args = command === undefined ? (body.args ?? []) : ["-lc", command];
  const env = Object.entries(body.env ?? {});
  if (cmd === "") return bad('"cmd" must not be empty');
  const words = [cmd, ...args, ...env.map(([name, value]) => `${name}=${value}`), cwd ?? ""];
  if (words.some((word) => word.includes("\0"))) return bad("a process can't be given a NUL character");
  if (env.some(([name]) => name === "" || name.includes("=")))
    return bad('a name in "env" has no "=" and is not empty');
  if (args.length > MAX_WORDS || env.length > MAX_WORDS) {
    return fail(refused(422, "cmd_too_long", `the process has more than ${MAX_WORDS} arguments or variables`));
  }
  const lengths = words.map((word) => utf8Length(word) + 1);
  if (lengths.some((length) => length > MAX_WORD_BYTES)) {
    return fail(refused(422, "cmd_too_long", `a word has more than ${MAX_WORD_BYTES - 1} bytes`));
  }
  if (lengths.reduce((sum, length) => sum + length, 0) > MAX_PROCESS_BYTES) {
    return fail(refused(422, "cmd_too_long", `the process has more than ${MAX_PROCESS_BYTES} bytes in all`));
  }
  const process: ProgramProcess = {
    wish: { ...(fromBody({ ...body, cwd }) as ProcessWish), cmd, args, env, mode },
    keepExited: body.keepExitedSeconds,
    stdin,
    isStdinEnded,
    isAwaited: body.awaited,
    ...defined({
      line: command,
      size: sizeOf(cols, rows),
      replace: body.ended === undefined ? undefined : attempt,
    }),
  };
  return { ok: true, value: process };
}

export function checkSessionName(name: string): ProgramAnswer | undefined {
  if (isName(name)) return undefined;
  return refused(400, "bad_name", "a session name is 1 to 64 of A-Z a-z 0-9 . _ - and starts with none of . -");
}

export function check<S extends z.ZodObject>(schema: S, value: unknown): Parsed<z.output<S>> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  const unknown = unknownFieldOf(schema, result.error.issues);
  if (unknown !== undefined) return fail(refused(400, "unknown_field", unknownFieldWords(unknown), unknown));
  const issue = result.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? "" : `"${issue.path.join(".")}": `;
  return bad(`${where}${issue?.message ?? "does not fit"}`);
}

function bad(message: string): { readonly ok: false; readonly answer: ProgramAnswer } {
  return fail(refused(400, "bad_request", message));
}

function fail(answer: ProgramAnswer): { readonly ok: false; readonly answer: ProgramAnswer } {
  return { ok: false, answer };
}
