// A bridge's session list at `GET /sessions`, and its only reader. The sandboxed process may have taken over the bridge,
// so only the fields read here are passed on.

import { MAX_TITLE_BYTES } from "./constants.ts";
import type { ExitStatus } from "./control.ts";
import { defined } from "./fields.ts";
import { EXIT_STATUS } from "./inner-messages.ts";
import {
  checkShape,
  isArrayOf,
  isObject,
  isOffset,
  isOneOf,
  isRecord,
  isString,
  isTime,
  type Shape,
} from "./schema.ts";

/** The fields that are read if a session has no client attached. */
export type BridgeListing = {
  readonly incarnation: string;
  readonly state: "running" | "exited";
  readonly offset: number;
  readonly exit?: ExitStatus;
  readonly title?: string;
  /** Date.now() of the last output. */
  readonly lastOutputMs?: number;
};

/** Most UTF-8 bytes of an answer: one session may list a command of 1 MiB, escaped. */
export const MAX_LISTING_BYTES = 4 * 1024 * 1024;
const MAX_SESSIONS = 4096;

const LISTING: Shape = {
  incarnation: isString(128),
  state: isOneOf("running", "exited"),
  offset: isOffset,
  "title?": isString(MAX_TITLE_BYTES),
  "exit?": isObject(EXIT_STATUS),
  "lastOutputMs?": isTime,
};
const ANSWER: Shape = { sessions: isArrayOf(isObject(LISTING), MAX_SESSIONS) };

/** @returns undefined if the text is not a session list. */
export function parseListings(text: string): readonly BridgeListing[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // Not JSON, or nested too deeply.
  }
  if (!isRecord(value) || checkShape(value, ANSWER) !== undefined) return undefined;
  // The cast is safe: the type mirrors the table that the shape was checked against.
  const { sessions } = value as unknown as { readonly sessions: readonly BridgeListing[] };
  return sessions.map(({ incarnation, state, offset, exit: whole, title, lastOutputMs }) => {
    const exit = whole === undefined ? undefined : defined({ code: whole.code, signal: whole.signal });
    return defined({ incarnation, state, offset, exit, title, lastOutputMs });
  });
}
