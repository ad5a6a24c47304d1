// A session that is parked while its clients stay, and whose object is then taken out of memory: over the core's own end of the inner
// hop, with a process that answers each line.
import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import {
  attachParams,
  Doorbell,
  dialectNamed,
  InnerServer,
  OutputLog,
  ProcessSession,
  parseAttachQuery,
  type ServerSocket,
} from "sandbox-stdio/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AttachSpec, requestOf } from "../src/attach/attach-spec.ts";
import type { Env } from "../src/env.ts";
import { COUNTER } from "../src/metrics/report.ts";
import { answersPings } from "../src/session/client-sockets.ts";
import type { SessionObject } from "../src/session/session-object.ts";
import { GREETED_SETTINGS } from "./stand-in-bridge.ts";

const real = env as unknown as Env & Record<string, string>;
const SETTINGS = {
  ...GREETED_SETTINGS,
  PARK_SECONDS: "1",
  IDLE_SECONDS: "",
  AUDIT: "off",
  METRICS_TOKEN: "a token of the metrics",
  METRICS_SECONDS: "3600",
};
const before = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, real[name]]));
const INCARNATION = "the-only-one";
const LIMIT = { timeout: 25_000, interval: 20 };

beforeEach(() => void Object.assign(real, SETTINGS));

afterEach(() => {
  Object.assign(real, before);
  vi.restoreAllMocks();
});

/** A bridge with one process, which writes `got LINE` for each line that it is given. */
class Bridge {
  readonly log = new OutputLog({ cols: 80, rows: 24 });
  readonly session: ProcessSession;
  readonly doorbell = new Doorbell();
  inner: InnerServer | undefined;
  typed = "";
  calls = 0;
  readonly #stub: DurableObjectStub<SessionObject>;

  constructor(stub: DurableObjectStub<SessionObject>) {
    this.#stub = stub;
    const nothing = () => undefined;
    this.session = new ProcessSession({
      facts: {
        sandbox: "dev",
        session: "s",
        incarnation: INCARNATION,
        tty: false,
        mode: "collaborative",
        delivery: "lossless",
      },
      log: this.log,
      now: () => Date.now(),
      reuseFrames: false,
      upstream: {
        ...{ attached: nothing, signal: nothing, resize: nothing, kill: nothing, acked: nothing, departed: nothing },
        ...{ holder: nothing, answerer: nothing, pane: nothing },
        input: (client, entry) => {
          if (entry.kind !== "bytes") return;
          const text = new TextDecoder().decode(entry.bytes);
          this.typed += text;
          queueMicrotask(() => {
            this.session.wrote(client, text.length);
            this.write(`got ${text}`);
            // Its acknowledgement waits for more.
            setTimeout(() => this.session.tick(), (this.session.nextTickMs ?? 0) - Date.now() + 1);
          });
        },
      },
    });
    vi.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
      const asked = new URL(String(url)).searchParams.get("offset");
      return this.#open(asked === null ? undefined : Number(asked));
    });
  }

  #open(asked: number | undefined): Response {
    const pair = new WebSocketPair();
    const socket = pair[1];
    socket.binaryType = "arraybuffer";
    socket.accept();
    const quietly = (use: () => void) => {
      try {
        use();
      } catch {
        // It has closed.
      }
    };
    const own: ServerSocket = {
      send: (frame) => quietly(() => socket.send(frame)),
      close: (code, reason) => quietly(() => socket.close(code, reason)),
      isWritable: () => true,
    };
    const inner = new InnerServer(this.session, own, Date.now());
    socket.addEventListener("message", ({ data }) => {
      inner.receive(typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer), Date.now());
      this.session.tick();
    });
    socket.addEventListener("close", ({ code }) => {
      inner.closed(code);
      if (this.inner !== inner) return;
      this.inner = undefined;
      if (inner.parking !== undefined) this.doorbell.park(inner.parking, Date.now());
    });
    this.inner = inner;
    this.doorbell.answered();
    inner.open({ cmd: ["sh"], createdAt: "2026-01-01T00:00:00.000Z", calls: true }, asked);
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  write(text: string): void {
    this.log.append(new TextEncoder().encode(text), 1);
    this.session.appended();
    if (this.doorbell.nextMs({ endOffset: this.log.endOffset, hasEnded: false }) > Date.now()) return;
    this.calls += 1;
    void this.#stub.called(INCARNATION);
  }
}

