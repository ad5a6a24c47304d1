// The tools (M1): which operation each one is, what it takes and gives, and what a model is told of it. Schemas are those of the
// routes.

import type { ToolAnnotations } from "@modelcontextprotocol/server";
import { processSchemas, ROUTES, type Route, sessionSchemas } from "@sbx/api";
import * as z from "zod";
import type { Fields } from "./request.ts";

/** The fields that a tool has beside those of its route: where it works, and for how long at most. */
const sandbox = z.string().min(1).max(64).describe("The sandbox to work in");
const session = z.string().min(1).max(64).describe("The session's name, as run, or list, told it");

export type Tool = {
  /** Also the operation of its route. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  readonly annotations: ToolAnnotations;
  /** The field that says for how long it may wait, in milliseconds. */
  readonly waits?: "waitMs" | "timeoutMs";
  /** What a program printed: fields of the answer that the result has as text, and not as structured content. */
  readonly printed?: { readonly fields: readonly string[]; readonly of: (answer: Fields) => string };
  /** The answer without what is long and hardly ever asked for. */
  readonly brief?: (answer: Fields) => Fields;
  /** Whether the end counts most, where an answer is too long. */
  readonly isEndKept?: true;
  /** What to ask for instead where an answer is too long by this factor; absent: nothing gives less. */
  readonly smaller?: (asked: Fields, answer: Fields, factor: number) => Fields;
};

const OUTPUT = { fields: ["output", "stdout", "stderr"], of: ({ output }: Fields) => String(output) };
const SCREEN = {
  fields: ["lines", "scrollback", "ansi"],
  of: ({ lines, scrollback, ansi }: Fields) =>
    typeof ansi === "string" ? ansi : [...texts(scrollback), ...texts(lines)].join("\n"),
};
const texts = (rows: unknown): unknown[] => (Array.isArray(rows) ? rows : []);
const LEAST_BYTES = 16;

/** The most characters of a listed session's arguments: those of a copy are whole scripts. */
const ARGUMENTS_LENGTH = 200;

const withShortArguments = (answer: Fields): Fields => ({
  ...answer,
  sessions: texts(answer.sessions).map((session) => {
    const { args } = Object(session) as Fields;
    return args === undefined ? session : { ...Object(session), args: shortArguments(texts(args).map(String)) };
  }),
});

/** As many of them as there is room for; the last that is told ends with "…" if there is more. */
function shortArguments(args: readonly string[]): readonly string[] {
  let left = ARGUMENTS_LENGTH;
  const short: string[] = [];
  for (const arg of args) {
    if (arg.length > left) return [...short, `${arg.slice(0, left).replace(/[\ud800-\udbff]$/, "")}…`];
    short.push(arg);
    left -= arg.length + 1;
  }
  return short;
}

/** Fewer bytes of output, by the factor and a little less. */
const fewerBytes = (asked: Fields, factor: number) => ({
  ...asked,
  maxBytes: Math.max(LEAST_BYTES, Math.floor(Number(asked.maxBytes) * factor * 0.95)),
  waitMs: 0,
});

