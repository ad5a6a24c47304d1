// The client and its outbox as a command line uses them: breaks that come often, input in crumbs, lives that follow one
// another. Sockets and timers are in this file's hands.

import { describe, expect, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { BACKOFF_BASE_MS } from "../../src/client/retry.ts";
import {
  type ClientOptions,
  type ClientSocketEvents,
  encodeFrame,
  InputSender,
  MAX_UNACKED_INPUT_BYTES,
  STREAM_STDOUT,
  StdioClient,
} from "../../src/index.ts";
import { SILENT } from "../support/client-events.ts";
import { hello } from "../support/hello.ts";

/** A client whose connections are moved by hand, with the greatest chance: every backoff is as long as it may be. */
function harness(options: Partial<ClientOptions> = {}) {
  const sockets: {
    sent: (string | Uint8Array)[];
    farewell: number | "abort" | undefined;
    events: ClientSocketEvents;
  }[] = [];
  const queries: string[] = [];
  const waits: { ms: number; callback: () => void }[] = [];
  let now = 0;
  const client = new StdioClient(
    { session: "main", ...options },
    {
      connect: (query, events) => {
        queries.push([...query].map(([name, value]) => `${name}=${value}`).join("&"));
        const socket = {
          sent: [] as (string | Uint8Array)[],
          farewell: undefined as number | "abort" | undefined,
          events,
        };
        sockets.push(socket);
        return {
          send: (message) => void socket.sent.push(message),
          close: (code) => {
            socket.farewell = code;
          },
          abort: () => {
            socket.farewell = "abort";
          },
        };
      },
      setTimer: (ms, callback) => {
        const wait = { ms, callback };
        waits.push(wait);
        return () => void (waits.includes(wait) && waits.splice(waits.indexOf(wait), 1));
      },
      now: () => now,
      random: () => 1,
    },
    SILENT,
  );
  client.start();
  const socket = () => {
    const last = sockets.at(-1);
    if (last === undefined) throw new Error("Cannot find a connection");
    return last;
  };
  return {
    client,
    queries,
    socket,
    greet: (offset: number, stdin = 0, over: object = {}) => {
      socket().events.open();
      socket().events.text(JSON.stringify({ ...helloAt(offset, stdin), ...over }));
    },
    /** Cuts the connection and lets the wait pass. @returns How long it was, ms. */
    cut: () => {
      socket().events.closed(1006, "cut");
      const wait = waits.at(-1);
      if (wait === undefined) throw new Error("Cannot find a wait");
      now += wait.ms;
      waits.pop();
      wait.callback();
      return wait.ms;
    },
  };
}

/** Of pipes, on which only `me` is. */
function helloAt(offset: number, stdin: number) {
  const you = { id: "me", name: "", role: "driver" } as const;
  return hello({
    ...{ sandbox: "default", tty: false, offset, live: offset, stdin, resume: "proof", delivery: "lossless" },
    ...{ you, answerer: { id: "", offset: 0 }, participants: [you] },
  });
}

describe("L10: input that is refused", () => {
  test.each([
    ["not_stdin_holder", 65_536],
    ["stdin_closed", 262_144],
  ])("%s: %i bytes are sent at most, and what is not sent yet is dropped, and not sent later", (code, most) => {
    const { client, greet, socket } = harness();
    greet(0, 0, code === "not_stdin_holder" ? { mode: "exclusive", holder: "another" } : {});
    const sentBytes = () =>
      socket().sent.reduce((sum, frame) => sum + (typeof frame === "string" ? 0 : frame.length), 0);
    const paste = new Uint8Array(1_000_001).map((_, i) => i % 251);
    for (let at = 0; at < paste.length; at += 100_000) client.write(paste.subarray(at, at + 100_000));
    expect([sentBytes(), client.unackedInput]).toEqual([most, 1_000_001]);
    // The server tells of the refusal before it counts the bytes as taken.
    socket().events.text(JSON.stringify({ type: "error", code, message: "" }));
    expect([sentBytes(), client.unackedInput]).toEqual([most, most]);
    socket().events.text(`{"type":"stdin_ack","offset":${most}}`);
    expect([sentBytes(), client.unackedInput]).toEqual([most, 0]);
    // What is written then goes on where that ended, unless the process takes no more for good.
    const isLate = code === "stdin_closed";
    const before = socket().sent.length;
    client.write(new Uint8Array([7, 8]));
    client.write(new Uint8Array([9]));
    expect(socket().sent.slice(before)).toEqual(isLate ? [] : [new Uint8Array([7, 8]), new Uint8Array([9])]);
    client.endInput();
    expect(socket().sent.at(-1)).toBe(`{"type":"eof","offset":${isLate ? most : most + 3}}`);
  });

  test("L10b: a client that waits for the keyboard sends the rest of its input once it has it", () => {
    const { client, greet, socket } = harness();
    greet(0, 0, { mode: "exclusive", holder: "another" });
    client.write(new Uint8Array(100_000));
    const sentBytes = () =>
      socket().sent.reduce((sum, frame) => sum + (typeof frame === "string" ? 0 : frame.length), 0);
    expect(sentBytes()).toBe(65_536);
    socket().events.text('{"type":"stdin_holder","id":"me"}');
    expect(sentBytes()).toBe(100_000);
  });
});

test("an end of input that is refused drops nothing: the input itself is taken", () => {
  const { client, greet, socket } = harness();
  greet(0);
  client.write(new Uint8Array(1_000_000));
  socket().events.text('{"type":"error","code":"not_stdin_holder","message":""}');
  expect(client.unackedInput).toBe(1_000_000);
});

test("I9a: an end of input refused before the other driver left is told again, though it hears so late", () => {
  const { client, greet, socket } = harness();
  greet(0);
  client.endInput();
  const eofs = () => socket().sent.filter((frame) => frame === '{"type":"eof","offset":0}').length;
  expect(eofs()).toBe(1);
  socket().events.text('{"type":"leave","id":"other"}');
  expect(eofs()).toBe(1);
  socket().events.text('{"type":"error","code":"not_stdin_holder","message":""}');
  expect(eofs()).toBe(2);
  // Nothing has changed since: it would be refused again.
  socket().events.text('{"type":"error","code":"not_stdin_holder","message":""}');
  expect(eofs()).toBe(2);
});

describe("a connection that breaks often", () => {
  test("as long as each one moves bytes, the waits do not grow", () => {
    const { greet, socket, cut } = harness();
    const waits: number[] = [];
    for (let offset = 0; offset < 8; offset += 1) {
      greet(offset);
      socket().events.binary(encodeFrame(STREAM_STDOUT, new Uint8Array(1)));
      waits.push(cut());
    }
    expect(waits).toEqual([BACKOFF_BASE_MS, ...Array(7).fill(2 * BACKOFF_BASE_MS)]);
  });

  test("an acknowledgement of input counts as well as output", () => {
    const { client, greet, socket, cut } = harness();
    const waits: number[] = [];
    for (let taken = 0; taken < 5; taken += 1) {
      greet(0, taken);
      client.write(new Uint8Array(1));
      socket().events.text(JSON.stringify({ type: "stdin_ack", offset: taken + 1 }));
      waits.push(cut());
    }
    expect(waits).toEqual([BACKOFF_BASE_MS, ...Array(4).fill(2 * BACKOFF_BASE_MS)]);
  });

  test("a server that greets and breaks without moving a byte is waited for longer each time", () => {
    const { greet, cut } = harness();
    const waits: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      greet(0);
      waits.push(cut());
    }
    expect(waits).toEqual([1, 2, 4, 8].map((factor) => factor * BACKOFF_BASE_MS));
  });
});

