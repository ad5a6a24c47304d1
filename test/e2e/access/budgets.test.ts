// L10: what a guest who may only look can do to a session by talking: lose its own place, and nothing else.
import { expect, test } from "vitest";
import { auditOf } from "../support/clients/audit.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { api, fresh, type Person, person } from "../support/system/system.ts";

const TERMINAL = { cmd: "cat", tty: 1 };

async function guestLink(who: Person, session: string): Promise<string> {
  const body = JSON.stringify({ role: "viewer", guests: true, seconds: 600 });
  const path = `/api/sandboxes/default/sessions/${session}/share`;
  return ((await (await api(who, path, { method: "POST", body })).json()) as { ticket: string }).ticket;
}

async function shared() {
  const who = await person();
  const session = fresh("s");
  const driver = await connect(who, { session, ...TERMINAL });
  await driver.hello();
  const ticket = await guestLink(who, session);
  const guest = async (name: string): Promise<TestClient> => {
    const client = await connect(undefined, { ticket, name }, { tokenIn: "nowhere" });
    await client.hello();
    return client;
  };
  return { who, session, driver, ticket, guest };
}

test("a guest that floods with messages or with keys is closed with 1008, the driver types on, the record stays small", async () => {
  const { who, session, driver, guest } = await shared();
  const [talker, typist] = [await guest("talker"), await guest("typist")];
  const ids = await Promise.all([talker, typist].map(async (one) => ((await one.hello()).you as { id: string }).id));
  const secret = "hunter2".repeat(500);
  for (let i = 0; i < 5_000; i += 1) talker.say({ type: "resize", cols: 80 + (i % 50), rows: 24 });
  const began = performance.now();
  for (let i = 0; i < 200; i += 1) typist.type(secret);
  const ends = await Promise.all([talker.end(), typist.end()]);
  expect(ends.map(({ code, bye }) => [code, bye?.reason, bye?.retry])).toEqual([
    [1008, "too many messages", "never"],
    [1008, "too much input was refused", "never"],
  ]);
  driver.type("still here\r");
  await driver.output("still here\r\nstill here\r\n");

  const theirs = (await auditOf(who, session)).filter(({ client }) => ids.includes(String(client)));
  expect(theirs.length).toBeLessThan(20);
  const text = JSON.stringify(theirs);
  expect([text.length < 10_000, text.includes("hunter2"), text.includes("sha256")]).toEqual([true, false, false]);
  const lengths = theirs.flatMap(({ type, length }) => (type === "input" ? [Number(length)] : []));
  const refused = lengths.reduce((sum, length) => sum + length, 0);
  // As much as the budget is, what each second adds to it, and the frame that went beyond it.
  const most = 2 * 262_144 + (65_536 * (performance.now() - began)) / 1000;
  expect([lengths.length, refused >= 262_144, refused < most]).toEqual([2, true, true]);
});

test("a guest that comes back without end is put on record ten times of each, and then counted", async () => {
  const { who, driver, session, ticket, guest } = await shared();
  const first = await guest("comes and goes");
  const { you, resume } = (await first.hello()) as unknown as { you: { id: string }; resume: string };
  let last = first;
  for (let i = 0; i < 14; i += 1) {
    last = await connect(undefined, { ticket, session, resume }, { tokenIn: "nowhere" });
    await last.hello();
  }
  await last.leave();
  await driver.message("leave");
  const theirs = (await auditOf(who, session)).filter(({ client }) => client === you.id);
  const attached = theirs.filter(({ type }) => type === "attach");
  expect(attached.reduce((sum, { times }) => sum + Number(times ?? 1), 0)).toBe(15);
  // One more for each ten seconds that it took.
  expect([attached.length >= 11, attached.length < 15]).toEqual([true, true]);
});
