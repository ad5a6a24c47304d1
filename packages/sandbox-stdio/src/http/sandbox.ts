// A sandbox's sessions without a WebSocket: the operations of the HTTP interface, typed.

import { baseOf } from "../connect/address.ts";
import type { TokenSource } from "../connect/connect-options.ts";
import { StdioError } from "../connect/error.ts";
import { defined } from "../wire/fields.ts";
import { type Call, type Caller, type CallOptions, callJson, callRaw, withRetries } from "./call.ts";
import { type OutputEvent, readEvents } from "./events.ts";
import type {
  CommandsAnswer,
  CreateRequest,
  Description,
  KeyboardAnswer,
  KeyboardRequest,
  ListAnswer,
  ListQuery,
  ProcessFields,
  ReadAnswer,
  ReadQuery,
  ResizeRequest,
  RunAnswer,
  RunRequest,
  ScreenAnswer,
  ScreenQuery,
  SignalRequest,
  WaitAnswer,
  WaitRequest,
  WriteAnswer,
  WriteRequest,
} from "./program-types.ts";

export type SandboxOptions = {
  readonly token?: TokenSource;
  /** The sandbox's name. Default: `default`. */
  readonly sandbox?: string;
  /** Most repetitions of a repeatable call. Default: 5. */
  readonly retries?: number;
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch;
};

const RETRIES = 5;

/**
 * @param address The server: `https://HOST`.
 * @throws {StdioError} `bad_address`.
 */
export function sandbox(address: string | URL, options: SandboxOptions = {}): Sandbox {
  return new Sandbox(address, options);
}

/**
 * Reads are repeated if the response is lost, and so are calls with a field that makes them repeatable: `session` of `run` and
 * `create`, `at` of `write`, `from` of `wait`. Other calls fail. A start that may have succeeded finds its own process again, or
 * fails with `lost` if that may have been forgotten. All calls throw `StdioError`.
 */
export class Sandbox {
  readonly #caller: Caller;

