// An MCP server with the tools, built on the official SDK. It asks the API through its host, any host, and decides nothing.

import {
  type CallToolResult,
  McpServer,
  type ServerContext,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { unknownFieldOf, unknownFieldWords } from "@sbx/api";
import * as z from "zod";
import { type ApiAnswer, type ApiRequest, answerOf, type Fields, requestOf } from "./request.ts";
import { cutResultOf, OUTPUT_BYTES, RESULT_BYTES, resultOf, shortResultOf, sizeOf } from "./result.ts";
import { TOOLS, type Tool } from "./table.ts";

export interface ToolHost {
  /** Asks the API with the caller's own rights. */
  ask(request: ApiRequest, signal: AbortSignal): Promise<Response>;
  /** The one sandbox to work in; absent: each call names its own. */
  readonly sandbox?: string | undefined;
}

/** Clients give up on a call after 60 s, unless they hear of its progress. */
const SILENT_MS = 50_000;
/** Between two words about progress. */
const PROGRESS_MS = 10_000;
/** How often less is asked for. */
const MAX_SMALLER = 4;

const INSTRUCTIONS =
  "Processes in a sandbox, shared with people who may watch and type. run starts one and answers with its output; what still runs " +
  "goes on in its session: wait for what you need (by match, exit or commandEnd), read by offset, write to type, screen for " +
  "full-screen programs. Offsets count bytes and stay good after the exit. A call may be repeated: nothing is done twice where " +
  "session, or at, is given.";

export function mcpServer(host: ToolHost, version = "0.2.0"): McpServer {
  const server = new McpServer({ name: "sbx-stdio", version }, { instructions: INSTRUCTIONS });
  for (const tool of TOOLS) {
    const { name, title, description, output, annotations } = tool;
    const input = inputOf(tool, host);
    const config = { title, description, inputSchema: toldOf(input), outputSchema: output, annotations };
    server.registerTool(name, config, (args, context) => {
      const checked = input.safeParse(args);
      return checked.success ? call(tool, checked.data, host, context) : badArguments(input, checked.error);
    });
  }
  return server;
}

function inputOf({ input }: Tool, { sandbox }: ToolHost): z.ZodObject {
  // A call need not name a fixed sandbox; a call that names one all the same is checked below.
  return sandbox === undefined ? input : input.safeExtend({ sandbox: z.literal(sandbox).default(sandbox) });
}

/** What clients are told of a schema. The arguments are checked here, so that a refusal has a code and a next step. */
function toldOf(schema: z.ZodObject): StandardSchemaWithJSON {
  const { jsonSchema, vendor, version } = schema["~standard"];
  return { "~standard": { jsonSchema, vendor, version, validate: (value) => ({ value }) } };
}

function badArguments(schema: z.ZodObject, { issues }: z.ZodError): CallToolResult {
  const unknown = unknownFieldOf(schema, issues);
  const [issue] = issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `"${issue.path.join(".")}": `;
  const fault =
    unknown === undefined
      ? { error: "bad_request", message: `${where}${issue?.message ?? "does not fit"}` }
      : { error: "unknown_field", message: unknownFieldWords(unknown), ...unknown };
  return refused({ ...fault, next: nextStep(fault.error, 400) });
}

async function call(tool: Tool, args: Fields, host: ToolHost, context: ServerContext): Promise<CallToolResult> {
  const { signal, _meta } = context.mcpReq;
  const token = _meta?.progressToken;
  const asked = tool.waits === undefined ? 0 : Number(args[tool.waits] ?? 0);
  const isCut = token === undefined && asked > SILENT_MS;
  const fields: Record<string, unknown> = { ...args };
  if (tool.waits !== undefined && isCut) fields[tool.waits] = SILENT_MS;
  if (args.maxBytes !== undefined) fields.maxBytes = Math.min(Number(args.maxBytes), OUTPUT_BYTES);
  const stop = token === undefined || asked === 0 ? undefined : tellProgress(context, token, asked);
  try {
    return await answered(tool, fields, isCut, (asked) => ask(tool, asked, host, signal));
  } catch (error) {
    if (signal.aborted) return refused({ error: "cancelled", message: "the call was cancelled", next: "" });
    const message = error instanceof Error ? error.message : String(error);
    return refused({ error: "unreachable", message, next: "Call again in a second: the server could not be reached." });
  } finally {
    stop?.();
  }
}

const DONE: Fields = { done: true };
const LOSSY = 'Some bytes are not UTF-8 and became U+FFFD: read with "format":"base64" for the bytes themselves.';

async function ask(tool: Tool, fields: Fields, host: ToolHost, signal: AbortSignal): Promise<ApiAnswer> {
  return answerOf(await host.ask(requestOf(tool.name, fields), signal));
}

/** The result of a call. If the answer is too long for one, less is asked for, and cut at last. */
async function answered(
  tool: Tool,
  fields: Fields,
  isCut: boolean,
  again: (fields: Fields) => Promise<ApiAnswer>,
): Promise<CallToolResult> {
  let answer = await again(fields);
  if (!answer.ok) {
    const { error, status, body } = answer;
    return refused({ message: error, ...body, error, next: nextStep(error, status) });
  }
  let asked = fields;
  for (let attempts = 0; ; attempts += 1) {
    const told = tool.brief?.(answer.body) ?? answer.body;
    const body = tool.annotations.readOnlyHint !== true && Object.keys(told).length === 0 ? DONE : told;
    const hints = hintsOf(tool, asked, body, isCut);
    const result = resultOf(tool, body, hints);
    if (sizeOf(result) <= RESULT_BYTES) return result;
    const short = tool.printed === undefined ? shortResultOf(tool, body, hints) : result;
    const factor = RESULT_BYTES / sizeOf(short);
    if (factor >= 1) return short;
    if (tool.smaller === undefined || attempts === MAX_SMALLER) return cutResultOf(tool, body, hints);
    asked = tool.smaller(asked, body, factor);
    const smaller = await again(asked);
    if (!smaller.ok) return cutResultOf(tool, body, hints);
    answer = smaller;
  }
}

function refused(body: Fields): CallToolResult {
  return { isError: true, content: [{ type: "text", text: JSON.stringify(body) }] };
}

function hintsOf(tool: Tool, asked: Fields, body: Fields, isCut: boolean): string[] {
  const hints = [
    tool.name === "run" || tool.name === "read" ? leftOut(asked, body) : undefined,
    hintOf(body, isCut),
    body.lossy === true ? LOSSY : undefined,
  ];
  return hints.filter((hint) => hint !== undefined);
}

/** Output that there is, and that this result has no room for. */
function leftOut(
  { session: named, to }: Fields,
  { session = named, truncated, next, end, gap }: Fields,
): string | undefined {
  const gone = gap === undefined ? "" : ` Output from ${rangeWords(gap)} is no longer held.`;
  const from = (where: string) => `read session "${String(session)}" from ${where}.${gone}`;
  if (truncated !== undefined) return `Left out in the middle: ${from(rangeWords(truncated))}`;
  const until = Math.min(Number(end), Number(to ?? end));
  if (Number(next) < until) return `There is more, up to ${until}: ${from(String(next))}`;
  return gone === "" ? undefined : gone.trim();
}

function rangeWords(range: unknown): string {
  const { from, to } = range as { from: number; to: number };
  return `${from} to ${to}`;
}

/** A hint at facts that a model overlooks easily. */
function hintOf({ outcome, undecided, searchedTo, state, session, next }: Fields, isCut: boolean): string | undefined {
  if (undecided === true) {
    const from = searchedTo === undefined ? "" : ` with "from": ${String(searchedTo)}`;
    return `Undecided: the search was given up before the end of the output. Call wait again${from}.`;
  }
  if (outcome === "timeout") {
    const why = isCut
      ? `ended after ${SILENT_MS / 1000} s, since the client asked for no progress`
      : "the time was over";
    return `Not met yet: ${why}. Call wait again with the same "from", or read what there is.`;
  }
  if (outcome === "exited") return "The process ended before that came: it will not come any more.";
  if (outcome === "lost" || state === "lost")
    return "The process is lost with its container: start a new one with run.";
  if (state !== "running" || session === undefined) return undefined;
  return `Still running in session "${String(session)}": wait, then read from ${String(next)}.`;
}

function tellProgress({ mcpReq }: ServerContext, progressToken: string | number, askedMs: number): () => void {
  const startedMs = Date.now();
  const tell = () => {
    const progress = Math.floor((Date.now() - startedMs) / 1000);
    const params = { progressToken, progress, total: Math.ceil(askedMs / 1000), message: `waiting for ${progress} s` };
    // A client that has gone needs no word of it.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  tell();
  const timer = setInterval(tell, PROGRESS_MS);
  return () => clearInterval(timer);
}

const STEPS: Readonly<Record<string, string>> = {
  not_found: "Use list to see the sandbox's sessions, or run to start one.",
  other_incarnation: "The name has another process now: leave out incarnation, and read from the start.",
  other_command: "Choose another session name, end that session first, or call run with the same process as before.",
  cmd_not_found: "Check the command's name and PATH: run `command -v NAME`.",
  bad_cwd: "Make the directory first, or leave out cwd.",
  cmd_too_long: "Write the input to a file by several writes, or pass it as stdin.",
  cmd_forbidden: "This command is not allowed here: use another, or ask the person in charge.",
  bad_offset: 'The output ends before that: read from "end" of this answer, or leave out from.',
  input_gap: 'Some of this writer\'s input is missing: write again with "at" set to "expected".',
  not_stdin_holder: 'Call keyboard with "request"; where "mine" is false then, wait with {"keyboard":true}.',
  ask_open: 'Wait with {"ask":ID} for the answer to the one that is open.',
  too_many_asks: "Go on without a person, or ask again later.",
  secret_entry: 'Wait with {"ask":ID}: nothing is shown until that is over.',
  secret_off: 'Ask without "secret", or do without the secret.',
  no_such_ask: "Ask again with keyboard.",
  other_input: "Choose another session name, or give the same stdin as the first time, or none.",
  unknown_field: "Use the name that the message tells, or leave the field out.",
  exited: "The process has ended: read its output, or start a new one with run.",
  lost: "The process is lost with its container: read what it said, and start a new one with run.",
  stdin_closed: "Its input was closed: start a new session, with stdin null to keep it open.",
  no_marks: 'The shell shows no marks of its commands: wait with {"match":"…"} for its prompt instead.',
  no_screen: "It runs on pipes: use read, or run it with tty true.",
  no_screen_yet: "Call screen again.",
  no_terminal: "It runs on pipes: use text or base64 instead of keys.",
  bad_pattern: "Use RE2 syntax: no lookaround, no backreferences, at most 1000 characters.",
  bad_key: "Use names as tmux writes them: C-c, M-x, Enter, Escape, Up, F5, or single characters.",
  bad_paste: "A paste has no control characters: use text or keys.",
  input_too_long: "Write it in pieces of at most 64 KiB.",
  too_much_input: "The process does not read its input: read its output, or wait, and write again.",
  too_many_writers: 'Leave out "writer", or use one that has written before.',
  too_many_waits: "End waits that are open, or call again later.",
  too_many_calls: "Call less often: wait instead of reading again and again.",
  insufficient_scope:
    "This login may not do that: use the tools that only read, or ask for the scope that the message names.",
  unavailable: "Call again in a second: nothing was done twice.",
  no_token: "Log in again.",
  expired: "Log in again.",
  revoked: "Access was taken away: ask the person in charge.",
};

/** Advice after a refusal, in one sentence for a model. The server's message names the fault; this names the remedy. */
function nextStep(error: string, status: number): string {
  const known = STEPS[error];
  if (known !== undefined) return known;
  if (status === 401) return "Log in again.";
  if (status === 429 || status >= 500) return "Call again later.";
  return "Correct the arguments as the message says, and call again.";
}
