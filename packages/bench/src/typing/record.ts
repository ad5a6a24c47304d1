// A person at a real terminal client on a real PTY: what was pressed when, and what then came to the screen.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { FILES, type Step } from "./typist.ts";

export const [COLS, ROWS] = [80, 24];
const READY = "READY";
/** The shell and the client have said all that they say at their start. */
const SETTLE_MS = 1_500;

export type Recording = {
  readonly chunks: readonly { readonly atMs: number; readonly bytes: Uint8Array }[];
  /** When each step's keys were pressed. */
  readonly pressedAtMs: readonly number[];
};

/** A client's program and words for a command over there, and its environment. */
export type Front = { readonly words: readonly string[]; readonly env?: NodeJS.ProcessEnv; ended?(): void };

/** A folder of its own with the same files for everybody, and the shell in it. */
export function shellFolder(): { readonly command: readonly string[]; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), "bench-typing-"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(dir, name), text);
  const rc = [
    "export LC_ALL=C.UTF-8 TERM=xterm-256color LESSHISTFILE=- EDITOR=vim; unset MAIL",
    `cd ${dir}; HISTFILE=/dev/null; PS1='\\[\\e[32m\\]work\\[\\e[0m\\]$ '; PATH=/usr/bin:/bin`,
    "history -s echo one; history -s echo two; history -s ls",
    `printf '\\e[H\\e[2J${READY}\\n'`,
  ];
  writeFileSync(join(dir, ".rc"), `${rc.join("\n")}\n`);
  return {
    command: ["bash", "--noprofile", "--rcfile", join(dir, ".rc"), "-i"],
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Starts a client on a PTY. Writes are key presses; its output is the screen that a person sees. */
export function sitDown({ words, env = {} }: Front) {
  const line = `stty cols ${COLS} rows ${ROWS}; exec ${words.map(quoted).join(" ")}`;
  const child = spawn("script", ["-qfec", line, "/dev/null"], {
    env: { ...process.env, TERM: "xterm-256color", LC_ALL: "C.UTF-8", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  child.stdin.on("error", () => undefined); // It has ended.
  return child;
}

/** Types all of it. */
export async function record(front: Front, steps: readonly Step[]): Promise<Recording> {
  const child = sitDown(front);
  const closed = once(child, "close");
  const chunks: { atMs: number; bytes: Uint8Array }[] = [];
  const ready = new Promise<void>((resolve) => {
    let text = "";
    child.stdout.on("data", (bytes: Buffer) => {
      chunks.push({ atMs: performance.now(), bytes });
      if (text.includes(READY)) return;
      text += String(bytes);
      if (text.includes(READY)) resolve();
    });
  });
  try {
    await Promise.race([ready, closed.then(() => Promise.reject(new Error(`${front.words[0]} ended at once`)))]);
    await pause(SETTLE_MS);
    const pressedAtMs: number[] = [];
    let dueMs = performance.now();
    for (const { pauseMs, keys } of steps) {
      dueMs += pauseMs;
      await pause(Math.max(0, dueMs - performance.now()));
      pressedAtMs.push(performance.now());
      child.stdin.write(keys);
    }
    await Promise.race([closed, pause(10_000)]);
    return { chunks, pressedAtMs };
  } finally {
    child.kill("SIGKILL");
    front.ended?.();
  }
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
