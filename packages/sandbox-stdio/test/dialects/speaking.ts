// What the tables of the dialects' tests share: one connection's events, and what its client is sent for them.

import type { Dialect, Frame, Hello } from "../../src/index.ts";
import type { SessionEvent } from "../../src/server/dialect.ts";
import { bytes, text } from "../support/fixtures.ts";
import { hello as greeting } from "../support/hello.ts";

/** The frames for these events on one connection, in order; bytes as `bytes:TEXT`. */
export function said<State>(dialect: Dialect<State>, ...events: SessionEvent[]): string[] {
  let state = dialect.start;
  const frames: Frame[] = [];
  for (const event of events) {
    const encoded = dialect.encode(event, state);
    frames.push(...encoded.frames);
    state = encoded.state;
  }
  return frames.map((frame) => (typeof frame === "string" ? frame : `bytes:${text(frame)}`));
}

/** What a client's frame comes to; stdin as `stdin:TEXT`. */
export function heard(dialect: Dialect, frame: Frame): unknown {
  const decoded = dialect.decode(frame);
  if (decoded.kind !== "command") return decoded;
  return decoded.command.type === "stdin" && "bytes" in decoded.command
    ? `stdin:${text(decoded.command.bytes)}`
    : decoded.command;
}

export const alice = { id: "a", name: "alice", role: "driver" } as const;
export const bob = { id: "b", name: "bob", role: "viewer" } as const;

/** Alice, alone on a PTY of 120 by 40. */
export function hello(over: Partial<Hello> = {}): Hello {
  return greeting({
    ...{ cols: 120, rows: 40, resume: "r", window: 65_536 },
    ...{ you: alice, answerer: { id: "a", offset: 0 }, participants: [alice] },
    ...over,
  });
}

/** Output of the process, standard output unless said otherwise. */
export function out(raw: string | Uint8Array, stream: 1 | 2 | 3 = 1): SessionEvent {
  const payload = typeof raw === "string" ? bytes(raw) : raw;
  return { type: "output", frame: Uint8Array.of(stream, ...payload), end: payload.length };
}

export const found = (hasExited: boolean): SessionEvent => ({ type: "found", hasExited });
