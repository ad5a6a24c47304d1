// The parts of several measurements: shells and floods to measure, echoes, and memory watched.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Subject } from "../subjects/subjects.ts";
import { openTerminal, seen, type Terminal } from "../subjects/terminal.ts";

/** One number of one subject: a row of the table has one for each. */
export type Result = Readonly<Record<string, number>>;

const RAW_CAT = ["sh", "-c", "stty raw -echo; printf READY; exec cat"];
export const SHELL = ["sh", "-c", "PS1='PROMPT> ' exec bash --norc --noprofile -i"];
export const FLOOD = [
  "sh",
  "-c",
  "stty raw; exec yes 0123456789012345678901234567890123456789012345678901234567890123",
];
export const KEY = Buffer.from("x");
/** No measurement waits longer for its answer: slower counts as never. */
export const PATIENCE_MS = 10_000;

export async function readyCat(subject: Subject): Promise<Terminal> {
  const terminal = await openTerminal(subject.spec(RAW_CAT));
  await seen(terminal, "READY");
  return terminal;
}

/**
 * Types keys, and waits for the echo of each. @returns How long each took, in ms.
 * @param patienceMs No key is typed after so long. @param key The text by which its echo is known; without, any output is it.
 */
export async function echoes(
  terminal: Terminal,
  count: number,
  patienceMs = Number.POSITIVE_INFINITY,
  key?: Buffer,
): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + patienceMs;
  for (let i = 0; i < count && performance.now() < end; i += 1) {
    const from = performance.now();
    const back = new Promise<void>((resolve) => {
      terminal.onOutput = (bytes) => {
        if (key === undefined || Buffer.from(bytes).includes(key)) resolve();
      };
    });
    terminal.send(KEY);
    await back;
    times.push(performance.now() - from);
    await pause(2 + (i % 3)); // A person's keys do not come back to back.
  }
  terminal.onOutput = () => undefined;
  return times;
}

export function received(terminal: Terminal, bytes: number): Promise<void> {
  let came = 0;
  return new Promise((resolve) => {
    terminal.onOutput = (chunk) => {
      came += chunk.length;
      if (came >= bytes) resolve();
    };
  });
}

export async function startFlood(
  subject: Subject,
  session?: string,
): Promise<{ end(): Promise<{ megabytesPerSecond: number }> }> {
  const spec = subject.spec(FLOOD, session === undefined ? {} : { session });
  const child = spawn(process.execPath, [join(import.meta.dirname, "flood.ts"), JSON.stringify(spec)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk) => {
      text += String(chunk);
      if (text.includes("ready")) resolve();
    });
  });
  await ready;
  return {
    end: async () => {
      child.stdin.end();
      await once(child, "exit");
      return JSON.parse(text.slice(text.indexOf("{"))) as { megabytesPerSecond: number };
    },
  };
}

export function watchMemory(subject: Subject): { end(): number } {
  let peak = subject.memory();
  const timer = setInterval(() => {
    peak = Math.max(peak, subject.memory());
  }, 20);
  return {
    end: () => {
      clearInterval(timer);
      return Math.max(peak, subject.memory());
    },
  };
}
