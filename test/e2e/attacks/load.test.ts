// Clients and programs that want too much: each is held to its limit, and the next client is served.
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect as dial, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { deflateRawSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type ConnectOptions, connect, type TestClient } from "../support/clients/client.ts";
import { answerIn, UPGRADE } from "../support/clients/raw-http.ts";
import { processesIn } from "../support/clients/sandbox-processes.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { api, fresh, type Person, person, pids, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const IS_FULL = process.env.SBX_LOAD === "full";
/** Of a tree, in each of ten shells. */
const JOBS = IS_FULL ? 50 : 10;

/** The processes that serve: workerd's, and the bridge. */
async function servers(): Promise<{ workerd: number[]; bridge: number }> {
  const { worker, bridge } = await pids();
  return { workerd: namedInGroup("workerd", worker), bridge };
}
const resident = (ids: readonly number[]): number => ids.reduce((sum, pid) => sum + residentBytes(pid), 0);
const descriptors = (ids: readonly number[]): number =>
  ids.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0);

/** The bridge as a plain client sees it that knows its secret. */
const BRIDGE: ConnectOptions = {
  server: system.bridgeUrl.replace(/^http/, "ws"),
  headers: { Authorization: `Bearer ${system.bridgeToken}` },
  protocols: [],
};
const SERVERS: readonly (readonly [string, ConnectOptions])[] = [
  ["the Worker", {}],
  ["the bridge", BRIDGE],
];
/** Nobody is needed where the bridge's secret is shown. */
const someone = async (options: ConnectOptions): Promise<Person | undefined> =>
  options.server === undefined ? person() : undefined;

async function expectServed(options: ConnectOptions = {}): Promise<void> {
  const client = await connect(await someone(options), { session: fresh("next"), cmd: "cat", keep: 0 }, options);
  await client.hello();
  client.type("served");
  expect(await client.output("served")).toBe("served");
  await client.leave();
}

const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

/** The head of an upgrade that would be answered. */
function upgradeHead(who: Person | undefined, options: ConnectOptions, extra: readonly string[] = []): string {
  const { host } = new URL(options.server ?? system.origin);
  const token = who?.token ?? system.bridgeToken;
  const headers = [`Host: ${host}`, `Authorization: Bearer ${token}`, ...UPGRADE, ...extra];
  return [`GET /attach?session=${fresh("s")}&cmd=cat HTTP/1.1`, ...headers, "", ""].join("\r\n");
}

function open(options: ConnectOptions): Promise<Socket> {
  const { hostname, port } = new URL(options.server ?? system.origin);
  const socket = dial(Number(port), hostname);
  sockets.add(socket);
  socket.on("error", () => undefined); // It may be reset: it asked for it.
  return once(socket, "connect").then(() => socket);
}

describe("a slow-loris upgrade", () => {
  test.each(SERVERS)(
    "on 50 sockets, a byte at a time: %s serves others meanwhile, and keeps no socket",
    async (name, options) => {
      const { workerd, bridge } = await servers();
      const ids = name === "the bridge" ? [bridge] : workerd;
      await expectServed(options);
      const before = descriptors(ids);
      const slow = await Promise.all(Array.from({ length: 50 }, () => open(options)));
      const head = upgradeHead(await someone(options), options).slice(0, -4);
      let rounds = 0;
      for (const byte of head.slice(0, 150)) {
        for (const socket of slow) if (!socket.destroyed) socket.write(byte);
        rounds += 1;
        if (rounds % 50 === 0) await expectServed(options);
        else await delay(2);
      }
      expect(descriptors(ids)).toBeGreaterThan(before);
      for (const socket of slow) socket.destroy();
      await until("the descriptors that they had", () => descriptors(ids) <= before + 5);
      await expectServed(options);
    },
  );
});

/** A masked frame: `first` is its flags and its opcode. */
function frameOf(first: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(14);
  head[0] = first;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]); // A mask of zeros changes nothing.
}

/**
 * Upgrades, sends a frame and waits for the close. Byte by byte: a library would first write all of the frame.
 * @returns The code, 0 where the server hung up; and whether compression was agreed on.
 */
