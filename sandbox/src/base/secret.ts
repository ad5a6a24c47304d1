// The bridge's secret on its way in, and out of sight: what the kernel shows of a process to others of its user must not hold it.

import { closeSync, readFileSync } from "node:fs";
import { LibcError, libc } from "./libc.ts";
import { type Environment, lacksRuntimeOptions, startAgain } from "./start-again.ts";

export type Secret = { readonly ok: true; readonly token: string } | { readonly ok: false; readonly problem: string };

/** Below this a secret can be guessed. */
const MIN_TOKEN_LENGTH = 16;
/** A pipe takes as much at once, and a header of a request with it is still read. */
const MAX_TOKEN_LENGTH = 4096;
const PR_SET_DUMPABLE = 4;

/**
 * Reads the secret from the descriptor that STDIO_TOKEN_FD names. One that stands in STDIO_TOKEN is seen in /proc/PID/environ for
 * as long as this program runs: it is started again in the same process, with a descriptor. Does not return then, nor where
 * the runtime lacks its options.
 */
export function receiveSecret(env: Environment): Secret {
  const { STDIO_TOKEN, STDIO_TOKEN_FD } = env;
  if (STDIO_TOKEN_FD !== undefined) {
    if (lacksRuntimeOptions(env)) warn("the runtime keeps its own options", startAgain(env));
    return checked("STDIO_TOKEN_FD", readOnce(STDIO_TOKEN_FD));
  }
  const secret = checked("STDIO_TOKEN", STDIO_TOKEN);
  if (!secret.ok) return secret;
  const read = handOn(secret.token);
  const failure = startAgain({ ...env, STDIO_TOKEN: undefined, STDIO_TOKEN_FD: String(read) });
  // The bridge is of more use with its secret seen than not at all.
  warn("the secret stays in the environment", failure);
  libc.close(read);
  return secret;
}

function warn(what: string, failure: LibcError): void {
  console.error(`stdio-ws: ${what}: ${failure.message}`);
}

/**
 * Keeps processes of the same user from reading this one's memory, environment and descriptors, and from tracing it. Root is not
 * kept from it.
 * @throws {LibcError} If the kernel has no such thing.
 */
export function hideMemory(): void {
  if (libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) !== 0) throw new LibcError("hide this process's memory");
}

function checked(name: string, token: string | undefined): Secret {
  const length = token?.length ?? 0;
  if (token !== undefined && length >= MIN_TOKEN_LENGTH && length <= MAX_TOKEN_LENGTH) return { ok: true, token };
  const limits = `a secret of at least ${MIN_TOKEN_LENGTH} characters, at most ${MAX_TOKEN_LENGTH}`;
  return {
    ok: false,
    problem: `${name} must ${name === "STDIO_TOKEN" ? "be set, to" : "name a descriptor with"} ${limits}`,
  };
}

/** All that comes from the descriptor, which is closed then: no process that is started finds it open. */
function readOnce(name: string): string | undefined {
  const fd = /^\d{1,6}$/.test(name) ? Number(name) : -1;
  if (fd < 3) return undefined;
  try {
    return readFileSync(fd, "utf8").trim();
  } catch {
    return undefined; // No such descriptor.
  } finally {
    closeQuietly(fd);
  }
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // It was none.
  }
}

/** A descriptor that a start of this program again reads the secret from. */
function handOn(token: string): number {
  const ends = new Int32Array(2);
  if (libc.pipe2(ends, 0) !== 0) throw new LibcError("open a pipe");
  const [read = -1, write = -1] = ends;
  const bytes = Buffer.from(token);
  if (libc.write(write, bytes, bytes.length) !== bytes.length) throw new LibcError("hand the secret on");
  libc.close(write);
  return read;
}
