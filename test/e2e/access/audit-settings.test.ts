// What a system keeps and prints of what was typed, where it is set up to keep lengths alone and to trace one session: nowhere the
// content. On a system of its own.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AuditRecord, recordsAt } from "../support/clients/audit.ts";
import { connect } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const TYPED = "hunter2";
const TRACED = "traced";

const dir = mkdtempSync(join(tmpdir(), "sbx-audit-"));
let system: System;

beforeAll(async () => {
  const traced = { STDIO_TRACE: TRACED };
  const workerVars = { TENANT_CLAIM: "org_id", AUDIT: "lengths", ...traced };
  system = await startSystem({ dir, workerVars, bridgeEnv: traced });
});

afterAll(async () => {
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function person(): Promise<Person> {
  const [sub, org] = [fresh("person"), fresh("org")];
  return { sub, org, token: await system.mintToken({ sub, org }) };
}

/** Types openly and in secret, on a terminal or into a pipe, and waits until all of it is acknowledged. */
async function type(who: Person, session: string, tty: 0 | 1): Promise<void> {
  const params = { session, cmd: "cat", ...(tty === 1 ? { tty } : {}) };
  const client = await connect(who, params, { server: system.origin.replace(/^http/, "ws") });
  await client.hello();
  const acked = () => client.messages("stdin_ack").at(-1)?.offset;
  client.type("open sesame");
  await client.until("its ack", () => acked() === 11);
  client.say({ type: "secret", on: true });
  client.type(TYPED);
  await client.until("its ack", () => acked() === 18);
}

/** What is on record of the typing. */
async function typed({ sub, org }: Person, session: string): Promise<object[]> {
  const url = `${system.origin}/api/sandboxes/default/sessions/${session}/audit`;
  const records = await recordsAt(url, await system.mintToken({ sub, org, scope: "sandbox:admin" }));
  return records
    .filter((record) => record.type === "input" || record.type === "secret")
    .map(({ type, on, offset, length, text, base64, sha256, secret }: AuditRecord) =>
      type === "secret" ? { on } : { offset, length, text, base64, sha256, secret },
    );
}

/** All that it keeps on disk, as one text. */
function stored(): string {
  const files = readdirSync(join(dir, "state"), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("");
}

test("AUDIT=lengths: of what is typed on a terminal its length alone is kept, of input on pipes the hash too", async () => {
  const who = await person();
  const [terminal, pipe] = [fresh("s"), fresh("s")];
  await type(who, terminal, 1);
  await type(who, pipe, 0);
  const secret = [{ on: true }, { offset: 11, length: 7, secret: true }];
  expect(await typed(who, terminal)).toEqual([{ offset: 0, length: 11 }, ...secret]);
  expect(await typed(who, pipe)).toEqual([
    { offset: 0, length: 11, sha256: "41ef4bb0b23661e66301aac36066912dac037827b4ae63a7b1165a5aa93ed4eb" },
    ...secret,
  ]);
  // Nor is it anywhere beside the record.
  const text = stored();
  expect([text.includes("open sesame"), text.includes(TYPED)]).toEqual([false, false]);
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
  const who = await person();
  await run(who, "silent");
  await run(who, TRACED);
  await until("the last line of both", () =>
    [traceIn("worker").at(-1) ?? "", traceIn("bridge").join()].every((text, i) =>
      text.includes(i === 0 ? "closed" : "exit"),
    ),
  );
  const lines = [...traceIn("worker"), ...traceIn("bridge")];
  expect(lines.filter((line) => !line.includes(`default/${TRACED} `))).toEqual([]);
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
