// Tickets over the whole system: to attach once, and to share a session; and how they end.
import { describe, expect, test } from "vitest";
import { auditOf } from "../support/clients/audit.ts";
import {
  attached,
  type ConnectOptions,
  connect,
  type Params,
  refusedHttp,
  refusedSocket,
  type SocketRefusal,
} from "../support/clients/client.ts";
import { api, fresh, type Person, person, restartBridge, restartWorker, system } from "../support/system/system.ts";

interface Share {
  readonly id: string;
  readonly ticket: string;
  readonly url: string;
  readonly expiresAt: string;
}

const post = (who: Person, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  api(who, path, { method: "POST", body: JSON.stringify(body), headers });

async function attachTicket(who: Person, body: object, headers: Record<string, string> = {}): Promise<string> {
  const response = await post(who, "/api/tickets", body, headers);
  expect(response.status).toBe(200);
  return ((await response.json()) as { ticket: string }).ticket;
}

async function share(who: Person, session: string, body: object = {}): Promise<Share> {
  const response = await post(who, `/api/sandboxes/default/sessions/${session}/share`, body);
  expect(response.status).toBe(200);
  return (await response.json()) as Share;
}

/** A session with `cat` in it, and its creator attached. */
async function catSession(params: Params = {}) {
  const alice = await person();
  const session = fresh("s");
  const creator = await connect(alice, { session, cmd: "cat", tty: 1, ...params });
  const hello = await creator.hello();
  return { alice, session, creator, id: (hello.you as { id: string }).id };
}

const NOBODY: ConnectOptions = { tokenIn: "nowhere" };
const refusedWith = async (ticket: string, params: Params = {}, options: ConnectOptions = NOBODY) =>
  codeOf(await refusedSocket(undefined, { ...params, ticket }, options));
const codeOf = ({ bye, code }: SocketRefusal) => [code, bye?.code, bye?.retry];

/** Whether a ticket lets one more in, or is refused. */
async function firstWord(ticket: string): Promise<string> {
  const client = await connect(undefined, { ticket }, NOBODY);
  return client.until("an answer", () => (client.messages("hello")[0] ?? client.messages("bye")[0])?.type);
}

describe("an attach ticket", () => {
  test("attaches its maker once, and makes the session if it is not there", async () => {
    const alice = await person({ name: "Alice A." });
    const session = fresh("s");
    const before = Date.now();
    const response = await post(alice, "/api/tickets", { sandbox: "default", session, role: "driver" });
    const made = (await response.json()) as { ticket: string; expiresAt: string };
    expect(Object.keys(made).sort()).toEqual(["expiresAt", "ticket"]);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(made.ticket).toMatch(/^a\./);
    const expiresMs = Date.parse(made.expiresAt);
    expect(expiresMs).toBeGreaterThan(before + 55_000);
    expect(expiresMs).toBeLessThanOrEqual(Date.now() + 65_000);

    const client = await connect(undefined, { ticket: made.ticket, session, cmd: "cat" }, NOBODY);
    expect((await client.hello()).you).toMatchObject({ name: "Alice A.", role: "driver" });
    client.type("hi\n");
    await client.output("hi\n");
    const again = await refusedSocket(undefined, { ticket: made.ticket, session }, NOBODY);
    expect(codeOf(again)).toEqual([4401, 4401, "never"]);
    expect(again.reason).toMatch(/used/);
    client.type("still here\n");
    await client.output("still here\n");
  });

  test("is used once also if many come with it at the same time", async () => {
    const { alice, session } = await catSession();
    const ticket = await attachTicket(alice, { session });
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(undefined, { ticket, session }, NOBODY)));
    const outcomes = await Promise.all(
      clients.map((client) =>
        client.until("an answer", () => (client.messages("hello")[0] ?? client.messages("bye")[0])?.type),
      ),
    );
    expect(outcomes.sort()).toEqual([...Array(7).fill("bye"), "hello"]);
  });

  test("counts only where it was made: another origin is refused, and none too", async () => {
    const { alice, session } = await catSession();
    const page = { Origin: "https://page.example" };
    const ticket = await attachTicket(alice, { session }, page);
    const other = { ticket, session };
    for (const headers of [{ Origin: "https://evil.example" }, {}, { Origin: "null" }]) {
      const refusal = await refusedHttp(undefined, other, { protocols: ["stdio.v1"], headers });
      expect([refusal.status, JSON.parse(refusal.body).error]).toEqual([403, "bad_origin"]);
    }
    // None of that has used it up.
    const client = await connect(undefined, other, { ...NOBODY, headers: page });
    await client.hello();
    const native = await attachTicket(alice, { session });
    const refusal = await refusedHttp(undefined, { ticket: native }, { protocols: ["stdio.v1"], headers: page });
    expect(refusal.status).toBe(403);
  });

  test("gives no more than its maker has", async () => {
    const viewer = await person({ scope: "sandbox:connect" });
    const session = fresh("s");
    expect((await post(viewer, "/api/tickets", { session, role: "driver" })).status).toBe(403);
    expect((await post(viewer, "/api/tickets", { session, role: "viewer" })).status).toBe(200);
    const alice = await person();
    for (const body of [{}, { session: "../x" }, { session, role: "admin" }, { session: 7 }, []]) {
      expect((await post(alice, "/api/tickets", body)).status).toBe(400);
    }
  });

  test("resumes: with `resume` and a fresh ticket its maker is the same client again", async () => {
    const { alice, session } = await catSession({ tty: 0 });
    const first = await connect(undefined, { ticket: await attachTicket(alice, { session }) }, NOBODY);
    const hello = await first.hello();
    first.type("one\n");
    await first.output("one\n");
    await first.message("stdin_ack");
    first.drop();
    const ticket = await attachTicket(alice, { session });
    const resume = String(hello.resume);
    const second = await connect(undefined, { ticket, resume, offset: first.offset }, NOBODY);
    expect(await second.hello()).toMatchObject({ you: hello.you, offset: 4, stdin: 4 });
    // It is bound to the person: somebody else's ticket does not take it over.
    const bob = await person({ org: alice.org });
    const foreign = await attachTicket(bob, { session });
    expect(await refusedWith(foreign, { resume })).toEqual([4403, 4403, "never"]);
  });
});

