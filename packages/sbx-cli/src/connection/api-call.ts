// One call of the HTTP interface, for the verbs that ask without the library. The whole answer has a limit.

import type { Endpoint } from "../base/endpoint.ts";
import { describeFailure } from "../base/network-words.ts";
import { CliError } from "../base/outcome.ts";
import { patiently } from "../base/patience.ts";
import { asideToPerson } from "../base/print.ts";
import { isOtherServer } from "../base/server-words.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import { SILENCE_MS } from "./silence.ts";

const HTTP_UNAUTHENTICATED = 401;

type More = {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly withinMs?: number;
};

/** @returns What was answered. @throws {CliError} For any answer but a good one. */
export async function ask(endpoint: Endpoint, path: string, token: string, more: More = {}): Promise<string> {
  const { method = "GET", body, withinMs = SILENCE_MS } = more;
  const { host } = new URL(endpoint.origin);
  const limit = AbortSignal.timeout(withinMs);
  const answer = async () => {
    const response = await fetch(`${endpoint.httpBase}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: limit,
    });
    return { response, text: await response.text() };
  };
  const { response, text } = await patiently(`waiting for ${host} to answer`, answer(), asideToPerson).catch(
    (error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const failure = cause instanceof Error ? cause : new Error(String(cause));
      const words = limit.aborted
        ? `${host} gave no whole answer within ${Math.round(withinMs / 1_000)} s`
        : describeFailure(failure, host);
      throw new CliError(words, undefined, { code: "unreachable" });
    },
  );
  if (response.ok) return text;
  throw new RefusedError(response.status, refusalOf(text));
}

/** @throws {CliError} Also where something answers that is not this server. */
export async function askJson(endpoint: Endpoint, path: string, token: string, more: More = {}): Promise<unknown> {
  const text = await ask(endpoint, path, token, more);
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError("the answer is not JSON", undefined, { code: "unreachable", check: "address" });
  }
}

/** The server has answered, and no. */
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
