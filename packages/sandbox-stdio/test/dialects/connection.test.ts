// What a connection does for a dialect that is not ours: a client that speaks first, one that pauses, one that can't come
// back. The dialect here is made for this: it has a word for everything and begins each output with a count.

import { describe, expect, test } from "vitest";
import {
  type Begin,
  DIALECT_ROUTES,
  type Dialect,
  type Frame,
  PLAIN,
  PLAIN_STALL_MS,
  PTY,
  ServerConnection,
  SILENCE_MS,
} from "../../src/index.ts";
import { bytes, join, output, request, rig, takeAll, text } from "../support/fixtures.ts";

const COUNTING: Dialect<number> = {
  name: "counting",
  acknowledges: false,
  canResume: false,
  clientBegins: true,
  start: 0,
  encode: (event, state) =>
    event.type === "output"
      ? { frames: [`${state}:${text(event.frame.subarray(1))}`], state: state + 1 }
      : { frames: event.type === "hello" ? ["title", "preferences"] : [], state },
  decode: (frame) => {
    const word = typeof frame === "string" ? frame : text(frame);
    if (word === "begin")
      return { kind: "command", command: { type: "begin", token: "t", size: { cols: 9, rows: 8 } } };
    if (word === "alive") return { kind: "command", command: { type: "keep_alive" } };
    if (word === "pause" || word === "unpause") return { kind: "command", command: { type: word } };
    return { kind: "command", command: { type: "stdin", bytes: bytes(word) } };
  },
};

function counting(at = rig({ tty: true }), dialect: Dialect<number> = COUNTING) {
  const sent: Frame[] = [];
  const closed: number[] = [];
  const begins: Begin[] = [];
  const socket = {
    send: (frame: Frame) => void sent.push(frame),
    close: (code: number) => void closed.push(code),
    isWritable: () => true,
  };
  const connection = new ServerConnection(dialect, socket, at.clock.ms, { begin: (begin) => void begins.push(begin) });
  const attach = () => {
    const { acknowledges, canResume } = dialect;
    connection.attach(at.session, request("a", { acknowledges, canResume, delivery: "live" }));
  };
  const hear = (frame: Frame) => connection.receive(frame, at.clock.ms);
  return { at, connection, sent, closed, begins, attach, hear };
}

describe("D2: a client that speaks first", () => {
  test("is attached by its first message, which carries token and size; a second one changes nothing", () => {
    const one = counting();
    expect(one.begins).toEqual([]);
    one.hear("begin");
    one.hear(bytes("begin"));
    expect(one.begins).toEqual([{ type: "begin", token: "t", size: { cols: 9, rows: 8 } }]);
  });

  test("has what it typed before the attach taken after it, in order", () => {
    const one = counting();
    for (const word of ["begin", "l", "s"]) one.hear(word);
    one.attach();
    const client = one.at.session.client("a");
    expect(client && takeAll(one.at.session, client)).toBe("ls");
    expect(one.sent).toEqual(["title", "preferences"]);
  });

  test("is dropped where it says nothing for 40 s, and after that may be silent", () => {
    const one = counting();
    expect(one.connection.silentAtMs).toBe(one.at.clock.ms + SILENCE_MS);
    one.hear("begin");
    expect(one.connection.silentAtMs).toBeUndefined();
  });
});

describe("D1: that the replay is over", () => {
  const TELLING: Dialect<number> = {
    ...COUNTING,
    encode: (event, state) => ({
      frames: event.type === "output" ? [text(event.frame.subarray(1))] : event.type === "live" ? ["LIVE"] : [],
      state,
    }),
  };

  test("is said once, behind the last byte that was there, and with nothing there at once", () => {
    const fresh = counting(rig({ tty: true }), TELLING);
    fresh.attach();
    output(fresh.at, "a");
    expect(fresh.sent).toEqual(["LIVE", "a"]);
    const late = counting(fresh.at, TELLING);
    late.attach();
    output(late.at, "b");
    expect(late.sent).toEqual(["a", "LIVE", "b"]);
  });

  test("counts what was taken out of the replay: a terminal's queries", () => {
    const at = rig({ tty: true });
    output(at, "x\u001b[c\u001b[6ny");
    const late = counting(at, TELLING);
    late.attach();
    output(at, "z");
    expect(late.sent).toEqual(["xy", "LIVE", "z"]);
  });
});

describe("D11: a piece of a character that waits", () => {
  /** What was sent and what the socket was closed with, in order. */
  function attached(tty: boolean, dialect: Dialect<undefined> = PTY) {
    const at = rig({ tty });
    const done: (string | number)[] = [];
    const socket = {
      send: (frame: Frame) => void done.push(typeof frame === "string" ? frame : Buffer.from(frame).toString("hex")),
      close: (code: number) => void done.push(code),
      isWritable: () => true,
    };
    const connection = new ServerConnection(dialect, socket, at.clock.ms);
    connection.attach(at.session, request("a", { acknowledges: false, canResume: false, delivery: "live" }));
    output(at, Uint8Array.of(0x61, 0xe3, 0x80));
    return { at, connection, done };
  }

  test("comes out before the exit", () => {
    const { at, done } = attached(true);
    at.session.exited({ code: 3 });
    expect(done).toEqual(["61e3", "80", '{"type":"exit","code":3}', 1000]);
  });

  test("comes out before the connection is closed", () => {
    const { connection, done } = attached(true);
    connection.dismiss(4401, "token expired", "never", "vanished");
    expect(done).toEqual(["61e3", "80", 4401]);
  });

  test("is all that came of a character for a plain client, which may read each frame as text", () => {
    const { at, done } = attached(true, PLAIN);
    output(at, Uint8Array.of(0x82, 0x62));
    expect(done.slice(1)).toEqual(["0161", "01e3808262"]);
  });

  test("does not wait on pipes", () => {
    expect(attached(false).done).toEqual(["61e380"]);
    expect(attached(false, PLAIN).done.slice(1)).toEqual(["0161e380"]);
  });
});

