// Which directory a run of `npm start` may keep its files in, and which ports it may choose: two at once must share neither.
// Knows nothing of the listeners.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isErrorCode, readTextIfPresent } from "../base/files.ts";
import { isPortFree } from "../base/ports.ts";
import { isAlive } from "../processes/proc.ts";

export const DEFAULT_PORT = 8787;

/** `base` itself, or where another run already holds it, `base/also-PORT`; held until this process ends. */
export async function claimDirectory(base: string, port: number): Promise<string> {
  const second = join(base, `also-${port}`);
  for (const dir of [base, second]) {
    if (await hold(dir)) return dir;
  }
  throw new Error(`Cannot use ${base}: runs of this checkout already hold it and ${second}`);
}

/** The origins of the runs that live, the newest first: each has a file about it in its directory. */
export function livingRuns(base: string): string[] {
  const others = existsSync(base) ? readdirSync(base).filter((name) => name.startsWith("also-")) : [];
  const files = ["", ...others].map((name) => join(base, name, "server.json"));
  const living = files.flatMap((file) => {
    const { pid, origin } = JSON.parse(readTextIfPresent(file) ?? "{}") as { pid?: number; origin?: string };
    return origin !== undefined && isAlive(pid ?? 0) ? [{ origin, at: statSync(file).mtimeMs }] : [];
  });
  return living.sort((a, b) => b.at - a.at).map(({ origin }) => origin);
}

/** Whether a port is free, and ours from now on: its server may listen much later. False for another run that asks. */
export async function claimPort(port: number): Promise<boolean> {
  return (await isPortFree(port)) && hold(`port ${port}`);
}

/**
 * Listens on a socket whose name stands for `what`; false where another process does. The kernel lets go of it when its
 * process ends, which no lock file can do. The name is short, since the system allows about 100 bytes.
 */
async function hold(what: string): Promise<boolean> {
  const hash = createHash("sha256").update(what).digest("hex").slice(0, 16);
  const path = join(tmpdir(), `sbx-stdio-${process.getuid?.()}-${hash}.sock`);
  if (await listen(path)) return true;
  if (await answers(path)) return false;
  // Left by a process that was killed.
  rmSync(path, { force: true });
  return listen(path);
}

function listen(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => (isErrorCode(error, "EADDRINUSE") ? resolve(false) : reject(error)));
    server.listen(path, () => {
      server.unref();
      resolve(true);
    });
  });
}

/** Whether a process listens on this socket. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
