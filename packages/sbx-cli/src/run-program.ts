// `run`: starts a process over HTTP, attaches to it, and prints what it says. Its session's name is chosen on this side, so that a server
// that dies meanwhile is asked again for the same process, and none is started twice (start-once.ts).

import { isatty } from "node:tty";
import type { RunAnswer, RunRequest, Sandbox } from "sandbox-stdio/client";
import { Attachment } from "./attachment.ts";
import type { AttachWish, RunCommand } from "./cli-command.ts";
import type { TokenSource } from "./credentials.ts";
import type { Environment } from "./logins.ts";
import { EXIT, type Outcome } from "./outcome.ts";
import { freshSessionName } from "./own-names.ts";
import { Printer } from "./print.ts";
import { asking, askingSoon, json, sandboxOf } from "./programs.ts";
import { whilePassingSignals } from "./run-signals.ts";
import { isForgotten, type Named, PATIENT, RETRIES, startOnce } from "./start-once.ts";

const STDERR = 2;
/** What ends so soon is printed as answered, without a connection of its own. Its output waits meanwhile. */
const FIRST_WAIT_MS = 200;
/** It is kept for as long as it takes to attach to it. */
const LEAST_KEPT_SECONDS = 10;
/** What stands in a text for bytes that are no UTF-8. */
const REPLACED = "\uFFFD";
/** A process that could not be ended by then is named. */
const END_MS = 4_000;
const LONG_WAIT_MS = 60_000;
/** The fewest that may be asked for: only the state matters. */
const FEWEST_BYTES = 16;

/** @param input What `--stdin -` reads. @throws {CliError} */
export async function runProgram(
  command: RunCommand,
  tokens: TokenSource,
  env: Environment,
  input: AsyncIterable<Buffer>,
): Promise<Outcome> {
  const { isDetached, isJson, readsInput } = command;
  const { token } = tokens;
  const stdin = readsInput ? { stdinBase64: (await whole(input)).toString("base64") } : {};
  const given = { ...command.request, ...stdin };
  if (isDetached) {
    const printer = new Printer();
    const made = await askingSoon(() =>
      startDetached(sandboxOf(command, token, given.session === undefined ? undefined : 0), given),
    );
    await printer.print(isJson ? json(made) : `${made.session}\n`);
    return printer.end();
  }
  const request = { ...given, session: given.session ?? freshSessionName("run") };
  const start = (more: Partial<RunRequest>) => {
    const once = sandboxOf(command, token, 0);
    return startOnce(once, request, (only) => once.run({ ...request, ...more, ...only }));
  };
  const at = sandboxOf(command, token, RETRIES);
  // A name that was given may be that of a process that somebody else has started.
  const isOurs = given.session === undefined;
  const passingSignals = <T extends object>(work: () => Promise<T>) =>
    whilePassingSignals(at.session(request.session), isOurs, work);
  if (isJson || given.maxBytes !== undefined) {
    return passingSignals(() => (isJson ? printAnswer(start) : printCut(at, request, start)));
  }
  const isOnlyOurs = isOurs && given.waitMs === undefined;
  // Nobody else comes for the output of a process that is only ours: it waits for us, whatever the outage.
  const delivery = isOnlyOurs ? "lossless" : "live";
  const keepExitedSeconds = Math.max(given.keepExitedSeconds ?? 0, LEAST_KEPT_SECONDS);
  const kept = given.keepExitedSeconds === undefined ? {} : { keepExitedSeconds };
  const beganMs = Date.now();
  const waitMs = Math.min(given.waitMs ?? FIRST_WAIT_MS, FIRST_WAIT_MS);
  const started = await passingSignals(() => askingSoon(() => start({ ...kept, delivery, awaited: true, waitMs })));
  if ("kind" in started) return started;
  if (isWhole(started)) return printWhole(started);
  const { session, incarnation } = started;
  const end = async () => {
    const ending = at.session(session).end({}, { signal: AbortSignal.timeout(END_MS) });
    return ending.then(
      () => true,
      () => false,
    );
  };
  const leftMs = given.waitMs === undefined ? undefined : Math.max(0, given.waitMs - (Date.now() - beganMs));
  const run = { incarnation, waitMs: leftMs, end: isOnlyOurs ? end : undefined };
  const attachment = new Attachment(wishOf(command, session), {
    ...{ session, token: tokens, keeper: undefined, env, isOurs, run },
  });
  // A process that was there, and was started without input, is typed what is given here.
  const over = new AbortController();
  if (!isOurs && hasInput(request)) void typeOn(at, { ...request, incarnation }, over.signal);
  return attachment.run().finally(() => over.abort());
}

