// The client as the page uses it: what is drawn late, who answers a terminal query, and how it lets go of a connection.
// Sockets and timers are in this file's hands.

import { describe, expect, test } from "vitest";
import { type ClientEvents, type ClientSocketEvents, encodeFrame, StdioClient } from "../../src/index.ts";
import { hello } from "../support/hello.ts";

type Sent = string | Uint8Array;

/** A client whose connections, timers and clock are moved by hand. */
function harness(options: { resume?: string; offset?: number } = {}) {
  const sockets: {
    sent: Sent[];
    closed: (number | "abort")[];
    events: ClientSocketEvents;
    query: ReadonlyMap<string, string>;
  }[] = [];
  const timers = new Map<number, () => void>();
  const seen: unknown[][] = [];
  let timer = 0;
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      seen.push([name, ...args]);
  const events: ClientEvents = {
    state: (state) => seen.push(["state", state.phase]),
    output: (stream, bytes, end) => seen.push(["output", stream, new TextDecoder().decode(bytes), end]),
    snapshot: (bytes, offset) => seen.push(["snapshot", new TextDecoder().decode(bytes), offset]),
    resize: note("resize"),
    gap: note("gap"),
    message: note("message"),
    discarded: note("discarded"),
    inputDrained: note("inputDrained"),
  };
  const client = new StdioClient(
    { session: "main", ...options },
    {
      connect: (query, socketEvents) => {
        const socket = { sent: [] as Sent[], closed: [] as (number | "abort")[], events: socketEvents, query };
        sockets.push(socket);
        return {
          send: (message) => socket.sent.push(message),
          close: (code) => socket.closed.push(code),
          abort: () => socket.closed.push("abort"),
        };
      },
      setTimer: (_ms, callback) => {
        timer += 1;
        const id = timer;
        timers.set(id, callback);
        return () => timers.delete(id);
      },
      now: () => 0,
      random: () => 0,
    },
    events,
  );
  client.start();
  const socket = (i = sockets.length - 1) => {
    const found = sockets[i];
    if (found === undefined) throw new Error(`Cannot find connection ${i} of ${sockets.length}`);
    return found;
  };
  return {
    client,
    seen,
    socket,
    say: (message: object) => socket().events.text(JSON.stringify(message)),
    output: (text: string) => socket().events.binary(encodeFrame(0x01, new TextEncoder().encode(text))),
    snapshot: (text: string) => socket().events.binary(encodeFrame(0x03, new TextEncoder().encode(text))),
    fireTimers: () => {
      for (const [id, callback] of [...timers]) {
        timers.delete(id);
        callback();
      }
    },
    acks: () =>
      socket()
        .sent.filter((frame) => typeof frame === "string")
        .map((text) => JSON.parse(text) as { type: string; offset: number })
        .filter((message) => message.type === "ack")
        .map((message) => message.offset),
  };
}

describe("who answers a terminal query", () => {
  test("a query whose last byte is the last byte of the replay is not answered, the next byte's is", () => {
    const { client, say } = harness();
    say(hello({ live: 4 }));
    expect([client.mayAnswer(3), client.mayAnswer(4)]).toEqual([false, true]);
    expect([client.nextAnswerChange(0), client.nextAnswerChange(4)]).toEqual([4, Number.POSITIVE_INFINITY]);
  });

  test("after a hand-over this client answers what came before it and is not drawn yet, and nothing after", () => {
    const { client, say } = harness();
    say(hello());
    say({ type: "answerer", id: "other", offset: 10 });
    expect([client.mayAnswer(9), client.mayAnswer(10)]).toEqual([true, false]);
    say({ type: "answerer", id: "me", offset: 20 });
    expect([client.mayAnswer(9), client.mayAnswer(19), client.mayAnswer(20)]).toEqual([true, false, true]);
    expect(client.nextAnswerChange(9)).toBe(10);
  });

  test("answerers of before what has been drawn are forgotten, the one who answers now is not", () => {
    const { client, say, output } = harness();
    say(hello());
    say({ type: "answerer", id: "other", offset: 4 });
    output("12345678");
    client.dealtWith(8);
    say({ type: "answerer", id: "third", offset: 8 });
    say({ type: "answerer", id: "me", offset: 9 });
    expect([client.mayAnswer(3), client.mayAnswer(8), client.mayAnswer(9)]).toEqual([false, false, true]);
  });
});