describe("D3: a client that pauses", () => {
  test("is sent nothing, however long, and goes on where it was", () => {
    const one = counting();
    one.hear("begin");
    one.attach();
    output(one.at, "a");
    one.hear("pause");
    output(one.at, "b");
    output(one.at, "c");
    expect(one.at.session.nextTickMs).toBeUndefined();
    one.at.clock.ms += 10 * PLAIN_STALL_MS;
    one.at.session.tick();
    expect([one.sent.slice(2), one.closed]).toEqual([["0:a"], []]);
    one.hear("unpause");
    expect(one.sent.slice(2)).toEqual(["0:a", "1:bc"]);
  });

  test("holds the process where it is alone", () => {
    const one = counting();
    one.hear("begin");
    one.attach();
    one.hear("pause");
    output(one.at, new Uint8Array(64 * 1024));
    expect(one.at.session.shouldHold).toBe(false);
    output(one.at, new Uint8Array(64 * 1024));
    expect(one.at.session.shouldHold).toBe(true);
    one.hear("unpause");
    expect(one.at.session.shouldHold).toBe(false);
  });
});

describe("D4: a client that can't come back", () => {
  test.each([1000, 1001, 1006])("has left when its connection ends with %i", (code) => {
    const one = counting();
    one.hear("begin");
    one.attach();
    one.hear("typed");
    one.connection.closed(code);
    expect(one.at.upstream.of("departed")).toEqual([["departed", "a", "left"]]);
    expect(one.at.session.presentCount).toBe(0);
  });

  test("where it could, it has only vanished", () => {
    const one = counting(rig({ tty: true }), { ...COUNTING, canResume: true });
    one.hear("begin");
    one.attach();
    one.hear("typed");
    one.connection.closed(1006);
    expect(one.at.session.presentCount).toBe(1);
  });
});

test("D9: a client that says it is there is not idle, and nothing else comes of it", () => {
  const one = counting();
  one.hear("begin");
  one.attach();
  const before = one.connection.activity;
  one.hear("alive");
  expect([one.connection.activity - before, one.at.upstream.of("input"), one.sent]).toEqual([
    1,
    [],
    ["title", "preferences"],
  ]);
});

describe("D4: a client that can't be written to", () => {
  test.each(DIALECT_ROUTES.filter(({ dialect }) => !dialect.acknowledges).map(({ dialect }) => dialect))(
    "is closed with 1011 after 30 s of it, and nobody else: $name",
    (dialect) => {
      const at = rig({ tty: true });
      const end = (isWritable: boolean) => {
        const closed: number[] = [];
        const socket = {
          send: () => undefined,
          close: (code: number) => void closed.push(code),
          isWritable: () => isWritable,
        };
        const connection = new ServerConnection(dialect, socket, at.clock.ms);
        const { acknowledges, canResume } = dialect;
        connection.attach(at.session, request(String(isWritable), { acknowledges, canResume, delivery: "live" }));
        return closed;
      };
      const [stuffed, other] = [end(false), end(true)];
      output(at, "x");
      at.clock.ms += PLAIN_STALL_MS - 1;
      at.session.tick();
      expect(stuffed).toEqual([]);
      at.clock.ms += 1;
      at.session.tick();
      expect([stuffed, other]).toEqual([[1011], []]);
    },
  );
});

describe("K6b: a file transfer", () => {
  const [offer, answer] = ["**\x18B00", "**\x18B01"];

  /** A plain client of an exclusive session, in which `first` has the keyboard. */
  function plain(role: "driver" | "viewer", at = rig({ tty: true, mode: "exclusive" })) {
    const sent: string[] = [];
    const socket = {
      send: (frame: Frame) => void (typeof frame !== "string" && sent.push(text(frame.subarray(1)))),
      close: () => undefined,
      isWritable: () => true,
    };
    const connection = new ServerConnection(PLAIN, socket, at.clock.ms);
    const { acknowledges, canResume } = PLAIN;
    connection.attach(at.session, request(role, { role, acknowledges, canResume, delivery: "live" }));
    const type = (input: string) => connection.receive(bytes(input), at.clock.ms);
    return { at, sent, type };
  }

  test("goes through to the client that has the keyboard and answers, until it has it no more", () => {
    const { at, sent, type } = plain("driver");
    output(at, offer);
    type(answer);
    output(at, "a\x05");
    at.session.command(join(at.session, "admin", { isAdmin: true }).client, { type: "force_take" });
    output(at, "b\x05");
    expect(sent.slice(-3)).toEqual([offer, "a\x05", "b"]);
  });

  test("goes through to no viewer, and to no driver without the keyboard, whatever it sends", () => {
    for (const role of ["viewer", "driver"] as const) {
      const at = rig({ tty: true, mode: "exclusive" });
      join(at.session, "first");
      const { sent, type } = plain(role, at);
      output(at, offer);
      type(answer);
      output(at, "a\x05");
      expect(sent.slice(-2)).toEqual([offer, "a"]);
    }
  });
});
