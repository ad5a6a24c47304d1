// How long a connection may go on: its token's end, a fresh one in its place, and what an administrator revokes.
import { describe, expect, test } from "vitest";
import { connect, type Message, refusedHttp, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { api, fresh, mint, type Person, person, restartWorker } from "../support/system/system.ts";

const NOWHERE = { tokenIn: "nowhere" } as const;
/** For all that a test does before: a busy machine takes its time. */
const SOON = 6;

async function revoke(admin: Person, body: object): Promise<number> {
  return (await api(admin, "/api/revocations", { method: "POST", body: JSON.stringify(body) })).status;
}

function claimsOf(token: string): { readonly jti: string; readonly exp: number } {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

/** The `bye` of a connection that is ended. */
async function ended(client: TestClient): Promise<{ bye: Message; code: number }> {
  const bye = await client.message("bye");
  return { bye, code: (await client.end()).code };
}

/** Still attached, and heard. */
async function expectAlive(client: TestClient): Promise<void> {
  const pongs = client.messages("pong").length;
  client.say({ type: "ping" });
  await client.message("pong", pongs);
  expect(client.messages("bye")).toEqual([]);
}

/** Somebody whose token ends soon, and whose sandbox has been started: that may take longer where it is a container. */
async function personSoonOut(): Promise<Person> {
  const { sub, org, ...rest } = await person();
  await (await connect({ sub, org, ...rest }, { session: fresh("first"), cmd: "true" })).end();
  return { sub, org, token: await mint({ sub, org, expires: SOON }) };
}

async function shareTicket(who: Person, session: string, body: object): Promise<string> {
  const path = `/api/sandboxes/default/sessions/${session}/share`;
  const response = await api(who, path, { method: "POST", body: JSON.stringify(body) });
  return ((await response.json()) as { ticket: string }).ticket;
}

describe("when its token expires, a connection", () => {
  test("is warned, and ended with 4401; the same person comes back to their place with a fresh token", async () => {
    const alice = await personSoonOut();
    const session = fresh("s");
    const client = await connect(alice, { session, cmd: "cat", tty: 1 });
    const plain = await connect(alice, { session }, { protocols: [], pings: true });
    const hello = await client.hello();
    client.type("x\n");
    await client.output("x\r\n");
    const warning = await client.message("expiring");
    expect(Number(warning.seconds)).toBeGreaterThanOrEqual(1);
    expect(Number(warning.seconds)).toBeLessThanOrEqual(SOON);
    expect(await client.message("bye")).toEqual({ type: "bye", code: 4401, reason: "token expired", retry: "never" });
    expect(Date.now() / 1000).toBeGreaterThanOrEqual(claimsOf(alice.token).exp);
    expect([(await client.end()).code, (await plain.end()).code]).toEqual([4401, 4401]);
    expect(client.messages("expiring").length).toBe(1);

    const again = { ...alice, token: await mint({ sub: alice.sub, org: alice.org }) };
    const back = await connect(again, { session, resume: String(hello.resume), offset: client.offset });
    expect((await back.hello()).you).toEqual(hello.you);
  });

  test("goes on if it has shown a fresh one in time, or a ticket made with a fresh one", async () => {
    const alice = await personSoonOut();
    const session = fresh("s");
    const clients = await Promise.all([0, 1, 2].map(() => connect(alice, { session, cmd: "cat" })));
    const [left, renewed, ticketed] = clients as [TestClient, TestClient, TestClient];
    await Promise.all(clients.map((client) => client.hello()));
    const again = { ...alice, token: await mint({ sub: alice.sub, org: alice.org }) };
    renewed.say({ type: "auth", token: again.token });
    const body = JSON.stringify({ session });
    const made = (await (await api(again, "/api/tickets", { method: "POST", body })).json()) as { ticket: string };
    ticketed.say({ type: "auth", token: made.ticket });
    expect((await left.end()).code).toBe(4401);
    await expectAlive(renewed);
    await expectAlive(ticketed);
    expect([renewed, ticketed].flatMap((client) => client.messages("error"))).toEqual([]);
  });

  test("is not kept by a token that is not its bearer's, may do less, or is none", async () => {
    const alice = await personSoonOut();
    const session = fresh("s");
    const client = await connect(alice, { session, cmd: "cat" });
    await client.hello();
    const { sub, org } = alice;
    const tokens = [
      await mint({ sub: fresh("other"), org }),
      await mint({ sub, org: fresh("other") }),
      await mint({ sub, org, scope: "sandbox:connect" }),
      await mint({ sub, org, expires: -60 }),
      await mint({ sub, org, issuer: "https://elsewhere.example" }),
      "nonsense",
      await shareTicket(alice, session, { guests: true }),
    ];
    for (const [i, token] of tokens.entries()) {
      client.say({ type: "auth", token });
      const error = await client.message("error", i);
      expect(error.code).toBe("not_allowed");
    }
    expect((await client.end()).code).toBe(4401);
  });
});

describe("a revocation", () => {
  test("of a user ends all of their connections at once, and keeps them out, also after a restart", async () => {
    const bob = await person();
    const admin = await person({ org: bob.org, scope: "sandbox:admin" });
    const carol = await person({ org: bob.org });
    const [one, two] = [fresh("s"), fresh("s")];
    const first = await connect(bob, { session: one, cmd: "cat" });
    const second = await connect(bob, { session: two, cmd: "cat" });
    const plain = await connect(bob, { session: two }, { protocols: [], pings: true });
    const bystander = await connect(carol, { session: one });
    await Promise.all([first, second, plain, bystander].map((client) => client.hello()));
    expect(await revoke(admin, { sub: bob.sub })).toBe(204);
    for (const client of [first, second]) {
      const { bye, code } = await ended(client);
      expect([bye.code, bye.retry, code]).toEqual([4401, "never", 4401]);
    }
    expect((await plain.end()).code).toBe(4401);
    await expectAlive(bystander);
    await bystander.message("leave");

    const fresher = { ...bob, token: await mint({ sub: bob.sub, org: bob.org }) };
    for (const who of [bob, fresher]) expect((await refusedSocket(who, { session: one })).code).toBe(4401);
    await restartWorker();
    expect((await refusedSocket(bob, { session: one })).code).toBe(4401);
    const refusal = await refusedHttp(bob, { session: one });
    expect([refusal.status, JSON.parse(refusal.body).error]).toEqual([401, "revoked"]);
    await (await connect(carol, { session: one })).hello();
  });

  test("of a token ends what rests on it, tickets too, and nothing else of its user", async () => {
    const bob = await person();
    const other = { ...bob, token: await mint({ sub: bob.sub, org: bob.org }) };
    const admin = await person({ org: bob.org, scope: "sandbox:admin" });
    const session = fresh("s");
    const client = await connect(bob, { session, cmd: "cat" });
    await client.hello();
    const kept = await connect(other, { session });
    const guest = await connect(
      undefined,
      { ticket: await shareTicket(bob, session, { guests: true }), role: "viewer" },
      NOWHERE,
    );
    await Promise.all([kept.hello(), guest.hello()]);
    const body = JSON.stringify({ session });
    const made = (await (await api(bob, "/api/tickets", { method: "POST", body })).json()) as { ticket: string };
    expect(await revoke(admin, { jti: claimsOf(bob.token).jti })).toBe(204);
    for (const one of [client, guest]) expect((await ended(one)).code).toBe(4401);
    await expectAlive(kept);
    expect((await refusedSocket(undefined, { ticket: made.ticket }, NOWHERE)).code).toBe(4401);
    expect((await refusedSocket(bob, { session })).code).toBe(4401);
    kept.say({ type: "auth", token: bob.token });
    expect((await kept.message("error")).code).toBe("not_allowed");
    await expectAlive(kept);
  });
});
