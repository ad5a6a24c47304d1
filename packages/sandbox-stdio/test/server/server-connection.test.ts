// One client's WebSocket on the server's side: the order of its life, and what each dialect is told and may say.

import { describe, expect, test, vi } from "vitest";
import {
  DEFAULT_BUDGET,
  type Frame,
  MAX_STDIN_FRAME_BYTES,
  PLAIN,
  ServerConnection,
  SILENCE_MS,
  STDIO,
} from "../../src/index.ts";
import { bytes, join, output, relayRig, request, rig, takeAll } from "../support/fixtures.ts";
import { speaking } from "../support/speaking.ts";

const MIB = 1024 * 1024;
const PING = '{"type":"ping"}';

describe("before the session is there", () => {
  test("C4, C5: a ping is answered, and when a client may come back is said, where nothing knows a better time too", () => {
    const [one, other] = [speaking(rig()), speaking(rig())];
    one.hear(PING);
    one.connection.bye(1013, "full", "after");
    other.connection.bye(4503, "starting", "after", 7);
    expect([one.sent, other.sent]).toEqual([
      ['{"type":"pong"}', '{"type":"bye","code":1013,"reason":"full","retry":"after","seconds":1}'],
      ['{"type":"bye","code":4503,"reason":"starting","retry":"after","seconds":7}'],
    ]);
  });

  test("F2: stdin closes a stdio.v1 client with 1008 and bye", () => {
    const one = speaking(rig());
    one.hear(bytes("ls\n"));
    expect([one.sent, one.closed]).toEqual([
      ['{"type":"bye","code":1008,"reason":"stdin came before hello","retry":"never"}'],
      [1008, "stdin came before hello"],
    ]);
  });

  test("F2: a plain client's stdin and messages wait for the session, in order", () => {
    const at = rig({ tty: true });
    const one = speaking(at, { dialect: PLAIN });
    one.hear(bytes("l"));
    one.say({ type: "resize", cols: 100, rows: 40 });
    one.hear(bytes("s\n"));
    one.attach();
    expect([takeAll(at.session, one.client), one.connection.earlyBytes]).toEqual(["ls\n", 0]);
    expect(at.upstream.of("resize")).toEqual([["resize", "", 100, 40]]);
  });

  test("L4: a plain client's 4 MiB of input wait for it, more than that and 256 KiB close it; small messages count too", () => {
    const [one, other] = [speaking(rig(), { dialect: PLAIN }), speaking(rig(), { dialect: PLAIN })];
    const taken = [new Uint8Array(4 * MIB), new Uint8Array(250_000), new Uint8Array(65_000)].map((all) =>
      one.hear(all),
    );
    expect([taken, one.closed?.[0]]).toEqual([[1, 1, 0], 1008]);
    expect(other.hear('{"type":"kill"}', 300_000)).toBeLessThan(300_000);
    expect(other.closed?.[0]).toBe(1008);
  });

  test("F2: of a stdio.v1 client's messages 256 KiB wait, each counted with 16 bytes more", () => {
    const frame = (length: number) => {
      const [head, tail] = ['{"type":"auth","token":"', '"}'];
      return head + "t".repeat(length - head.length - tail.length) + tail;
    };
    const one = speaking(rig());
    expect(one.hear(frame(16_368), 16)).toBe(16);
    expect([one.connection.earlyBytes, one.closed, one.hear(frame(100))]).toEqual([262_144, undefined, 0]);
    expect(one.closed).toEqual([1008, "too much came before the session was ready"]);
  });

  test("L4: of a plain client's input 4 MiB and 256 KiB wait, and 16 MiB of all clients of the session", () => {
    const closed = (bytes: number, shared = 0) => {
      const closes: number[] = [];
      const socket = { send: () => undefined, close: (code: number) => void closes.push(code), isWritable: () => true };
      const connection = new ServerConnection(PLAIN, socket, 0, { earlyBytes: () => shared });
      for (const length of [4 * MIB, bytes - 4 * MIB - 32]) connection.receive(new Uint8Array(length), 0);
      return closes;
    };
    const most = 4 * MIB + 262_144;
    expect([closed(most), closed(most + 1)]).toEqual([[], [1008]]);
    expect([closed(most, 16 * MIB), closed(most, 16 * MIB + 1)]).toEqual([[], [1008]]);
  });

  test("C3: what is forbidden closes it with its code", () => {
    const one = speaking(rig());
    one.hear("{");
    expect([one.types(), one.closed?.[0]]).toEqual([["bye"], 1008]);
  });

  test("R10: one that has closed meanwhile is not attached", () => {
    const at = rig();
    const one = speaking(at);
    one.connection.closed(1006);
    one.attach();
    expect([one.sent, at.session.client("a")]).toEqual([[], undefined]);
  });

  test("A1: a refusal is told with its code, and nothing follows", () => {
    const one = speaking(rig(), { offset: 5 }).attach();
    one.hear(PING);
    one.connection.closed(4400);
    expect([one.types(), one.closed?.[0]]).toEqual([["bye"], 4400]);
  });
});

