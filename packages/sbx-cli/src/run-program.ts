// `run`: starts a process over HTTP, and prints what it says. Its session's name is chosen on this side, so that a server that
// dies meanwhile is asked again for the same process, and none is started twice (start-once.ts).

import {
  type OutputEvent,
  type RunAnswer,
  type RunRequest,
  type Sandbox,
  type SandboxSession,
  StdioError,
} from "sandbox-stdio/client";
import type { RunCommand } from "./cli-command.ts";
import { EXIT, type Outcome } from "./outcome.ts";
import { freshSessionName } from "./own-names.ts";
import { patiently } from "./patience.ts";
import { aside, asideToPerson, Printer } from "./print.ts";
import { asking, askingSoon, json, sandboxOf, VERB_EXIT } from "./programs.ts";
import { whilePassingSignals } from "./run-signals.ts";
import { isForgotten, type Named, PATIENT, RETRIES, startOnce } from "./start-once.ts";

/** Means this one process: it starts no other. */
type Started = Named & { readonly incarnation: string };

/** How it stands, and what was printed of it. */
type Ending = { readonly state: RunAnswer["state"]; readonly exit?: RunAnswer["exit"] | undefined };
type Result = Ending & { readonly missing: number };
type Stream = "stdout" | "stderr" | undefined;

const [STDOUT, STDERR] = [1, 2] as const;
/** By then it is known that it runs. */
const FIRST_WAIT_MS = 1_000;
/** A process that could not be ended by then is named. */
const END_MS = 4_000;
const LONG_WAIT_MS = 60_000;
/** The fewest that may be asked for: only the state matters. */
const FEWEST_BYTES = 16;
const READ_BYTES = 1_048_576;
/** What stands in a text for bytes that are no UTF-8. */
const REPLACED = "\uFFFD";

/** @param input What `--stdin -` reads. @throws {CliError} */
export async function runProgram(
  command: RunCommand,
  token: () => Promise<string>,
  input: AsyncIterable<Buffer>,
): Promise<Outcome> {
  const { isDetached, isJson, readsInput } = command;
  const stdin = readsInput ? { stdinBase64: (await whole(input)).toString("base64") } : {};
  const given = { ...command.request, ...stdin };
  const printer = new Printer();
  if (isDetached) {
    const made = await askingSoon(() =>
      startDetached(sandboxOf(command, token, given.session === undefined ? undefined : 0), given),
    );
    await printer.print(isJson ? json(made) : `${made.session}\n`);
    return printer.end();
  }
  const request = { ...given, session: given.session ?? freshSessionName("run") };
  const at = sandboxOf(command, token, RETRIES);
  const start = (more: Partial<RunRequest>) => {
    const once = sandboxOf(command, token, 0);
    return startOnce(once, request, (only) => once.run({ ...request, ...more, ...only }));
  };
  const session = at.session(request.session);
  // A name that was given may be that of a process that somebody else has started.
  const isOurs = given.session === undefined;
  return whilePassingSignals(session, isOurs, async () => {
    if (isJson) {
      const answer = await askingSoon(() => start({}));
      await printer.print(json(answer));
      return printer.end(codeOf(answer));
    }
    if (given.maxBytes !== undefined) {
      const isPatient = given.waitMs === undefined;
      let answer = await asking(() => start(isPatient ? { waitMs: LONG_WAIT_MS } : {}));
      while (isPatient && answer.state === "running") {
        const { incarnation } = answer;
        const again = { ...request, incarnation, waitMs: LONG_WAIT_MS };
        answer = await asking(() => at.run(again).catch(orLost({ ...answer, state: "lost" })));
      }
      await printCut(printer, answer);
      return endOf(printer, request.session, { ...answer, missing: 0 });
    }
    const result = await asking(async () => {
      if (given.waitMs !== undefined) return printHeld(printer, session, await start({}));
      const wait = start({ waitMs: FIRST_WAIT_MS });
      const answer = await patiently("waiting for the server's answer", wait, asideToPerson);
      if (answer.state !== "running") return printHeld(printer, session, answer);
      const { incarnation } = answer;
      return goOn(printer, at, { ...request, incarnation }).catch(async (error: unknown) => {
        await printer.aside(`it may still run, in session ${request.session}`);
        throw error;
      });
    });
    if (printer.isBroken && result.state === "running")
      return leave(printer, session, isOurs && given.waitMs === undefined);
    return endOf(printer, request.session, result);
  });
}

/** A start alone takes no input: with some to give, it is a run that is not waited for. @param at Repeats no named start by itself. */
function startDetached(at: Sandbox, request: RunRequest): Promise<{ session: string }> {
  const { session, stdin, stdinBase64, waitMs: _, maxBytes: __, ...process } = request;
  const start = (only: { incarnation?: string }): Promise<{ session: string }> => {
    if (hasInput(request)) return at.run({ ...request, ...only, waitMs: 0 });
    return session === undefined ? at.create(process) : at.session(session).create({ ...process, ...only });
  };
  return session === undefined ? start({}) : startOnce(at, { ...request, session }, start, PATIENT);
}

const hasInput = ({ stdin, stdinBase64 }: RunRequest) => typeof stdin === "string" || stdinBase64 !== undefined;

// ---- Its output --------------------------------------------------------------------------------------------------

