// Has the bridge start a process without a client. The container, if there is one, is started for it.

import { CLOSE, MAX_LISTING_BYTES, SILENCE_MS } from "sandbox-stdio/core";
import { orderBody, parseStarted, type Started, type StartOrder } from "sandbox-stdio/programs";
import { readText } from "../base/read-text.ts";
import { AuthFault } from "../refusal/fault.ts";
import type { Refusal } from "../refusal/refusal.ts";
import { readSaid } from "../sandbox/said.ts";
import { type BridgeEnv, fetchBridge, STOPPING_RETRY_SECONDS } from "./upstream.ts";

export type OrderOutcome =
  | { readonly ok: true; readonly started: Started }
  | { readonly ok: false; readonly refusal: Refusal };

/** A container that has to be started takes its time. */
const PATIENCE_MS = 150_000;
const BODY_PATIENCE_MS = 5_000;
const RETRY_AFTER_SECONDS = 3;
/** The close codes of the bridge's refusals, by its status. */
const REFUSALS: Readonly<Record<number, number>> = { 409: CLOSE.conflict, 422: CLOSE.cannotStart };

export async function orderProcess(env: BridgeEnv, sandboxKey: string, order: StartOrder): Promise<OrderOutcome> {
  // Not AbortSignal.timeout(): it keeps the object in memory for as long, although there is an answer.
  const given = new AbortController();
  const timer = setTimeout(() => given.abort(), env.BRIDGE_URL ? SILENCE_MS : PATIENCE_MS);
  try {
    const path = `/sessions?${new URLSearchParams({ sandbox: sandboxKey })}`;
    const init = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: orderBody(order),
      signal: given.signal,
    } as const;
    return await outcomeOf(await fetchBridge(env, sandboxKey, path, init));
  } catch (error) {
    if (error instanceof AuthFault) throw error;
    console.error("no way to the bridge:", error);
    return unreachable("no way to it");
  } finally {
    clearTimeout(timer);
  }
}

async function outcomeOf(response: Response): Promise<OrderOutcome> {
  const { status } = response;
  const body = await readText(response, MAX_LISTING_BYTES, BODY_PATIENCE_MS);
  if (status === 200 || status === 201) {
    const started = body.kind === "whole" ? parseStarted(body.text) : undefined;
    return started === undefined ? unreachable("its answer can't be read") : { ok: true, started };
  }
  const code = REFUSALS[status];
  const { error: reason, message = "" } = readSaid(body.text);
  if (reason === "stopping" || reason === "logs_full") {
    const retryAfterSeconds = reason === "stopping" ? STOPPING_RETRY_SECONDS : RETRY_AFTER_SECONDS;
    return { ok: false, refusal: { code: CLOSE.unavailable, error: reason, message, retryAfterSeconds } };
  }
  if (code === undefined || reason === undefined) {
    console.warn(`the bridge did not start a process (${status}): ${body.text.slice(0, 1_000)}`);
    return unreachable(`status ${status}`);
  }
  const error = status === 409 ? "other_command" : reason;
  return { ok: false, refusal: { code, error, message } };
}

function unreachable(why: string): OrderOutcome {
  const message = `the container is not running or did not start: ${why}`;
  return {
    ok: false,
    refusal: { code: CLOSE.unavailable, error: "unavailable", message, retryAfterSeconds: RETRY_AFTER_SECONDS },
  };
}