describe("attached", () => {
  test("A8: hello is the first thing, then the output", () => {
    const at = rig();
    output(at, "abc");
    const one = speaking(at).attach();
    expect(JSON.parse(one.sent[0] ?? "")).toMatchObject({ type: "hello", offset: 0, live: 3, stdin: 0 });
    expect(one.sent.slice(1)).toEqual(["1:abc"]);
  });

  test("I1: input is numbered from hello.stdin on, and an eof without offset comes after what was sent", () => {
    const at = rig();
    speaking(at).attach().hear(bytes("abc"));
    const again = speaking(at, { isResume: true, stdin: 1 }).attach();
    again.hear(bytes("bc"));
    again.hear(bytes("d"));
    again.say({ type: "eof" });
    expect([takeAll(at.session, again.client), again.client.input.eof]).toEqual(["abcd^D", 4]);
  });

  test.each<[Frame, number]>([
    ["{", 1008],
    ["[]", 1008],
    ['{"type":"ack"}', 1008],
    [`{"type":"auth","token":"${"x".repeat(16_384)}"}`, 1008],
    [new Uint8Array(MAX_STDIN_FRAME_BYTES + 1), 1009],
  ])("C3: what is forbidden closes with its code and gives the client's place up (#%#)", (frame, code) => {
    const at = rig();
    const one = speaking(at).attach();
    one.hear(frame);
    expect([one.types().at(-1), one.closed?.[0], at.session.client("a")]).toEqual(["bye", code, undefined]);
  });

  test("C3: what is not known or out of range is answered, and the socket stays", () => {
    const at = rig({ tty: true });
    const one = speaking(at).attach();
    one.say({ type: "weather" });
    one.say({ type: "resize", cols: 0, rows: 10 });
    expect(one.sent.slice(-2)).toEqual([
      '{"type":"error","code":"unknown_type","message":"Cannot follow a message of unknown type \\"weather\\""}',
      '{"type":"error","code":"bad_size","message":"Cannot resize to 0 by 10: from 1 by 1 to 1000 by 500"}',
    ]);
    expect([one.closed, at.upstream.of("resize")]).toEqual([undefined, []]);
  });

  test("F2: the longest stdin frame is taken, and an empty one is nothing", () => {
    const one = speaking(rig()).attach();
    one.hear(new Uint8Array(MAX_STDIN_FRAME_BYTES));
    one.hear(new Uint8Array(0));
    expect([one.client.input.queuedBytes, one.closed]).toEqual([MAX_STDIN_FRAME_BYTES, undefined]);
  });

  test("W1: an acknowledgement beyond what was sent closes with 1008, one up to there does not", () => {
    const at = rig();
    output(at, "abc");
    const one = speaking(at).attach();
    expect(one.hear('{"type":"ack","offset":3}')).toBe(1);
    one.say({ type: "ack", offset: 4 });
    expect(one.closed?.[0]).toBe(1008);
  });

  test("a fresh token goes to whoever checks tokens, and changes nothing here", () => {
    const one = speaking(rig()).attach();
    one.say({ type: "auth", token: "fresh" });
    expect([one.tokens, one.closed, one.types()]).toEqual([["fresh"], undefined, ["hello"]]);
  });

  test("X2: after the exit it is closed with 1000, and nothing more is said or heard", () => {
    const at = rig();
    const one = speaking(at).attach();
    output(at, "abc");
    at.session.exited({ code: 3 });
    one.hear(PING);
    one.hear(bytes("x"));
    one.connection.bye(4401, "late", "never");
    expect(one.sent.slice(1)).toEqual(["1:abc", '{"type":"exit","code":3,"offset":3}']);
    expect(one.closes).toEqual([[1000, ""]]);
  });
});

