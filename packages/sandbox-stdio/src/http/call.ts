// One HTTP call: sends it, repeats it if allowed, and turns every failure into an error.

import { StdioError } from "../connect/error.ts";
import { defined } from "../wire/fields.ts";

export type CallOptions = { readonly signal?: AbortSignal };

export type Caller = {
  /** `https://HOST` with an optional path, without a trailing slash. */
  readonly base: string;
  readonly token: () => Promise<string | undefined>;
  readonly fetch: typeof fetch;
  /** Most repetitions of a call. */
  readonly retries: number;
};

export type Call = {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether two calls have the effect of one. If not, it is repeated only if the server did nothing. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** If a server asks to wait longer than this, the call fails instead. */
const MAX_RETRY_AFTER_SECONDS = 30;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
const HTTP_TOO_MANY = 429;
/** From here on a status is not a success; from the second on it is the server's fault. */
const HTTP_NO_ANSWER = 300;
const HTTP_FAULT = 500;

/** @throws {StdioError} */
export async function callJson<T>(caller: Caller, call: Call): Promise<T> {
  return withRetries(caller, call, async () => {
    const response = await send(caller, call);
    const text = await bodyOf(response);
    if (text === "" && response.ok) return undefined as T;
    const body = parse(text, response.status);
    // A slow response starts with 200, so a refusal may be in its body.
    if (!response.ok || "error" in body) throw errorOf(response, body);
    // The cast is safe: the server's schemas enforce these types.
    return body as T;
  });
}

/** The response itself if it is a success. @throws {StdioError} */
export async function callRaw(caller: Caller, call: Call): Promise<Response> {
  return withRetries(caller, call, async () => {
    const response = await send(caller, call);
    if (response.ok) return response;
    throw errorOf(response, parse(await bodyOf(response), response.status));
  });
}

/** @param attempt Its argument tells whether an earlier attempt may have taken effect. */
export async function withRetries<T>(
  { retries }: Pick<Caller, "retries">,
  call: Pick<Call, "isRepeatable" | "signal">,
  attempt: (isUnsure: boolean) => Promise<T>,
): Promise<T> {
  let isUnsure = false;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt(isUnsure);
    } catch (error) {
      call.signal?.throwIfAborted();
      const pauseMs = pauseAfter(error, call, failures);
      if (pauseMs === undefined || failures >= retries) throw error;
      isUnsure ||= !(error instanceof StdioError) || error.status !== HTTP_TOO_MANY;
      await pause(pauseMs, call.signal);
    }
  }
}

/** @returns undefined if the call must not be repeated. */
function pauseAfter(
  error: unknown,
  { isRepeatable }: Pick<Call, "isRepeatable">,
  failures: number,
): number | undefined {
  if (!(error instanceof StdioError)) return undefined;
  const { status, retryAfter = 0 } = error;
  const isPassing =
    error.code === "unreachable" || (status !== undefined && status >= 500) || error.code === "unavailable";
  // A 429 means that nothing was done.
  if (status !== HTTP_TOO_MANY && !(isRepeatable && isPassing)) return undefined;
  if (retryAfter > MAX_RETRY_AFTER_SECONDS) return undefined;
  const usual = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
  return Math.max(retryAfter * 1000, usual * (0.5 + Math.random() / 2));
}

async function send(caller: Caller, { method, path, query = {}, body, headers, signal }: Call): Promise<Response> {
  const url = new URL(`${caller.base}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const token = await caller.token();
  const init: RequestInit = {
    method,
    // A redirect would send the token to another address.
    redirect: "manual",
    headers: {
      ...defined({
        Authorization: token === undefined ? undefined : `Bearer ${token}`,
        "Content-Type": body && "application/json",
      }),
      ...headers,
    },
    ...defined({ body: body && JSON.stringify(body), signal }),
  };
  try {
    const { fetch } = caller;
    return await fetch(url.href, init);
  } catch (error) {
    signal?.throwIfAborted();
    throw new StdioError("unreachable", `No answer from ${url.host}: ${messageOf(error)}`, { cause: error });
  }
}

async function bodyOf(response: Response): Promise<string> {
  try {
    // Spaces keep a long call's connection alive.
    return (await response.text()).trim();
  } catch (error) {
    throw new StdioError("unreachable", `The response broke off: ${messageOf(error)}`, {
      status: response.status,
      cause: error,
    });
  }
}

function parse(text: string, status: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // A page for people, from an intermediary, or a truncated response.
  }
  // A server fault or a truncated response may be transient. Any other response that is not this server's is final.
  const isOther = status < HTTP_FAULT && (status >= HTTP_NO_ANSWER || text.startsWith("<"));
  const code = isOther ? `http_${status}` : "unreachable";
  return { error: code, message: `the response is not JSON (HTTP ${status}): ${text.slice(0, 80)}` };
}

function errorOf(response: Response, { error, message, ...details }: Record<string, unknown>): StdioError {
  const { status } = response;
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  const code = typeof error === "string" && error !== "" ? error : `http_${status}`;
  const said = typeof message === "string" && message !== "" ? message : `the server answered HTTP ${status}`;
  return new StdioError(code, said, {
    status,
    details,
    ...defined({ retryAfter: retryAfter >= 0 ? retryAfter : undefined }),
  });
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      signal?.removeEventListener("abort", stop);
      resolve();
    }
    function stop(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}
