// What the tests of the session core share: peers that write down what they are told, a clock that stands still until it
// is moved, and an inner hop whose messages lie in two lists until they are delivered.

import {
  type AttachRequest,
  type ClientRecord,
  type ExitStatus,
  type Frame,
  InnerClient,
  type InnerHello,
  InnerServer,
  type InputEntry,
  OutputLog,
  type PaneOrder,
  type Peer,
  ProcessSession,
  type ProgramHost,
  RelaySession,
  type ServerMessage,
  type SessionFacts,
  type SessionOptions,
  type Upstream,
} from "../../src/index.ts";
import type { SnapshotSource } from "../../src/output/snapshot-requests.ts";
import type { SessionCore } from "../../src/session/session-core.ts";
import type { Answerer } from "../../src/terminal/answerer-history.ts";

export const bytes = (text: string) => new TextEncoder().encode(text);
export const text = (raw: Uint8Array) => new TextDecoder().decode(raw);

export class Clock {
  ms = 1_000;
  now = () => this.ms;
}

export class FakePeer implements Peer {
  /** Messages, and output as `[stream, text]`. */
  readonly told: (ServerMessage | [number, string])[] = [];
  end: { code: number; reason: string; retry: string } | "finished" | undefined;
  isStuffed = false;

  send(message: ServerMessage): void {
    this.told.push(message);
  }
  sendOutput(frame: Uint8Array): void {
    this.told.push([frame[0] ?? 0, text(frame.subarray(1))]);
  }
  sendSnapshot(frame: Uint8Array): void {
    this.told.push([frame[0] ?? 0, text(frame.subarray(1))]);
  }
  isWritable(): boolean {
    return !this.isStuffed;
  }
  bye(code: number, reason: string, retry: "never" | "now" | "after"): void {
    this.end ??= { code, reason, retry };
  }
  finish(): void {
    this.end ??= "finished";
  }

  get hello(): Extract<ServerMessage, { type: "hello" }> {
    const [first] = this.told;
    if (first === undefined || Array.isArray(first) || first.type !== "hello")
      throw new Error("no hello was told first");
    return first;
  }
  /** All output so far. */
  get output(): string {
    return this.told.map((item) => (Array.isArray(item) && item[0] !== 3 ? item[1] : "")).join("");
  }
  /** All snapshots so far. */
  get snapshots(): string[] {
    return this.told.flatMap((item) => (Array.isArray(item) && item[0] === 3 ? [item[1]] : []));
  }
  /** What was told after `hello`, of these types. */
  of<T extends ServerMessage["type"]>(...types: T[]): Extract<ServerMessage, { type: T }>[] {
    const found: ServerMessage[] = [];
    for (const item of this.told) if (!Array.isArray(item) && types.includes(item.type as T)) found.push(item);
    return found as Extract<ServerMessage, { type: T }>[];
  }
}

/** An upstream that writes down what it is asked for. */
export class FakeUpstream implements Upstream {
  readonly asked: unknown[][] = [];
  attached(client: ClientRecord): void {
    this.asked.push(["attached", client.id]);
  }
  input(client: ClientRecord, entry: InputEntry): void {
    this.asked.push(["input", client.id, entry.kind, entry.kind === "bytes" ? text(entry.bytes) : entry.end]);
  }
  signal(client: ClientRecord, signal: string): void {
    this.asked.push(["signal", client.id, signal]);
  }
  resize(client: ClientRecord | undefined, size: { cols: number; rows: number }): void {
    this.asked.push(["resize", client?.id ?? "", size.cols, size.rows]);
  }
  kill(client: ClientRecord): void {
    this.asked.push(["kill", client.id]);
  }
  pane(client: ClientRecord, order: PaneOrder): void {
    this.asked.push(["pane", client.id, order]);
  }
  acked(client: ClientRecord): void {
    this.asked.push(["acked", client.id, client.acked]);
  }
  departed(client: ClientRecord, how: string): void {
    this.asked.push(["departed", client.id, how]);
  }
  holder(id: string): void {
    this.asked.push(["holder", id]);
  }
  /** Whether it says when the bridge has heard that it answers. */
  confirms = false;
  answerer({ id, offset }: Answerer): boolean {
    this.asked.push(["answerer", id, offset]);
    return this.confirms && id === "";
  }
  of(...kinds: string[]): unknown[][] {
    return this.asked.filter(([kind]) => kinds.includes(String(kind)));
  }
}

