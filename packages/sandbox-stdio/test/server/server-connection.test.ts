// One client's WebSocket on the server's side: the order of its life, and what each dialect is told and may say.

import { describe, expect, test, vi } from "vitest";
import { type Frame, MAX_STDIN_FRAME_BYTES, PLAIN, ServerConnection, SILENCE_MS, STDIO } from "../../src/index.ts";
import { bytes, join, output, type Rig, request, rig, takeAll, text } from "../support/fixtures.ts";

function connected(at: Rig, over: Parameters<typeof request>[1] & { dialect?: typeof STDIO; id?: string } = {}) {
  const { dialect = STDIO, id = "a", ...rest } = over;
  const sent: string[] = [];
  let closed: [number, string] | undefined;
  const tokens: string[] = [];
  const connection = new ServerConnection(
    dialect,
    {
      send: (frame: Frame) => sent.push(typeof frame === "string" ? frame : `${frame[0]}:${text(frame.subarray(1))}`),
      close: (code, reason) => {
        closed ??= [code, reason];
      },
      isWritable: () => true,
    },
    0,
    { auth: (token) => tokens.push(token) },
  );
  return {
    connection,
    sent,
    tokens,
    get closed() {
      return closed;
    },
    attach() {
      connection.attach(at.session, request(id, { acknowledges: dialect.acknowledges, ...rest }));
      return this;
    },
    say(message: object) {
      connection.receive(JSON.stringify(message), 0);
    },
    types: () =>
      sent.filter((frame) => frame.startsWith("{")).map((frame) => (JSON.parse(frame) as { type: string }).type),
  };
}

describe("before the session is there", () => {
  test("C4: a ping is answered at once", () => {
    const one = connected(rig());
    one.say({ type: "ping" });
    expect(one.sent).toEqual(['{"type":"pong"}']);
  });

  test("C5: after which time a client may come back is said, where nothing knows a better one too", () => {
    const [one, other] = [connected(rig()), connected(rig())];
    one.connection.bye(1013, "full", "after");
    other.connection.bye(4503, "starting", "after", 7);
    expect([one.sent, other.sent]).toEqual([
      ['{"type":"bye","code":1013,"reason":"full","retry":"after","seconds":1}'],
      ['{"type":"bye","code":4503,"reason":"starting","retry":"after","seconds":7}'],
    ]);
  });

  test("F2: stdin closes a stdio.v1 client with 1008 and bye", () => {
    const one = connected(rig());
    one.connection.receive(bytes("ls\n"), 0);
    expect([one.sent, one.closed]).toEqual([
      ['{"type":"bye","code":1008,"reason":"stdin came before hello","retry":"never"}'],
      [1008, "stdin came before hello"],
    ]);
  });

  test("F2: a plain client's stdin and messages wait for the session, in order", () => {
    const at = rig({ tty: true });
    const one = connected(at, { dialect: PLAIN });
    one.connection.receive(bytes("l"), 0);
    one.say({ type: "resize", cols: 100, rows: 40 });
    one.connection.receive(bytes("s\n"), 0);
    one.attach();
    const client = at.session.client("a");
    expect(client && takeAll(at.session, client)).toBe("ls\n");
    expect(at.upstream.of("resize")).toEqual([["resize", "", 100, 40]]);
  });

  test("L4: a plain client's 4 MiB of input wait for it, more than that and 256 KiB close it", () => {
    const one = connected(rig(), { dialect: PLAIN });
    one.connection.receive(new Uint8Array(4 * 1024 * 1024), 0);
    one.connection.receive(new Uint8Array(250_000), 0);
    expect(one.closed).toBeUndefined();
    one.connection.receive(new Uint8Array(65_000), 0);
    expect(one.closed?.[0]).toBe(1008);
  });

  test("many small messages count too", () => {
    const one = connected(rig(), { dialect: PLAIN });
    for (let i = 0; i < 300_000 && one.closed === undefined; i += 1) one.say({ type: "kill" });
    expect(one.closed?.[0]).toBe(1008);
  });

  test("A1: a refusal is told with its code, and nothing follows", () => {
    const at = rig();
    const one = connected(at, { offset: 5 }).attach();
    expect(one.types()).toEqual(["bye"]);
    expect(one.closed?.[0]).toBe(4400);
    one.say({ type: "ping" });
    one.connection.closed(4400);
    expect(one.sent.length).toBe(1);
  });
});

