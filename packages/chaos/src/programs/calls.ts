// HTTP calls by plain fetch, some of them cut: within the request, in flight, or after the response, which is discarded. A cut call
// is repeated until it is answered.

import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../../local/src/base/random.ts";
import type { Report } from "./report.ts";

export type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** When a call is cut: within its request, in flight, or after its response. */
export type Cut = "before" | "during" | "after";

export type CallPorts = {
  readonly base: URL;
  readonly tokens: readonly [string, ...string[]];
  readonly report: Report;
  /**
   * Limit of an attempt, whose connection may be half open; each one given up before adds as much. Absent: the limit of the call.
   */
  readonly attemptMs?: number;
};

/** Without a response for this long, the run has failed. */
const PATIENCE_MS = 180_000;
const MOST_PAUSE_MS = 5_000;
/** A call under way is cut within this time. */
const DURING_MS = 30;

class CutCall extends Error {}

export class Calls {
  readonly #ports: CallPorts;
  /** By the party's generator. A party keeps its token, since the server numbers writes by it. */
  readonly #tokenOf = new WeakMap<Random, string>();
  #turn = 0;

  constructor(ports: CallPorts) {
    this.#ports = ports;
  }

  /**
   * Repeats a call until it is answered, with a status other than 429 and 503, and not cut.
   * @param cutOf How to cut each attempt, if at all.
   */
  async call(
    method: string,
    path: string,
    body: object | undefined,
    cutOf: () => Cut | undefined,
    random: Random,
  ): Promise<Answer> {
    const { report } = this.#ports;
    const untilMs = performance.now() + PATIENCE_MS;
    let givenUp = 0;
    for (let attempt = 0; ; attempt += 1) {
      if (performance.now() > untilMs) throw new Error(`No answer to ${method} ${path} in ${PATIENCE_MS / 1000} s`);
      const cut = cutOf();
      report.count("calls");
      try {
        const { answer, retryAfterMs } = await this.#once(method, path, body, cut, random, givenUp);
        // Also where the answer began as 200 and a refusal is its body (R4).
        if (answer.status !== 429 && answer.status !== 503 && answer.body.error !== "unavailable") return answer;
        report.count(`answered ${answer.status}`);
        await pause(Math.min(MOST_PAUSE_MS, retryAfterMs));
      } catch (error) {
        if (error instanceof Error && error.name === "TimeoutError") givenUp += 1;
        if (error instanceof CutCall || cut !== undefined) report.count(`cut ${cut}`);
        else {
          report.count("broken by the server or the network");
          await pause(Math.min(MOST_PAUSE_MS, 20 * 2 ** Math.min(attempt, 8)));
        }
      }
    }
  }

  async #once(
    method: string,
    path: string,
    body: object | undefined,
    cut: Cut | undefined,
    random: Random,
    givenUp: number,
  ) {
    const { base, tokens, attemptMs = PATIENCE_MS } = this.#ports;
    const token = this.#tokenOf.get(random) ?? tokens[this.#turn++ % tokens.length] ?? tokens[0];
    this.#tokenOf.set(random, token);
    const given = new AbortController();
    const text = JSON.stringify(body ?? {});
    const timer = cut === "during" ? setTimeout(() => given.abort(), random.next() * DURING_MS) : undefined;
    const streamed = cut === "before" ? { body: brokenBody(text, random), duplex: "half" as const } : {};
    try {
      const response = await fetch(new URL(path, base), {
        method,
        // A connection that was left open may be half open by now, and the next five after it.
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Connection: "close" },
        body: body === undefined ? null : text,
        ...streamed,
        signal: AbortSignal.any([given.signal, AbortSignal.timeout(Math.min(PATIENCE_MS, attemptMs * (1 + givenUp)))]),
      });
      if (cut === "after") {
        await response.body?.cancel();
        throw new CutCall();
      }
      const said = await response.text();
      const answer: Answer = { status: response.status, body: said.trim() === "" ? {} : JSON.parse(said) };
      return { answer, retryAfterMs: 1000 * Number(response.headers.get("Retry-After") ?? 1) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A body that fails before its end. */
function brokenBody(text: string, random: Random): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const sent = random.int(0, bytes.length - 1);
  return new ReadableStream({
    async pull(controller) {
      if (sent > 0) controller.enqueue(bytes.subarray(0, sent));
      await pause(1);
      controller.error(new CutCall("cut"));
    },
  });
}
