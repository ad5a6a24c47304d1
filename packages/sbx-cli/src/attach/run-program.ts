// `run`: starts a process over HTTP, attaches to it, and prints its output. The session's name is chosen here, so that a request can be
// repeated after a failure without starting a second process (start-once.ts).

import { isatty } from "node:tty";
import type { RunAnswer, RunRequest, Sandbox, SandboxSession } from "sandbox-stdio/client";
import { defined } from "sandbox-stdio/core";
import type { TokenSource } from "../account/credentials.ts";
import type { AttachRequest, RunCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { isIgnoredFromStart } from "../base/ignored-signals.ts";
import { EXIT, type Outcome } from "../base/outcome.ts";
import { notify, Printer } from "../base/print.ts";
import { freshSessionName } from "../base/session-names.ts";
import { SignalRelay } from "../base/signals.ts";
import { apiCall, json, quickApiCall, sandboxOf } from "../programs/programs.ts";
import { Attachment } from "./attachment.ts";
import { DETACHED_RETRIES, isForgotten, type Named, RETRIES, startOnce } from "./start-once.ts";

const STDERR = 2;
/** A process that ends within this time is printed from the first response, without attaching. */
const FIRST_WAIT_MS = 200;
/** Time to attach to a process that has ended meanwhile. */
const MIN_KEEP_EXITED_SECONDS = 10;
/** Stands for invalid UTF-8 in a text. */
const REPLACED = "\uFFFD";
/** Limit of ending the process. */
const END_MS = 4_000;
/** Limit of passing a signal on; after that it ends this program. */
const SIGNAL_MS = 4_000;
const LONG_WAIT_MS = 60_000;
/** The API's minimum, where only the state matters. */
const MIN_OUTPUT_BYTES = 16;

/** @param input Read for `--stdin -`. @throws {CliError} */
export async function runProgram(
  command: RunCommand,
  tokens: TokenSource,
  env: Environment,
  input: AsyncIterable<Buffer>,
): Promise<Outcome> {
  const { isDetached, isJson, readsInput } = command;
  const { token } = tokens;
  const stdinBase64 = readsInput ? (await readAll(input)).toString("base64") : undefined;
  const given = { ...command.request, ...defined({ stdinBase64 }) };
  if (isDetached) {
    const printer = new Printer();
    const once = sandboxOf(command, token, given.session === undefined ? undefined : 0);
    const made = await quickApiCall(() => startDetached(once, given));
    await printer.print(isJson ? json(made) : `${made.session}\n`);
    return printer.end();
  }
  const request = { ...given, session: given.session ?? freshSessionName("run") };
  const start = (more: Partial<RunRequest>) => {
    const once = sandboxOf(command, token, 0);
    return startOnce(once, request, (only) => once.run({ ...request, ...more, ...only }));
  };
  const sandbox = sandboxOf(command, token, RETRIES);
  // A given name may be that of another person's process.
  const isOurs = given.session === undefined;
  const passingSignals = <T extends object>(work: () => Promise<T>) =>
    whilePassingSignals(sandbox.session(request.session), isOurs, work);
  if (isJson) return passingSignals(() => printAnswer(start));
  if (given.maxBytes !== undefined) return passingSignals(() => printTruncated(sandbox, request, start));
  // Only this command reads the output of its own process, so that process waits for it during an outage.
  const isOnlyOurs = isOurs && given.waitMs === undefined;
  const startedAtMs = Date.now();
  const first: Partial<RunRequest> = {
    delivery: isOnlyOurs ? "lossless" : "live",
    awaited: true,
    waitMs: Math.min(given.waitMs ?? FIRST_WAIT_MS, FIRST_WAIT_MS),
    ...defined({
      keepExitedSeconds:
        given.keepExitedSeconds === undefined ? undefined : Math.max(given.keepExitedSeconds, MIN_KEEP_EXITED_SECONDS),
    }),
  };
  const started = await passingSignals(() => quickApiCall(() => start(first)));
  if ("kind" in started) return started;
  if (isComplete(started)) return printComplete(started);
  const { session, incarnation } = started;
  const end = () =>
    sandbox
      .session(session)
      .end({}, { signal: AbortSignal.timeout(END_MS) })
      .then(
        () => true,
        () => false,
      );
  const waitMs = given.waitMs === undefined ? undefined : Math.max(0, given.waitMs - (Date.now() - startedAtMs));
  const run = { incarnation, waitMs, end: isOnlyOurs ? end : undefined };
  const attachment = new Attachment(attachRequestOf(command, session), {
    session,
    token: tokens,
    resume: undefined,
    env,
    isOurs,
    run,
  });
  // An existing process was started without the input that is given here.
  const over = new AbortController();
  if (!isOurs && hasInput(request)) void sendInput(sandbox, { ...request, incarnation }, over.signal);
  return attachment.run().finally(() => over.abort());
}

/** Reads all output of the process, and types nothing. */
function attachRequestOf(command: RunCommand, session: string): AttachRequest {
  const { endpoint, sandbox, token, tokenCommand, request } = command;
  return {
    ...{ endpoint, sandbox, token, tokenCommand, session, delivery: "lossless", tty: request.tty === true },
    ...{ readsEnded: true, hasNoInput: true, args: [], env: [], hasStatus: false },
    ...{ cmd: undefined, cwd: undefined, ticket: undefined, ticketFrom: undefined, resumeFile: undefined },
    // In a script, standard error belongs to the command.
    ...{ isVerbose: false, isQuiet: !isatty(STDERR) },
  };
}

/** A start takes no input: with some it is a run that is not waited for. @param once Does not retry a named start by itself. */
function startDetached(once: Sandbox, request: RunRequest): Promise<{ session: string }> {
  const { session, stdin, stdinBase64, waitMs: _, maxBytes: __, ...process } = request;
  const start = (only: { incarnation?: string }): Promise<{ session: string }> => {
    if (hasInput(request)) return once.run({ ...request, ...only, waitMs: 0 });
    return session === undefined ? once.create(process) : once.session(session).create({ ...process, ...only });
  };
  return session === undefined ? start({}) : startOnce(once, { ...request, session }, start, DETACHED_RETRIES);
}

const hasInput = ({ stdin, stdinBase64 }: RunRequest) => typeof stdin === "string" || stdinBase64 !== undefined;

/** Repeats the call, which continues the input, while the process is slow to read it. */
async function sendInput(sandbox: Sandbox, request: Named, signal: AbortSignal): Promise<void> {
  const again = { ...request, waitMs: LONG_WAIT_MS, maxBytes: MIN_OUTPUT_BYTES };
  const lost = { state: "lost" } as const;
  while ((await sandbox.run(again, { signal }).catch(() => lost)).state === "running");
}

/** Passes signals to our own process; for another person's they end this program. @returns The work's result, or the signal. */
async function whilePassingSignals<T extends object>(
  session: SandboxSession,
  isOurs: boolean,
  work: () => Promise<T>,
): Promise<T | Extract<Outcome, { kind: "signal" }>> {
  let end: (signal: NodeJS.Signals) => void = () => undefined;
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    end = resolve;
  });
  const relay = new SignalRelay({
    isForRemote: () => isOurs,
    isAllowed: () => true,
    send: (signal) => {
      session.signal({ signal }, { signal: AbortSignal.timeout(SIGNAL_MS) }).catch(() => end(signal as NodeJS.Signals));
      return true;
    },
    end,
    isIgnored: (signal) => isIgnoredFromStart(signal, process.env),
  });
  relay.listen();
  try {
    const ended = await Promise.race([work(), signalled]);
    if (typeof ended !== "string") return ended;
    notify(`the process may still be running, in session ${session.name}`);
    return { kind: "signal", signal: ended };
  } finally {
    relay.close();
  }
}