describe("attached", () => {
  test("A8: hello is the first thing, then the output", () => {
    const at = rig();
    output(at, "abc");
    const one = connected(at).attach();
    expect(JSON.parse(one.sent[0] ?? "")).toMatchObject({ type: "hello", offset: 0, live: 3, stdin: 0 });
    expect(one.sent.slice(1)).toEqual(["1:abc"]);
  });

  test("I1: input is numbered from hello.stdin on, and an eof without offset comes after what was sent", () => {
    const at = rig();
    const first = connected(at).attach();
    first.connection.receive(bytes("abc"), 0);
    const again = connected(at, { isResume: true, stdin: 1 }).attach();
    again.connection.receive(bytes("bc"), 0);
    again.connection.receive(bytes("d"), 0);
    again.say({ type: "eof" });
    const client = at.session.client("a");
    expect(client && takeAll(at.session, client)).toBe("abcd^D");
    expect(client?.input.eof).toBe(4);
  });

  test("C3: what is forbidden closes with its code and gives the client's place up", () => {
    for (const [frame, code] of [
      ["{", 1008],
      ["[]", 1008],
      ['{"type":"ack"}', 1008],
      [`{"type":"auth","token":"${"x".repeat(16_384)}"}`, 1008],
      [new Uint8Array(MAX_STDIN_FRAME_BYTES + 1), 1009],
    ] as const) {
      const at = rig();
      const one = connected(at).attach();
      one.connection.receive(frame, 0);
      expect([one.types().at(-1), one.closed?.[0], at.session.client("a")]).toEqual(["bye", code, undefined]);
      expect((one.closed?.[1] ?? "").length).toBeLessThanOrEqual(123);
    }
  });

  test("C3: what is not known or out of range is answered, and the socket stays", () => {
    const at = rig({ tty: true });
    const one = connected(at).attach();
    one.say({ type: "weather" });
    one.say({ type: "resize", cols: 0, rows: 10 });
    expect(one.sent.slice(-2)).toEqual([
      '{"type":"error","code":"unknown_type","message":"Cannot follow a message of unknown type \\"weather\\""}',
      '{"type":"error","code":"bad_size","message":"Cannot resize to 0 by 10: from 1 by 1 to 1000 by 500"}',
    ]);
    expect([one.closed, at.upstream.of("resize")]).toEqual([undefined, []]);
  });

  test("F2: the longest stdin frame is taken, and an empty one is nothing", () => {
    const at = rig();
    const one = connected(at).attach();
    one.connection.receive(new Uint8Array(MAX_STDIN_FRAME_BYTES), 0);
    one.connection.receive(new Uint8Array(0), 0);
    expect([at.session.client("a")?.input.queuedBytes, one.closed]).toEqual([MAX_STDIN_FRAME_BYTES, undefined]);
  });

  test("W1: an acknowledgement beyond what was sent closes with 1008, one up to there does not", () => {
    const at = rig();
    output(at, "abc");
    const one = connected(at).attach();
    one.say({ type: "ack", offset: 3 });
    expect(one.closed).toBeUndefined();
    one.say({ type: "ack", offset: 4 });
    expect(one.closed?.[0]).toBe(1008);
  });

  test("a fresh token goes to whoever checks tokens, and changes nothing here", () => {
    const at = rig();
    const one = connected(at).attach();
    one.say({ type: "auth", token: "fresh" });
    expect([one.tokens, one.closed, one.types()]).toEqual([["fresh"], undefined, ["hello"]]);
  });

  test("X2: after the exit it is closed with 1000, and nothing more is said or heard", () => {
    const at = rig();
    const one = connected(at).attach();
    output(at, "abc");
    at.session.exited({ code: 3 });
    expect([one.sent.slice(-2), one.closed]).toEqual([
      ["1:abc", '{"type":"exit","code":3,"offset":3}'],
      [1000, ""],
    ]);
    one.say({ type: "ping" });
    one.connection.receive(bytes("x"), 0);
    one.connection.bye(4401, "late", "never");
    expect(one.sent.length).toBe(3);
  });
});

