// A process that nobody watches: what the session's object has of it when the bridge dies without a word.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { auditOf } from "../support/clients/audit.ts";
import { connect } from "../support/clients/client.ts";
import { isAliveIn } from "../support/clients/sandbox-processes.ts";
import { attachesOf, readRecorded } from "../support/clients/websocket-frames.ts";
import {
  api,
  cutInnerHop,
  forgetRecorded,
  fresh,
  type Person,
  person,
  recorded,
  restartBridge,
  system,
} from "../support/system/system.ts";
import { LIMIT_MS, until } from "../support/system/wait.ts";

const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });

/** Each person's calls are limited: the record is not read more often. */
const INTERVAL_MS = 250;

async function exitOnRecord(who: Person, session: string): Promise<void> {
  const hasEnded = async () => (await auditOf(who, session)).some(({ type }) => type === "exit");
  await until("the exit's record", hasEnded, LIMIT_MS, INTERVAL_MS);
}

/** A bridge tries after its start, less and less often. */
async function bridgeCalls(): Promise<void> {
  const log = () => readFileSync(join(system.dir, "logs/bridge.log"), "utf8");
  const hasTried = () => log().lastIndexOf("session objects can be called") > log().lastIndexOf('"listening"');
  await until("a bridge that can call", hasTried);
}

test("a job that ends with nobody there has its output and exit on record, whatever becomes of its bridge", async () => {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("echo early; sleep 1; echo late; exit 7") });
  await client.output("early\n");
  await client.leave();
  await exitOnRecord(who, session);
  await restartBridge();
  const listing = await (await api(who, `/api/sandboxes/default/sessions/${session}`)).json();
  expect(listing).toMatchObject({ state: "exited", exit: { code: 7 }, offset: 11 });
  const late = await connect(who, { session });
  expect(await late.message("exit")).toMatchObject({ code: 7, offset: 11 });
  expect(late.text()).toBe("early\nlate\n");
});

test("of a process that writes on with nobody there, the last looks' output is readable once it is lost", async () => {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("i=0; while :; do echo $i; i=$((i+1)); sleep 0.1; done") });
  await client.output("\n5\n");
  await client.leave();
  const seen = client.text().length;
  // The client's own connection, and three looks: the second is over then.
  const looks = async () => {
    const attaches = attachesOf((await recorded()).flatMap(readRecorded));
    return attaches.filter((query) => query.get("session") === session).length >= 4;
  };
  await until("three looks", looks);
  await restartBridge();
  const answer = await api(who, `/api/sandboxes/default/sessions/${session}/output?from=0`);
  const { state, output } = (await answer.json()) as { state: string; output: string };
  expect([answer.status, state]).toEqual([200, "lost"]);
  // Five seconds and more, at ten lines a second where the machine is idle.
  expect(output.length).toBeGreaterThan(seen + 30);
  const numbers = output.split("\n").slice(0, -1).map(Number);
  expect(numbers).toEqual(numbers.map((_, index) => index));
  const listing = await (await api(who, `/api/sandboxes/default/sessions/${session}`)).json();
  expect(listing).toMatchObject({ state: "lost", offset: output.length });
});

test("a job that nobody watches is asked after once its bridge calls, and not before", async () => {
  await bridgeCalls();
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("read line; echo $$; sleep 12; exit 7") });
  await client.hello();
  await forgetRecorded();
  client.type("go\n");
  await client.output("\n");
  const pid = Number(client.text());
  await client.leave();
  await until("the job's end", async () => !(await isAliveIn(who, pid)));
  await exitOnRecord(who, session);
  const said = Buffer.concat(await recorded()).toString("latin1");
  // By the clock it would be looked at after five seconds and after fifteen.
  const looks = said
    .split("GET /sessions?")
    .slice(1)
    .filter((request) => request.slice(0, 1_000).includes(`session=${session}`));
  expect(looks.length).toBe(1);
});

test("H20a: a process whose bridge breaks away just as its last client leaves is looked at all the same", async () => {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("echo $$; sleep 2; exit 7") });
  await client.output("\n");
  const pid = Number(client.text());
  await Promise.all([client.leave(), cutInnerHop()]);
  await until("the job's end", async () => !(await isAliveIn(who, pid)));
  await exitOnRecord(who, session);
});