describe("one life after another", () => {
  test("suspending drops the connection without leaving, and the resume point is what was dealt with", () => {
    const { client, greet, socket } = harness();
    greet(0);
    socket().events.binary(encodeFrame(STREAM_STDOUT, new Uint8Array(10)));
    client.dealtWith(4);
    client.suspend();
    expect(socket().farewell).toBe("abort");
    expect(client.state).toEqual({ phase: "ended", end: { kind: "left" } });
    expect(client.resumePoint).toEqual({ session: "main", resume: "proof", offset: 4 });
  });

  test("a later life asks for what was not dealt with, and numbers its input from where the session stands", () => {
    const { client, queries, greet, socket } = harness({ resume: "proof", offset: 4 });
    expect(queries).toEqual(["session=main&resume=proof&offset=4&attempt=10000000.1"]);
    greet(4, 1000);
    client.write(new Uint8Array([7]));
    client.endInput();
    expect(socket().sent.slice(-2)).toEqual([new Uint8Array([7]), '{"type":"eof","offset":1001}']);
  });
});

describe("the outbox", () => {
  test("gathers crumbs that wait into one frame, in order", () => {
    const outbox = new InputSender();
    for (let i = 0; i < 5; i += 1) outbox.write(new Uint8Array([i]));
    expect(outbox.next()).toEqual(new Uint8Array([0, 1, 2, 3, 4]));
    expect(outbox.next()).toBeUndefined();
  });

  test("sends a large chunk without copying it", () => {
    const outbox = new InputSender();
    const chunk = new Uint8Array(100_000);
    outbox.write(chunk);
    const frame = outbox.next();
    expect([frame?.length, frame?.buffer === chunk.buffer]).toEqual([65_536, true]);
  });

  test("sends each byte once, again only after a rewind, however acknowledgements, chunks and breaks fall", () => {
    const seed = 20261120;
    const random = new Random(seed);
    for (let round = 0; round < 15; round += 1) {
      const outbox = new InputSender();
      outbox.rewind(0);
      let written = 0;
      let taken = 0;
      /** Where the present connection stands. */
      let wire = 0;
      while (written < 400_000) {
        const length = random.next() < 0.3 ? Math.floor(random.next() * 80_000) : Math.floor(random.next() * 20);
        outbox.write(Uint8Array.from({ length }, (_, i) => (written + i) % 251));
        written += length;
        for (let frame = outbox.next(); frame !== undefined; frame = outbox.next()) {
          if (!frame.every((byte, i) => byte === (wire + i) % 251)) {
            throw new Error(`seed ${seed}, round ${round}: the frame of ${frame.length} bytes at ${wire} is wrong`);
          }
          wire += frame.length;
          if (wire - taken > MAX_UNACKED_INPUT_BYTES) throw new Error(`seed ${seed}, round ${round}: too much is out`);
          if (random.next() < 0.1) break;
        }
        const isBreak = random.next() < 0.2;
        taken += Math.floor(random.next() * (wire - taken + 1));
        if (isBreak) {
          outbox.rewind(taken);
          wire = taken;
        } else outbox.ack(taken);
        expect([outbox.acked, outbox.length, outbox.isAllSent]).toEqual([taken, written - taken, wire === written]);
      }
    }
  });

  test("a quarter of a megabyte of single bytes is sent again in no more than a few frames", () => {
    const outbox = new InputSender();
    outbox.rewind(0);
    for (let i = 0; i < MAX_UNACKED_INPUT_BYTES; i += 1) outbox.write(new Uint8Array([i % 251]));
    for (let i = 0; i < 2; i += 1) {
      let frames = 0;
      while (outbox.next() !== undefined) frames += 1;
      expect(frames).toBe(4);
      outbox.rewind(0);
    }
  });
});

