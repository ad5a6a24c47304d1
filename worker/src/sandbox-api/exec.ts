// *exec* (V3): a process on pipes as server-sent events. It is an ordinary session, and the Worker its lossless client: the process waits
// for a caller that reads slowly, and is ended where the caller goes away or its time is over.

import { processSchemas } from "@sbx/api";
import type { Context } from "hono";
import { type Connection, connect, StdioError } from "sandbox-stdio/client";
import { CLOSE } from "sandbox-stdio/core";
import { giveBack } from "../attach/entry-limits.ts";
import { log } from "../base/log.ts";
import { answerOf } from "../programs/answer-of.ts";
import { ask, type Target } from "../programs/ask.ts";
import { type Authorized, passToStart } from "../programs/authorized.ts";
import type { Operation, ProgramAnswer, ProgramCall, ProgramProcess } from "../programs/operations/call.ts";
import { base64Of } from "../programs/output-format.ts";
import { processOf } from "../programs/parse.ts";
import { QUIET_MS } from "../programs/respond.ts";
import type { SandboxApiEnv } from "./caller.ts";
import { refuseAs } from "./refuse.ts";
import { socketsTo } from "./session-socket.ts";

/** What runs, and for how long. */
export type Execution = {
  readonly argv: readonly string[];
  /** The command that a shell among them runs: a policy on commands is about it too. */
  readonly line?: string | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
};

type At = { readonly target: Target; readonly callOf: (operation: Operation) => ProgramCall };

/** How long the process lives without the Worker, which comes back within seconds if it lives. */
const KEEP_SECONDS = 60;
/** The exits of a process that could not be started, as shells have them, by the reason. */
const NOT_STARTED: Readonly<Record<string, number>> = { cmd_not_found: 127, cmd_not_executable: 126, bad_cwd: 126 };

export async function execute(
  c: Context<{ Bindings: SandboxApiEnv }>,
  who: Authorized,
  session: string,
  { target, callOf }: At,
  execution: Execution,
): Promise<Response> {
  const { env } = c;
  const request = c.req.raw;
  const waitUntil = (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise.catch(() => undefined));
  const process = processFor(execution);
  if ("status" in process) return refuseAs(process);
  const pass = await passToStart(request, env, who, target.sessionKey);
  if ("code" in pass) return refuseAs(answerOf(pass));
  const made = await ask(target, { ...callOf({ type: "create", process }), pass, mayStart: true });
  if (made.status >= 400) {
    waitUntil(giveBack(env, pass));
    const code = NOT_STARTED[String(made.body.error)];
    return code === undefined ? refuseAs(made) : notStarted(code, String(made.body.message));
  }
  const place = { session, sessionKey: target.sessionKey, incarnation: String(made.body.incarnation) };
  const WebSocket = socketsTo(env, request, who, place, pass);
  const { sandbox } = who.project;
  const connection = connect("http://session", { sandbox, session, delivery: "lossless", WebSocket });
  const end = () => env.SESSION.getByName(target.sessionKey).end(who.actor);
  return new EventStream(connection, end, waitUntil).response(request.signal, execution.timeoutMs);
}

function processFor({ argv, line, cwd, env }: Execution): ProgramProcess | ProgramAnswer {
  const [cmd = "", ...args] = argv;
  const body = processSchemas.createRequest.parse({
    ...{ cmd, args, cwd, env },
    ...{ delivery: "lossless", keepSeconds: KEEP_SECONDS, shellIntegration: false },
  });
  const parsed = processOf(body, "", true);
  if (!parsed.ok) return parsed.answer;
  return line === undefined ? parsed.value : { ...parsed.value, line };
}

class EventStream {
  readonly #connection: Connection;
  readonly #end: () => Promise<unknown>;
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  readonly #readable: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #saidMs = Date.now();
  #isOver = false;

  constructor(connection: Connection, end: () => Promise<unknown>, waitUntil: (promise: Promise<unknown>) => void) {
    this.#connection = connection;
    this.#end = end;
    this.#waitUntil = waitUntil;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#readable = readable;
    this.#writer = writable.getWriter();
  }

  /** @param gone Says that the caller has gone: some runtimes notice that only when they write, twice. */
  response(gone: AbortSignal, timeoutMs: number | undefined): Response {
    const abandon = () => void this.#abandon();
    gone.addEventListener("abort", abandon);
    this.#writer.closed.catch(abandon);
    const quiet = setInterval(() => {
      if (Date.now() - this.#saidMs >= QUIET_MS) void this.#say(": \n\n").catch(() => undefined);
    }, QUIET_MS);
    const late =
      timeoutMs === undefined ? undefined : setTimeout(() => this.#waitUntil(this.#late(timeoutMs)), timeoutMs);
    this.#waitUntil(
      this.#pump().finally(() => {
        clearInterval(quiet);
        if (late !== undefined) clearTimeout(late);
        gone.removeEventListener("abort", abandon);
      }),
    );
    return eventResponse(this.#readable);
  }

  async #pump(): Promise<void> {
    try {
      // Headers are not sent before the first byte.
      await this.#say(": \n\n");
      const { stdout, stderr } = this.#connection;
      await Promise.all([this.#pass(stdout, "stdout"), this.#pass(stderr, "stderr")]);
      const { code } = await this.#connection.exited;
      await this.#finish(event("exit", JSON.stringify({ exit_code: code })));
    } catch (error) {
      if (this.#isOver) return;
      if (!(error instanceof StdioError)) return this.#abandon();
      const isLost = error.closeCode === CLOSE.notFound;
      const code = isLost ? "process_lost" : error.code;
      await this.#finish(event("error", JSON.stringify({ error: error.message, code })));
      this.#waitUntil(this.#end());
    }
  }

  async #pass(output: ReadableStream<Uint8Array>, name: "stdout" | "stderr"): Promise<void> {
    for await (const bytes of output) {
      if (this.#isOver) return;
      await this.#say(event(name, base64Of(bytes)));
    }
  }

  async #late(timeoutMs: number): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#ended();
    const error = `the process still ran after ${timeoutMs} ms, and was ended`;
    await this.#last(event("error", JSON.stringify({ error, code: "exec_timeout" })));
  }

  async #abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waitUntil(this.#ended());
    await this.#writer.abort().catch(() => undefined);
  }

  async #ended(): Promise<void> {
    await this.#end().catch((error: unknown) => log.warn("a process could not be ended:", error));
    this.#connection.close();
  }

  async #finish(text: string): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#last(text);
  }

  async #last(text: string): Promise<void> {
    try {
      await this.#say(text);
      await this.#writer.close();
    } catch {
      // The caller has gone.
    }
  }

  #say(text: string): Promise<void> {
    this.#saidMs = Date.now();
    return this.#writer.write(new TextEncoder().encode(text));
  }
}

function notStarted(code: number, message: string): Response {
  const reason = base64Of(new TextEncoder().encode(`${message}\n`));
  return eventResponse(event("stderr", reason) + event("exit", JSON.stringify({ exit_code: code })));
}

function event(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

function eventResponse(body: BodyInit): Response {
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
  });
}
