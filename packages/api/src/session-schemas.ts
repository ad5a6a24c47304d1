// Schemas of requests to a session that is there (D, W, T, S, C), and of their answers. A query comes as text: its numbers are
// coerced.

import { z } from "zod";
import { exit, gap, lossy, maxBytes, offset, outputRead, waitMs } from "./process-schemas.ts";

const incarnation = z.string().optional();
const writer = z.string().min(1).max(64).default("api");
const queried = {
  offset: z.coerce.number().pipe(offset),
  count: (min: number, max: number) => z.coerce.number().int().min(min).max(max),
};

/** A year: longer than any output is kept. */
const MAX_AGO_MS = 31_536_000_000;

export const namedQuery = z.strictObject({ incarnation });

export const listQuery = z.strictObject({ limit: queried.count(1, 1_000).default(100), after: z.string().optional() });

export const readQuery = z
  .strictObject({
    incarnation,
    from: queried.offset.optional(),
    tail: queried.offset.optional(),
    since: z.iso.datetime({ offset: true }).optional(),
    agoMs: queried.count(0, MAX_AGO_MS).optional(),
    to: queried.offset.optional(),
    maxBytes: queried.count(16, 1_048_576).default(65_536),
    waitMs: queried.count(0, 600_000).default(0),
    stream: z.enum(["all", "stdout", "stderr"]).default("all"),
    format: z.enum(["text", "base64", "plain"]).default("text"),
    times: queried.count(0, 1).optional(),
  })
  .refine(
    ({ from, tail, since, agoMs }) => [from, tail, since, agoMs].filter((one) => one !== undefined).length <= 1,
    "has more than one of from, tail, since and agoMs",
  );

export const readAnswer = z.object({
  ...outputRead,
  times: z.array(z.object({ offset, at: z.iso.datetime() })).optional(),
});

type WriteFields = {
  text?: string | undefined;
  keys?: string[] | undefined;
  paste?: string | undefined;
  base64?: string | undefined;
  enter?: boolean | undefined;
  eof?: boolean | undefined;
};
const inputs = ({ text, keys, paste, base64 }: WriteFields) =>
  [text, keys, paste, base64].filter((input) => input !== undefined).length;

export const writeRequest = z
  .strictObject({
    incarnation,
    text: z.string().optional(),
    keys: z.array(z.string().min(1)).optional(),
    paste: z.string().optional(),
    base64: z.base64().optional(),
    enter: z.boolean().optional(),
    eof: z.boolean().optional(),
    writer,
    at: offset.optional(),
    waitMs: waitMs(10_000),
  })
  .refine((body) => inputs(body) <= 1, "has more than one of text, keys, paste and base64")
  .refine((body) => inputs(body) === 1 || body.enter === true || body.eof === true, "has nothing to write")
  .refine(({ enter, eof }) => enter !== true || eof !== true, "has both enter and eof");

export const writeAnswer = z.object({
  writer: z.string(),
  from: offset,
  to: offset,
  outputOffset: offset.optional(),
  taken: offset.optional(),
  duplicate: z.literal(true).optional(),
});

/** Their own limits are 400 `bad_pattern`, told where they are compiled (T4). */
const pattern = z.string();
const patternFlags = z.string().optional();
const UNTIL = "is one of exit, match, text, idleMs, commandEnd, screen and keyboard, with its value";
const until = z.union(
  [
    z.strictObject({ exit: z.literal(true) }),
    z.strictObject({ match: pattern, flags: patternFlags }),
    z.strictObject({ text: z.string().min(1).max(4_096) }),
    z.strictObject({ idleMs: z.int().min(1).max(3_600_000) }),
    z.strictObject({ commandEnd: z.literal(true) }),
    z.strictObject({ screen: pattern, flags: patternFlags }),
    z.strictObject({ keyboard: z.literal(true) }),
  ],
  { error: UNTIL },
);

export const waitRequest = z.strictObject({
  incarnation,
  until,
  from: offset.optional(),
  timeoutMs: z.int().min(0).max(3_600_000).default(30_000),
  maxBytes: maxBytes(8_192),
});

export const waitAnswer = z.object({
  outcome: z.enum(["met", "timeout", "exited", "lost"]),
  undecided: z.literal(true).optional().describe("the search was given up: what was waited for may be there"),
  offset,
  searchedTo: offset.optional().describe("of match and text: what stands before this offset was searched"),
  match: z.object({ from: offset, to: offset, text: z.string(), groups: z.array(z.string().nullable()) }).optional(),
  exit: exit.optional(),
  gap: gap.optional(),
  output: z.string(),
  lossy,
});

export const screenQuery = z.strictObject({
  incarnation,
  format: z.enum(["text", "ansi", "json"]).default("text"),
  scrollback: queried.count(0, 1_000_000).optional(),
});
export const screenAnswer = z.looseObject({
  offset,
  cols: z.int(),
  rows: z.int(),
  cursor: z.object({ x: z.int(), y: z.int(), visible: z.boolean() }),
  alternate: z.boolean(),
  title: z.string(),
  modes: z.looseObject({ bracketedPaste: z.boolean(), applicationCursor: z.boolean(), mouse: z.unknown() }),
  lines: z.array(z.string()),
  scrollback: z.array(z.string()).optional(),
  approximate: z.boolean().optional(),
  truncated: z.boolean().optional(),
});

export const commandsQuery = z.strictObject({ incarnation });
export const commandsAnswer = z.object({
  commands: z.array(
    z.object({
      line: z.string().optional(),
      cwd: z.string().optional(),
      from: offset.optional(),
      to: offset.optional(),
      exit: z.int().optional(),
      startedAt: z.iso.datetime(),
      endedAt: z.iso.datetime().optional(),
    }),
  ),
  next: offset,
});

export const signalRequest = z.strictObject({ incarnation, writer, signal: z.string().regex(/^SIG[A-Z0-9]+$/) });
export const resizeRequest = z.strictObject({
  incarnation,
  writer,
  cols: z.int().min(1).max(1_000),
  rows: z.int().min(1).max(500),
});
export const keyboardRequest = z.strictObject({ incarnation, writer, do: z.enum(["request", "release", "take"]) });
export const keyboardAnswer = z.object({ holder: z.string(), mine: z.boolean() });