async function closeAfter(frame: Buffer, options: ConnectOptions): Promise<{ code: number; isDeflated: boolean }> {
  const socket = await open(options);
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.write(upgradeHead(await someone(options), options, ["Sec-WebSocket-Extensions: permessage-deflate"]));
  await until("the upgrade", () => received.includes("\r\n\r\n"));
  const head = received.toString("latin1", 0, received.indexOf("\r\n\r\n"));
  expect(head).toMatch(/^HTTP\/1\.1 101 /);
  socket.write(frame);
  const answer = () => answerIn(received).code ?? 0;
  await until("the close", () => answer() !== 0 || socket.closed || socket.readableEnded);
  socket.destroy();
  return { code: answer(), isDeflated: /^sec-websocket-extensions: permessage-deflate/im.test(head) };
}

/** The highest that memory rises by while `work` is done. */
async function growthDuring(ids: readonly number[], work: () => Promise<void>): Promise<number> {
  const before = resident(ids);
  let highest = 0;
  const watching = setInterval(() => {
    highest = Math.max(highest, resident(ids) - before);
  }, 10);
  try {
    await work();
  } finally {
    clearInterval(watching);
  }
  return Math.max(highest, resident(ids) - before);
}

describe("a frame of 32 MiB", () => {
  test.each(SERVERS)("ends its connection with 1009, and %s keeps none of it", async (name, options) => {
    const { workerd, bridge } = await servers();
    await expectServed(options);
    const log = join(system.dir, "logs", `${name === "the bridge" ? "bridge" : "worker"}.log`);
    const logged = readFileSync(log).length;
    const grown = await growthDuring(name === "the bridge" ? [bridge] : workerd, async () => {
      // At most 32 MiB are a message for the runtime, and ours to refuse.
      const whole = frameOf(0x82, Buffer.alloc(32 * MIB));
      // More is refused at the frame's head. Who sends on may be reset before reading the close.
      const head = frameOf(0x82, Buffer.alloc(33 * MIB)).subarray(0, 1_024);
      for (const frame of [whole, head]) {
        expect((await closeAfter(frame, options)).code).toBe(1009);
      }
    });
    console.log(`${name}: grown by ${Math.round(grown / MIB)} MiB at most`);
    expect(grown).toBeLessThan(200 * MIB);
    await expectServed(options);
    // wrangler's proxy, which stands before the Worker where bridges are in containers, says this of the frames that it does not take.
    const lines = readFileSync(log, "utf8").slice(logged).split("\n");
    expect(lines.filter((line) => /uncaught/i.test(line) && !line.includes("WebSocket protocol error"))).toEqual([]);
  });
});

describe("a compression bomb", () => {
  const bombs = [31 * MIB, IS_FULL ? 512 * MIB : 96 * MIB].map((bytes) =>
    // FIN, RSV1, binary.
    frameOf(0xc2, deflateRawSync(Buffer.alloc(bytes), { level: 9 })),
  );

  test("ends its connection with 1009, and workerd, which agrees to compression, unpacks no more than 32 MiB of it", async () => {
    const { workerd } = await servers();
    await expectServed();
    const grown = await growthDuring(workerd, async () => {
      for (const bomb of bombs) expect(await closeAfter(bomb, {})).toEqual({ code: 1009, isDeflated: true });
    });
    console.log(`grown by ${Math.round(grown / MIB)} MiB at most`);
    expect(grown).toBeLessThan(150 * MIB);
    await expectServed();
  });

  test("is none to the bridge, which agrees to no compression: a protocol error, 1002", async () => {
    const { bridge } = await servers();
    await expectServed(BRIDGE);
    const grown = await growthDuring([bridge], async () => {
      for (const bomb of bombs) expect(await closeAfter(bomb, BRIDGE)).toEqual({ code: 1002, isDeflated: false });
    });
    expect(grown).toBeLessThan(50 * MIB);
    await expectServed(BRIDGE);
  });
});