describe("a share ticket", () => {
  test("lets somebody of another tenant in who is logged in, as often as they like", async () => {
    const { alice, session, creator } = await catSession();
    const shared = await share(alice, session, { role: "driver", seconds: 60 });
    expect(Object.keys(shared).sort()).toEqual(["expiresAt", "id", "ticket", "url"]);
    expect(shared.url).toBe(`${system.origin}/?sandbox=default&session=${session}&role=driver#ticket=${shared.ticket}`);
    const bob = await person({ name: "Bob" });
    for (let i = 0; i < 2; i += 1) {
      const client = await connect(bob, { ticket: shared.ticket, session });
      expect((await client.hello()).you).toMatchObject({ name: "Bob", role: "driver" });
      client.type(`from bob ${i}\n`);
      await creator.output(`from bob ${i}`);
      await client.leave();
    }
    expect(await refusedWith(shared.ticket)).toEqual([4401, 4401, "never"]);
  });

  test("with guests lets anybody in, each with a name and an id of their own, who can come back", async () => {
    const { alice, session, creator } = await catSession();
    const { ticket } = await share(alice, session, { guests: true });
    const one = await connect(undefined, { ticket }, NOBODY);
    const two = await connect(undefined, { ticket, name: "Zoe" }, NOBODY);
    const hello = await one.hello();
    const you = [hello.you, (await two.hello()).you] as { id: string; name: string; role: string }[];
    expect(you.map(({ role }) => role)).toEqual(["viewer", "viewer"]);
    expect(you[0]?.name).toBe(`guest-${you[0]?.id.slice(0, 4)}`);
    expect(you[1]?.name).toBe("Zoe");
    expect(you[0]?.id).not.toBe(you[1]?.id);
    await creator.until("two joins", () => creator.messages("join").length === 2);
    one.drop();
    const back = await connect(undefined, { ticket, resume: String(hello.resume), role: "viewer" }, NOBODY);
    expect((await back.hello()).you).toEqual(hello.you);
    const other = await share(alice, session, { guests: true });
    expect(await refusedWith(other.ticket, { resume: String(hello.resume) })).toEqual([4403, 4403, "never"]);
  });

  test("L11: a guest with its host's name has a number and its kind; the record says who everybody is", async () => {
    const { alice, session, creator } = await catSession({ name: "Alice" });
    const { ticket } = await share(alice, session, { guests: true });
    const mimic = await connect(undefined, { ticket, name: "\u0410l\u0456ce" }, NOBODY);
    const { you, participants } = await mimic.hello();
    expect(you).toMatchObject({ name: "\u0410l\u0456ce (2)", kind: "guest" });
    const host = { id: expect.any(String), name: "Alice", role: "driver", kind: "person", person: "Alice" };
    expect(participants).toContainEqual(host);
    expect(await creator.message("join")).toEqual({ type: "join", participant: you });
    const posing = await connect(alice, { session, name: "Somebody else" });
    await posing.hello();
    const attached = (await auditOf(alice, session)).filter(({ type }) => type === "attach");
    expect(attached.slice(0, 3).map(({ name, kind, user }) => [name, kind, user])).toEqual([
      ["Alice", "person", alice.sub],
      ["\u0410l\u0456ce (2)", "guest", expect.stringMatching(/^guest:/)],
      ["Somebody else", "person", alice.sub],
    ]);
  });

  test("is listed, and gone from the list when it was revoked: whom it let in is out at once", async () => {
    const { alice, session, creator } = await catSession({ mode: "exclusive" });
    const kept = await share(alice, session, { role: "viewer", guests: true });
    const shared = await share(alice, session, { role: "driver", guests: true });
    const path = `/api/sandboxes/default/sessions/${session}/tickets`;
    const listed = async () =>
      ((await (await api(alice, path)).json()) as { tickets: Record<string, unknown>[] }).tickets;
    expect((await listed()).map(({ id, role, guests, maker }) => ({ id, role, guests, maker }))).toEqual([
      { id: kept.id, role: "viewer", guests: true, maker: alice.sub },
      { id: shared.id, role: "driver", guests: true, maker: alice.sub },
    ]);
    expect(JSON.stringify(await listed())).not.toContain(shared.ticket);
    const clients = await Promise.all([
      connect(undefined, { ticket: shared.ticket }, NOBODY),
      connect(undefined, { ticket: shared.ticket }, { ...NOBODY, protocols: [], pings: true }),
      connect(undefined, { ticket: kept.ticket }, NOBODY),
    ]);
    const [stdio, plain, viewer] = clients;
    await Promise.all(clients.map((client) => client.hello()));
    expect((await api(alice, `${path}/${shared.id}`, { method: "DELETE" })).status).toBe(204);
    expect(await stdio.message("bye")).toEqual({
      type: "bye",
      code: 4401,
      reason: "the ticket was revoked",
      retry: "never",
    });
    expect((await stdio.end()).code).toBe(4401);
    expect((await plain.end()).code).toBe(4401);
    await creator.until("both gone", () => creator.messages("leave").length === 2);
    expect(await refusedWith(shared.ticket)).toEqual([4401, 4401, "never"]);
    expect((await listed()).map(({ id }) => id)).toEqual([kept.id]);
    expect((await api(alice, `${path}/${shared.id}`, { method: "DELETE" })).status).toBe(404);
    creator.type("on\n");
    await viewer.output("on\r\n");

    // Both kinds stay used and revoked.
    const attaching = await attachTicket(alice, { session });
    await (await connect(undefined, { ticket: attaching }, NOBODY)).hello();
    await restartWorker();
    for (const ticket of [shared.ticket, attaching]) {
      expect(await refusedWith(ticket)).toEqual([4401, 4401, "never"]);
    }
    await (await connect(undefined, { ticket: kept.ticket }, NOBODY)).hello();
  });

  test("ends at its time, in the middle of a connection", async () => {
    const { alice, session } = await catSession();
    const { ticket } = await share(alice, session, { guests: true, seconds: 8 });
    const client = await connect(undefined, { ticket }, NOBODY);
    await client.hello();
    expect(await client.message("expiring")).toMatchObject({ seconds: expect.any(Number) });
    const { bye, code } = await client.end();
    expect([code, bye?.reason, bye?.retry]).toEqual([4401, "ticket expired", "never"]);
    expect(await refusedWith(ticket)).toEqual([4401, 4401, "never"]);
  });

  test("opens its own process and no later one of the same name: not one made after a loss either", async () => {
    const { alice, session, creator } = await catSession();
    const { ticket, id } = await share(alice, session, { role: "driver", guests: true });
    await restartBridge();
    await creator.end();
    const attempt = `${fresh("life").replace("-", "")}.0`;
    await attached(alice, { session, cmd: "cat", tty: 1, ended: "replace", attempt });
    expect(await refusedWith(ticket)).toEqual([4401, 4401, "never"]);
    const refusal = await refusedHttp(undefined, { ticket });
    expect([refusal.status, JSON.parse(refusal.body).error]).toEqual([401, "ticket_revoked"]);
    const path = `/api/sandboxes/default/sessions/${session}/tickets`;
    expect(await (await api(alice, path)).json()).toEqual({ tickets: [] });
    expect((await api(alice, `${path}/${id}`, { method: "DELETE" })).status).toBe(404);
    const fresher = await share(alice, session, { guests: true });
    await (await connect(undefined, { ticket: fresher.ticket }, NOBODY)).hello();
  });

  test("lets 16 in at a time, or as many as its maker says; a driver with a token finds a place beside them", async () => {
    const { alice, session } = await catSession();
    const path = `/api/sandboxes/default/sessions/${session}`;
    const wrong = [{ maxClients: 0 }, { maxClients: 65 }, { role: "admin" }, { seconds: 2_592_001 }, { guests: "yes" }];
    for (const body of wrong) expect((await post(alice, `${path}/share`, body)).status).toBe(400);
    await share(alice, session, { guests: true });
    const two = await share(alice, session, { role: "driver", guests: true, maxClients: 2 });
    const listed = (await (await api(alice, `${path}/tickets`)).json()) as { tickets: { maxClients: number }[] };
    expect(listed.tickets.map(({ maxClients }) => maxClients)).toEqual([16, 2]);
    const clients = await Promise.all([1, 2].map(() => connect(undefined, { ticket: two.ticket }, NOBODY)));
    await Promise.all(clients.map((client) => client.hello()));
    expect(await refusedWith(two.ticket)).toEqual([1013, 1013, "after"]);
    await clients[0]?.leave();
    await expect.poll(() => firstWord(two.ticket)).toBe("hello");
    await (await connect(alice, { session })).hello();
  });

  test("gives no keyboard by force, whoever has made it", async () => {
    const alice = await person({ scope: "sandbox:admin" });
    const session = fresh("s");
    const creator = await connect(alice, { session, cmd: "cat", tty: 1, mode: "exclusive" });
    await creator.hello();
    const { ticket } = await share(alice, session, { role: "driver", guests: true });
    const guest = await connect(undefined, { ticket }, NOBODY);
    await guest.hello();
    guest.say({ type: "force_take" });
    expect((await guest.message("error")).code).toBe("not_allowed");
  });
});