function specOf(session: string, dialect: "stdio" | "plain", subject = "alice"): AttachSpec {
  const process = { cmd: "sh", args: [] };
  const query = parseAttachQuery(new URLSearchParams(attachParams({ session, process })));
  if (!query.ok) throw new Error(query.detail);
  const own = { persons: [{ subject }], tokenIds: [] };
  const may = { mayExec: true, isAdmin: false, mayCreate: true };
  const expiresAtMs = Date.now() + 7_200_000;
  return {
    dialect,
    ...(dialect === "stdio" ? { subprotocol: "stdio.v1" } : {}),
    refusal: "close",
    sandboxKey: "0123456789abcdef",
    session,
    query: query.query,
    isTransient: false,
    who: { subject, name: subject, isGuest: false, ...may, ...own, own, expiresAtMs, origin: "" },
    actor: { tenant: "t", user: subject, address: "" },
    pass: { connection: crypto.randomUUID(), address: "unknown", homeKey: "home" },
  } as AttachSpec;
}

/** A client's end: all that it was told, and its output. */
class Client {
  output = "";
  readonly told: string[] = [];
  readonly #socket: WebSocket;
  #offset = 0;

  constructor(socket: WebSocket, acknowledges: boolean) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.accept();
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") {
        this.told.push(data);
        return;
      }
      const bytes = new Uint8Array(data as ArrayBuffer).subarray(1);
      this.output += new TextDecoder().decode(bytes);
      this.#offset += bytes.length;
      if (acknowledges) socket.send(JSON.stringify({ type: "ack", offset: this.#offset }));
    });
    socket.addEventListener("close", ({ code }) => this.told.push(`closed ${code}`));
    if (acknowledges) socket.send(JSON.stringify({ type: "ping" }));
  }

  type(text: string): void {
    this.#socket.send(new TextEncoder().encode(text));
  }

  close(): void {
    this.#socket.close(1000, "");
  }

  /** What it was told beside its input's acknowledgements. */
  get news(): string[] {
    return this.told.filter((text) => !text.includes('"stdin_ack"') && !text.includes('"pong"'));
  }

  get acknowledged(): number {
    const last = this.told.findLast((text) => text.includes('"stdin_ack"'));
    return last === undefined ? 0 : (JSON.parse(last) as { offset: number }).offset;
  }
}

async function open(
  stub: DurableObjectStub<SessionObject>,
  dialect: "stdio" | "plain",
  subject?: string,
): Promise<Client> {
  const { webSocket } = await stub.fetch(requestOf(specOf("s", dialect, subject)));
  if (!webSocket) throw new Error("no upgrade");
  const client = new Client(webSocket, dialect === "stdio");
  if (dialect === "stdio") await expect.poll(() => client.news[0], LIMIT).toMatch(/"hello"/);
  return client;
}

async function parked(stub: DurableObjectStub<SessionObject>): Promise<void> {
  const isParked = () => runInDurableObject(stub, (_object, { storage }) => storage.kv.get("parked") !== undefined);
  await expect.poll(isParked, LIMIT).toBe(true);
}

test("H21, H21a: three clients through evictions, with typing and output between: nothing lost, doubled or said", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const bridge = new Bridge(stub);
  const first = await open(stub, "stdio");
  const second = await open(stub, "stdio", "bob");
  const plain = await open(stub, "plain", "cleo");
  const clients = [first, second, plain];
  first.type("begin\n");
  for (const client of clients) await expect.poll(() => client.output, LIMIT).toBe("got begin\n");
  const news = clients.map((client) => client.news);
  let expected = "got begin\n";
  for (let round = 0; round < 12; round += 1) {
    await parked(stub);
    await evictDurableObject(stub, { webSockets: "hibernate" });
    const calls = bridge.calls;
    const line = `${round}\n`;
    if (round % 4 === 3) {
      bridge.write(line);
      expected += line;
      expect(bridge.calls).toBe(calls + 1);
    } else {
      clients[round % 4]?.type(line);
      expected += `got ${line}`;
    }
    for (const client of clients) await expect.poll(() => client.output, LIMIT).toBe(expected);
  }
  expect(clients.map((client) => client.news)).toEqual(news);
  expect(bridge.typed).toBe("begin\n0\n1\n2\n4\n5\n6\n8\n9\n10\n");
  await expect
    .poll(() => [first.acknowledged, second.acknowledged], LIMIT)
    .toEqual(["begin\n0\n4\n8\n".length, "1\n5\n9\n".length]);
  for (const client of clients) client.close();
}, 120_000);

