// Where things are: the checkout, and the directory that a local run keeps its files in.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The top of the checkout. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../../..");

/** Programs that npm installed, by their absolute paths: children get a PATH without these. */
export const BIN = join(ROOT, "node_modules", ".bin");

/** The directory of keys, state and logs of local runs: `.local`, or SBX_LOCAL_DIR. */
export function localDir(): string {
  return resolve(ROOT, process.env.SBX_LOCAL_DIR ?? ".local");
}
