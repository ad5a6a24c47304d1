// A client's input: its keys and what becomes of them while nothing answers, its window, refusals, and where it is
// numbered from by a later life.

import { describe, expect, test } from "vitest";
import { type ClientOptions, TypedInput } from "../../src/index.ts";
import { attached, harness, PIPES } from "../support/client-harness.ts";
import { bytes } from "../support/fixtures.ts";

const PING = '{"type":"ping"}';
const eof = (offset: number) => ({ type: "eof", offset });
const refusal = (code: string) => ({ type: "error", code, message: "" });

describe("keys", () => {
  test("I4: pressed while the connection is down, they are discarded visibly and never sent, to the end of their line", () => {
    const { client, greet, socket, told, typed, wait } = attached();
    const type = (keys: string) => client.type(bytes(keys));
    expect(type("a")).toBe(true);
    socket().events.closed(1006, "");
    expect(type("b")).toBe(false);
    wait(200);
    expect(type("rm")).toBe(false);
    greet({ stdin: 0 });
    // The rest of the same line would be half a line to the program; what follows its end in the same piece is sent.
    expect([type(" -r\rls"), type("d")]).toEqual([true, true]);
    expect(told("discarded").map(([, keys]) => keys)).toEqual(["b", "rm", " -r\r"]);
    // What was sent before the break and not acknowledged is sent again.
    expect(typed()).toEqual(["a", "ls", "d"]);
  });

  test("I4: pressed before the first greeting, they are discarded visibly too", () => {
    const { client, greet, socket, texts, told, typed } = harness();
    client.start();
    socket().events.open();
    expect(client.type(bytes("a"))).toBe(false);
    // Nothing is awaited of it.
    expect(texts("ping").length).toBe(1);
    greet();
    expect([typed(), told("discarded")]).toEqual([[], [["discarded", "a"]]]);
  });

  test("I4: where a full-screen program is shown, a key that follows a discarded one is sent", () => {
    const { client, greet, typed, cut } = attached({}, {}, { isFullScreen: true });
    cut();
    client.type(bytes("d"));
    greet({ stdin: 0 });
    client.type(bytes("p"));
    expect(typed()).toEqual(["p"]);
  });

  test("I4: the end of a discarded line is discarded with it, and nothing is written", () => {
    const { client, greet, told, cut } = attached();
    cut();
    client.type(bytes("rm"));
    greet({ stdin: 0 });
    expect(client.type(bytes(" -r\r"))).toBe(false);
    expect(told("discarded").map(([, keys]) => keys)).toEqual(["rm", " -r\r"]);
  });

  test("I4: after the exit no key is told to be lost for want of a connection", () => {
    const { client, say, told } = attached();
    say({ type: "exit", code: 0, offset: 0 });
    expect([client.type(bytes("a")), told("discarded")]).toEqual([false, []]);
  });

  test("told to keep its keys, it keeps all of them while the connection is down, and sends them with the next", () => {
    const { client, greet, told, typed, cut } = attached({}, { keepsKeys: true });
    cut();
    expect(client.type(bytes("ls\r"))).toBe(true);
    greet({ stdin: 0 });
    expect([typed(), told("discarded")]).toEqual([["ls\r"], []]);
  });

  test("I4a: the rest of a paste that was begun is kept while the connection is down, and sent once", () => {
    const { client, greet, socket, told, typed, wait } = attached();
    client.type(bytes("\x1b[200~one,"));
    socket().events.closed(1006, "");
    expect(client.type(bytes("two,"))).toBe(true);
    wait(200);
    greet({ stdin: 0 });
    client.type(bytes("three\x1b[201~"));
    expect([typed().join(""), told("discarded")]).toEqual(["\x1b[200~one,two,three\x1b[201~", []]);
  });

  test("C: with nothing heard for 3 s after a key it says so, and again when something is heard", () => {
    const { client, say, socket, told, wait } = attached();
    wait(5_000);
    expect(told("quiet")).toEqual([]);
    client.type(bytes("a"));
    expect(socket().sent.at(-1)).toBe(PING);
    wait(2_999);
    expect(told("quiet")).toEqual([]);
    wait(1);
    say({ type: "pong" });
    expect(told("quiet").map(([, isQuiet]) => isQuiet)).toEqual([true, false]);
  });

  test("C: a key soon after one that was answered is watched for 3 s of its own", () => {
    const { client, say, texts, told, wait } = attached();
    /** A key, which is answered after so long. */
    const key = (answeredMs: number) => {
      client.type(bytes("k"));
      wait(answeredMs);
      say({ type: "pong" });
    };
    key(100);
    wait(900);
    const before = texts("ping").length;
    client.type(bytes("b"));
    wait(2_000);
    // It had no ping of its own yet.
    expect(texts("ping").length - before).toBe(1);
    wait(999);
    expect(told("quiet")).toEqual([]);
    wait(1);
    expect(told("quiet")).toHaveLength(1);
    // One that is answered in between is not told of.
    say({ type: "pong" });
    key(100);
    wait(2_000);
    key(900);
    wait(5_000);
    expect(told("quiet")).toHaveLength(2);
  });

  test.each([
    [100, 4_000],
    [2_500, 5_500],
  ])(
    "C: a key %i ms after one that was answered is told of %i ms after that one, with a second for its ping",
    (at, due) => {
      const { client, say, told, wait } = attached();
      client.type(bytes("a"));
      wait(50);
      say({ type: "pong" });
      wait(at - 50);
      client.type(bytes("b"));
      wait(due - at - 1);
      expect(told("quiet")).toEqual([]);
      wait(1);
      expect(told("quiet")).toHaveLength(1);
    },
  );

  test("C4: a key that is not answered for 5 s makes it reconnect, and sends the key again; it waits 10 s the next time", () => {
    const { client, greet, say, sockets, texts, typed, wait } = attached();
    /** A key that nothing answers, up to the reconnection. */
    const lose = (key: string, ms: number) => {
      client.type(bytes(key));
      wait(ms - 1);
      expect([client.state.phase, sockets.at(-1)?.closed]).toEqual(["attached", undefined]);
      wait(1);
      expect([client.state, sockets.at(-1)?.closed]).toMatchObject([
        { phase: "waiting", reason: `nothing was heard for ${ms / 1000} s` },
        "abort",
      ]);
      wait(15_000);
      greet({ stdin: 0 });
    };
    lose("a", 5_000);
    expect(typed()).toEqual(["a"]);
    lose("b", 10_000);
    expect(typed().join("")).toBe("ab");
    // Late, yet in time: the next key has 5 s again.
    client.type(bytes("c"));
    wait(4_000);
    say({ type: "pong" });
    wait(16_000);
    expect([client.state.phase, texts("ping").length > 0]).toEqual(["attached", true]);
    lose("d", 5_000);
    // So has it after one that is answered soon.
    client.type(bytes("e"));
    wait(100);
    say({ type: "pong" });
    wait(15_000);
    lose("f", 5_000);
  });

  test("C: a key that is answered costs one ping; of one that is not it tells after 3 s, though others follow", () => {
    const { client, say, texts, told, wait } = attached();
    const before = texts("ping").length;
    client.type(bytes("a"));
    wait(100);
    say({ type: "pong" });
    wait(9_900);
    expect([texts("ping").length - before, told("quiet")]).toEqual([1, []]);
    client.type(bytes("b"));
    wait(2_000);
    client.type(bytes("c"));
    wait(1_000);
    expect(told("quiet")).toHaveLength(1);
  });

  test("C: a key that a broken connection left unanswered does not keep the next one's from being watched", () => {
    const { client, greet, told, wait, cut } = attached();
    client.type(bytes("a"));
    cut();
    greet({ stdin: 0 });
    wait(5_000);
    client.type(bytes("b"));
    wait(3_000);
    expect(told("quiet")).toHaveLength(1);
  });

  test("C: a round trip is that of its own ping: the answer of an earlier one does not count, nor does a broken one", () => {
    const { client, greet, say, texts, wait, cut } = harness();
    const times: number[] = [];
    const time = () => client.time((ms) => times.push(ms));
    expect(time()).toBe(false);
    client.start();
    greet(); // Pings, too.
    expect([time(), texts("ping").length]).toEqual([true, 2]);
    wait(40);
    say({ type: "pong" });
    expect(times).toEqual([]);
    wait(2);
    say({ type: "pong" });
    say({ type: "pong" });
    expect(times).toEqual([42]);
    time();
    cut();
    expect(time()).toBe(false);
    greet();
    for (let i = 0; i < 20; i += 1) say({ type: "pong" });
    expect(times).toEqual([42]);
    // Each connection counts its own.
    cut();
    greet();
    time();
    say({ type: "pong" });
    expect(times).toEqual([42]);
    wait(7);
    say({ type: "pong" });
    expect(times).toEqual([42, 7]);
  });

  test("R11, I4b: sent away for idleness (4408) it stays away until a key is pressed, which is kept, as are those after it", () => {
    const { client, greet, say, socket, sockets, told, typed, wait } = attached();
    say({ type: "bye", code: 4408, reason: "idle", retry: "never" });
    wait(3_600_000);
    const waiting = { phase: "waiting", retryAtMs: undefined, reason: "idle", attempt: 0 };
    expect([client.state, sockets.length]).toEqual([waiting, 1]);
    client.type(bytes("x"));
    expect([sockets.length, client.state.phase]).toEqual([2, "connecting"]);
    client.type(bytes("y"));
    greet({ stdin: 0 });
    expect([typed().join(""), told("discarded")]).toEqual(["xy", []]);
    // From then on it is as on any connection.
    socket().events.closed(1006, "cut");
    expect([client.type(bytes("z")), told("discarded")]).toEqual([false, [["discarded", "z"]]]);
  });
});