/** Whether the answer has all that a process said which has ended. */
function isWhole({ state, truncated, gap, output }: RunAnswer): boolean {
  return state === "exited" && truncated === undefined && gap === undefined && !output.includes(REPLACED);
}

async function printWhole(answer: RunAnswer): Promise<Outcome> {
  const printer = new Printer();
  await printer.print(answer.stdout ?? answer.output);
  if (answer.stderr !== undefined) await printer.print(answer.stderr, STDERR);
  return printer.end(codeOf(answer));
}

/** To read all that it puts out, and to type nothing. */
function wishOf(command: RunCommand, session: string): AttachWish {
  const { endpoint, sandbox, token, tokenCommand, request } = command;
  return {
    ...{ endpoint, sandbox, token, tokenCommand, session, delivery: "lossless", tty: request.tty === true },
    ...{ readsEnded: true, hasNoInput: true, args: [], env: [], hasStatus: false },
    ...{ cmd: undefined, cwd: undefined, ticket: undefined, ticketFrom: undefined, resumeFile: undefined },
    // A script's standard error is the command's own.
    ...{ isVerbose: false, isQuiet: !isatty(STDERR) },
  };
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

/** Input that the process was slow to take: a repeat of the call continues it. What became of the process, its output tells. */
async function typeOn(at: Sandbox, request: Named, signal: AbortSignal): Promise<void> {
  const again = { ...request, waitMs: LONG_WAIT_MS, maxBytes: FEWEST_BYTES };
  const gone = { state: "lost" } as const;
  while ((await at.run(again, { signal }).catch(() => gone)).state === "running");
}

// ---- What the server answers -------------------------------------------------------------------------------------

type Start = (more: Partial<RunRequest>) => Promise<RunAnswer>;

async function printAnswer(start: Start): Promise<Outcome> {
  const printer = new Printer();
  const answer = await askingSoon(() => start({}));
  await printer.print(json(answer));
  return printer.end(codeOf(answer));
}

/** As much as was asked for. */
async function printCut(at: Sandbox, request: Named, start: Start): Promise<Outcome> {
  const printer = new Printer();
  const isPatient = request.waitMs === undefined;
  let answer = await asking(() => start(isPatient ? { waitMs: LONG_WAIT_MS } : {}));
  while (isPatient && answer.state === "running") {
    const again = { ...request, incarnation: answer.incarnation, waitMs: LONG_WAIT_MS };
    answer = await asking(() => at.run(again).catch(orLost({ ...answer, state: "lost" })));
  }
  const { stdout, stderr = "", output, truncated, gap, session, state } = answer;
  await printer.print(stdout ?? output);
  if (stderr !== "") await printer.print(stderr, STDERR);
  if (gap !== undefined) await printer.aside(`${gap.to - gap.from} bytes of output are no longer held`);
  if (truncated !== undefined) {
    const { from, to, bytes } = truncated;
    const rest = `read --session ${session} --from ${from} --to ${to}`;
    await printer.aside(`${bytes} bytes in the middle are left out: ${rest}`);
  }
  if (state === "running") await printer.aside(`it still runs, in session ${session}`);
  if (state === "lost") await printer.aside("the process was lost");
  return printer.end(codeOf(answer));
}

/** What stands in place of an answer about a process that is no longer there. */
function orLost<T>(lost: T): (error: unknown) => T {
  return (error) => {
    if (isForgotten(error)) return lost;
    throw error;
  };
}

function codeOf({ state, exit }: RunAnswer): number {
  if (state === "exited") return exit?.code ?? EXIT.failed;
  return state === "running" ? EXIT.timeout : EXIT.failed;
}

async function whole(input: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks);
}