describe("I11: secret input", () => {
  const ON = '{"type":"secret","on":true}';
  const OFF = '{"type":"secret","on":false}';
  /** What was sent, without pings and acknowledgements: input as its text. */
  const sent = (messages: readonly (string | Uint8Array)[]) =>
    messages
      .map((message) => (typeof message === "string" ? message : new TextDecoder().decode(message)))
      .filter((text) => !/"(ping|ack)"/.test(text));

  test("is told before what is typed, and ended once all that was secret is acknowledged", () => {
    const { client, socket, greet } = harness();
    greet(0);
    client.setSecret(true);
    client.type(new TextEncoder().encode("hunter2"));
    client.setSecret(false);
    expect(client.isSecret).toBe(false);
    expect(sent(socket().sent)).toEqual([ON, "hunter2"]);
    socket().events.text('{"type":"stdin_ack","offset":6}');
    expect(sent(socket().sent)).toEqual([ON, "hunter2"]);
    socket().events.text('{"type":"stdin_ack","offset":7}');
    expect(sent(socket().sent)).toEqual([ON, "hunter2", OFF]);
  });

  test("is told again after a break, before what is sent again", () => {
    const { client, socket, greet, cut } = harness();
    greet(0);
    client.setSecret(true);
    client.type(new TextEncoder().encode("hunter2"));
    client.setSecret(false);
    cut();
    greet(0);
    expect(sent(socket().sent)).toEqual([ON, "hunter2"]);
  });

  test("that is asked for while there is no connection begins with the next", () => {
    const { client, socket, greet } = harness();
    client.setSecret(true);
    greet(0);
    expect(sent(socket().sent)).toEqual([ON]);
    client.setSecret(false);
    expect(sent(socket().sent)).toEqual([ON, OFF]);
  });

  test("that is wanted again before it has ended goes on without a word", () => {
    const { client, socket, greet } = harness();
    greet(0);
    client.setSecret(true);
    client.type(new TextEncoder().encode("a"));
    client.setSecret(false);
    client.setSecret(true);
    socket().events.text('{"type":"stdin_ack","offset":1}');
    expect([client.isSecret, sent(socket().sent)]).toEqual([true, [ON, "a"]]);
  });

  test("that an earlier life of the client asked for goes on, until this one ends it", () => {
    const { client, socket, greet } = harness({ resume: "proof" });
    greet(0);
    socket().events.text(ON);
    expect([client.isSecret, sent(socket().sent)]).toEqual([true, []]);
    client.setSecret(false);
    expect([client.isSecret, sent(socket().sent)]).toEqual([false, [OFF]]);
  });

  test("that the server does not keep secret is off, and is not asked for by itself again", () => {
    const { client, socket, greet, cut } = harness();
    greet(0);
    client.setSecret(true);
    socket().events.text(OFF);
    expect([client.isSecret, sent(socket().sent)]).toEqual([false, [ON]]);
    cut();
    greet(0);
    expect(sent(socket().sent)).toEqual([]);
  });

  test("whose end was lost with a connection is ended on the next", () => {
    const { client, socket, greet, cut } = harness();
    greet(0);
    client.setSecret(true);
    client.setSecret(false);
    cut();
    greet(0);
    socket().events.text(ON);
    expect([client.isSecret, sent(socket().sent)]).toEqual([false, [OFF]]);
  });
});
