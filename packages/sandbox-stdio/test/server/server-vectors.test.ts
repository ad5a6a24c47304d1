// The conformance vectors for servers, held by our own: a session beside a process, and its clients' connections.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  type ClientRecord,
  defined,
  type ExitStatus,
  type Frame,
  parseAttachQuery,
  ServerConnection,
  type ServerMessage,
  STDIO,
} from "../../src/index.ts";
import { parseServerMessage } from "../../src/wire/control.ts";
import { decodeFrame } from "../../src/wire/frames.ts";
import { output, request, rig } from "../support/fixtures.ts";

type Received =
  | { readonly stdout: string; readonly isBeginning?: boolean }
  | { readonly stderr: string }
  | { readonly message: { readonly type: string } }
  | { readonly closes: number };
type ProcessStep = {
  readonly writes?: string;
  readonly times?: number;
  readonly stream?: "stdout" | "stderr";
  readonly reads?: string;
  readonly readsEnd?: true;
  readonly exits?: ExitStatus;
  readonly signals?: readonly string[];
};
type Step = {
  readonly client?: string;
  readonly as?: string;
  readonly attaches?: Readonly<Record<string, string>>;
  readonly isAdmin?: boolean;
  readonly types?: string;
  readonly times?: number;
  readonly says?: string;
  readonly acksAll?: true;
  readonly isCut?: true;
  readonly leaves?: true;
  readonly receives?: readonly Received[];
  readonly isWithinWindow?: true;
  readonly hasGap?: true;
  readonly process?: ProcessStep;
  readonly passesMs?: number;
};
type Scenario = {
  readonly name: string;
  readonly session: {
    readonly tty: boolean;
    readonly mode: "collaborative" | "exclusive";
    readonly delivery: "lossless" | "live";
  };
  readonly steps: readonly Step[];
};

const { scenarios } = JSON.parse(readFileSync(new URL("../../vectors/server.json", import.meta.url), "utf8")) as {
  scenarios: readonly Scenario[];
};
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const bytesOf = (text: string, times = 1) => Uint8Array.from(Buffer.from(text.repeat(times), "hex"));
/** Counted only where a scenario expects them. */
const BESIDE = ["answerer", "join", "leave", "resize", "status", "stdin_holder"];

/** One socket of a client, which counts as the protocol has it. */
class Socket {
  readonly id: string;
  readonly connection: ServerConnection;
  heard: Received[] = [];
  window = 0;
  offset = 0;
  acked = 0;
  gaps: [number, number][] = [];
  resume = "";

  constructor(id: string, counted: ReadonlySet<string>) {
    this.id = id;
    const socket = {
      send: (frame: Frame) => this.#hear(frame, counted),
      close: (code: number) => void this.heard.push({ closes: code }),
      isWritable: () => true,
    };
    this.connection = new ServerConnection(STDIO, socket, 0);
  }

  #hear(frame: Frame, counted: ReadonlySet<string>): void {
    if (typeof frame !== "string") {
      this.#output(frame);
      return;
    }
    const parsed = parseServerMessage(frame);
    if (!parsed.ok) throw new Error(`Cannot read ${frame}`);
    this.#count(parsed.message);
    const { type } = parsed.message;
    if (counted.has(type) || !BESIDE.includes(type)) this.heard.push({ message: parsed.message });
  }

  #count(message: ServerMessage): void {
    if (message.type === "hello") {
      ({ window: this.window, resume: this.resume } = message);
      [this.offset, this.acked] = [message.offset, message.offset];
    } else if (message.type === "gap") {
      expect(message.from).toBe(this.offset);
      this.gaps.push([message.from, message.to]);
      [this.offset, this.acked] = [message.to, message.to];
    }
  }

  #output(frame: Uint8Array): void {
    const decoded = decodeFrame(frame);
    if (decoded.kind !== "output") return;
    this.offset += decoded.bytes.length;
    const stream = decoded.stream === 1 ? "stdout" : "stderr";
    const last = this.heard.at(-1);
    const isSame = last !== undefined && stream in last;
    const before = isSame ? String(Object.values(last)[0]) : "";
    if (isSame) this.heard.pop();
    this.heard.push({ [stream]: before + hex(decoded.bytes) } as Received);
  }

  receives(expected: readonly Received[]): void {
    const heard = this.heard.map((item, i) => {
      const wanted = expected[i];
      if (wanted === undefined || !("isBeginning" in wanted) || !("stdout" in wanted) || !("stdout" in item))
        return item;
      return { stdout: item.stdout.slice(0, wanted.stdout.length), isBeginning: true };
    });
    expect(heard).toHaveLength(expected.length);
    expect(heard).toMatchObject(expected);
    this.heard = [];
  }
}

