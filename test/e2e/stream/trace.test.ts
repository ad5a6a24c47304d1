// The trace of one session over the whole system: what Worker and bridge print of it, and what they must not.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const TYPED = "hunter2";
const SESSION = "traced";

let dir = "";
let system: System;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sbx-trace-"));
  const traced = { STDIO_TRACE: SESSION };
  system = await startSystem({ dir, workerVars: traced, bridgeEnv: traced });
});

afterAll(async () => {
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Types a line at `head -c 8`, which repeats it and ends. */
async function run(who: Person, session: string): Promise<void> {
  const params = { session, cmd: "head", arg: ["-c", "8"] };
  const client = await connect(who, params, { server: system.origin.replace(/^http/, "ws") });
  await client.hello();
  client.type(`${TYPED}\n`);
  await client.closed;
}

/** What a server's log says of traces, without times, numbers of connections and ids. */
function traceIn(name: "worker" | "bridge"): string[] {
  const log = readFileSync(join(dir, "logs", `${name}.log`), "utf8");
  return log.split("\n").filter((line) => line.includes("trace "));
}

test("STDIO_TRACE: a session's way through Worker and bridge can be read, and no content or secret", async () => {
  const sub = fresh("person");
  const who = { sub, org: "", token: await system.mintToken({ sub }) };
  await run(who, "silent");
  await run(who, SESSION);
  await until("the last line of both", () =>
    [traceIn("worker").at(-1) ?? "", traceIn("bridge").join()].every((text, i) =>
      text.includes(i === 0 ? "closed" : "exit"),
    ),
  );
  const lines = [...traceIn("worker"), ...traceIn("bridge")];
  expect(lines.filter((line) => !line.includes(`default/${SESSION} `))).toEqual([]);
  const words = (name: "worker" | "bridge") => traceIn(name).map((line) => line.replace(/^.*? (object|bridge) /, ""));
  expect(
    inOrder(words("worker"), [
      /^opens #1 stdio role=driver/,
      /^tells bridge attach client=/,
      /^tells #1 hello /,
      /^hears #1 stdin 8 B/,
      /^decides take what=bytes client=\w+ from=0 to=8/,
      /^tells bridge stdin slot=\d+ from=0 8 B/,
      /^hears bridge stdout 8 B/,
      /^tells #1 stdout 8 B/,
      /^hears bridge exit code=0 offset=8/,
      /^tells #1 exit code=0 offset=8/,
    ]),
  ).toEqual([]);
  expect(
    inOrder(words("bridge"), [
      /^tells object hello /,
      /^hears object attach client=/,
      /^hears object stdin slot=\d+ from=0 8 B/,
      /^tells object stdout 8 B/,
      /^ended: {"code":0}, the log ends at 8/,
      /^tells object exit code=0/,
    ]),
  ).toEqual([]);
  const secrets = [TYPED, who.token, system.bridgeToken];
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
});

/** Of these patterns, those that no line fits which comes after the line of the pattern before. */
function inOrder(lines: readonly string[], patterns: readonly RegExp[]): string[] {
  let at = -1;
  return patterns.flatMap((pattern) => {
    const next = lines.findIndex((line, i) => i > at && pattern.test(line));
    if (next >= 0) at = next;
    return next >= 0 ? [] : [`${pattern} is not in: ${lines.join(" | ")}`];
  });
}
