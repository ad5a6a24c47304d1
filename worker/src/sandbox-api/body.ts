// The JSON bodies of the sandbox API (V1): fields that it does not know are ignored, those that it does are checked.

import { z } from "zod";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { BAD_ENCODING } from "../programs/parse.ts";
import { refuse } from "./refuse.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const BODY_PATIENCE_MS = 10_000;
const NO_NUL = /^[^\0]*$/;
/** The ids of sandboxes and sessions (V2). */
export const ID = /^[A-Za-z0-9_-]{1,64}$/;

const word = z.string().regex(NO_NUL, "has a NUL character");
const environment = z.record(z.string().regex(/^[^=\0]+$/, 'a name is not empty and has no "="'), word);

export const createBody = z.object({ mounts: z.array(z.unknown()).optional() });
export const execBody = z.object({
  argv: z.array(word).min(1),
  timeout_ms: z.number().positive().optional(),
  cwd: word.optional(),
});
export const sessionBody = z.object({
  id: z.string().regex(ID, "has other characters than A-Z a-z 0-9 _ -, or more than 64").optional(),
  cwd: word.optional(),
  env: environment.optional(),
});

/** @returns The fields, or the refusal. */
export async function readBody<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S> | Response> {
  const body = await readText(request, MAX_BODY_BYTES, BODY_PATIENCE_MS, REST_BYTES);
  if (body.kind === "cut") {
    if (body.reason === "too_long") return refuse(413, "too_long", `the body is longer than ${MAX_BODY_BYTES} bytes`);
    return refuse(400, "bad_request", `the body did not come in ${BODY_PATIENCE_MS} ms`);
  }
  if (!body.isUtf8) return refuse(400, "bad_encoding", BAD_ENCODING);
  let fields: unknown;
  try {
    fields = JSON.parse(body.text === "" ? "{}" : body.text);
  } catch {
    return refuse(400, "bad_request", "the body is not JSON");
  }
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return refuse(400, "bad_request", `"${issue?.path.join(".")}": ${issue?.message ?? "does not fit"}`);
}