test("H21: an object that is parked has neither a timer nor an alarm before its clients' tokens end, nor a place in the bridge's way", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const bridge = new Bridge(stub);
  const client = await open(stub, "stdio");
  client.type("x\n");
  await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  await parked(stub);
  expect(bridge.inner).toBeUndefined();
  // The client's token ends in two hours: it is warned a minute before.
  const alarmMs = await runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());
  expect(alarmMs ?? 0).toBeGreaterThan(Date.now() + 3_600_000);
  // An object that has a timer, or anything else under way, is not evicted.
  await evictDurableObject(stub, { webSockets: "hibernate" });
  // A look at it wakes nobody.
  expect(await stub.openConnections([])).toEqual([]);
  expect(bridge.inner).toBeUndefined();
  client.type("y\n");
  await expect.poll(() => client.output, LIMIT).toBe("got x\ngot y\n");
  client.close();
}, 60_000);

test("H21a: a client that leaves while the session sleeps has left for the others, and for the bridge", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const bridge = new Bridge(stub);
  const first = await open(stub, "stdio");
  const second = await open(stub, "stdio", "bob");
  second.type("x\n");
  for (const client of [first, second]) await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  await parked(stub);
  await evictDurableObject(stub, { webSockets: "hibernate" });
  second.close();
  await expect.poll(() => first.news.filter((text) => text.includes('"leave"')).length, LIMIT).toBe(1);
  await expect.poll(() => [...bridge.session.clients].map(({ name }) => name), LIMIT).toEqual(["alice"]);
  first.close();
}, 60_000);

test("H21: what a session has counted is reported before its object sleeps", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const received = async () => {
    const text = (await real.COUNTERS?.getByName(COUNTER).read()) ?? "";
    return Number(/^sbx_stdio_received_bytes_total (\d+)$/m.exec(text)?.[1]);
  };
  const before = await received();
  new Bridge(stub);
  const client = await open(stub, "stdio");
  const line = `${"x".repeat(5_000)}\n`;
  client.type(line);
  await expect.poll(() => client.output, LIMIT).toBe(`got ${line}`);
  await parked(stub);
  await evictDurableObject(stub, { webSockets: "hibernate" });
  await expect.poll(received, LIMIT).toBeGreaterThan(before + 5_000);
  client.close();
}, 60_000);

test("H21d: the stdio client and the plain one park, and those of other products keep the object awake", () => {
  const names = ["stdio", "plain", "plain-text", "ttyd", "json", "pty", "pty-shared", "addon"];
  const parks = names.filter((name) => dialectNamed(name).acknowledges || answersPings(dialectNamed(name)));
  expect(parks).toEqual(["stdio", "plain"]);
});

test("H21c: after PARK_HOURS the client is told, and a minute later closed as idle", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  new Bridge(stub);
  Object.assign(real, { PARK_HOURS: "1" });
  const client = await open(stub, "stdio");
  client.type("x\n");
  await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  await parked(stub);
  const later = async (ms: number) => {
    await runInDurableObject(stub, (_object, { storage }) => {
      const stored = storage.kv.get<{ untilMs: number }>("parked");
      storage.kv.put("parked", { ...stored, untilMs: Date.now() + ms });
    });
    await evictDurableObject(stub, { webSockets: "hibernate" });
    await runDurableObjectAlarm(stub);
  };
  const count = client.news.length;
  await later(30_000);
  await expect.poll(() => client.news.slice(count), LIMIT).toEqual([expect.stringContaining('"code":"idle"')]);
  await later(-1);
  await expect.poll(() => client.news.at(-1), LIMIT).toBe("closed 4408");
}, 60_000);
