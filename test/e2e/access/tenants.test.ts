// A property: whatever somebody of one tenant asks for, by whatever names, ids, tickets, proofs and cookies of another tenant's,
// beside a token of their own, no object of the other tenant is reached. `SEED=…` repeats a run, `FUZZ_RUNS=…` makes it longer.
import { expect, test } from "vitest";
import { auditorOf } from "../support/clients/audit.ts";
import { connect, refusedSocket } from "../support/clients/client.ts";
import { belongingsOf, heardSince, neverAsked, search, send, stateOf } from "../support/generators/belongings.ts";
import { routesOfCode } from "../support/generators/routes-of-code.ts";
import { person, system } from "../support/system/system.ts";

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.FUZZ_RUNS ?? 12);

test("the search goes to every route of the Worker's code that knows whose a thing is", async () => {
  expect(neverAsked(await routesOfCode())).toEqual([]);
});

test("no request of one tenant's reaches an object of another's", { timeout: 300_000 + runs * 1_000 }, async () => {
  console.log(`seed ${seed}`);
  const bob = await belongingsOf(system, await auditorOf(await person()), "default");
  // The same requests with Bob's own token do find him: what is looked for can be seen.
  const get = { method: "GET", isUpgrade: false, carrier: "header", headers: [], protocols: [], body: "" } as const;
  const own = await send(system, bob.who, { ...get, target: bob.path });
  expect(bob.secrets.filter((secret) => own.body.includes(secret))).toEqual([bob.incarnation]);
  const before = await stateOf(bob);
  const heard = bob.client.received.length;
  const answers = await search(bob, async () => auditorOf(await person()), { seed, runs });
  // Sessions of her own were opened, and calls of her own answered: of 300 about 45.
  const asked = Object.values(answers).reduce((sum, count) => sum + count, 0);
  expect((answers["101 0"] ?? 0) + (answers["200"] ?? 0)).toBeGreaterThan(asked / 100);

  const after = await stateOf(bob);
  expect(after.listing).toEqual(before.listing);
  expect(after.tickets).toEqual(before.tickets);
  expect([after.layout, after.webhook]).toEqual([before.layout, before.webhook]);
  // That somebody came with a ticket that is good no more is on his record, and nothing else.
  const added = after.audit.slice(before.audit.length);
  expect(after.audit.slice(0, before.audit.length)).toEqual(before.audit);
  expect(added.filter(({ type }) => type !== "refused")).toEqual([]);
  expect(heardSince(bob, heard)).toEqual([]);
  bob.client.type("his own\n");
  await bob.client.output(`${bob.marker}\nhis own\n`);
  const guest = await connect(undefined, { ticket: String(bob.kept.ticket) }, { tokenIn: "nowhere" });
  expect((await guest.hello()).incarnation).toBe(bob.incarnation);
  // And what she has of his is still of no use without a token.
  expect((await refusedSocket(undefined, { session: bob.session, resume: bob.resume })).code).toBe(4401);
});
