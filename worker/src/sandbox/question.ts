// The questions to a bridge beside the inner hop, and how much of its answer is read, for how long: the same for a local one and
// for one in a container. A process may have taken the bridge over.

import { MAX_LISTING_BYTES } from "sandbox-stdio/core";
import { readText } from "../base/read-text.ts";

export type BridgeQuestion =
  /** The sessions that exist: all, or the one of this name. */
  | { readonly ask: "sessions"; readonly session?: string }
  /** Ends and forgets one. It is answered when the process has ended, by SIGKILL at last. */
  | { readonly ask: "end"; readonly session: string };

/** `text` is undefined where it was too long, or did not come whole in time. */
export type BridgeAnswer = { readonly status: number; readonly text: string | undefined };

const HEAD_PATIENCE_MS = 5_000;
const END_PATIENCE_MS = 15_000;
const BODY_PATIENCE_MS = 5_000;

/** @param sandbox The qualified name: a local bridge serves several. */
export function questionTo(
  question: BridgeQuestion,
  sandbox: string,
  token: string,
): { path: string; init: RequestInit } {
  const query = new URLSearchParams({ sandbox });
  if (question.ask === "sessions" && question.session !== undefined) query.set("session", question.session);
  const isEnd = question.ask === "end";
  return {
    path: `${isEnd ? `/sessions/${encodeURIComponent(question.session)}` : "/sessions"}?${query}`,
    init: {
      method: isEnd ? "DELETE" : "GET",
      headers: { Authorization: `Bearer ${token}` },
      // A redirect would carry the secret to another address.
      redirect: "manual",
      signal: AbortSignal.timeout(isEnd ? END_PATIENCE_MS : HEAD_PATIENCE_MS),
    },
  };
}

/** @throws {unknown} Where the connection breaks. */
export async function readAnswer(response: Response): Promise<BridgeAnswer> {
  const body = await readText(response, MAX_LISTING_BYTES, BODY_PATIENCE_MS);
  return { status: response.status, text: body.kind === "whole" ? body.text : undefined };
}
