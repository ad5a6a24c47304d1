// *write*: input by calls, counted once for each writer, beside people who type.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "vitest";
import { auditOf } from "../support/clients/audit.ts";
import { connect } from "../support/clients/client.ts";
import { api, fresh, type Person, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

async function call(who: Person, path: string, body?: object): Promise<Answer> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await api(who, `/api/sandboxes/default/sessions/${path}`, init);
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const write = (who: Person, session: string, body: object) => call(who, `${session}/input`, body);

/** A session whose process a person attaches to, and who that is. */
async function session(params: Readonly<Record<string, string | number | readonly string[]>>) {
  const alice = await person();
  const name = fresh("s");
  const client = await connect(alice, { session: name, cmd: "cat", ...params });
  await client.hello();
  return { alice, name, client };
}

test("W2, W3: input is typed once and counted, its receipt says where, and a repeated call is a duplicate", async () => {
  const { alice, name, client } = await session({ tty: 0 });
  expect(await write(alice, name, { text: "één\n", at: 0 })).toEqual({
    status: 200,
    body: { writer: "api", from: 0, to: 6, outputOffset: 0 },
  });
  await client.output("één\n");
  expect(await write(alice, name, { text: "other", at: 0 })).toEqual({
    status: 200,
    body: { writer: "api", from: 0, to: 6, duplicate: true },
  });
  expect(await write(alice, name, { base64: Buffer.from([0xff, 0x0a]).toString("base64"), at: 6 })).toEqual({
    status: 200,
    body: { writer: "api", from: 6, to: 8, outputOffset: 6 },
  });
  expect((await write(alice, name, { text: "x", at: 9 })).body).toMatchObject({ error: "input_gap", expected: 8 });
  // Another writer, and another person, count by themselves.
  expect((await write(alice, name, { text: "b\n", writer: "b" })).body).toMatchObject({ writer: "b", from: 0, to: 2 });
  await client.until("all of it", () => client.bytes().length === 10);
  expect(client.bytes()).toEqual(Buffer.concat([Buffer.from("één\n"), Buffer.from([0xff, 0x0a]), Buffer.from("b\n")]));
});

test("P3: a description says how far the asker has written by calls, also with nobody there and after the exit", async () => {
  const { alice, name, client } = await session({ tty: 0, cmd: "head", arg: ["-c", "8"] });
  const inputOffset = async (who: Person) => (await call(who, name)).body.inputOffset;
  expect(await inputOffset(alice)).toBe(0);
  await write(alice, name, { text: "abcd", at: 0 });
  await write(alice, name, { text: "ef", writer: "b" });
  const bob = await person({ org: alice.org });
  expect([await inputOffset(alice), await inputOffset(bob)]).toEqual([4, 0]);
  await client.leave();
  await until("nobody is there", async () => (await call(alice, name)).body.clients === 0);
  expect(await inputOffset(alice)).toBe(4);
  await write(alice, name, { text: "gh", at: 4 });
  await until("it has ended", async () => (await call(alice, name)).body.state === "exited");
  expect(await inputOffset(alice)).toBe(6);
});

test("W1: keys and pastes are what the terminal's modes want, and Enter runs a line", async () => {
  const script =
    "stty raw -echo; printf '\\e[?1h\\e[?2004hready'; head -c 20 | od -An -tx1; echo end; stty sane; printf '\\e[?1l\\e[?2004l'; exec cat";
  const { alice, name, client } = await session({ cmd: "bash", arg: ["-c", script], tty: 1 });
  await client.output("ready");
  expect((await write(alice, name, { keys: ["Up", "C-c"] })).status).toBe(200);
  expect((await write(alice, name, { paste: "a\nb" })).body).toMatchObject({ from: 4, to: 19 });
  expect((await write(alice, name, { enter: true })).status).toBe(200);
  const seen = (await client.output("end")).replaceAll(/\s+/g, "");
  expect(seen).toContain("1b4f41031b5b3230307e610d621b5b3230317e0d");
});

test("a client that sends all of 20 MB before it looks for an answer finds it, and no broken connection", async () => {
  const who = await person();
  const body = JSON.stringify({ text: "x".repeat(20_000_000) });
  const headers = { Authorization: `Bearer ${who.token}`, "Content-Length": body.length };
  const asked = request(`${system.origin}/api/sandboxes/default/sessions/none/input`, { method: "POST", headers });
  let isSent = false;
  asked.end(body, () => {
    isSent = true;
  });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect([isSent, answer.statusCode]).toEqual([true, 413]);
  answer.resume();
});

test("W2: what a program types is on record, with who it is, and people see that it is there", async () => {
  const { alice, name, client } = await session({ tty: 1 });
  await write(alice, name, { text: "secret plan\n", writer: "bot" });
  const { participant } = (await client.message("join")) as unknown as {
    participant: Readonly<Record<string, unknown>>;
  };
  expect(participant).toMatchObject({ role: "driver", kind: "program" });
  const records = await until("its record", async () => {
    const found = await auditOf(alice, name);
    return found.some(({ type }) => type === "input") && found;
  });
  const input = records.filter(({ type }) => type === "input");
  expect(input).toMatchObject([{ client: participant.id, user: alice.sub, offset: 0, length: 12 }]);
});