/** A tool's answer if its route answers 204. */
const done = z.object({ done: z.literal(true) });
const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const ACTS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export const TOOLS: readonly Tool[] = [
  {
    name: "run",
    title: "Run a command",
    description:
      'Runs a command in the sandbox and answers with its output, as text, and its exit. Give "command" (a line for bash) or "cmd" and "args". ' +
      '"state":"running" means that waitMs was not enough: the process goes on; use wait and read with the answer\'s session and ' +
      'next. For a server or a REPL give a "session" name and waitMs 0; with "tty":true it gets a terminal. The same call with the ' +
      "same session never starts a second process.",
    input: processSchemas.runRequest.safeExtend({ sandbox }),
    output: processSchemas.runAnswer.omit({ output: true, stdout: true, stderr: true }),
    annotations: ACTS,
    waits: "waitMs",
    printed: OUTPUT,
    // U4: the same call finds the process that the first one has started.
    smaller: (asked, { session, incarnation }, factor) => ({ ...fewerBytes(asked, factor), session, incarnation }),
  },
  {
    name: "read",
    title: "Read output",
    description:
      'Output of a session by offset, while it runs and after its exit. "from": the "next" of the last answer, or "tail": the last ' +
      'N bytes. waitMs waits until there is something new. format "plain" has no escape sequences and costs the fewest tokens.',
    input: sessionSchemas.readQuery.safeExtend({ sandbox, session }),
    output: sessionSchemas.readAnswer.omit({ output: true }),
    annotations: READS,
    waits: "waitMs",
    printed: OUTPUT,
    smaller: ({ tail: _, since: __, agoMs: ___, ...asked }, { incarnation, from }, factor) => ({
      ...fewerBytes(asked, factor),
      incarnation,
      from,
    }),
  },
  {
    name: "write",
    title: "Type into a session",
    description:
      'Types "text", "keys" (as tmux names them: C-c, Up, Enter), or "paste" into a running session; "enter":true presses Enter ' +
      'after it, "eof":true ends its input. Pass the answer\'s outputOffset as "from" to wait, so that no output is missed. With ' +
      '"at" (the "to" of the last write) a repeated call types nothing twice.',
    input: sessionSchemas.writeRequest.safeExtend({ sandbox, session }),
    output: sessionSchemas.writeAnswer,
    annotations: ACTS,
    waits: "waitMs",
  },
  {
    name: "wait",
    title: "Wait for something",
    description:
      'Waits, without polling, until one thing is so: {"exit":true}, {"match":"REGEX"} (RE2) or {"text":"…"} in the output, ' +
      '{"screen":"REGEX"}, {"commandEnd":true} in a shell, {"keyboard":true}, {"ask":ID} (a person), or {"idleMs":500} (weak: a program that thinks is idle ' +
      'too). match and text look from "from" on: give a write\'s outputOffset, or 0 for all there is. Look at "outcome": "timeout" ' +
      "is no success.",
    input: sessionSchemas.waitRequest.safeExtend({ sandbox, session }),
    output: sessionSchemas.waitAnswer.omit({ output: true }),
    annotations: READS,
    waits: "timeoutMs",
    printed: OUTPUT,
    isEndKept: true,
  },
  {
    name: "screen",
    title: "See the screen",
    description:
      "The screen of a session with a terminal as text, one line for each row, with the cursor. Use it for full-screen programs " +
      "(vim, less, menus); use read for plain output.",
    input: sessionSchemas.screenQuery.safeExtend({ sandbox, session }),
    output: sessionSchemas.screenAnswer.omit({ lines: true, scrollback: true }),
    annotations: READS,
    printed: SCREEN,
    isEndKept: true,
  },
  {
    name: "commands",
    title: "Commands of a shell",
    description:
      "The commands that an interactive shell in the session has run, with their exit statuses and the offsets of their output, " +
      'newest last. Give "from" and "to" of one to read for exactly its output.',
    input: sessionSchemas.commandsQuery.safeExtend({ sandbox, session }),
    output: sessionSchemas.commandsAnswer,
    annotations: READS,
    isEndKept: true,
  },
  {
    name: "signal",
    title: "Send a signal",
    description:
      "Sends a signal to the session's processes: SIGINT to interrupt, SIGTERM to ask for an end, SIGKILL to force it. To end the " +
      "whole session use end.",
    input: sessionSchemas.signalRequest.safeExtend({ sandbox, session }),
    output: done,
    annotations: ACTS,
  },
  {
    name: "list",
    title: "List sessions",
    description:
      'The sandbox\'s sessions, newest first, with state and exit; long arguments are cut at "…". Where there is "next", pass it as "after".',
    input: sessionSchemas.listQuery.safeExtend({ sandbox }),
    output: answerSchema("list"),
    annotations: READS,
    brief: withShortArguments,
    smaller: (asked, { sessions }, factor) => ({
      ...asked,
      limit: Math.max(1, Math.floor(texts(sessions).length * factor * 0.9)),
    }),
  },
  {
    name: "end",
    title: "End a session",
    description:
      "Ends the session's process (hang-up, then harder) and forgets it; its output can't be read after that. Answers once it has " +
      "exited.",
    input: sessionSchemas.namedQuery.safeExtend({ sandbox, session }),
    output: done,
    annotations: { ...ACTS, idempotentHint: true, openWorldHint: false },
  },
  {
    name: "keyboard",
    title: "Ask for the keyboard",
    description:
      '"ask" with a "reason" has a person take the keyboard (for a password: "secret":true): then wait with {"ask":ID} for "answer". In an ' +
      'exclusive session one person or program types: "request" asks its holder, "release" gives the keyboard up, "take" ' +
      '(administrators) takes it. "mine" says whether it is yours now; else wait with {"keyboard":true}.',
    input: sessionSchemas.keyboardRequest.safeExtend({ sandbox, session }),
    output: sessionSchemas.keyboardAnswer,
    annotations: { ...ACTS, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

function answerSchema(operation: string): z.ZodType {
  const route: Route | undefined = ROUTES.find((one) => one.operation === operation);
  if (route?.answer === undefined) throw new TypeError(`Cannot find what ${operation} answers`);
  return route.answer;
}
