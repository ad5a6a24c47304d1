// What the record and the list of people keep over a restart of the Worker. The processes outlive it here, which those in local
// containers do not: these tests are not among those with containers.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { auditOf, recordedInput, said } from "../support/clients/audit.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { fresh, person, restartWorker } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const idOf = async (client: TestClient) => ((await client.hello()).you as { id: string }).id;
const acked = (client: TestClient) => Math.max(0, ...client.messages("stdin_ack").map(({ offset }) => Number(offset)));

test("of secret input only the length is on record, also after a restart; that it was secret is, too", async () => {
  const who = await person();
  const session = fresh("s");
  const first = await connect(who, { session, tty: 1, cmd: "cat" });
  const { resume } = await first.hello();
  first.say({ type: "secret", on: true });
  first.type("hunter2");
  await first.until("its ack", () => acked(first) === 7);
  await restartWorker();
  const back = await until("an attach", () =>
    connect(who, { session, resume: String(resume), stdin: 7 }).catch(() => undefined),
  );
  await back.hello();
  expect(await back.message("secret")).toEqual({ type: "secret", on: true });
  back.type("again");
  await back.until("its ack", () => acked(back) === 12);
  back.say({ type: "secret", on: false });
  back.type("open");
  await back.until("its ack", () => acked(back) === 16);
  const records = await auditOf(who, session);
  const kept = records
    .filter(({ type }) => type === "input" || type === "secret")
    .map((record) => {
      const { client: _client, tenant: _tenant, user: _user, address: _address, ...rest } = said(record);
      return rest;
    });
  expect(kept).toEqual([
    { type: "secret", on: true },
    { type: "input", offset: 0, length: 7, secret: true },
    { type: "input", offset: 7, length: 5, secret: true },
    { type: "secret", on: false },
    { type: "input", offset: 12, length: 4, text: "open" },
  ]);
});

describe("the Worker is killed in the middle of typing", () => {
  test("everything that was acknowledged is in the record, and the chain verifies", async () => {
    const who = await person();
    const session = fresh("s");
    let typed = "";
    let known = 0;
    let resume: string | undefined;
    let id = "";
    for (let life = 0; life < 2; life += 1) {
      const client = await until("an attach", () =>
        connect(who, { session, tty: 1, cmd: "cat", ...(resume === undefined ? {} : { resume, stdin: known }) }).catch(
          () => undefined,
        ),
      );
      const hello = await client.hello();
      expect(Number(hello.stdin)).toBeGreaterThanOrEqual(known);
      resume = String(hello.resume);
      id = await idOf(client);
      client.type(typed.slice(Number(hello.stdin)));
      let isKilled = false;
      const typing = (async () => {
        for (let i = 0; !isKilled && i < 2000; i += 1) {
          const key = String.fromCharCode(97 + ((life + i) % 26));
          typed += i % 50 === 49 ? "\r" : key;
          client.type(typed.slice(-1));
          await delay(2);
        }
      })();
      await client.until("acknowledgements", () => acked(client) > known + 100);
      const killing = restartWorker();
      await client.closed;
      isKilled = true;
      await typing;
      known = Math.max(Number(hello.stdin), acked(client));
      await killing;
      const recorded = recordedInput(await auditOf(who, session), id);
      expect(recorded.length).toBeGreaterThanOrEqual(known);
      expect(typed.startsWith(recorded)).toBe(true);
    }
    // And it goes on: what was lost on the way is typed again, by the client that kept it.
    const client = await connect(who, { session, resume: resume ?? "", stdin: known });
    const from = Number((await client.hello()).stdin);
    client.type(typed.slice(from));
    await client.until("the last ack", () => acked(client) === typed.length || from === typed.length);
    const records = await auditOf(who, session);
    expect(recordedInput(records, id)).toBe(typed);
  });
});
