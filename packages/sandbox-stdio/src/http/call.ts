// One call over HTTP: asks, repeats a call that may be repeated, and makes an error of everything that is no answer.

import { StdioError } from "../connect/error.ts";
import { defined } from "../wire/fields.ts";

export type CallOptions = { readonly signal?: AbortSignal };

export type Caller = {
  /** `https://HOST`, with a path where it has one, no slash at the end. */
  readonly base: string;
  readonly token: () => Promise<string | undefined>;
  readonly fetch: typeof fetch;
  /** How often a call is repeated at most. */
  readonly retries: number;
};

export type Call = {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether two calls have the effect of one. Else it is repeated only if the server had done nothing. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** A server that asks for more patience than this is told to the caller instead. */
const MAX_PATIENCE_SECONDS = 30;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
const HTTP_TOO_MANY = 429;
/** From here on a status says that this is not what was asked for; from the second one on, by a fault of the server. */
const HTTP_NO_ANSWER = 300;
const HTTP_FAULT = 500;

/** @throws {StdioError} */
export async function callJson<T>(caller: Caller, call: Call): Promise<T> {
  return repeatedly(caller, call, async () => {
    const response = await ask(caller, call);
    const text = await bodyOf(response);
    if (text === "" && response.ok) return undefined as T;
    const body = parse(text, response.status);
    // An answer that took long began as 200: a refusal is its body then.
    if (!response.ok || "error" in body) throw errorOf(response, body);
    // The server answers by its schemas, which these types are held to.
    return body as T;
  });
}

/** The response itself, once it is known to be no refusal. @throws {StdioError} */
export async function callRaw(caller: Caller, call: Call): Promise<Response> {
  return repeatedly(caller, call, async () => {
    const response = await ask(caller, call);
    if (response.ok) return response;
    throw errorOf(response, parse(await bodyOf(response), response.status));
  });
}

/** @param attempt Told whether an earlier one may have had its effect. */
export async function repeatedly<T>(
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

/** @returns undefined where the call must not, or need not, be repeated. */
function pauseAfter(
  error: unknown,
  { isRepeatable }: Pick<Call, "isRepeatable">,
  failures: number,
): number | undefined {
  if (!(error instanceof StdioError)) return undefined;
  const { status, retryAfter = 0 } = error;
  const isPassing =
    error.code === "unreachable" || (status !== undefined && status >= 500) || error.code === "unavailable";
  // 429 comes before anything is done.
  if (status !== HTTP_TOO_MANY && !(isRepeatable && isPassing)) return undefined;
  if (retryAfter > MAX_PATIENCE_SECONDS) return undefined;
  const usual = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
  return Math.max(retryAfter * 1000, usual * (0.5 + Math.random() / 2));
}

async function ask(caller: Caller, { method, path, query = {}, body, headers, signal }: Call): Promise<Response> {
  const url = new URL(`${caller.base}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const token = await caller.token();
  const init: RequestInit = {
    method,
    // A redirect would carry the token to another address.
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
    throw new StdioError("unreachable", `No answer from ${url.host}: ${phrase(error)}`, { cause: error });
  }
}

async function bodyOf(response: Response): Promise<string> {
  try {
    // Spaces keep a long call alive.
    return (await response.text()).trim();
  } catch (error) {
    throw new StdioError("unreachable", `The answer broke off: ${phrase(error)}`, {
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
    // A page for people, from something in between, or an answer that was cut.
  }
  // A server's own fault may pass, and so may a cut. What else something says that is not this server is its last word.
  const isOther = status < HTTP_FAULT && (status >= HTTP_NO_ANSWER || text.startsWith("<"));
  const code = isOther ? `http_${status}` : "unreachable";
  return { error: code, message: `the answer is not JSON (HTTP ${status}): ${text.slice(0, 80)}` };
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

function phrase(error: unknown): string {
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
