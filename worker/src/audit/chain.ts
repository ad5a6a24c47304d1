// The hash chain of the audit: each record's hash covers the record and the previous hash, which reveals changed, removed, added and
// moved records. Pure: knows neither where records are stored nor, except for typed input, their content.

import { hash } from "node:crypto";
import { base64Of } from "../base/base64url.ts";

/** A record in the chain. Its other fields are what happened. */
export type ChainedRecord = {
  /** 1 for the first, each one more than the one before. */
  readonly seq: number;
  /**
   * SHA-256, in hex, of the hash before it, a newline, and the record without its hash as JSON; its fields in order, with
   * their own SHA-256 in place of `text` and `base64`.
   */
  readonly hash: string;
  readonly [field: string]: unknown;
};

/** A place in the chain: the last record up to there, and its hash. */
export type ChainPoint = { readonly seq: number; readonly hash: string };

/** The start of a chain from which nothing has been deleted. */
export const CHAIN_START: ChainPoint = { seq: 0, hash: "0".repeat(64) };

export type ChainVerdict =
  /** Every record follows from the one before; `head` is where the chain ends. */
  | { readonly ok: true; readonly head: ChainPoint }
  /** The first record that does not follow, by its place among those given. */
  | { readonly ok: false; readonly index: number; readonly reason: string };

/** The record that comes after `last`. */
export function chained<F extends object>(last: ChainPoint, fields: F): { seq: number } & F & { hash: string } {
  const unsealed = { seq: last.seq + 1, ...fields };
  return { ...unsealed, hash: hashOf(last.hash, unsealed) };
}

/**
 * Whether `records` are a chain from `from` on: {@link CHAIN_START}, the anchor if old records were deleted, or the last record of
 * the previous page. Missing newest records can only be detected with a head that was noted before.
 */
export function verifyChain(records: readonly ChainedRecord[], from: ChainPoint = CHAIN_START): ChainVerdict {
  let last = from;
  for (const [index, record] of records.entries()) {
    const { hash: sealed, ...unsealed } = record;
    if (record.seq !== last.seq + 1) {
      return { ok: false, index, reason: `record ${record.seq} comes after ${last.seq}` };
    }
    if (sealed !== hashOf(last.hash, unsealed)) {
      return { ok: false, index, reason: `record ${record.seq} or the one before it was changed` };
    }
    last = { seq: record.seq, hash: sealed };
  }
  return { ok: true, head: last };
}

/** Much text as JSON is a copy or two more of it; its digest can be made of the bytes that it came in. */
function hashOf(before: string, unsealed: object): string {
  const covered: Record<string, unknown> = { ...unsealed };
  const { text, base64 } = covered;
  if (typeof text === "string" || text instanceof Uint8Array) covered.text = hash("sha256", text);
  if (base64 instanceof Uint8Array) covered.base64 = hash("sha256", base64Of(base64));
  else if (typeof base64 === "string") covered.base64 = hash("sha256", base64);
  return hash("sha256", `${before}\n${JSON.stringify(covered)}`);
}