describe("the window", () => {
  test("I3: beyond 256 KiB not acknowledged it asks for a pause, and says when it may go on", () => {
    const { client, say, sentBytes, told } = attached();
    expect(client.write(new Uint8Array(262_143))).toBe(true);
    expect(client.write(new Uint8Array(100_000))).toBe(false);
    expect(sentBytes()).toBe(262_144);
    const before = told("drained").length;
    say({ type: "stdin_ack", offset: 99_998 });
    expect([told("drained").length, client.unackedInput, sentBytes()]).toEqual([before, 262_145, 362_142]);
    say({ type: "stdin_ack", offset: 100_000 });
    expect([told("drained").length, client.unackedInput, sentBytes()]).toEqual([before + 1, 262_143, 362_143]);
  });

  test("I3: 256 KiB fill the window, and one byte less leaves room", () => {
    const { client, say, told } = attached();
    expect(client.write(new Uint8Array(262_144))).toBe(false);
    const before = told("drained").length;
    say({ type: "stdin_ack", offset: 1 });
    expect(told("drained").length).toBe(before + 1);
  });

  test("I3b: it keeps and sends what its window holds; a later connection may have a smaller one", () => {
    const { client, greet, say, sentBytes, cut } = attached({ inputWindow: 1_048_576 });
    expect(client.write(new Uint8Array(1_048_575))).toBe(true);
    expect(client.write(new Uint8Array(100_000))).toBe(false);
    expect(sentBytes()).toBe(1_048_576);
    say({ type: "stdin_ack", offset: 1_000 });
    expect(sentBytes()).toBe(1_049_576);
    cut();
    greet({ stdin: 2_000 });
    expect([sentBytes(), client.unackedInput]).toEqual([262_144, 1_146_575]);
    say({ type: "stdin_ack", offset: 2_001 });
    expect(sentBytes()).toBe(262_145);
  });
});

