// What a client may not send: which messages are answered, which close the connection, and with what.
import { expect, test } from "vitest";
import { connect, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { person } from "../support/system/system.ts";

const KIB = 1024;

async function attached(): Promise<TestClient> {
  const client = await connect(await person(), { cmd: "cat" });
  await client.hello();
  return client;
}

/** The client still works: what it types comes back. */
async function expectAlive(client: TestClient): Promise<void> {
  client.type("alive");
  expect(await client.output("alive")).toBe("alive");
}

async function expectClosed(client: TestClient, code: number, reason: string): Promise<void> {
  const bye = { type: "bye", code, reason, retry: "never" };
  expect(await client.end()).toEqual({ exit: undefined, bye, code, reason });
}

test.each([
  ["a type that nobody knows", '{"type":"reboot"}', "reboot"],
  ["a type of 60 characters, told shortened", `{"type":"${"t".repeat(60)}"}`, `${"t".repeat(40)}…`],
])("%s is answered unknown_type and changes nothing", async (_name, text, told) => {
  const client = await attached();
  client.socket.send(text);
  const message = `Cannot follow a message of unknown type "${told}"`;
  expect(await client.message("error")).toEqual({ type: "error", code: "unknown_type", message });
  await expectAlive(client);
});

test.each([
  ["text that is not JSON", "hello", "Cannot read a control message: it is not JSON"],
  ["a resize without rows", '{"type":"resize","cols":80}', /^Cannot follow "resize": .*rows/],
])("%s closes with 1008", async (_name, text, reason) => {
  const client = await attached();
  client.socket.send(text);
  const end = await client.end();
  expect([end.exit, end.code, end.bye?.code, end.bye?.retry]).toEqual([undefined, 1008, 1008, "never"]);
  if (typeof reason === "string") expect(end.bye?.reason).toBe(reason);
  else expect(end.bye?.reason).toMatch(reason);
  // A close reason holds 123 bytes.
  expect(end.reason).toBe(String(end.bye?.reason).slice(0, 123));
});

test("a control message of 16 KiB is read, one of 17 KiB closes with 1008", async () => {
  const client = await attached();
  const message = (bytes: number) => {
    const empty = JSON.stringify({ type: "ping", pad: "" });
    return JSON.stringify({ type: "ping", pad: "x".repeat(bytes - empty.length) });
  };
  client.socket.send(message(16 * KIB));
  await client.message("pong", 1);
  client.socket.send(message(17 * KIB));
  await expectClosed(client, 1008, "Cannot read a control message of more than 16384 bytes");
});

test("a stdin frame of 64 KiB is taken, one of a byte more closes with 1009", async () => {
  const client = await attached();
  const bytes = Buffer.alloc(64 * KIB, "x");
  client.type(bytes);
  await client.until("all of it", () => client.bytes().length === bytes.length);
  expect(client.bytes().equals(bytes)).toBe(true);
  client.type(Buffer.alloc(64 * KIB + 1));
  await expectClosed(client, 1009, "stdin frame of 65537 bytes: limit 65536");
});

test("I3b: the client that the process was started for may have asked for 1 MiB of waiting input", async () => {
  const script = { cmd: "sh", arg: ["-c", "echo ready; sleep 1000"] };
  const client = await connect(await person(), { ...script, keeps: "1048576" });
  expect(await client.hello()).toMatchObject({ inputWindow: 1_048_576 });
  await client.output("ready");
  for (let i = 0; i < 20; i += 1) client.type(Buffer.alloc(64 * KIB));
  await expectClosed(client, 1008, "more than 1048576 bytes of input wait");
});

test("L3: the 65th client is told 1013 and may come back; 8 places are kept for drivers with a token", async () => {
  const owner = await person();
  const params = { session: "full", cmd: "cat" };
  const first = await connect(owner, params);
  await first.hello();
  const viewer = { session: "full", role: "viewer" };
  const others = await Promise.all(Array.from({ length: 56 }, () => connect(owner, viewer)));
  await Promise.all(others.map((client) => client.hello()));
  const reason = "the session is full: its last places are its drivers'";
  expect(await refusedSocket(owner, viewer)).toMatchObject({ code: 1013, reason, bye: { retry: "after" } });
  const drivers = await Promise.all(Array.from({ length: 7 }, () => connect(owner, params)));
  await Promise.all(drivers.map((client) => client.hello()));
  const last = await connect(owner, params);
  expect(await last.end()).toEqual({
    exit: undefined,
    bye: { type: "bye", code: 1013, reason: "the session is full", retry: "after", seconds: 1 },
    code: 1013,
    reason: "the session is full",
  });
  await others[0]?.leave();
  const next = await connect(owner, params);
  expect((await next.hello()).participants).toHaveLength(64);
});