// ---- Printing a response ------------------------------------------------------------------------------------------

type Start = (more: Partial<RunRequest>) => Promise<RunAnswer>;

/** Whether the response holds the whole output of a process that has ended. */
function isComplete({ state, truncated, gap, output }: RunAnswer): boolean {
  return state === "exited" && truncated === undefined && gap === undefined && !output.includes(REPLACED);
}

async function printComplete(answer: RunAnswer): Promise<Outcome> {
  const printer = new Printer();
  await printer.print(answer.stdout ?? answer.output);
  if (answer.stderr !== undefined) await printer.print(answer.stderr, STDERR);
  return printer.end(exitCodeOf(answer));
}

async function printAnswer(start: Start): Promise<Outcome> {
  const printer = new Printer();
  const answer = await quickApiCall(() => start({}));
  await printer.print(json(answer));
  return printer.end(exitCodeOf(answer));
}

/** Prints at most `--max-bytes` of the output. */
async function printTruncated(sandbox: Sandbox, request: Named, start: Start): Promise<Outcome> {
  const printer = new Printer();
  const isUnlimited = request.waitMs === undefined;
  let answer = await apiCall(() => start(isUnlimited ? { waitMs: LONG_WAIT_MS } : {}));
  while (isUnlimited && answer.state === "running") {
    const again = { ...request, incarnation: answer.incarnation, waitMs: LONG_WAIT_MS };
    const lost: RunAnswer = { ...answer, state: "lost" };
    answer = await apiCall(() =>
      sandbox.run(again).catch((error: unknown) => {
        if (isForgotten(error)) return lost;
        throw error;
      }),
    );
  }
  const { stdout, stderr = "", output, truncated, gap, session, state } = answer;
  await printer.print(stdout ?? output);
  if (stderr !== "") await printer.print(stderr, STDERR);
  if (gap !== undefined) await printer.notify(`${gap.to - gap.from} bytes of output are no longer available`);
  if (truncated !== undefined) {
    const { from, to, bytes } = truncated;
    await printer.notify(
      `${bytes} bytes in the middle were omitted: read --session ${session} --from ${from} --to ${to}`,
    );
  }
  if (state === "running") await printer.notify(`the process is still running, in session ${session}`);
  if (state === "lost") await printer.notify("the process was lost");
  return printer.end(exitCodeOf(answer));
}

function exitCodeOf({ state, exit }: RunAnswer): number {
  if (state === "exited") return exit?.code ?? EXIT.failed;
  return state === "running" ? EXIT.timeout : EXIT.failed;
}

async function readAll(input: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks);
}
