// How fast a command line carries a program's input and output on pipes, and what CPU that takes: ours on Node and compiled, ssh,
// and the least program that does it through the same runtimes.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { scaled } from "../base/numbers.ts";
import type { Subject } from "../subjects/subjects.ts";
import { commandLine } from "./command-line.ts";
import type { Result } from "./measuring.ts";

const IN_SERVERS = "pipes in, servers' CPU, ms/MB";
const OUT_SERVERS = "pipes out, servers' CPU, ms/MB";

/** The words of a program that runs a command elsewhere, before the command's own. */
type Front = { readonly words: readonly string[]; readonly env: NodeJS.ProcessEnv };

/** Only of subjects with a command line: the whole path, its floor, and ssh. */
export async function carried(subject: Subject, share = 1): Promise<Result> {
  const bytes = scaled(1_000_000_000, share, 20_000_000);
  const { ssh, url } = subject.spec(["true"]);
  const { env } = process;
  if (ssh !== undefined) {
    // Without a terminal, which would never let the input end.
    const words = ["ssh", ...ssh.filter((word) => word !== "-tt")];
    const { [IN_SERVERS]: _in, [OUT_SERVERS]: _out, ...known } = await bothWays(subject, () => ({ words, env }), bytes);
    return known; // Each of its sessions has its own server process: those are not counted here.
  }
  if (subject.name === "path floor") {
    const program = join(import.meta.dirname, "../subjects/floors/pipes.mjs");
    // An object for each way: one that had a client takes the next for a viewer.
    const address = () => `${url.replace("http", "ws")}/?name=${randomUUID()}`;
    const front = (expected: number) => ({ words: [process.execPath, program, address(), `${expected}`], env });
    return bothWays(subject, front, bytes);
  }
  const { onNode, alone } = await commandLine(subject);
  const front = ({ program, words, env }: typeof onNode) => {
    return () => ({ words: [program, ...words], env });
  };
  const compiled = await bothWays(subject, front(alone), bytes);
  return {
    ...(await bothWays(subject, front(onNode), bytes)),
    ...Object.fromEntries(Object.entries(compiled).map(([row, value]) => [`compiled: ${row}`, value])),
  };
}

async function bothWays(subject: Subject, front: (expected: number) => Front, bytes: number): Promise<Result> {
  const source = `head -c ${bytes} /dev/zero`;
  const input = await timed(subject, front(1), source, `head -c ${bytes} > /dev/null; printf .`, "cat");
  const output = await timed(subject, front(bytes), "true", source, "cat > /dev/null");
  const megabytes = bytes / 1e6;
  return {
    "pipes in, MB/s": megabytes / input.seconds,
    "pipes in, client's CPU, ms/MB": input.clientMs / megabytes,
    [IN_SERVERS]: input.serversMs / megabytes,
    "pipes out, MB/s": megabytes / output.seconds,
    "pipes out, client's CPU, ms/MB": output.clientMs / megabytes,
    [OUT_SERVERS]: output.serversMs / megabytes,
  };
}

/** @param from What writes the input. @param command What runs there, in a shell. @param to What takes the output. */
async function timed(subject: Subject, { words, env }: Front, from: string, command: string, to: string) {
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
  // ssh's server runs its words in a shell anyway, and would take them apart.
  const there = words[0] === "ssh" ? [command] : ["sh", "-c", command];
  const client = [...words, ...there].map(quoted).join(" ");
  const line = `${from} | { ${client}; code=$?; times >&3; exit $code; } | ${to}`;
  const cpuBefore = subject.cpuMs();
  const before = performance.now();
  const child = spawn("bash", ["-o", "pipefail", "-c", line], { env, stdio: ["ignore", "ignore", "inherit", "pipe"] });
  let said = "";
  child.stdio[3]?.on("data", (chunk) => {
    said += String(chunk);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${words[0]} ended with ${code}`);
  const seconds = (performance.now() - before) / 1000;
  return { seconds, clientMs: childrensMs(said), serversMs: subject.cpuMs() - cpuBefore };
}

/** @param times What the shell's `times` prints: its own user and system time, then those of what it ran, as `0m1.234s`. */
function childrensMs(times: string): number {
  const own = times.trim().split("\n").at(-1) ?? "";
  return [...own.matchAll(/(\d+)m([\d.]+)s/g)].reduce((ms, [, m, s]) => ms + Number(m) * 60_000 + Number(s) * 1000, 0);
}
