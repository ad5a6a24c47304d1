// Receives the bridge's secret and hides it: what the kernel shows of a process to others of the same user must not contain it.

import { closeSync, readFileSync } from "node:fs";
import { LibcError, libc } from "./libc.ts";
import { type Environment, lacksRuntimeOptions, reExec } from "./re-exec.ts";

export type Secret = { readonly ok: true; readonly token: string } | { readonly ok: false; readonly problem: string };

/** A shorter secret can be guessed. */
const MIN_TOKEN_LENGTH = 16;
/** A pipe takes this much at once, and servers still read a header that contains it. */
const MAX_TOKEN_LENGTH = 4096;
const PR_SET_DUMPABLE = 4;

/**
 * Reads the secret from the descriptor that STDIO_TOKEN_FD names. A secret in STDIO_TOKEN can be seen in /proc/PID/environ for as
 * long as this program runs: it re-executes itself with a descriptor instead. Then, or if the runtime lacks its options, this does
 * not return.
 */
export function receiveSecret(env: Environment): Secret {
  const { STDIO_TOKEN, STDIO_TOKEN_FD } = env;
  if (STDIO_TOKEN_FD !== undefined) {
    if (lacksRuntimeOptions(env)) warn("the runtime keeps its own options", reExec(env));
    return checked("STDIO_TOKEN_FD", readOnce(STDIO_TOKEN_FD));
  }
  const secret = checked("STDIO_TOKEN", STDIO_TOKEN);
  if (!secret.ok) return secret;
  const read = handOn(secret.token);
  const failure = reExec({ ...env, STDIO_TOKEN: undefined, STDIO_TOKEN_FD: String(read) });
  // A bridge with a visible secret is better than none.
  warn("the secret stays in the environment", failure);
  libc.close(read);
  return secret;
}

function warn(what: string, failure: LibcError): void {
  console.error(`stdio-ws: ${what}: ${failure.message}`);
}

/**
 * Keeps processes of the same user, but not root, from tracing this one and from reading its memory, environment and descriptors.
 * @throws {LibcError} If the kernel can't.
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

/** Everything that comes from the descriptor. Then it is closed: no started process finds it open. */
function readOnce(name: string): string | undefined {
  const fd = /^\d{1,6}$/.test(name) ? Number(name) : -1;
  if (fd < 3) return undefined;
  try {
    return readFileSync(fd, "utf8").trim();
  } catch {
    return undefined; // No such descriptor.
  } finally {
    closeIfOpen(fd);
  }
}

function closeIfOpen(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // EBADF: it was not open.
  }
}

/** A descriptor from which the re-executed program reads the secret. */
function handOn(token: string): number {
  const ends = new Int32Array(2);
  if (libc.pipe2(ends, 0) !== 0) throw new LibcError("open a pipe");
  const [read = -1, write = -1] = ends;
  const bytes = Buffer.from(token);
  if (libc.write(write, bytes, bytes.length) !== bytes.length) throw new LibcError("hand the secret on");
  libc.close(write);
  return read;
}