describe("input that is refused", () => {
  test.each([
    ["not_stdin_holder", 65_536],
    ["stdin_closed", 262_144],
  ])("L10: %s: %i bytes are sent at most, and what is not sent yet is dropped, and not sent later", (code, most) => {
    const isLate = code === "stdin_closed";
    const hello = isLate ? PIPES : { ...PIPES, mode: "exclusive", holder: "another" };
    const { client, say, socket, sentBytes, told } = attached(hello);
    for (let i = 0; i < 10; i += 1) client.write(new Uint8Array(100_000));
    expect([sentBytes(), client.unackedInput]).toEqual([most, 1_000_000]);
    // The server tells of the refusal before it counts the bytes as taken.
    say(refusal(code));
    expect([sentBytes(), client.unackedInput]).toEqual([most, most]);
    const dropped = told("discarded").map(([, keys]) => String(keys).length);
    expect(dropped.reduce((sum, length) => sum + length, 0)).toBe(1_000_000 - most);
    say({ type: "stdin_ack", offset: most });
    expect([sentBytes(), client.unackedInput]).toEqual([most, 0]);
    // What is written then goes on where that ended, unless the process takes no more for good.
    const before = socket().sent.length;
    client.write(new Uint8Array([7, 8]));
    client.write(new Uint8Array([9]));
    expect(socket().sent.slice(before)).toEqual(isLate ? [] : [new Uint8Array([7, 8]), new Uint8Array([9])]);
    client.endInput();
    expect(socket().sent.at(-1)).toBe(JSON.stringify(eof(isLate ? most : most + 3)));
  });

  test("L10b: a client that waits for the keyboard sends the rest of its input once it has it", () => {
    const { client, say, sentBytes } = attached({ mode: "exclusive", holder: "another" });
    client.write(new Uint8Array(100_000));
    expect(sentBytes()).toBe(65_536);
    say({ type: "stdin_holder", id: "a" });
    expect(sentBytes()).toBe(100_000);
  });

  test("L10: an end of input behind what is dropped is told once all that was sent is acknowledged, and not before", () => {
    const { client, say, texts } = attached(PIPES);
    client.write(new Uint8Array(1_000_000));
    client.endInput();
    say(refusal("stdin_closed"));
    say({ type: "leave", id: "other" });
    expect(texts("eof")).toEqual([]);
    say({ type: "stdin_ack", offset: 262_144 });
    expect(texts("eof")).toEqual([eof(262_144)]);
  });

  test("an end of input that is refused drops nothing: the input itself is taken", () => {
    const { client, say } = attached(PIPES);
    client.write(new Uint8Array(1_000_000));
    say(refusal("not_stdin_holder"));
    expect(client.unackedInput).toBe(1_000_000);
  });

  test("I9: an end of input is told again on each connection, once, though it was refused on the one before", () => {
    const { client, greet, say, texts, cut } = attached(PIPES);
    client.endInput();
    say(refusal("not_stdin_holder"));
    cut();
    greet(PIPES);
    say({ type: "leave", id: "other" });
    expect(texts("eof")).toEqual([eof(0)]);
  });

  test("I9, I9a: a refused end of input is told again once another driver has left, in whichever order it hears of them", () => {
    const { client, say, texts } = attached(PIPES);
    client.endInput();
    say({ type: "leave", id: "other" });
    expect(texts("eof")).toEqual([eof(0)]);
    say(refusal("not_stdin_holder"));
    expect(texts("eof").length).toBe(2);
    // Nothing has changed since: it would be refused again.
    say(refusal("not_stdin_holder"));
    expect(texts("eof").length).toBe(2);
    say({ type: "echo", on: false, offset: 0 });
    expect(texts("eof").length).toBe(2);
    say({ type: "leave", id: "driver" });
    say({ type: "leave", id: "another" });
    expect(texts("eof")).toEqual([eof(0), eof(0), eof(0)]);
    // Nor is it told again after another refusal, which was none of it; but when the keyboard moves.
    say(refusal("not_allowed"));
    say({ type: "leave", id: "fourth" });
    expect(texts("eof").length).toBe(3);
    say(refusal("not_stdin_holder"));
    say({ type: "stdin_holder", id: "a" });
    expect(texts("eof").length).toBe(4);
  });
});