describe("the end of a connection", () => {
  test("R8: 1000 gives the client's place up", () => {
    const at = rig();
    const one = connected(at).attach();
    one.say({ type: "ack", offset: 0 });
    one.connection.closed(1000);
    expect(at.session.client("a")).toBeUndefined();
  });

  test("R9: any other code keeps it, if the client ever took part", () => {
    for (const code of [1001, 1005, 1006, 1008, 4000]) {
      const at = rig();
      const one = connected(at).attach();
      one.say({ type: "ack", offset: 0 });
      one.connection.closed(code);
      expect(at.session.client("a")?.presence.phase).toBe("vanished");
    }
    const at = rig();
    connected(at).attach().connection.closed(1006);
    expect(at.session.client("a")?.presence.phase).toBe("absent");
  });

  test("R10: what an older connection still brings after it was replaced counts for nothing", () => {
    const at = rig();
    const older = connected(at).attach();
    const newer = connected(at, { isResume: true, stdin: 0 }).attach();
    expect([older.types().at(-1), older.closed?.[0]]).toEqual(["bye", 4409]);
    older.connection.receive(bytes("old"), 0);
    older.connection.closed(1000);
    older.connection.drop();
    newer.connection.receive(bytes("new"), 0);
    const client = at.session.client("a");
    expect([client?.presence.phase, client && takeAll(at.session, client), newer.closed]).toEqual([
      "greeted",
      "new",
      undefined,
    ]);
  });

  test("one that could not be attached to the end is not among the others", () => {
    const at = rig();
    const upstream = vi.spyOn(at.upstream, "attached").mockImplementation(() => {
      throw new Error("thrown by the test");
    });
    expect(() => connected(at).attach()).toThrow("thrown by the test");
    expect([upstream.mock.calls.length, at.session.presentCount, at.session.pacer]).toEqual([1, 0, undefined]);
  });

  test("nor is its older connection, which it had replaced by then", () => {
    const at = rig();
    const older = connected(at).attach();
    vi.spyOn(at.upstream, "attached").mockImplementation(() => {
      throw new Error("thrown by the test");
    });
    expect(() => connected(at, { isResume: true }).attach()).toThrow("thrown by the test");
    expect([older.closed?.[0], at.session.presentCount]).toEqual([4409, 0]);
  });

  test("C4: one that has said nothing for 40 s is told and dropped, and its client has vanished", () => {
    const at = rig();
    const one = connected(at).attach();
    one.say({ type: "ack", offset: 0 });
    one.connection.receive('{"type":"ping"}', 5_000);
    expect(one.connection.silentAtMs).toBe(5_000 + SILENCE_MS);
    one.connection.drop();
    expect([one.closed?.[0], at.session.client("a")?.presence.phase, one.connection.silentAtMs]).toEqual([
      1001,
      "vanished",
      undefined,
    ]);
  });

  test("C4: a plain client never pings and is never silent", () => {
    expect(connected(rig(), { dialect: PLAIN }).attach().connection.silentAtMs).toBeUndefined();
  });

  test("C5: a plain client is closed without a bye", () => {
    const at = rig();
    const one = connected(at, { dialect: PLAIN }).attach();
    one.connection.bye(1001, "going", "now");
    expect([one.types(), one.closed]).toEqual([["hello"], [1001, "going"]]);
  });

  test("Z: a close's reason is cut to 123 bytes and never within a character", () => {
    const one = connected(rig());
    one.connection.bye(4400, "€".repeat(100), "never");
    expect(one.closed).toEqual([4400, "€".repeat(41)]);
  });
});

test("K3: whatever a viewer says or sends, nothing of it reaches the process", () => {
  const at = rig({ tty: true });
  join(at.session, "driver", { size: { cols: 80, rows: 24 } });
  const one = connected(at, { id: "v", role: "viewer", isAdmin: true, size: { cols: 10, rows: 5 } }).attach();
  const before = at.upstream.asked.length;
  for (const message of [
    { type: "resize", cols: 20, rows: 10 },
    { type: "signal", signal: "SIGKILL" },
    { type: "kill" },
    { type: "eof" },
    { type: "request_stdin" },
    { type: "release_stdin" },
    { type: "grant_stdin", to: "v" },
    { type: "force_take" },
  ]) {
    one.say(message);
  }
  one.connection.receive(bytes("rm -rf /\n"), 0);
  const asked = at.upstream.asked.slice(before).filter(([kind]) => kind !== "acked");
  // Its input is only counted as refused.
  expect(asked).toEqual([["input", "v", "refused", 9]]);
  expect(at.session.client("v")?.input.taken).toBe(9);
  expect(one.types().filter((type) => type === "error").length).toBe(8);
});