const FACTS: SessionFacts = {
  ...{ sandbox: "dev", session: "main", incarnation: "i1" },
  ...{ tty: false, mode: "collaborative", delivery: "lossless" },
};

type RigOf<S extends SessionCore> = { session: S; log: OutputLog; clock: Clock; upstream: FakeUpstream };
export type Rig = RigOf<ProcessSession>;
export type RelayRig = RigOf<RelaySession>;
type RigOptions = Partial<Omit<SessionOptions, "facts">> & { logBytes?: number };

function surroundings(over: Partial<SessionFacts>, { logBytes, ...options }: RigOptions) {
  const clock = new Clock();
  const upstream = new FakeUpstream();
  const log = options.log ?? new OutputLog({ cols: 80, rows: 24 }, logBytes);
  const made = { upstream, now: clock.now, reuseFrames: false, ...options, facts: { ...FACTS, ...over }, log };
  return { clock, upstream, log, options: made };
}

/** A session beside a process. */
export function rig(over: Partial<SessionFacts> = {}, more: RigOptions = {}): Rig {
  const { options, ...made } = surroundings(over, more);
  return { ...made, session: new ProcessSession(options) };
}

/** A session in a Durable Object. */
export function relayRig(over: Partial<SessionFacts> = {}, more: RigOptions = {}): RelayRig {
  const { options, ...made } = surroundings(over, more);
  return { ...made, session: new RelaySession(options) };
}

export function request(id: string, over: Partial<AttachRequest> = {}): AttachRequest {
  return {
    ...{ id, name: id, role: "driver", isAdmin: false, delivery: "lossless" },
    ...{ acknowledges: true, isResume: false, resume: `r-${id}` },
    ...over,
  };
}

/** Attaches `id` and returns its peer and record. @throws {Error} If it is refused. */
export function join(session: SessionCore, id: string, over: Partial<AttachRequest> = {}) {
  const peer = new FakePeer();
  const result = session.attach(request(id, over), peer);
  if (!result.ok) throw new Error(`Cannot attach ${id}: ${result.code} ${result.reason}`);
  return { peer, client: result.client };
}

/** The process writes. */
export function output(
  at: { session: SessionCore; log: OutputLog },
  what: string | Uint8Array,
  stream: 1 | 2 = 1,
): void {
  at.log.append(typeof what === "string" ? bytes(what) : what, stream);
  at.session.appended();
}

/** So much time goes by. */
export function pass({ session, clock }: { readonly session: SessionCore; readonly clock: Clock }, ms: number): void {
  clock.ms += ms;
  session.tick();
}

/** Tells of the process that it has taken everything that waits. */
export function takeAll(session: ProcessSession, client: ClientRecord): string {
  let taken = "";
  for (let entry = client.input.entries[0]; entry !== undefined; entry = client.input.entries[0]) {
    if (entry.kind === "bytes") {
      taken += text(entry.bytes);
      session.wrote(client, entry.bytes.length);
    } else if (entry.kind === "eof") {
      taken += "^D";
      session.appliedEof(client);
    } else throw new Error("refused bytes wait at the process");
  }
  return taken;
}

/** The bridge has taken everything that waits. @returns What that was. */
export function confirmAll(session: RelaySession, client: ClientRecord): string {
  const waiting = client.input.entries.map((entry) => (entry.kind === "bytes" ? text(entry.bytes) : ""));
  session.confirmInput(client, client.input.received);
  return waiting.join("");
}

