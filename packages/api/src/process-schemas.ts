// Schemas of requests that start or name a process (P, U1). Units and limits as in the contract; field names are its own.

import { z } from "zod";

/** How long a word may be, and all together, is told by a status of its own (P1). */
const word = z.string();
export const offset = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const waitMs = (usual: number) => z.int().min(0).max(600_000).default(usual);
export const maxBytes = (usual: number) => z.int().min(16).max(1_048_576).default(usual);

const variables = z.custom<Record<string, string>>(isVariables, "is an object whose values are texts");
// zod's own record leaves out the variable named `__proto__`.
variables._zod.toJSONSchema = () => ({ type: "object", additionalProperties: { type: "string" } });

function isVariables(value: unknown): boolean {
  const isFields = typeof value === "object" && value !== null && !Array.isArray(value);
  return isFields && Object.values(value).every((one) => typeof one === "string");
}

const process = {
  incarnation: z.string().optional().describe("the one process of this name that is meant"),
  cmd: word.optional(),
  args: z.array(word).optional(),
  command: word.optional().describe('Given to bash: ["bash", "-lc", command]'),
  cwd: z.string().optional(),
  env: variables.optional(),
  tty: z.boolean().default(false),
  cols: z.int().min(1).max(1_000).optional(),
  rows: z.int().min(1).max(500).optional(),
  mode: z.enum(["collaborative", "exclusive"]).optional(),
  delivery: z.enum(["live", "lossless"]).default("live").describe("lossless: output waits for the next client"),
  awaited: z.boolean().default(false).describe("output waits for the first client, and runs on when all have left"),
  lingerSeconds: z.int().min(0).max(3_600).optional().describe("how long children's output is awaited after the exit"),
  shellIntegration: z.boolean().optional(),
  keepSeconds: z.int().min(0).max(86_400).default(1_800),
  keepExitedSeconds: z.int().min(0).max(86_400).default(600),
  ended: z.literal("replace").optional(),
  attempt: z.string().min(1).max(256).optional(),
};

type ProcessFields = { cmd?: string | undefined; command?: string | undefined; args?: string[] | undefined };
type ReplaceFields = { ended?: "replace" | undefined; attempt?: string | undefined };

const isOneProcess = ({ cmd, command, args }: ProcessFields) =>
  (cmd === undefined) !== (command === undefined) && (args === undefined || cmd !== undefined);
const ONE_PROCESS = "needs exactly one of cmd (with args) and command";
const mayReplace = ({ ended, attempt }: ReplaceFields) => ended === undefined || attempt !== undefined;
const NEEDS_ATTEMPT = 'ended "replace" needs attempt';

export const createRequest = z
  .strictObject(process)
  .refine(isOneProcess, ONE_PROCESS)
  .refine(mayReplace, NEEDS_ATTEMPT);

export const runRequest = z
  .strictObject({
    ...process,
    session: z.string().optional(),
    stdin: z.string().nullable().optional(),
    stdinBase64: z.base64().optional(),
    waitMs: waitMs(10_000),
    maxBytes: maxBytes(65_536),
  })
  .refine(isOneProcess, ONE_PROCESS)
  .refine(mayReplace, NEEDS_ATTEMPT)
  .refine(
    ({ stdin, stdinBase64 }) => stdin === undefined || stdinBase64 === undefined,
    "has both stdin and stdinBase64",
  );

export const exit = z.object({ code: z.int(), signal: z.string().optional() });
export const gap = z.object({ from: offset, to: offset });
export const state = z.enum(["running", "exited", "lost"]);

const participant = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(["driver", "viewer"]),
  kind: z.enum(["person", "guest", "program"]).optional(),
});

export const description = z.object({
  session: z.string(),
  incarnation: z.string(),
  state,
  tty: z.boolean(),
  cmd: z.string(),
  args: z.array(z.string()),
  createdAt: z.iso.datetime(),
  cols: z.int().optional(),
  rows: z.int().optional(),
  title: z.string().optional(),
  clients: z.int(),
  participants: z.array(participant).optional().describe("who is attached; absent where nobody is"),
  offset,
  lastOutputAt: z.iso.datetime().optional().describe("when its last output came"),
  inputOffset: offset,
  exit: exit.optional(),
});

/** Of what is told as text. */
export const lossy = z.literal(true).optional().describe("bytes that are not UTF-8 became U+FFFD: read with base64");

/** The fields that describe a stretch of a session's output. */
export const outputRead = {
  incarnation: z.string(),
  state,
  exit: exit.optional(),
  from: offset,
  next: offset,
  end: offset,
  output: z.string(),
  lossy,
  gap: gap.optional(),
};

export const runAnswer = z.object({
  session: z.string(),
  ...outputRead,
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  truncated: z.object({ from: offset, to: offset, bytes: z.int() }).optional(),
});
