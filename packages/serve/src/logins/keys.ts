// One-time keys: 256 bits, good once and for ten minutes. A file for each, whose name is the key's hash, so that any process of the
// owner's can make one, and only one request can take it.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { isErrorCode, makePrivateDirectory } from "../../../local/src/base/files.ts";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import { readJson, writeJson } from "../base/state.ts";

export const KEY_MINUTES = 10;
const SHAPE = /^[\w-]{43}$/;

type Kept = { readonly person: Person; readonly untilMs: number };

const fileOf = (dir: string, key: string): string => join(dir, createHash("sha256").update(key).digest("hex"));

/** @returns The key, which is nowhere else. */
export function makeKey(dir: string, person: Person, nowMs = Date.now()): string {
  makePrivateDirectory(dir);
  for (const name of readdirSync(dir)) {
    const kept = readJson<Kept>(join(dir, name));
    if (kept === undefined || kept.untilMs <= nowMs) rmSync(join(dir, name), { force: true });
  }
  const key = randomBytes(32).toString("base64url");
  writeJson(fileOf(dir, key), { person, untilMs: nowMs + KEY_MINUTES * 60_000 } satisfies Kept);
  return key;
}

/** Uses a key up. @returns Whose it is; undefined for one that was never made, was used, or is too old. */
export function takeKey(dir: string, key: string, nowMs = Date.now()): Person | undefined {
  if (!SHAPE.test(key)) return undefined;
  const file = fileOf(dir, key);
  const kept = readJson<Kept>(file);
  if (kept === undefined) return undefined;
  try {
    // Of two who take it, one removes the file.
    unlinkSync(file);
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
  // A clock that was set back makes none good for longer.
  return kept.untilMs > nowMs && kept.untilMs <= nowMs + KEY_MINUTES * 60_000 ? kept.person : undefined;
}