/** Takes output away as it comes, and acknowledges it, if it does. */
function drain(client: TestClient, acks: boolean): { bytes: number } {
  const taken = { bytes: 0 };
  let { offset } = client;
  client.received.length = 0;
  client.socket.removeAllListeners("message");
  client.socket.on("message", (message: Buffer, isBinary: boolean) => {
    if (!isBinary) {
      const { type, to } = JSON.parse(message.toString()) as { type: string; to?: number };
      if (type === "gap" && to !== undefined) offset = to;
      return;
    }
    if (message[0] === 3) return;
    taken.bytes += message.length - 1;
    offset += message.length - 1;
    if (acks) client.say({ type: "ack", offset });
  });
  return taken;
}

test("a process that floods 64 clients: memory stays bounded, and the ^C of the one that types ends it", async () => {
  const who = await person();
  const session = fresh("flood");
  const { workerd, bridge } = await servers();
  const holder = await connect(who, { session, cmd: "bash", arg: ["--norc"], tty: 1, env: "PS1=ready>" });
  await holder.output("ready>");
  // The last places are drivers'.
  const roleOf = (i: number) => (i < 56 ? "viewer" : "driver");
  const viewers = await Promise.all(
    Array.from({ length: 63 }, (_one, i) => connect(who, { session, role: roleOf(i) }, { acks: false })),
  );
  await Promise.all(viewers.map((viewer) => viewer.hello()));
  // Half of them and the drivers read and acknowledge, the others stop at their window.
  const isReader = (i: number) => i % 2 === 0 || roleOf(i) === "driver";
  const taken = viewers.map((viewer, i) => drain(viewer, isReader(i)));
  const before = resident([...workerd, bridge]);
  holder.type("yes flood\n");
  const readers = taken.filter((_one, i) => isReader(i));
  const others = taken.filter((_one, i) => !isReader(i));
  // Beyond the window of those who stopped.
  const least = IS_FULL ? 2_000_000 : 800_000;
  await until("the flood", () => Math.min(holder.offset, ...readers.map(({ bytes }) => bytes * 20)) > least);
  const grown = resident([...workerd, bridge]) - before;
  expect(grown).toBeLessThan(200 * MIB);
  const typed = Date.now();
  // What came before is not searched with each message that still comes.
  holder.received.length = 0;
  holder.type("\x03");
  const shown = () => holder.received.map((one) => (one.kind === "output" ? one.bytes.toString() : "")).join("");
  // One that fell behind is shown the screen instead.
  await holder.until("^C", () => /\^C[\s\S]*ready>/.test(shown()));
  console.log(`^C after ${Date.now() - typed} ms; grown by ${Math.round(grown / MIB)} MiB`);
  expect(Math.max(...others.map(({ bytes }) => bytes))).toBeLessThanOrEqual(524_288);
  holder.type("echo $((6 * 7))\n");
  await holder.output(/\r42\r\n/);
  await api(who, `/api/sandboxes/default/sessions/${session}`, { method: "DELETE" });
});

test("a tree of many processes ends with its session", async () => {
  const who = await person();
  const session = fresh("tree");
  // Ten shells with jobs of their own, hence process groups of their own; every other process ignores SIGHUP and SIGTERM.
  const branch = `set -m; for i in {1..${JOBS}}; do sleep 1000 & (trap '' HUP TERM; exec sleep 1000) & done; wait`;
  const script = `echo leader $$; for i in {1..10}; do bash -c "${branch}" & done; wait`;
  const client = await connect(who, { session, cmd: "bash", arg: ["-c", script] });
  const leader = Number(/leader (\d+)\n/.exec(await client.output(/leader \d+\n/))?.[1]);
  const members = async () => (await processesIn(who)).filter((facts) => facts.session === leader);
  await until("all of them", async () => (await members()).length >= 20 * JOBS + 11);
  expect(new Set((await members()).map(({ group }) => group)).size).toBeGreaterThan(18 * JOBS);
  expect((await api(who, `/api/sandboxes/default/sessions/${session}`, { method: "DELETE" })).status).toBe(204);
  await until("the end of all", async () => (await members()).length === 0);
  expect((await client.end()).exit).toMatchObject({ type: "exit" });
  await expectServed();
});
