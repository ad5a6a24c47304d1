// The stock asciinema-player's way to watch a session (G7), spoken by hand: what each connection begins with, what follows, and
// with which codes it ends.
import { expect, test } from "vitest";
import { type AlisEvent, readAlis } from "../../../packages/sandbox-stdio/test/support/read-alis.ts";
import { attached, connect } from "../support/clients/client.ts";
import { type ForeignClient, foreign, foreignRefused } from "../support/clients/foreign-client.ts";
import { loginCookie } from "../support/clients/login.ts";
import { api, fresh, type Person, person, restartBridge, system } from "../support/system/system.ts";

const PROTOCOLS = ["v1.alis", "v2.asciicast", "v3.asciicast", "raw"];
const BOX = "default";

const watch = (who: Person | undefined, session: string, query = "") =>
  foreign(who, `/watch/${BOX}/${session}${query}`, { protocols: PROTOCOLS });
const eventsOf = (client: ForeignClient): AlisEvent[] =>
  readAlis(client.received.map((frame) => new Uint8Array(frame as Buffer)));
const textOf = (client: ForeignClient): string =>
  eventsOf(client)
    .map(({ init, text }) => init ?? text ?? "")
    .join("");
const shows = (client: ForeignClient, text: string) => client.until(text, () => textOf(client).includes(text));