/** Both ends of the inner hop with a session each. Messages wait until {@link InnerRig.flush}. */
export class InnerRig {
  readonly bridge: Rig;
  relay: RelayRig | undefined;
  readonly inner: InnerClient;
  server: InnerServer | undefined;
  toBridge: Frame[] = [];
  toRelay: Frame[] = [];
  hello: InnerHello | undefined;
  /** What the bridge greets with. */
  lastOutputMs: number | undefined;
  readonly byes: { code: number; reason: string }[] = [];
  readonly clientByes: { id: string; code: number }[] = [];
  /** How often the bridge has let it park. */
  parked = 0;
  readonly #over: Partial<SessionFacts>;
  readonly #ports: ProgramHost | undefined;

  constructor(
    over: Partial<SessionFacts> = {},
    options: { logBytes?: number; screen?: SnapshotSource; ports?: ProgramHost } = {},
  ) {
    this.#over = over;
    this.#ports = options.ports;
    this.bridge = rig(over, options);
    this.inner = this.#makeInner();
  }

  #makeInner(): InnerClient {
    return new InnerClient({
      hello: (hello) => {
        this.hello = hello;
        this.relay ??= relayRig(this.#over, {
          upstream: this.inner,
          log: new OutputLog({ cols: hello.cols, rows: hello.rows }, undefined, hello.offset),
          holder: hello.holder,
          creator: hello.creator,
          screen: this.inner,
          now: this.bridge.clock.now,
        });
        this.inner.ready(this.relay.session, hello);
      },
      bye: (code, reason) => void this.byes.push({ code, reason }),
      clientBye: (client, code) => void this.clientByes.push({ id: client.id, code }),
      parked: () => {
        this.parked += 1;
      },
    });
  }

  /** A new connection between the two. */
  connect(): this {
    this.cut();
    const { session, clock } = this.bridge;
    const server = new InnerServer(
      session,
      { send: (frame) => void this.toRelay.push(frame), close: () => undefined, isWritable: () => true },
      clock.ms,
      this.#ports,
    );
    this.server = server;
    this.inner.opened({ send: (frame) => void this.toBridge.push(frame) }, clock.ms);
    const { lastOutputMs } = this;
    const at = lastOutputMs === undefined ? {} : { lastOutputMs };
    server.open({ cmd: ["bash"], createdAt: "2026-01-01T00:00:00.000Z", ...at }, this.relay?.log.endOffset);
    return this;
  }

  /** The connection breaks; what was on the way is lost. */
  cut(): this {
    this.toBridge = [];
    this.toRelay = [];
    this.inner.closed();
    this.server?.closed(1006);
    this.server = undefined;
    return this;
  }

  /** Delivers everything, both ways, until nothing is left. */
  flush(): this {
    while (this.toBridge.length > 0 || this.toRelay.length > 0) {
      for (const frame of this.toBridge.splice(0)) this.server?.receive(frame, this.bridge.clock.ms);
      for (const frame of this.toRelay.splice(0)) this.inner.receive(frame, this.bridge.clock.ms);
    }
    return this;
  }

  get session(): RelaySession {
    if (this.relay === undefined) throw new Error("the bridge has not greeted");
    return this.relay.session;
  }

  /** A relay after a restart of the Durable Object, with this rig's bridge. */
  restarted(): InnerRig {
    this.cut();
    const next = new InnerRig(this.#over);
    Object.assign(next, { bridge: this.bridge });
    return next;
  }

  /** The bridge's record of a client. */
  remote(id: string): ClientRecord {
    const client = this.bridge.session.client(id);
    if (client === undefined) throw new Error(`the bridge does not know ${id}`);
    return client;
  }

  exited(status: ExitStatus): void {
    this.bridge.session.exited(status);
  }
}

/** Both ends, with a client `a` that the bridge knows. */
export function joined(over: Partial<SessionFacts> = {}, wish: Partial<AttachRequest> = {}) {
  const hop = new InnerRig(over).connect().flush();
  const one = join(hop.session, "a", wish);
  hop.flush();
  return { hop, ...one };
}
