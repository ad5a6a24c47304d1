// The command line as scripts use it: how long a command takes that does nothing, on Node and compiled, beside ssh in the same run;
// how much memory it holds while it is attached.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../local/src/base/paths.ts";
import { buildBinary } from "../../../local/src/build/binaries.ts";
import { buildCli } from "../../../local/src/build/builds.ts";
import { median, scaled } from "../base/numbers.ts";
import type { Subject } from "../subjects/subjects.ts";
import type { Result } from "./measuring.ts";

/** Before these the files are not in memory, and the sandbox may not run. */
const WARM_RUNS = 3;

/** A program and its words, up to those of the command. */
type Front = { readonly program: string; readonly words: readonly string[]; readonly env: NodeJS.ProcessEnv };

let built: Promise<string> | undefined;

/** Only of subjects with a command line: the whole path, and ssh. */
export async function shortCommand(subject: Subject, share = 1): Promise<Result> {
  const { ssh } = subject.spec(["true"]);
  const runs = scaled(30, share, 5);
  if (ssh !== undefined) {
    // Without a terminal, as the others: on one `cat` would never see the end of its input.
    const front = { program: "ssh", words: ssh.filter((word) => word !== "-tt"), env: process.env };
    return { "a command that does nothing, ms": await timed(front, runs), "... memory, MB": await memory(front) };
  }
  const { onNode, alone } = await commandLine(subject);
  return {
    "a command that does nothing, ms": await timed(onNode, runs),
    "... memory, MB": await memory(onNode),
    "... compiled, ms": await timed(alone, runs),
    "... compiled, memory, MB": await memory(alone),
  };
}

/** Our own command line, up to the words of the command. */
export async function commandLine(subject: Subject): Promise<{ onNode: Front; alone: Front }> {
  built ??= buildCli().then(() => buildBinary("linux-x64"));
  const compiled = await built;
  const { url, headers } = subject.spec(["true"]);
  const words = [url, "--sandbox", "bench", "--"];
  const env = { ...process.env, SBX_TOKEN: (headers.Authorization ?? "").replace(/^Bearer /, "") };
  const bundle = join(ROOT, "packages/sbx-cli/dist/sbx-stdio.js");
  return {
    onNode: { program: process.execPath, words: [bundle, ...words], env },
    alone: { program: compiled, words, env },
  };
}

async function timed({ program, words, env }: Front, runs: number): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < WARM_RUNS + runs; run += 1) {
    const before = performance.now();
    const child = spawn(program, [...words, "true"], { env, stdio: "ignore" });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
    if (run >= WARM_RUNS) times.push(performance.now() - before);
  }
  return median(times);
}

/** The most that it has held by the time at which it has carried a byte each way. */
async function memory({ program, words, env }: Front): Promise<number> {
  const child = spawn(program, [...words, "cat"], { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write("x");
  await once(child.stdout, "data");
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  child.stdin.end();
  await once(child, "close");
  return (Number(kilobytes) * 1024) / 1e6;
}