  constructor(address: string | URL, options: SandboxOptions) {
    const { token, sandbox = "default", retries = RETRIES, fetch: given } = options;
    this.#caller = {
      base: `${baseOf(address)}/api/sandboxes/${encodeURIComponent(sandbox)}`,
      token: async () => (typeof token === "function" ? token() : token),
      // A browser's fetch throws if it is called as another object's method.
      fetch: given ?? ((...args) => fetch(...args)),
      retries,
    };
  }

  /** Starts a process, and returns its output when it has ended or after `waitMs`. */
  run(request: RunRequest, options: CallOptions = {}): Promise<RunAnswer> {
    const call = { method: "POST", path: "/run", body: request, ...options } as const;
    if (request.session === undefined) return callJson(this.#caller, { ...call, isRepeatable: false });
    return startOnce(this.#caller, pathOf(request.session), call);
  }

  /** Newest first. Pass `next` as `after` to get the next page. */
  list(query: ListQuery = {}, options: CallOptions = {}): Promise<ListAnswer> {
    return callJson(this.#caller, { method: "GET", path: "/sessions", query, isRepeatable: true, ...options });
  }

  /** Starts a process under a fresh name. */
  create(request: CreateRequest, options: CallOptions = {}): Promise<Description> {
    return callJson(this.#caller, {
      method: "POST",
      path: "/sessions",
      body: request,
      isRepeatable: false,
      ...options,
    });
  }

  /** The session with this name. Sends no request. */
  session(name: string): SandboxSession {
    return new SandboxSession(this.#caller, name);
  }
}

const pathOf = (session: string) => `/sessions/${encodeURIComponent(session)}`;

export class SandboxSession {
  readonly name: string;
  readonly #caller: Caller;
  readonly #path: string;

  constructor(caller: Caller, name: string) {
    this.name = name;
    this.#caller = caller;
    this.#path = pathOf(name);
  }

  describe(query: { incarnation?: string } = {}, options: CallOptions = {}): Promise<Description> {
    return this.#get("", query, options);
  }

  /** Starts the process unless it exists. */
  create(request: CreateRequest, options: CallOptions = {}): Promise<Description> {
    return startOnce(this.#caller, this.#path, { method: "PUT", path: this.#path, body: request, ...options });
  }

  read(query: ReadQuery = {}, options: CallOptions = {}): Promise<ReadAnswer> {
    return this.#get("/output", query, options);
  }

  /**
   * Output events (section D6 of the contract) until the process has exited. After a break the stream resumes without losing or
   * doubling a byte.
   */
  follow(
    query: Pick<ReadQuery, "incarnation" | "from" | "tail" | "stream" | "format"> = {},
    options: CallOptions = {},
  ): AsyncIterable<OutputEvent> {
    const open = (lastEventId: string | undefined): Promise<Response> => {
      const { from: _, tail: __, ...rest } = query;
      const headers = {
        Accept: "text/event-stream",
        ...defined({ "Last-Event-ID": lastEventId }),
      };
      const path = `${this.#path}/output`;
      const asked = lastEventId === undefined ? query : rest;
      return callRaw(this.#caller, { method: "GET", path, query: asked, headers, isRepeatable: true, ...options });
    };
    return readEvents(open, options.signal);
  }

  /** Writes input. Pass `outputOffset` of the answer as `from` of a wait. */
  write(request: WriteRequest, options: CallOptions = {}): Promise<WriteAnswer> {
    return this.#post("/input", request, request.at !== undefined, options);
  }

  wait(request: WaitRequest, options: CallOptions = {}): Promise<WaitAnswer> {
    const { until, from } = request;
    // Without `from`, a repetition would start its search at the end of the log at that time.
    const looksBack = "match" in until || "text" in until || "commandEnd" in until;
    return this.#post("/wait", request, from !== undefined || !looksBack, options);
  }

  screen(query: ScreenQuery = {}, options: CallOptions = {}): Promise<ScreenAnswer> {
    return this.#get("/screen", query, options);
  }

  commands(query: { incarnation?: string } = {}, options: CallOptions = {}): Promise<CommandsAnswer> {
    return this.#get("/commands", query, options);
  }

  signal(request: SignalRequest, options: CallOptions = {}): Promise<void> {
    return this.#post("/signal", request, false, options);
  }

  resize(request: ResizeRequest, options: CallOptions = {}): Promise<void> {
    return this.#post("/resize", request, true, options);
  }

  keyboard(request: KeyboardRequest, options: CallOptions = {}): Promise<KeyboardAnswer> {
    return this.#post("/keyboard", request, false, options);
  }

  /** Ends the process. Resolves once it has exited. */
  end(query: { incarnation?: string } = {}, options: CallOptions = {}): Promise<void> {
    return callJson(this.#caller, { method: "DELETE", path: this.#path, query, isRepeatable: false, ...options });
  }

  #get<T>(rest: string, query: NonNullable<Call["query"]>, options: CallOptions): Promise<T> {
    return callJson(this.#caller, {
      method: "GET",
      path: `${this.#path}${rest}`,
      query,
      isRepeatable: true,
      ...options,
    });
  }

  #post<T>(rest: string, body: object, isRepeatable: boolean, options: CallOptions): Promise<T> {
    return callJson(this.#caller, { method: "POST", path: `${this.#path}${rest}`, body, isRepeatable, ...options });
  }
}

/** The server's default. */
const DEFAULT_KEEP_EXITED_SECONDS = 600;
const HTTP_NOT_FOUND = 404;

/**
 * @param path The session's path.
 * @throws {StdioError} `lost`: the answer was lost, and a process that ended since may have been forgotten.
 */
async function startOnce<T>(
  caller: Caller,
  path: string,
  call: Omit<Call, "isRepeatable" | "body"> & { readonly body: ProcessFields },
): Promise<T> {
  const { keepExitedSeconds = DEFAULT_KEEP_EXITED_SECONDS, incarnation, attempt, ended } = call.body;
  // Use the wall clock, which also advances while the machine sleeps.
  const forgottenMs = Date.now() + keepExitedSeconds * 1_000;
  const once = { ...caller, retries: 0 };
  const again = { ...call, isRepeatable: true };
  return withRetries(caller, again, async (isUnsure) => {
    if (!isUnsure || incarnation !== undefined) return callJson<T>(once, again);
    const found = await incarnationOf(once, path, call.signal);
    if (found === undefined && Date.now() >= forgottenMs)
      throw new StdioError("lost", "The response was lost, and the session is gone: its command may have run");
    // With `ended: "replace"`, the attempt identifies the start.
    const isTold = found === undefined || (ended === "replace" && attempt !== undefined);
    return callJson<T>(once, isTold ? again : { ...again, body: { ...call.body, incarnation: found } });
  });
}

async function incarnationOf(once: Caller, path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    const call = { method: "GET", path, isRepeatable: false, signal } as const;
    return (await callJson<Description>(once, call)).incarnation;
  } catch (error) {
    if (error instanceof StdioError && error.status === HTTP_NOT_FOUND) return undefined;
    throw error;
  }
}
