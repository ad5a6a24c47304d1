// The conformance vectors that other people's clients and servers run: held by our own frames, messages and client.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ClientEnd, ClientSocketEvents } from "../../src/client/client-types.ts";
import { StdioClient } from "../../src/index.ts";
import { parseClientMessage, parseServerMessage } from "../../src/wire/control.ts";
import { decodeFrame } from "../../src/wire/frames.ts";

type Sayings = { readonly valid: readonly string[]; readonly invalid: readonly { text: string; fault: string }[] };
type Connection = {
  readonly query: Readonly<Record<string, string | null>>;
  readonly receives: readonly { readonly text?: string; readonly hex?: string }[];
  readonly writes: readonly string[];
  readonly sends: string;
  readonly acks?: number;
};
type Scenario = {
  readonly name: string;
  readonly connections: readonly Connection[];
  readonly output: string;
  readonly gaps?: readonly (readonly [number, number])[];
  readonly exit?: { readonly code: number; readonly signal?: string };
  readonly refused?: number;
};

const vectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8"));
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));

test.each(vectors("frames").frames as Record<string, unknown>[])("frames: $name", ({ bytes: message, ...expected }) => {
  const frame = decodeFrame(bytes(String(message)));
  expect(frame.kind).toBe(expected.kind);
  if (frame.kind !== "unknown") expect(hex(frame.bytes)).toBe(expected.payload);
  if (frame.kind === "output") expect(frame.stream).toBe(expected.stream);
  expect(frame.kind === "output" ? frame.bytes.length : 0).toBe(expected.advances);
});

test.each([
  ["client", parseClientMessage],
  ["server", parseServerMessage],
] as const)("messages: what a %s may say, and the fault of everything else", (side, parse) => {
  const { valid, invalid } = vectors("messages")[side] as Sayings;
  for (const text of valid) expect(parse(text), text).toMatchObject({ ok: true });
  for (const { text, fault } of invalid) expect(parse(text), text).toMatchObject({ ok: false, fault });
});

const ignore = (): void => undefined;

/** A timer that comes sooner is part of a scenario; pings and patience come later. */
const SOON_MS = 10_000;

/** Plays a scenario's server to our client. */
class Player {
  readonly output: Uint8Array[] = [];
  readonly gaps: [number, number][] = [];
  end: ClientEnd | undefined;
  query: ReadonlyMap<string, string> = new Map();
  events: ClientSocketEvents | undefined;
  sent: Uint8Array[] = [];
  acks: number[] = [];
  #timers = new Set<() => void>();
  readonly client = new StdioClient(
    { session: "s" },
    {
      connect: (query, events) => {
        this.query = query;
        this.events = events;
        [this.sent, this.acks] = [[], []];
        return { send: (message) => this.#hear(message), close: ignore, abort: ignore };
      },
      setTimer: (ms, callback) => {
        if (ms > SOON_MS) return ignore;
        this.#timers.add(callback);
        return () => this.#timers.delete(callback);
      },
      now: () => 0,
      random: () => 0.5,
    },
    {
      state: (state) => {
        if (state.phase === "ended") this.end = state.end;
      },
      output: (_stream, piece, end) => {
        this.output.push(piece.slice());
        this.client.processed(end);
      },
      gap: (from, to) => this.gaps.push([from, to]),
      ...{ snapshot: ignore, resize: ignore, message: ignore, discarded: ignore, inputDrained: ignore },
    },
  );

  play({ query, receives, writes, sends, acks }: Connection): void {
    for (const [name, value] of Object.entries(query)) expect(this.query.get(name) ?? null, name).toBe(value);
    this.events?.open();
    for (const [i, { text, hex: binary = "" }] of receives.entries()) {
      if (text === undefined) this.events?.binary(bytes(binary));
      else this.events?.text(text);
      if (i === 0) for (const written of writes) this.client.write(bytes(written));
    }
    this.runTimers();
    expect(hex(Buffer.concat(this.sent))).toBe(sends);
    if (acks !== undefined) expect(this.acks.at(-1)).toBe(acks);
  }

  runTimers(): void {
    for (const callback of [...this.#timers]) {
      this.#timers.delete(callback);
      callback();
    }
  }

  #hear(message: string | Uint8Array): void {
    if (typeof message !== "string") this.sent.push(message.slice());
    else {
      const { type, offset } = JSON.parse(message) as { type: string; offset?: number };
      if (type === "ack") this.acks.push(offset ?? 0);
    }
  }
}

test.each(vectors("resume").scenarios as Scenario[])("resume: $name", (scenario) => {
  const player = new Player();
  player.client.start();
  for (const [i, connection] of scenario.connections.entries()) {
    if (i > 0) {
      player.events?.closed(1006, "cut");
      player.runTimers();
    }
    player.play(connection);
  }
  expect(hex(Buffer.concat(player.output))).toBe(scenario.output);
  expect(player.gaps).toEqual(scenario.gaps ?? []);
  if (scenario.exit !== undefined) expect(player.end).toEqual({ kind: "exit", ...scenario.exit });
  if (scenario.refused !== undefined) expect(player.end).toMatchObject({ kind: "refused", code: scenario.refused });
});
