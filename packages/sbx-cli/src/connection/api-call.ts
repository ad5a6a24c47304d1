// HTTP calls for verbs that the library has no method for. The whole response has a time limit.

import { defined } from "sandbox-stdio/core";
import type { Endpoint } from "../base/endpoint.ts";
import { describeFailure } from "../base/network-errors.ts";
import { CliError } from "../base/outcome.ts";
import { notifyPerson } from "../base/print.ts";
import { isOtherServer } from "../base/server-errors.ts";
import { withSlowNotice } from "../base/slow-notice.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import { RESPONSE_TIMEOUT_MS } from "./silence.ts";

const HTTP_UNAUTHENTICATED = 401;

type FetchOptions = {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly withinMs?: number;
};

/** @returns The response's text. @throws {CliError} For any response but a good one. */
export async function fetchText(
  endpoint: Endpoint,
  path: string,
  token: string,
  options: FetchOptions = {},
): Promise<string> {
  const { method = "GET", body, withinMs = RESPONSE_TIMEOUT_MS } = options;
  const { host } = new URL(endpoint.origin);
  const limit = AbortSignal.timeout(withinMs);
  const answer = async () => {
    const response = await fetch(`${endpoint.httpBase}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...defined({ "Content-Type": body === undefined ? undefined : "application/json" }),
      },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      redirect: "error",
      signal: limit,
    });
    return { response, text: await response.text() };
  };
  const { response, text } = await withSlowNotice(`waiting for a response from ${host}`, answer(), notifyPerson).catch(
    (error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const failure = cause instanceof Error ? cause : new Error(String(cause));
      const words = limit.aborted
        ? `no complete response from ${host} within ${Math.round(withinMs / 1_000)} s`
        : describeFailure(failure, host);
      throw new CliError(words, undefined, { code: "unreachable" });
    },
  );
  if (response.ok) return text;
  throw new RefusedError(response.status, refusalOf(text));
}

/** @throws {CliError} Also if the response is not from this server. */
export async function fetchJson(
  endpoint: Endpoint,
  path: string,
  token: string,
  options: FetchOptions = {},
): Promise<unknown> {
  const text = await fetchText(endpoint, path, token, options);
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError("the response is not JSON", undefined, { code: "unreachable", check: "address" });
  }
}

/** The server refused the request. */
export class RefusedError extends CliError {
  readonly status: number;

  constructor(status: number, refusal: Refusal) {
    const { code, message = `the server answered HTTP ${status}` } = refusal;
    const isOther = isOtherServer(status, refusal.message);
    const check = status === HTTP_UNAUTHENTICATED ? "login" : isOther ? "address" : undefined;
    super(message, undefined, { code, check });
    this.status = status;
  }
}