class Player {
  readonly #at;
  readonly #sockets = new Map<string, Socket>();
  readonly #counted: ReadonlySet<string>;

  constructor({ session, steps }: Scenario) {
    this.#at = rig(session);
    const messages = steps.flatMap(({ receives = [] }) =>
      receives.flatMap((item) => ("message" in item ? [item.message.type] : [])),
    );
    this.#counted = new Set(messages);
  }

  play(step: Step): void {
    const { client, process, passesMs } = step;
    if (process !== undefined) this.#process(process);
    if (passesMs !== undefined) {
      this.#at.clock.ms += passesMs;
      this.#at.session.tick();
    }
    if (client === undefined) return;
    if (step.attaches !== undefined) this.#attach(client, step.attaches, step);
    const socket = this.#sockets.get(client);
    if (socket === undefined) throw new Error(`no client ${client}`);
    if (step.types !== undefined) socket.connection.receive(bytesOf(step.types, step.times), this.#at.clock.ms);
    if (step.says !== undefined) socket.connection.receive(step.says, this.#at.clock.ms);
    if (step.acksAll) {
      socket.acked = socket.offset;
      socket.connection.receive(JSON.stringify({ type: "ack", offset: socket.offset }), this.#at.clock.ms);
    }
    if (step.isCut) socket.connection.closed(1006);
    if (step.leaves) socket.connection.closed(1000);
    if (step.receives !== undefined) socket.receives(step.receives);
    if (step.isWithinWindow) {
      expect(socket.offset - socket.acked).toBeGreaterThan(0);
      expect(socket.offset - socket.acked).toBeLessThanOrEqual(socket.window);
    }
    if (step.hasGap) expect(socket.gaps).toHaveLength(1);
  }

  #attach(client: string, query: Readonly<Record<string, string>>, { as: name = client, isAdmin = false }: Step): void {
    const before = this.#sockets.get(client);
    const resume = query.resume === "$" ? (before?.resume ?? "") : query.resume;
    const given = { sandbox: "dev", session: "main", ...query, ...defined({ resume }) };
    const parsed = parseAttachQuery(new URLSearchParams(given));
    if (!parsed.ok) throw new Error(parsed.detail);
    const { role, offset, stdin, delivery } = parsed.query;
    const socket = new Socket(client, this.#counted);
    this.#sockets.set(name, socket);
    const wish = { role, isAdmin, isResume: resume !== undefined, resume: `proof-${client}`, delivery };
    socket.connection.attach(this.#at.session, request(client, { ...wish, ...defined({ offset, stdin }) }));
  }

  #process({ writes, times, stream, reads, readsEnd, exits, signals }: ProcessStep): void {
    const { session, upstream } = this.#at;
    if (writes !== undefined) output(this.#at, bytesOf(writes, times), stream === "stderr" ? 2 : 1);
    if (reads !== undefined) expect(this.#read()).toBe(reads);
    if (readsEnd) expect(this.#readEnd()).toBe(true);
    if (exits !== undefined) session.exited(exits);
    if (signals !== undefined) expect(upstream.of("signal")).toEqual(signals);
  }
  get #clients(): ClientRecord[] {
    const ids = new Set([...this.#sockets.values()].map(({ id }) => id));
    return [...ids].flatMap((id) => this.#at.session.client(id) ?? []);
  }

  /** What the process finds in its stdin: all bytes up to the end of input. */
  #read(): string {
    let found = "";
    for (const client of this.#clients) {
      for (let entry = client.input.entries[0]; entry?.kind === "bytes"; entry = client.input.entries[0]) {
        found += hex(entry.bytes);
        this.#at.session.wrote(client, entry.bytes.length);
      }
    }
    return found;
  }

  #readEnd(): boolean {
    const ended = this.#clients.find((client) => client.input.entries[0]?.kind === "eof");
    if (ended !== undefined) this.#at.session.appliedEof(ended);
    return ended !== undefined;
  }
}

test.each(scenarios)("server: $name", (scenario) => {
  const player = new Player(scenario);
  for (const step of scenario.steps) player.play(step);
});
