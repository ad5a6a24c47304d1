// The greetings that tests start from, each of a process that has just started.

import type { Hello } from "../../src/wire/control.ts";

const me = { id: "me", name: "", role: "driver" } as const;

/** What a server says first to the driver `me`, alone on a PTY. */
export function hello(over: Partial<Hello> = {}): Hello {
  return {
    type: "hello",
    protocol: "stdio.v1",
    sandbox: "dev",
    session: "main",
    incarnation: "i1",
    tty: true,
    cols: 80,
    rows: 24,
    offset: 0,
    live: 0,
    stdin: 0,
    resume: "r1",
    window: 524_288,
    delivery: "live",
    you: me,
    answerer: { id: "me", offset: 0 },
    holder: "",
    mode: "collaborative",
    participants: [],
    ...over,
  };
}

/** What a bridge says first on the inner hop, of a process on pipes. */
export const INNER_HELLO = {
  type: "hello",
  protocol: "stdio.inner.v1",
  incarnation: "i1",
  tty: false,
  mode: "collaborative",
  delivery: "lossless",
  cols: 80,
  rows: 24,
  offset: 0,
  live: 0,
  holder: "",
  creator: "",
  cmd: ["cat"],
  createdAt: "2026-01-01T00:00:00.000Z",
  clients: [],
} as const;
