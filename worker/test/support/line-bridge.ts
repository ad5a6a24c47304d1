// A session that may be parked, over the core's own end of the inner hop: a process that answers each line, and clients.
import { runInDurableObject } from "cloudflare:test";
import {
  attachParams,
  InnerServer,
  OutputLog,
  ProcessSession,
  parseAttachQuery,
  type ServerSocket,
  WakeupSchedule,
} from "sandbox-stdio/core";
import { expect, vi } from "vitest";
import { type AttachSpec, requestOf } from "../../src/attach/attach-spec.ts";
import type { SessionObject } from "../../src/objects/session-object.ts";
import type { Clock } from "./given-clock.ts";
import { GREETED_SETTINGS } from "./stand-in-bridge.ts";

export const PARKING_SETTINGS = {
  ...GREETED_SETTINGS,
  PARK_SECONDS: "1",
  PARK_PLAIN: "1",
  IDLE_SECONDS: "",
  AUDIT: "off",
};
export const LIMIT = { interval: 10 };
const QUIET_MS = 1_000;
const INCARNATION = "the-only-one";

/** A bridge with one process, which writes `got LINE` for each line that it is given. */
export class Bridge {
  readonly log = new OutputLog({ cols: 80, rows: 24 });
  readonly session: ProcessSession;
  readonly doorbell = new WakeupSchedule();
  inner: InnerServer | undefined;
  typed = "";
  calls = 0;
  /** Requests that were not answered, with their paths, while the way here was a black hole. */
  readonly unanswered: string[] = [];
  #unheard: (() => void)[] | undefined;
  /** For how long the object that went last has asked the bridge to hold on. */
  keptSeconds = 0;
  readonly #stub: DurableObjectStub<SessionObject>;

  /** @param tty Whether its process has a terminal. */
  constructor(stub: DurableObjectStub<SessionObject>, tty = false) {
    this.#stub = stub;
    const nothing = () => undefined;
    this.session = new ProcessSession({
      facts: {
        sandbox: "dev",
        session: "s",
        incarnation: INCARNATION,
        tty,
        mode: "collaborative",
        delivery: "lossless",
      },
      log: this.log,
      now: () => Date.now(),
      reuseFrames: false,
      upstream: {
        ...{ attached: nothing, signal: nothing, resize: nothing, kill: nothing, acked: nothing, departed: nothing },
        ...{ holder: nothing, answerer: () => false, pane: nothing },
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
    vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
      const { pathname, searchParams } = new URL(String(url));
      if (this.#unheard !== undefined) {
        this.unanswered.push(pathname);
        return new Promise((_, reject) => {
          init?.signal?.addEventListener("abort", () => reject(new Error("given up")));
        });
      }
      if (pathname === "/sessions") return Response.json({ sessions: [this.#listing] });
      const asked = searchParams.get("offset");
      return this.#open(asked === null ? undefined : Number(asked));
    });
  }

  get #listing() {
    const state = this.session.hasEnded ? "exited" : "running";
    return { incarnation: INCARNATION, state, offset: this.log.endOffset };
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
      const receive = () => {
        inner.receive(typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer), Date.now());
        this.session.tick();
      };
      if (this.#unheard === undefined) receive();
      else this.#unheard.push(receive);
    });
    socket.addEventListener("close", ({ code }) => {
      inner.closed(code);
      if (this.inner !== inner) return;
      this.inner = undefined;
      if (inner.parking === undefined) return;
      this.keptSeconds = inner.parking.seconds;
      this.doorbell.park(inner.parking, Date.now());
    });
    this.inner = inner;
    this.doorbell.answered();
    inner.open({ cmd: ["sh"], createdAt: "2026-01-01T00:00:00.000Z", calls: true }, asked);
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  /** Nothing comes here from now on, and nobody is told. */
  goDeaf(): void {
    this.#unheard = [];
  }

  /** What was on its way arrives. */
  async hearAgain(): Promise<void> {
    const unheard = this.#unheard ?? [];
    this.#unheard = undefined;
    // Its end of the connection is the object's own.
    await runInDurableObject(this.#stub, () => {
      for (const receive of unheard) receive();
    });
  }

  write(text: string): void {
    this.log.append(new TextEncoder().encode(text), 1);
    this.session.appended();
    this.#call();
  }

  /** Its process ends. */
  exit(code: number): void {
    this.session.exited({ code });
    this.#call();
  }

  #call(): void {
    const progress = { endOffset: this.log.endOffset, hasEnded: this.session.hasEnded };
    if (this.doorbell.nextMs(progress) > Date.now()) return;
    this.calls += 1;
    void this.#stub.called(INCARNATION);
  }
}

function specOf(session: string, dialect: "stdio" | "plain", subject = "alice", record = false): AttachSpec {
  const process = { cmd: "sh", args: [], ...(record ? { record } : {}) };
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
export class Client {
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
    socket.addEventListener("close", ({ code }) => void this.told.push(`closed ${code}`));
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

export async function open(
  stub: DurableObjectStub<SessionObject>,
  dialect: "stdio" | "plain",
  subject?: string,
  record?: boolean,
): Promise<Client> {
  const { webSocket } = await stub.fetch(requestOf(specOf("s", dialect, subject, record)));
  if (!webSocket) throw new Error("no upgrade");
  const client = new Client(webSocket, dialect === "stdio");
  if (dialect === "stdio") await expect.poll(() => client.news[0], LIMIT).toMatch(/"hello"/);
  return client;
}

/** Puts the clock forward until the session is parked: the quiet that it needs passes at once. */
export async function parked(stub: DurableObjectStub<SessionObject>, clock: Clock): Promise<void> {
  const isParked = () => runInDurableObject(stub, (_object, { storage }) => storage.kv.get("parked") !== undefined);
  const parkedYet = () => {
    clock.putForward(QUIET_MS);
    return isParked();
  };
  // What was said last has its real time to arrive before the object is told that time has passed.
  if (!(await isParked())) await expect.poll(parkedYet, LIMIT).toBe(true);
}
