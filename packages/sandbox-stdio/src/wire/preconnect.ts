// An attach on a connection to the bridge that was opened before it was known for what (H22).

import { type ControlResult, parse } from "./control.ts";
import { MAX_INNER_TEXT_BYTES } from "./inner-messages.ts";
import { checkShape, isInteger, isMatch, isString } from "./schema.ts";

/** The bridge's path for such a connection. An older bridge has none, and answers 404. */
export const PRECONNECT_PATH = "/preconnect";
/** How long a bridge keeps one on which nothing is asked. */
export const PRECONNECT_MS = 10_000;
/** How many of them a bridge has at most. */
export const MAX_PRECONNECTS = 256;

/** The only question on it: an attach, as the query of `/attach` has it. */
export type BeginAttach = { readonly type: "begin"; readonly query: string };
/** The first and last answer where the attach is refused: what the answer to the upgrade would have been. */
export type BeginRefused = {
  readonly type: "refused";
  readonly status: number;
  readonly error: string;
  readonly message: string;
};

export function parseBegin(text: string): ControlResult<BeginAttach> {
  return parse<BeginAttach>(text, { begin: { query: isString(MAX_INNER_TEXT_BYTES) } }, MAX_INNER_TEXT_BYTES);
}

const REFUSED = { status: isInteger(400, 599), error: isMatch(/^\w{1,64}$/), message: isString(MAX_INNER_TEXT_BYTES) };
/** A refusal that can't be read is one all the same. */
const NO_BRIDGE: BeginRefused = {
  type: "refused",
  status: 502,
  error: "no_bridge",
  message: "what refuses in the bridge's place is no bridge",
};

/** @returns undefined where it is anything else: a greeting, most likely. */
export function parseBeginRefused(text: string): BeginRefused | undefined {
  const parsed = parse<BeginRefused>(text, { refused: {} }, MAX_INNER_TEXT_BYTES);
  if (!parsed.ok) return undefined;
  return checkShape({ ...parsed.message }, REFUSED) === undefined ? parsed.message : NO_BRIDGE;
}