describe("the end of a connection", () => {
  test("R8, R9: 1000 gives the client's place up; any other code keeps it, if the client ever took part", () => {
    const phaseAfter = (code: number, takesPart: boolean) => {
      const at = rig();
      const one = speaking(at).attach();
      if (takesPart) one.say({ type: "ack", offset: 0 });
      one.connection.closed(code);
      return at.session.client("a")?.presence.phase;
    };
    expect(phaseAfter(1000, true)).toBeUndefined();
    const others = [1001, 1005, 1006, 1008, 4000];
    expect(others.map((code) => phaseAfter(code, true))).toEqual(others.map(() => "vanished"));
    expect(phaseAfter(1006, false)).toBe("absent");
  });

  test("R8: its place is kept for 30 s; where the page has put it aside (4001), for 3 s", () => {
    const keptFor = (code: number) => {
      const at = rig();
      const one = speaking(at).attach();
      one.say({ type: "ack", offset: 0 });
      one.connection.closed(code);
      return (at.session.nextTickMs ?? 0) - at.clock.ms;
    };
    expect([1001, 1006, 4001].map(keptFor)).toEqual([30_000, 30_000, 3_000]);
  });

  test("what the session still reports of its input after the end counts as no activity", () => {
    const { connection } = speaking(rig());
    // Nor is anything refused of a client that is not there yet.
    connection.typed(1, false, 0);
    connection.attach(rig().session, request("a"));
    connection.typed(1, true, 0);
    expect(connection.activity).toBe(1);
    connection.bye(4401, "late", "never");
    connection.typed(1, true, 0);
    expect(connection.activity).toBe(1);
  });

  test("R10: what an older connection still brings after it was replaced counts for nothing", () => {
    const at = rig();
    const older = speaking(at).attach();
    const newer = speaking(at, { isResume: true, stdin: 0 }).attach();
    expect([older.types().at(-1), older.closed?.[0]]).toEqual(["bye", 4409]);
    older.hear(bytes("old"));
    older.connection.closed(1000);
    older.connection.drop();
    newer.hear(bytes("new"));
    const { client } = newer;
    expect([client.presence.phase, takeAll(at.session, client), newer.closed]).toEqual(["greeted", "new", undefined]);
  });

  test("one that could not be attached to the end is not among the others, nor is its older connection", () => {
    for (const before of [0, 1]) {
      const at = rig();
      const older = before === 1 ? speaking(at).attach() : undefined;
      vi.spyOn(at.upstream, "attached").mockImplementation(() => {
        throw new Error("thrown by the test");
      });
      expect(() => speaking(at, { isResume: before === 1 }).attach()).toThrow("thrown by the test");
      expect([older?.closed?.[0], at.session.presentCount, at.session.flowLeader]).toEqual([
        before === 1 ? 4409 : undefined,
        0,
        undefined,
      ]);
    }
  });

  test("C4: one that has said nothing for 40 s is told and dropped, and its client has vanished; a plain one never pings", () => {
    const at = rig();
    const one = speaking(at).attach();
    one.say({ type: "ack", offset: 0 });
    one.connection.receive(PING, 5_000);
    expect(one.connection.silentAtMs).toBe(5_000 + SILENCE_MS);
    one.connection.drop();
    expect([one.closed?.[0], one.client.presence.phase, one.connection.silentAtMs]).toEqual([
      1001,
      "vanished",
      undefined,
    ]);
    expect(speaking(rig(), { dialect: PLAIN }).attach().connection.silentAtMs).toBeUndefined();
  });

  test("C5, Z: a plain client is closed without a bye, and a reason is cut to 123 bytes and never within a character", () => {
    const one = speaking(rig(), { dialect: PLAIN }).attach();
    one.connection.bye(4400, "€".repeat(100), "never");
    expect([one.types(), one.closed]).toEqual([["hello"], [4400, "€".repeat(41)]]);
  });
});