describe("what has been dealt with", () => {
  test("bytes that are lost count as dealt with only once those before them are drawn", () => {
    const { client, say, output } = harness();
    say(hello({ tty: false }));
    output("12345678");
    say({ type: "gap", from: 8, to: 5000 });
    expect(client.resumePoint?.offset).toBe(0);
    client.dealtWith(8);
    expect(client.resumePoint?.offset).toBe(5000);
  });

  test("bytes that were lost while it was away count likewise", () => {
    const { client, say, output, socket, fireTimers, acks } = harness();
    say(hello({ tty: false }));
    output("12345678");
    socket().events.closed(1006, "");
    fireTimers();
    say(hello({ tty: false, offset: 108, live: 108, gap: 100 }));
    expect([client.resumePoint?.offset, acks()]).toEqual([0, []]);
    client.dealtWith(8);
    fireTimers();
    expect([client.resumePoint?.offset, acks()]).toEqual([108, [108]]);
  });

  test("O7: on a PTY a gap is passed only when the snapshot that stands for it is drawn", () => {
    const { client, say, output, snapshot, seen, acks } = harness();
    say(hello());
    output("12345678");
    say({ type: "gap", from: 8, to: 5000, approximate: true });
    say({ type: "resize", cols: 90, rows: 30, offset: 5000 });
    client.dealtWith(8);
    expect([client.resumePoint?.offset, seen.filter(([kind]) => kind === "gap")]).toEqual([8, []]);
    snapshot("screen");
    expect(seen.slice(-3)).toEqual([
      ["gap", 8, 5000, true],
      ["resize", 90, 30, 5000],
      ["snapshot", "screen", 5000],
    ]);
    expect(client.resumePoint?.offset).toBe(8);
    client.dealtWith(5000);
    expect([client.resumePoint?.offset, acks().at(-1)]).toEqual([5000, 5000]);
  });

  test("O7: nor does a new connection pass it, while the snapshot of the one before is still to be drawn", () => {
    const { client, say, output, snapshot, socket, fireTimers } = harness();
    say(hello());
    output("12345678");
    say({ type: "gap", from: 8, to: 5000 });
    snapshot("screen");
    socket().events.closed(1006, "");
    fireTimers();
    expect(socket().query.get("offset")).toBe("5000");
    say(hello({ offset: 5000, live: 5000 }));
    client.dealtWith(8);
    expect(client.resumePoint?.offset).toBe(8);
    client.dealtWith(5000);
    expect(client.resumePoint?.offset).toBe(5000);
  });

  test("O7: nor does the next gap pass it, whose snapshot is another", () => {
    const { client, say, output, snapshot } = harness();
    say(hello());
    output("12345678");
    say({ type: "gap", from: 8, to: 5000 });
    snapshot("screen");
    say({ type: "gap", from: 5000, to: 9000 });
    snapshot("newer screen");
    client.dealtWith(8);
    expect(client.resumePoint?.offset).toBe(8);
    client.dealtWith(5000);
    expect(client.resumePoint?.offset).toBe(5000);
    client.dealtWith(9000);
    expect(client.resumePoint?.offset).toBe(9000);
  });

  test("O7: whoever loses the connection before the snapshot asks from where it stood before the gap", () => {
    const { say, output, socket, fireTimers } = harness();
    say(hello());
    output("12345678");
    say({ type: "gap", from: 8, to: 5000 });
    socket().events.closed(1006, "");
    fireTimers();
    expect(socket().query.get("offset")).toBe("8");
  });

  test("O7: whoever loses the connection before its first snapshot asks for the screen again", () => {
    const { client, say, socket, fireTimers } = harness();
    say(hello({ offset: 5000, live: 5000 }));
    expect(client.resumePoint?.offset).toBe(0);
    socket().events.closed(1006, "");
    fireTimers();
    expect([socket().query.get("resume"), socket().query.get("offset")]).toEqual(["r1", undefined]);
  });

  test("a snapshot is acknowledged when it is drawn and not before, though no output follows it", () => {
    const { client, say, snapshot, fireTimers, acks } = harness();
    say(hello({ offset: 700, live: 700 }));
    snapshot("screen");
    fireTimers();
    expect(acks()).toEqual([]);
    client.dealtWith(700);
    expect(acks()).toEqual([700]);
    client.dealtWith(700);
    expect(acks()).toEqual([700]);
  });
});

describe("letting go of a connection", () => {
  test("after a bye the connection is dropped, not closed with 1000, which would give the client's place up", () => {
    const { say, socket, seen } = harness();
    say(hello());
    say({ type: "bye", code: 1012, reason: "restart", retry: "now" });
    expect(socket(0).closed).toEqual(["abort"]);
    expect(seen.at(-1)).toEqual(["state", "waiting"]);
  });

  test("a server that says what can't be read is dropped: browsers can't close with 1008", () => {
    const { socket, seen } = harness();
    socket().events.text("{}");
    expect(socket(0).closed).toEqual(["abort"]);
    expect(seen.at(-1)).toEqual(["state", "waiting"]);
  });

  test("input that another connection typed in this client's place ends it, and never throws", () => {
    const { client, say, socket, fireTimers } = harness();
    say(hello());
    client.type(new Uint8Array(3));
    socket().events.closed(1006, "");
    fireTimers();
    say(hello({ stdin: 5 }));
    expect(client.state).toEqual({
      phase: "ended",
      end: { kind: "refused", code: 4409, reason: "another connection has typed in this client's place" },
    });
    expect(socket(1).closed).toEqual(["abort"]);
  });
});
