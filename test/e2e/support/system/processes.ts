// What /proc says of processes.
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessFacts {
  readonly pid: number;
  readonly name: string;
  /** One letter of proc(5): R, S, Z, … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The foreground process group of its terminal. */
  readonly foreground: number;
}

/** undefined: there is no such process. A zombie is none: it runs no more. */
export function processFacts(pid: number): ProcessFacts | undefined {
  try {
    return factsOf(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined; // It ended, if it ever was.
  }
}

/** What /proc/PID/stat says; undefined of a zombie. */
export function factsOf(stat: string): ProcessFacts | undefined {
  const [head, tail] = [stat.slice(0, stat.lastIndexOf(")")), stat.slice(stat.lastIndexOf(")") + 2)];
  const [state = "", parent, group, session, , foreground] = tail.split(" ");
  if (state === "Z" || state === "X") return undefined;
  return {
    pid: Number.parseInt(head, 10),
    name: head.slice(head.indexOf("(") + 1),
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foreground: Number(foreground),
  };
}

export function isAlive(pid: number): boolean {
  return processFacts(pid) !== undefined;
}

export function allProcesses(): ProcessFacts[] {
  return readdirSync("/proc")
    .map((name) => (/^\d+$/.test(name) ? processFacts(Number(name)) : undefined))
    .filter((facts) => facts !== undefined);
}

/** Ids of the processes of one name in a process group, in ascending order. */
export function namedInGroup(name: string, group: number): number[] {
  return allProcesses()
    .filter((facts) => facts.group === group && facts.name === name)
    .map(({ pid }) => pid)
    .sort((a, b) => a - b);
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) * 1024;
}