test("L10c: what a driver had on its way when it lost the keyboard costs nothing, in any dialect", () => {
  for (const dialect of [STDIO, PLAIN]) {
    const at = rig({ mode: "exclusive" });
    const one = speaking(at, { dialect, limits: { ...DEFAULT_BUDGET, refusedBurstBytes: 1 } }).attach();
    join(at.session, "b");
    one.hear(bytes("mine"));
    at.session.setHolder("b");
    expect([one.hear(bytes("late"), 2), one.closes]).toEqual([2, []]);
  }
});

describe("H20: a connection of a session that is to sleep", () => {
  const LIVE = { tty: true, delivery: "live" } as const;
  const kept = { state: undefined, stdinOffset: 0, mayType: false };

  test("is kept once its replay is over, in any dialect, with its place in the input", () => {
    const at = rig(LIVE);
    output(at, "replay");
    const one = speaking(at, { delivery: "live" });
    one.socket.isStuffed = true;
    const seen: unknown[] = [one.connection.parked];
    one.attach();
    seen.push(one.connection.parked);
    one.socket.isStuffed = false;
    one.connection.drained();
    seen.push(one.connection.parked);
    one.hear(bytes("ls"));
    expect([...seen, one.connection.parked]).toMatchObject([
      ...[undefined, undefined, kept],
      { stdinOffset: 2, mayType: true },
    ]);
  });

  test("is not kept while it is paused, nor within a sequence or a character", () => {
    const at = rig(LIVE);
    const one = speaking(at, { dialect: PLAIN, delivery: "live" });
    const seen: unknown[] = [one.connection.parked];
    one.attach();
    for (const piece of ["\x1b[", "m"]) {
      seen.push(one.connection.parked);
      output(at, piece);
    }
    seen.push(one.connection.parked);
    one.connection.isPaused = true;
    expect([...seen, one.connection.parked].map((parked) => parked !== undefined)).toEqual([
      ...[false, true, false, true, false],
    ]);
  });

  test("goes on with its client's input where it was", () => {
    const at = relayRig(LIVE);
    const { client } = join(at.session, "a", { delivery: "live" });
    at.session.stdin(client, bytes("ls"));
    const one = speaking(at);
    const parked = { state: "its dialect's", stdinOffset: 2, mayType: true };
    one.connection.resume(parked, { tty: true, offset: 0, me: "a", answerer: at.session.answerer });
    one.connection.resumed(at.session, client);
    expect(one.connection.parked).toEqual(parked);
    one.hear(bytes("\n"));
    expect([one.connection.client, client.input.received, one.closes]).toEqual([client, 3, []]);
  });

  test("L10c: counts as one that never could type, if it was one before", () => {
    const one = speaking(relayRig(LIVE));
    one.connection.resume(kept, { tty: true, offset: 0, me: "a", answerer: { id: "", offset: 0 } });
    one.connection.resumed(one.at.session, join(one.at.session, "a").client);
    expect(one.connection.parked?.mayType).toBe(false);
  });

  test.each([
    ["on a PTY it gets no queries of others", true, ["1:a", "1:b\x1b[6n"]],
    ["on pipes it gets all bytes", false, ["1:a\x1b[6n", "1:b\x1b[6n"]],
  ])("K6: %s, as before", (_what, tty, sent) => {
    const one = speaking(relayRig(LIVE), { dialect: PLAIN });
    one.connection.resume(kept, { tty, offset: 7, me: "a", answerer: { id: "a", offset: 12 } });
    for (const piece of ["a\x1b[6n", "b\x1b[6n"]) one.connection.sendOutput(Uint8Array.of(1, ...bytes(piece)), 0);
    expect(one.sent).toEqual(sent);
  });

  test("has spoken, if it speaks first, and spends its client's budget", () => {
    const one = speaking(relayRig(LIVE), { dialect: { ...PLAIN, clientBegins: true } });
    one.connection.resume(kept, { tty: true, offset: 0, me: "a", answerer: { id: "", offset: 0 } });
    const { client } = join(one.at.session, "a");
    one.connection.resumed(one.at.session, client);
    expect([one.connection.silentAtMs, one.connection.parked]).toEqual([undefined, kept]);
    expect(client.budget).toBeDefined();
  });
});

