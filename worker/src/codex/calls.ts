// What codex' clients ask for (section 12), as schemas: unknown fields are ignored, and all else is checked.

import { CodexError, ERROR, pathOf } from "sandbox-stdio/codex";
import { isRecord, utf8Length } from "sandbox-stdio/core";
import * as z from "zod";

const MAX_CHUNK_BYTES = 1024 * 1024;
const MAX_WORDS = 65_536;

const words = z.array(z.string()).max(MAX_WORDS);
const texts = z.record(z.string(), z.string());
export const offset = z.int().nonnegative();
const processId = z.string().refine((id) => id !== "" && utf8Length(id) <= 256, "must have 1 to 256 bytes");
export const path = z.string().transform(pathOf);
/** Latin-1: a character for each byte. */
const chunk = z
  .base64()
  .transform((text) => atob(text))
  .refine(({ length }) => length <= MAX_CHUNK_BYTES, `must have at most ${MAX_CHUNK_BYTES} bytes`);

const envPolicy = z.object({
  inherit: z.enum(["all", "core", "none"]),
  ignoreDefaultExcludes: z.boolean().optional(),
  exclude: words.optional(),
  set: texts.optional(),
  includeOnly: words.optional(),
});

export const SHAPES = {
  initialize: z.object({ clientName: z.string().max(256), resumeSessionId: z.string().max(256).nullish() }),
  start: z.object({
    ...{ processId, argv: words, cwd: path, env: texts, envPolicy: envPolicy.nullish(), tty: z.boolean() },
    ...{ pipeStdin: z.boolean().default(false), arg0: z.string().nullish() },
  }),
  read: z.object({
    ...{ processId, afterSeq: offset.nullish(), maxBytes: offset.nullish() },
    waitMs: z.int().min(0).max(600_000).nullish(),
  }),
  write: z.object({ processId, chunk, writeId: z.string().max(256) }),
  signal: z.object({ processId, signal: z.literal("interrupt") }),
  terminate: z.object({ processId }),
};

/** As it was read. */
export type Asked<K extends keyof typeof SHAPES> = z.output<(typeof SHAPES)[K]>;

/** @throws {CodexError} */
export function parsed<S extends z.ZodType>(shape: S, params: unknown): z.output<S> {
  requireNoSandbox(params);
  const read = shape.safeParse(params);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.length ? `"${issue.path.join(".")}"` : "the parameters";
  throw new CodexError(ERROR.badParams, `${where}: ${issue?.message}`);
}

/** E3: a client must not believe that a process is confined when it is not. */
function requireNoSandbox(params: unknown): void {
  const { sandbox = null, enforceManagedNetwork } = isRecord(params) ? params : {};
  const permissions = isRecord(sandbox) ? sandbox.permissions : undefined;
  const isFree = sandbox === null || (isRecord(permissions) && permissions.type === "disabled");
  if (isFree && enforceManagedNetwork !== true) return;
  throw new CodexError(ERROR.badParams, "no sandbox here: the container is the sandbox");
}
