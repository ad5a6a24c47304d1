// Input of other products' clients, which nothing tells to wait: as much as they like, and a paste as one frame.
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { connect, type TestClient } from "../support/clients/client.ts";
import type { ForeignClient } from "../support/clients/foreign-client.ts";
import { TtydClient } from "../support/clients/ttyd-client.ts";
import { addon, json, shared } from "../support/generators/foreign-routes.ts";
import { api, fresh, type Person, person, system } from "../support/system/system.ts";
import { within } from "../support/system/wait.ts";

const HALF = 1_200_000;
const MIB = 1024 * 1024;

/** Takes 2.4 MB in two halves and says what each was, on a terminal as it came. */
const TAKE = `for i in 1 2; do head -c ${HALF} | sha256sum; done`;
const RAW = `stty raw -echo; echo ready; ${TAKE}`;

const sum = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Sends bytes as its dialect does, in frames of at most so many. */
type Sender = { send(bytes: Buffer, frameBytes: number): void; readonly isText: boolean };

function pieces(bytes: Buffer, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
    bytes.subarray(i * length, (i + 1) * length),
  );
}

const inBytes = (client: ForeignClient | TestClient): Sender => ({
  isText: false,
  send: (bytes, frameBytes) => {
    for (const piece of pieces(bytes, frameBytes)) client.type(piece);
  },
});

const inText = (client: ForeignClient | TestClient): Sender => ({
  isText: true,
  send: (bytes, frameBytes) => {
    for (const piece of pieces(bytes, frameBytes)) client.socket.send(piece.toString());
  },
});

const ttydUrl = (sandbox: string) => `${system.origin.replace(/^http/, "ws")}/terminal/${sandbox}/ws`;

async function ttydSender(who: Person, sandbox: string): Promise<Sender> {
  const client = await TtydClient.connect(ttydUrl(sandbox), { headers: { Authorization: `Bearer ${who.token}` } });
  return {
    isText: false,
    send: (bytes, frameBytes) => {
      for (const piece of pieces(bytes, frameBytes)) client.socket.send(Buffer.concat([Buffer.from("0"), piece]));
    },
  };
}

async function jsonSender(who: Person, sandbox: string): Promise<Sender> {
  const client = await json(who, sandbox);
  return {
    isText: true,
    // Its limits are its document's.
    send: (bytes) => {
      for (const piece of pieces(bytes, 8192)) client.say({ type: "input", data: piece.toString() });
    },
  };
}

const plain = (who: Person, sandbox: string, query = {}) =>
  connect(who, { sandbox, session: "main", ...query }, { protocols: [] });

const SENDERS: readonly [name: string, open: (who: Person, sandbox: string) => Promise<Sender>][] = [
  ["plain", async (who, sandbox) => inBytes(await plain(who, sandbox))],
  ["plain with text=1", async (who, sandbox) => inText(await plain(who, sandbox, { text: 1 }))],
  ["sandbox addon", async (who, sandbox) => inBytes(await addon(who, sandbox))],
  ["sandbox addon, in text", async (who, sandbox) => inText(await addon(who, sandbox))],
  ["ttyd", ttydSender],
  ["pty, shared", async (who, sandbox) => inBytes(await shared(who, sandbox))],
  ["json", jsonSender],
];

function content(isText: boolean): Buffer {
  return isText ? Buffer.from(randomBytes(HALF).toString("hex").slice(0, HALF)) : randomBytes(HALF);
}

async function takesAll(sender: Sender, said: (line: string) => Promise<unknown>): Promise<void> {
  for (const frameBytes of [HALF, 64_000]) {
    const bytes = content(sender.isText);
    sender.send(bytes, frameBytes);
    await said(`${sum(bytes)}  -`);
  }
}

describe("2.4 MB, half of it in one frame where the dialect has no limit of its own, come through byte for byte", () => {
  test.each(SENDERS)("from %s, into a terminal", async (_name, open) => {
    const who = await person();
    const sandbox = fresh("box");
    const watcher = await connect(who, { sandbox, session: "main", tty: 1, cmd: "sh", arg: ["-c", RAW] });
    await watcher.output("ready");
    await takesAll(await open(who, sandbox), (line) => watcher.output(line));
  });
});

describe("L4d: what waits of all clients of a session together", () => {
  const most = 16 * MIB;

  test("is 16 MiB; beyond it a client is closed that has more than 256 KiB, and others type on", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const first = await connect(who, { sandbox, session: "main", tty: 0, cmd: "sh", arg: ["-c", "exec sleep 100"] });
    await first.hello();
    for (let i = 0; i < 4; i += 1) {
      const client = await plain(who, sandbox);
      client.type(Buffer.alloc(4 * MIB));
      client.say({ type: "ping" });
      await client.message("pong");
    }
    const fifth = await plain(who, sandbox);
    fifth.type(Buffer.alloc(4 * MIB));
    expect(await fifth.end()).toMatchObject({
      code: 1008,
      reason: `more than ${most} bytes of this session's input wait`,
    });
    const small = await plain(who, sandbox);
    small.type(Buffer.alloc(256 * 1024));
    small.say({ type: "ping" });
    await small.message("pong");
  });

  test("is as much before they are attached: a guest who only looks fills no memory with silent connections", async () => {
    const who = await person();
    const session = fresh("s");
    await (await connect(who, { session, cmd: "cat", tty: 1 })).hello();
    const body = JSON.stringify({ role: "viewer", guests: true, seconds: 600, maxClients: 1 });
    const made = await api(who, `/api/sandboxes/default/sessions/${session}/share`, { method: "POST", body });
    const { ticket } = (await made.json()) as { ticket: string };
    const url = `${ttydUrl("default")}?session=${session}&role=viewer&ticket=${ticket}`;
    const silent = await Promise.all(Array.from({ length: 6 }, () => TtydClient.connect(url, { first: "" })));
    for (const { socket } of silent) socket.send(Buffer.alloc(3.5 * MIB, "0"));
    const closed = await within("a close", Promise.race(silent.map((client) => client.closed)));
    expect(closed).toEqual({ code: 1008, reason: "too much came before the session was ready" });
  });
});
