// Bridges of tests: in this process, or as a process like a container's.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";
import { readSettings } from "../../src/base/settings.ts";
import { type Bridge, startBridge } from "../../src/server/server.ts";
import { PlainClient } from "./clients.ts";

export const SECRET = "a-secret-of-this-test-only-5f1c";
export const HEADERS = { Authorization: `Bearer ${SECRET}` };
/** The user nobody. */
export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;
const ENTRY = join(import.meta.dirname, "../../stdio-ws.ts");

/** In this process. @param root Has the directories of sandboxes. */
export function bridgeHere(root: string, env: Readonly<Record<string, string>> = {}): Bridge {
  const read = readSettings({ HOST: "127.0.0.1", PORT: "0", SANDBOX_ROOT: root, ...env }, SECRET);
  if (!read.ok) throw new Error(read.problem);
  return startBridge(read.settings);
}

/** A directory that goes with the test. */
export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "bridge-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The same, which ends with the test. */
export function testBridge(env: Readonly<Record<string, string>> = {}, root = temporary()): Bridge {
  const bridge = bridgeHere(root, env);
  onTestFinished(() => bridge.stop());
  return bridge;
}

/** How the bridge is given its secret, by which user it runs, and which its children get. */
export type Way = {
  readonly secret?: "env" | "fd";
  readonly uid?: number;
  readonly childUser?: string;
  /** Its other settings. */
  readonly env: Readonly<Record<string, string>>;
};

export type BridgeProcess = { readonly child: ChildProcess; readonly url: string; readonly said: string[] };

/** A process, killed with the test. @returns Once it listens. @throws {Error} If it ends instead. */
export async function startBridgeProcess(
  { secret = "env", uid, childUser, env }: Way,
  entry = ENTRY,
): Promise<BridgeProcess> {
  const user = childUser === undefined ? undefined : { CHILD_USER: childUser };
  const given = secret === "env" ? { STDIO_TOKEN: SECRET } : { STDIO_TOKEN_FD: "3" };
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", ...env, ...given, ...user },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    ...(uid === undefined ? undefined : { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout === null || child.stderr === null) throw new Error("The bridge has no stdout and stderr");
  const said: string[] = [];
  createInterface(child.stderr).on("line", (line) => said.push(line));
  const handed = child.stdio[3];
  if (secret === "fd" && handed instanceof Object && "end" in handed) handed.end(SECRET);
  const ended = once(child, "close").then(([code]) => Promise.reject(new Error(`ended with ${code}: ${said.join()}`)));
  ended.catch(() => undefined); // It may end later.
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [string];
  const { listening: url, pid } = JSON.parse(line) as { listening: string; pid: number };
  // Started again or not, it is the process that its starter knows.
  expect(pid).toBe(child.pid);
  return { child, url, said };
}

/** The exit code of a bridge that doesn't start, and what it said. */
export async function refusedStart(env: Readonly<Record<string, string>>): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [ENTRY], {
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // One that starts all the same is ended: its code says so.
  child.stdout?.on("data", () => child.kill("SIGKILL"));
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, said };
}

/** What a program writes on both streams until it ends; "" if it is refused. @param asked Further parameters of the attach. */
export async function run(
  url: string,
  [cmd = "", ...args]: readonly string[],
  asked: Readonly<Record<string, string>> = {},
): Promise<string> {
  const query = new URLSearchParams({ cmd, tty: "0", ...asked });
  for (const arg of args) query.append("arg", arg);
  const client = await PlainClient.attach(url, SECRET, query).catch(() => undefined);
  await client?.closed;
  return client?.output ?? "";
}

/** Orders a process to which no client attaches. */
export function order(url: string, session: string, cmd: string, args: readonly string[], more = {}) {
  const rest = { env: [], tty: false, mode: "collaborative", keep: 60, keepExited: 60, stdin: "", isStdinEnded: true };
  const body = JSON.stringify({ label: "x", session, cmd, args, ...rest, ...more });
  return fetch(`${url}/sessions`, { method: "POST", headers: HEADERS, body });
}