describe("one life after another", () => {
  /** A life with these options, greeted where the session stands in its input. */
  function life(options: Partial<ClientOptions>, stdin?: number) {
    const one = harness(options);
    one.client.start();
    if (stdin !== undefined) one.greet({ ...PIPES, stdin });
    return one;
  }

  test("R5: it says where what it keeps starts, once it knows", () => {
    const { client, say, sockets, cut } = life({}, 0);
    client.write(bytes("abcdef"));
    say({ type: "stdin_ack", offset: 4 });
    cut();
    expect(sockets.at(-1)?.query).toBe("session=main&resume=r-a&offset=0&stdin=4");
  });

  test("R6: what a new life wrote before its first greeting starts where the session says, its end too", () => {
    const { client, greet, typed, texts } = life({ resume: "r-a", offset: 0 });
    client.write(bytes("abc"));
    client.endInput();
    greet({ ...PIPES, stdin: 500 });
    expect([typed(), texts("eof"), client.unackedInput]).toEqual([["abc"], [eof(503)], 3]);
  });

  test.each<[Partial<ClientOptions>, string]>([
    [{ resume: "r" }, "session=main&resume=r&stdin=new"],
    [{ resume: "r", offset: 7 }, "session=main&resume=r&offset=7"],
    [{ resume: "r", offset: 7, repeatsInput: false }, "session=main&resume=r&offset=7&stdin=new"],
  ])("R6: a new life without a place says that its input is new, with one that it repeats it: %j", (options, query) => {
    expect(life(options).sockets[0]?.query).toBe(query);
  });

  test("R6b: what one life kept the next sends, but for what the session turns out to have", () => {
    const first = life({}, 0);
    first.client.write(bytes("abcdef"));
    first.say({ type: "stdin_ack", offset: 2 });
    const keptInput = first.client.suspend();
    expect(keptInput).toEqual({ offset: 2, length: 4, bytes: bytes("cdef") });
    // Put aside before it is greeted, a life keeps the same.
    expect(life({ resume: "r", keptInput }).client.suspend()).toEqual(keptInput);
    const third = life({ resume: "r", keptInput }, 4);
    expect(third.sockets[0]?.query).toBe("session=main&resume=r&stdin=2");
    third.client.write(bytes("g"));
    expect(third.typed()).toEqual(["ef", "g"]);
    third.say({ type: "stdin_ack", offset: 7 });
    expect([third.client.suspend(), third.told("discarded")]).toEqual([undefined, []]);
  });

  test("I4: what goes on with a line that was discarded between two lives is not sent by the second", () => {
    const typed = new TypedInput(() => false);
    typed.decide(bytes("rm"), false, 0);
    const second = life({ typed }, 0);
    expect(second.client.type(bytes(" -r\rls"))).toBe(true);
    expect([second.typed(), second.told("discarded").length]).toEqual([["ls"], 1]);
  });

  test("R6b: keys that woke a session, and were never numbered, are sent by the next life behind what was received", () => {
    const { sockets, typed } = life(
      { resume: "r", keptInput: { offset: undefined, length: 2, bytes: bytes("ab") } },
      7,
    );
    expect([sockets[0]?.query, typed()]).toEqual(["session=main&resume=r&stdin=new", ["ab"]]);
  });

  test("R6b: secret input is kept by its length alone; as much of it as the session does not have is told", () => {
    const first = life({}, 3);
    first.client.setSecret(true);
    first.client.write(bytes("secret"));
    const keptInput = first.client.suspend();
    expect(keptInput).toEqual({ offset: 3, length: 6 });
    const second = life({ resume: "r", keptInput });
    expect(second.sockets[0]?.query).toBe("session=main&resume=r&stdin=new");
    expect(second.client.suspend()).toEqual(keptInput);
    const third = life({ resume: "r", keptInput }, 5);
    expect([third.told("discarded"), third.typed()]).toEqual([[["discarded", "\0\0\0\0"]], []]);
    expect(third.client.suspend()).toBe(undefined);
    expect(life({ resume: "r", keptInput }, 9).told("discarded")).toEqual([]);
  });

  test("R7: a life that repeats its input leaves out what an earlier one turns out to have brought through", () => {
    const { client, greet, say, typed, cut } = life({ resume: "r", offset: 0 }, 2);
    client.write(bytes("cd"));
    expect(typed()).toEqual(["cd"]);
    cut();
    greet({ ...PIPES, stdin: 6 });
    client.write(bytes("efgh"));
    // What it has not sent yet is not left out in mid-connection: the session counts what comes.
    say({ type: "stdin_ack", offset: 9 });
    client.write(bytes("ijk"));
    expect([typed(), client.unackedInput]).toEqual([["gh", "ijk"], 2]);
  });

  test("R7: with nothing kept a life goes on behind other input", () => {
    const { client, greet, typed, cut } = life({}, 0);
    cut();
    greet({ ...PIPES, stdin: 6 });
    client.write(bytes("x"));
    expect([client.state.phase, client.unackedInput, typed()]).toEqual(["attached", 1, ["x"]]);
  });

  test("R7: a life with new input that finds other input in its place ends, and never throws", () => {
    const { client, greet, socket, cut } = life({}, 0);
    client.write(bytes("ab"));
    cut();
    greet({ ...PIPES, stdin: 6 });
    const reason = "another connection has typed in this client's place";
    expect(client.state).toEqual({ phase: "ended", end: { kind: "refused", code: 4409, reason } });
    expect(socket().closed).toBe("abort");
    // Nobody knows whose bytes were taken: the next life tells its own as not sent, and doubles nothing.
    const keptInput = client.suspend();
    expect(keptInput).toEqual({ offset: undefined, length: 2 });
    const next = life({ resume: "r", keptInput }, 6);
    expect(next.sockets[0]?.query).toBe("session=main&resume=r&stdin=new");
    expect([next.told("discarded"), next.typed()]).toEqual([[["discarded", "\0\0"]], []]);
  });
});