const post = async <T>(who: Person, path: string, body: object): Promise<T> => {
  const answer = await api(who, `/api/sandboxes/${BOX}/sessions/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  expect(answer.ok).toBe(true);
  return (await answer.json()) as T;
};
const linkTo = (who: Person, session: string, body: object = {}) =>
  post<{ id: string; ticket: string }>(who, `${session}/share`, { guests: true, ...body });

/** A session with `cat` in a terminal, and its creator attached. */
async function catSession() {
  const [alice, session] = [await person(), fresh("s")];
  const creator = await connect(alice, { session, cmd: "cat", tty: 1, cols: 70, rows: 20 });
  await creator.hello();
  return { alice, session, creator };
}

test("G7: begins with a reset, tells what is printed, the size, and at the end the exit, EOT and 1000", async () => {
  const [alice, session] = [await person(), fresh("s")];
  const creator = await connect(alice, {
    session,
    cmd: "sh",
    arg: ["-c", "read x; exit 3"],
    tty: 1,
    cols: 70,
    rows: 20,
  });
  await creator.hello();
  const client = await watch(alice, session);
  await client.until("a reset", () => eventsOf(client).length >= 2);
  const [magic, reset] = eventsOf(client);
  expect([magic, client.socket.protocol]).toEqual([{ type: "magic" }, "v1.alis"]);
  expect(reset).toMatchObject({ type: "reset", lastId: 0, cols: 70, rows: 20 });
  expect(reset?.timeUs).toBeLessThan(60_000_000);
  creator.say({ type: "resize", cols: 90, rows: 30 });
  await client.until("the size", () => eventsOf(client).some(({ type }) => type === "r"));
  creator.type("é€😀\n");
  expect(await client.end()).toEqual({ code: 1000, reason: "" });
  const told = eventsOf(client).slice(2);
  expect(told[0]).toMatchObject({ type: "r", cols: 90, rows: 30 });
  const typed = told.flatMap(({ text }) => text ?? []).join("");
  expect(typed).toBe("é€😀\r\n");
  expect(told.at(-2)).toMatchObject({ type: "x", status: 3, id: Buffer.byteLength(typed) });
  expect(told.at(-1)?.type).toBe("eot");
});

test("G7: the next connection begins with the screen, at its offset; also after the exit", async () => {
  const [alice, session] = [await person(), fresh("s")];
  const script = "seq 200; read x; echo bye; exit 4";
  const creator = await connect(alice, { session, cmd: "sh", arg: ["-c", script], tty: 1, cols: 40, rows: 10 });
  await creator.output("200");
  const [first, second] = [await watch(alice, session), await watch(alice, session)];
  for (const client of [first, second]) await client.until("a reset", () => eventsOf(client).length >= 2);
  // Its log is short enough to be replayed, and still its screen comes.
  const [, reset] = eventsOf(second);
  expect(reset?.lastId).toBe(Buffer.byteLength(Array.from({ length: 200 }, (_, n) => `${n + 1}\r\n`).join("")));
  expect(reset?.init).toContain("200");
  creator.type("\n");
  expect((await first.end()).code).toBe(1000);
  const late = await watch(alice, session);
  expect((await late.end()).code).toBe(1000);
  expect(textOf(late)).toContain("bye");
  expect(eventsOf(late)[1]?.timeUs).toBeGreaterThan(0);
  expect(eventsOf(late).at(-2)).toMatchObject({ type: "x", status: 4 });
});

test("G7: output of pipes is told as it is, in a terminal that begins a new line at its left edge", async () => {
  const [alice, session] = [await person(), fresh("s")];
  const creator = await connect(alice, { session, cmd: "sh", arg: ["-c", "echo out; echo err >&2; read x"] });
  await creator.output("out\n");
  const client = await watch(alice, session);
  await shows(client, "err\n");
  expect(eventsOf(client)[1]).toMatchObject({ type: "reset", lastId: 0, init: "\x1b[20h" });
  expect(textOf(client)).toContain("out\n");
});

test("G7: a watcher that reads nothing holds no process up, types nothing, and has no say about the size", async () => {
  const [alice, session] = [await person(), fresh("s")];
  const script = "read x; yes 0123456789abcdef | head -c 4000000; echo all-out; read y; exit 0";
  const creator = await connect(alice, { session, cmd: "sh", arg: ["-c", script], tty: 1 });
  await creator.hello();
  const client = await watch(alice, session, "?role=driver&cols=10&rows=5");
  await client.until("a reset", () => eventsOf(client).length >= 2);
  client.socket.pause();
  creator.type("\n");
  await creator.output("all-out");
  client.type("\n");
  client.say({ type: "stdin", data: "\n" });
  client.socket.resume();
  // The last events are enough, and quick to read. A watcher that fell behind is shown the screen, in a reset.
  const lastWords = () => {
    const [magic, ...events] = client.received.map((frame) => new Uint8Array(frame as Buffer));
    return readAlis([magic ?? new Uint8Array(), ...events.slice(-3)]);
  };
  const saysAll = () =>
    lastWords()
      .flatMap(({ text, init }) => text ?? init ?? [])
      .join("")
      .includes("all-out");
  await client.until("the end", saysAll);
  const listed = await api(alice, `/api/sandboxes/${BOX}/sessions/${session}`);
  expect(await listed.json()).toMatchObject({ state: "running", cols: 80, rows: 24 });
});

test("G7: by a link; one that is revoked ends those who watch with 4001, and opens no more", async () => {
  const { alice, session, creator } = await catSession();
  const { id, ticket } = await linkTo(alice, session);
  const client = await watch(undefined, session, `?ticket=${ticket}`);
  creator.type("shown\n");
  await shows(client, "shown");
  const gone = await api(alice, `/api/sandboxes/${BOX}/sessions/${session}/tickets/${id}`, { method: "DELETE" });
  expect(gone.status).toBe(204);
  expect(await client.end()).toEqual({ code: 4001, reason: "the ticket was revoked" });
  expect((await (await watch(undefined, session, `?ticket=${ticket}`)).end()).code).toBe(4001);
});

test("G7: final refusals are an accepted socket with a code that the player does not retry", async () => {
  const { alice, session } = await catSession();
  const { ticket } = await linkTo(alice, session);
  const [bob, other] = [await person(), await catSession()];
  const codeOf = async (who: Person | undefined, name: string, query = "") =>
    (await (await watch(who, name, query)).end()).code;
  expect({
    "no credential": await codeOf(undefined, session),
    "a ticket that is none": await codeOf(undefined, session, "?ticket=s.x"),
    "another tenant's session": await codeOf(bob, session),
    "a link to another session": await codeOf(undefined, other.session, `?ticket=${ticket}`),
    "a session that never was": await codeOf(alice, fresh("none")),
    "another incarnation": await codeOf(alice, session, "?incarnation=0000"),
    "a name that can't be": await codeOf(alice, "a%20b"),
  }).toEqual({
    "no credential": 4001,
    "a ticket that is none": 4001,
    "another tenant's session": 4004,
    "a link to another session": 4003,
    "a session that never was": 4004,
    "another incarnation": 4004,
    "a name that can't be": 4000,
  });
  const listed = await api(bob, `/api/sandboxes/${BOX}/sessions`);
  expect(await listed.json()).toMatchObject({ sessions: [] });
  const refusal = await foreignRefused(alice, `/watch/${BOX}/${session}`, { protocols: ["raw"] });
  expect([refusal.status, JSON.parse(refusal.body).message]).toEqual([
    400,
    "none of the subprotocols offered is spoken here; v1.alis is",
  ]);
  const Cookie = await loginCookie(alice.sub, alice.org);
  const ownPage = { headers: { Origin: system.origin, Cookie }, protocols: PROTOCOLS };
  const byCookie = await foreign(undefined, `/watch/${BOX}/${session}`, ownPage);
  await byCookie.until("a reset", () => eventsOf(byCookie).length >= 2);
  const foreignPage = { Origin: "https://evil.example", Cookie };
  const crossSite = await foreignRefused(undefined, `/watch/${BOX}/${session}`, {
    protocols: PROTOCOLS,
    headers: foreignPage,
  });
  expect(crossSite.status).toBe(403);
});

test("G7: a session that is removed: 4004 for those who watch, and for a link to it", async () => {
  const { alice, session } = await catSession();
  const { ticket } = await linkTo(alice, session);
  const client = await watch(undefined, session, `?ticket=${ticket}`);
  await client.until("a reset", () => eventsOf(client).length >= 2);
  const gone = await api(alice, `/api/sandboxes/${BOX}/sessions/${session}`, { method: "DELETE" });
  expect(gone.status).toBe(204);
  // The exit may be told before the removal: then the stream has ended in order.
  expect([1000, 4004]).toContain((await client.end()).code);
  expect((await (await watch(undefined, session, `?ticket=${ticket}`)).end()).code).toBe(4004);
  expect((await (await watch(alice, session)).end()).code).toBe(4004);
});

test("G7: a process that is lost: 4004; and 4009 for a link to it once another has its name", async () => {
  const { alice, session, creator } = await catSession();
  const { ticket } = await linkTo(alice, session);
  const client = await watch(undefined, session, `?ticket=${ticket}`);
  await client.until("a reset", () => eventsOf(client).length >= 2);
  await restartBridge();
  expect(await client.end()).toEqual({ code: 4004, reason: "process lost" });
  await creator.end();
  const attempt = `${fresh("life").replace("-", "")}.0`;
  await attached(alice, { session, cmd: "cat", tty: 1, ended: "replace", attempt });
  expect((await (await watch(undefined, session, `?ticket=${ticket}`)).end()).code).toBe(4009);
});