test("K6, K6c: what a stdio.v1 client is sent is whole, replayed or not, whoever answers: it knows that itself", () => {
  const at = rig({ tty: true });
  output(at, "a\x1b[6n");
  const one = speaking(at, { role: "viewer" }).attach();
  output(at, "b\x1b[6n");
  expect(one.sent.slice(1)).toEqual(["1:a\x1b[6n", "1:b\x1b[6n"]);
});

test("a dialect is told that the replay is over behind its last byte", () => {
  const at = rig();
  output(at, "ab");
  output(at, "cd", 2);
  const types: string[] = [];
  const encode = (event: { readonly type: string }, state: unknown) => {
    types.push(event.type);
    return { frames: [], state };
  };
  speaking(at, { dialect: { ...PLAIN, encode } }).attach();
  output(at, "e");
  expect(types).toEqual(["found", "hello", "output", "output", "live", "greeted", "output"]);
});

test("who watches a connection is told of its errors and its end alone; after the end nothing more is sent", () => {
  const told: unknown[] = [];
  const sent: unknown[] = [];
  const socket = {
    send: (frame: Frame) => void sent.push(frame),
    close: (code: number) => void sent.push(code),
    isWritable: () => true,
  };
  const connection = new ServerConnection(STDIO, socket, 0, { told: (what) => void told.push(what) });
  connection.drained(); // Not attached: nothing waits for it.
  connection.send({ type: "secret", on: true });
  connection.send({ type: "error", code: "not_allowed", message: "no" });
  connection.bye(4401, "late", "never");
  expect([told, sent.at(-1)]).toEqual([
    [
      { type: "error", code: "not_allowed", text: "no" },
      { type: "bye", code: 4401, text: "late" },
    ],
    4401,
  ]);
  sent.length = 0;
  connection.send({ type: "error", code: "not_allowed", message: "no" });
  connection.sendOutput(Uint8Array.of(1, 65), 0);
  connection.sendSnapshot(Uint8Array.of(3, 65));
  connection.greeted();
  connection.finish();
  expect([told.length, sent, connection.activity]).toEqual([2, [], 0]);
});

test("a dialect that reports times is handed the session's age, and no other is", () => {
  for (const tellsTimes of [true, false]) {
    const ages: unknown[] = [];
    const encode = (_event: object, state: unknown, ageMs?: number) => {
      ages.push(ageMs);
      return { frames: [], state };
    };
    const socket = { send: () => undefined, close: () => undefined, isWritable: () => true };
    const connection = new ServerConnection({ ...PLAIN, encode, tellsTimes }, socket, 0, { sessionMs: () => 42 });
    connection.bye(4400, "", "never");
    expect(ages).toEqual([tellsTimes ? 42 : undefined]);
  }
});

test("K3: whatever a viewer says or sends, nothing of it reaches the process", () => {
  const at = rig({ tty: true });
  join(at.session, "driver", { size: { cols: 80, rows: 24 } });
  const one = speaking(at, { id: "v", role: "viewer", isAdmin: true, size: { cols: 10, rows: 5 } }).attach();
  const before = at.upstream.asked.length;
  const words = ["kill", "eof", "release_stdin", "force_take"].map((type) => ({ type }));
  one.say({ type: "resize", cols: 20, rows: 10 });
  one.say({ type: "signal", signal: "SIGKILL" });
  one.say({ type: "grant_stdin", to: "v" });
  for (const message of words) one.say(message);
  one.hear(bytes("rm -rf /\n"));
  const asked = at.upstream.asked.slice(before).filter(([kind]) => kind !== "acked");
  // Its input is only counted as refused.
  expect([asked, one.client.input.taken]).toEqual([[["input", "v", "refused", 9]], 9]);
  expect(one.types().filter((type) => type === "error").length).toBe(7);
});
