// Starts the bridge as a process of its own, as a container does, and runs programs in it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";

export const SECRET = "a-secret-of-this-test-only-5f1c";
/** The user nobody. */
export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;
const ENTRY = join(import.meta.dirname, "../../stdio-ws.ts");

/** How the bridge is given its secret, by which user it runs, and which its children get. */
export type Way = {
  readonly secret: "env" | "fd";
  readonly uid?: number;
  readonly childUser?: string;
  /** Its other settings. */
  readonly env: Readonly<Record<string, string>>;
};

export type BridgeProcess = { readonly child: ChildProcess; readonly url: string };

/** @returns Once it listens. @throws {Error} If it ends instead. */
export async function startBridgeProcess({ secret, uid, childUser, env }: Way): Promise<BridgeProcess> {
  const child = spawn(process.execPath, [ENTRY], {
    env: {
      ...{ PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", ...env },
      ...(secret === "env" ? { STDIO_TOKEN: SECRET } : { STDIO_TOKEN_FD: "3" }),
      ...(childUser === undefined ? {} : { CHILD_USER: childUser }),
    },
    stdio: ["ignore", "pipe", "inherit", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  if (child.stdout === null) throw new Error("The bridge has no stdout");
  const handed = child.stdio[3];
  if (secret === "fd" && handed instanceof Object && "end" in handed) handed.end(SECRET);
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`The bridge ended with ${code}`)));
  ended.catch(() => undefined); // It may end later.
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [string];
  const said = JSON.parse(line) as { listening: string; pid: number };
  // Started again or not, it is the process that its starter knows.
  expect(said.pid).toBe(child.pid);
  return { child, url: said.listening };
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

/** What a program writes on both streams until it ends. @param asked Further parameters of the attach. */
export async function run(
  url: string,
  command: readonly string[],
  asked: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [cmd = "", ...args] = command;
  const query = new URLSearchParams({ cmd, tty: "0", ...asked });
  for (const arg of args) query.append("arg", arg);
  const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
    headers: { Authorization: `Bearer ${SECRET}` },
  });
  socket.binaryType = "arraybuffer";
  let text = "";
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") text += Buffer.from(data as ArrayBuffer).toString("latin1", 1);
  });
  await new Promise((resolve) => socket.addEventListener("close", resolve));
  return text;
}