/** What is there: all of it, also where the answer had room for its beginning and its end alone. */
async function printHeld(printer: Printer, session: SandboxSession, answer: RunAnswer): Promise<Result> {
  const { state, exit, incarnation, stdout, stderr = "", output, truncated, gap, end } = answer;
  const text = stdout ?? output;
  const missing = gap === undefined ? 0 : gap.to - gap.from;
  if (truncated === undefined && !`${text}${stderr}`.includes(REPLACED)) {
    await printer.print(text);
    if (stderr !== "") await printer.print(stderr, STDERR);
    return { state, exit, missing };
  }
  const lost: number[] = [];
  for (const stream of streamsOf(stdout !== undefined)) {
    let gone = 0;
    for (let from = 0; from < end && !printer.isBroken; ) {
      const read = await session.read({
        ...only(stream),
        incarnation,
        from,
        to: end,
        maxBytes: READ_BYTES,
        format: "base64",
      });
      if (read.gap !== undefined) gone += read.gap.to - read.gap.from;
      await printer.print(Buffer.from(read.output, "base64"), fdOf(stream));
      from = read.next;
    }
    lost.push(gone);
  }
  return { state, exit, missing: Math.max(...lost) };
}

/** What comes, as it comes, until the process has ended, or nobody reads it here. */
async function goOn(printer: Printer, at: Sandbox, request: Started): Promise<Result> {
  const session = at.session(request.session);
  const over = new AbortController();
  let heard: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    heard = resolve;
  });
  void patiently(`it runs, in session ${request.session}, and has put nothing out`, first, asideToPerson);
  const unread = new Promise<Result[]>((resolve) => {
    over.signal.addEventListener("abort", () => resolve([{ state: "running", missing: 0 }]));
  });
  const follow = async (stream: Stream): Promise<Result> => {
    let missing = 0;
    const query = { ...only(stream), incarnation: request.incarnation, from: 0, format: "base64" } as const;
    for await (const event of session.follow(query, { signal: over.signal })) {
      heard();
      if (event.type === "output") await printer.print(Buffer.from(event.output, "base64"), fdOf(stream));
      if (event.type === "gap") missing += event.to - event.from;
      if (event.type === "exit") return { ...endingOf(event), missing };
      if (printer.isBroken) over.abort();
    }
    throw new StdioError("unreachable", "The output ended before the process did");
  };
  const typed = hasInput(request) ? typeOn(at, request, over.signal) : undefined;
  const followed = (stream: Stream) => follow(stream).catch(orLost<Result>({ state: "lost", missing: 0 }));
  const streams = Promise.all(streamsOf(request.tty !== true).map(followed));
  try {
    const results = await Promise.race([unread, Promise.all([streams, typed]).then(([all]) => all)]);
    const [{ state, exit } = { state: "running" as const, exit: undefined }] = results;
    return { state, exit, missing: Math.max(...results.map(({ missing }) => missing)) };
  } finally {
    heard();
    over.abort();
  }
}

/** Input that the process was slow to take: a repeat of the call continues it. Of a process that has gone, its output tells. */
async function typeOn(at: Sandbox, request: Started, signal: AbortSignal): Promise<void> {
  const again = { ...request, waitMs: LONG_WAIT_MS, maxBytes: FEWEST_BYTES };
  const gone = { state: "lost" } as const;
  while ((await at.run(again, { signal }).catch(orLost(gone))).state === "running");
}

/** What stands in place of an answer about a process that is no longer there. */
function orLost<T>(lost: T): (error: unknown) => T {
  return (error) => {
    if (isForgotten(error)) return lost;
    throw error;
  };
}

const streamsOf = (isPipes: boolean): readonly Stream[] => (isPipes ? ["stdout", "stderr"] : [undefined]);
const only = (stream: Stream) => (stream === undefined ? {} : { stream });
const fdOf = (stream: Stream) => (stream === "stderr" ? STDERR : STDOUT);

function endingOf({ state, code, signal }: Extract<OutputEvent, { type: "exit" }>): Ending {
  return code === undefined ? { state } : { state, exit: { code, ...(signal === undefined ? {} : { signal }) } };
}

/** As much as was asked for. */
async function printCut(printer: Printer, answer: RunAnswer): Promise<void> {
  const { stdout, stderr = "", output, truncated, gap, session } = answer;
  await printer.print(stdout ?? output);
  if (stderr !== "") await printer.print(stderr, STDERR);
  if (gap !== undefined) await printer.aside(`${gap.to - gap.from} bytes of output are no longer held`);
  if (truncated === undefined) return;
  const { from, to, bytes } = truncated;
  await printer.aside(`${bytes} bytes in the middle are left out: read --session ${session} --from ${from} --to ${to}`);
}

// ---- Its end -----------------------------------------------------------------------------------------------------

async function endOf(printer: Printer, session: string, result: Result): Promise<Outcome> {
  const { state, missing } = result;
  const lines = [
    ...(missing === 0
      ? []
      : [`${missing} bytes of output were no longer held when they were asked for; sbx-stdio -- COMMAND loses none`]),
    ...(state === "running" ? [`it still runs, in session ${session}`] : []),
    ...(state === "lost" ? ["the process was lost"] : []),
  ];
  for (const line of lines) await printer.aside(line);
  return printer.end(missing > 0 && state === "exited" ? EXIT.failed : codeOf(result));
}

/** Nobody reads what it puts out: a process that is ours, and has nobody else, is ended, as a shell's would be by SIGPIPE. */
async function leave(printer: Printer, session: SandboxSession, isToEnd: boolean): Promise<Outcome> {
  const isEnded =
    isToEnd &&
    (await session.end({}, { signal: AbortSignal.timeout(END_MS) }).then(
      () => true,
      () => false,
    ));
  // The printer prints no more, on standard error neither.
  if (!isEnded) aside(`${isToEnd ? "it may still run" : "it still runs"}, in session ${session.name}`);
  return printer.end(VERB_EXIT.timeout);
}

function codeOf({ state, exit }: Ending): number {
  if (state === "exited") return exit?.code ?? EXIT.failed;
  return state === "running" ? VERB_EXIT.timeout : EXIT.failed;
}

async function whole(input: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks);
}
