// Where a client's input is numbered from when it comes back: with what it kept, or in a new life that kept nothing.

import { describe, expect, test } from "vitest";
import { type ClientOptions, PLAIN, ServerConnection, STDIO, StdioClient } from "../../src/index.ts";
import { SILENT } from "../support/client-events.ts";
import { bytes, FakePeer, join, request, rig, takeAll, text } from "../support/fixtures.ts";

const socket = { send: () => undefined, close: () => undefined, isWritable: () => true };

/** A session in which client `a` has had `taken` bytes taken, and `waiting` more wait at a process that does not read. */
function before(taken: string, waiting: string) {
  const at = rig();
  const first = join(at.session, "a");
  at.session.stdin(first.client, bytes(taken), 0);
  takeAll(at.session, first.client);
  at.session.stdin(first.client, bytes(waiting), taken.length);
  return at;
}

describe("a client that comes back", () => {
  test("R5: without a word of its input, is told what has been taken, and its repetition of the rest is dropped", () => {
    const at = before("abc", "def");
    const { peer } = join(at.session, "a", { isResume: true, offset: 0 });
    expect(peer.hello.stdin).toBe(3);
    const connection = new ServerConnection(STDIO, socket, 0);
    connection.attach(at.session, request("a", { isResume: true, offset: 0 }));
    connection.receive(bytes("defghi"), 0);
    const client = at.session.client("a");
    expect(client && takeAll(at.session, client)).toBe("defghi");
  });

  test("R6: with new input has kept nothing: what waits stays, and what it types comes after that", () => {
    const at = before("abc", "def");
    const connection = new ServerConnection(STDIO, socket, 0);
    connection.attach(at.session, request("a", { isResume: true, stdin: "new" }));
    connection.receive(bytes("ls\n"), 0);
    const client = at.session.client("a");
    expect([client?.greeted?.inputStart, client && takeAll(at.session, client)]).toEqual([6, "defls\n"]);
  });

  test("R6: and says later on where its own input goes on, though what waited before it may be lost", () => {
    const at = before("abc", "");
    const connection = new ServerConnection(STDIO, socket, 0);
    connection.attach(at.session, request("a", { isResume: true, offset: 0, stdin: 6 }));
    connection.receive(bytes("ls\n"), 0);
    const client = at.session.client("a");
    expect(client && takeAll(at.session, client)).toBe("ls\n");
    expect(client?.input.taken).toBe(9);
  });

  test("R6: what it says of its input is not believed where more has been taken, or where it is new", () => {
    const at = before("abc", "");
    expect(join(at.session, "a", { isResume: true, offset: 0, stdin: 1 }).peer.hello.stdin).toBe(3);
    expect(join(at.session, "b", { stdin: 100 }).peer.hello.stdin).toBe(0);
  });

  test("R10: wins with the higher of two connections that it numbered, whichever arrives first", () => {
    const at = before("abc", "");
    const attach = (attempt: { life: string; number: number }) => {
      const peer = new FakePeer();
      const result = at.session.attach(request("a", { isResume: true, offset: 0, attempt }), peer);
      return { peer, code: result.ok ? undefined : result.code };
    };
    const living = attach({ life: "x", number: 7 });
    expect([attach({ life: "x", number: 6 }).code, living.peer.end]).toEqual([4409, undefined]);
    // The same request once more: which of the two is the client's can't be seen.
    const copy = attach({ life: "x", number: 7 });
    expect([copy.code, living.peer.end]).toEqual([
      undefined,
      { code: 4409, reason: "replaced by a copy of its own handshake", retry: "now" },
    ]);
    // Another life of the program: the later arrival is the newer one.
    expect(attach({ life: "y", number: 1 }).code).toBeUndefined();
    expect(copy.peer.end).toEqual({ code: 4409, reason: "replaced by a newer connection", retry: "never" });
    expect(attach({ life: "y", number: 0 }).code).toBe(4409);
  });

  test("R8: is refused where it has left, and nowhere else: one that nobody knows was lost before anybody did", () => {
    const at = before("abc", "");
    const attach = (id: string, stdin?: number | "new") =>
      at.session.attach(
        request(id, { isResume: true, offset: 0, ...(stdin === undefined ? {} : { stdin }) }),
        new FakePeer(),
      );
    const unknown = [attach("w"), attach("x", "new"), attach("y", 1), attach("z", 0)];
    expect(unknown.map((result) => result.ok && result.client.greeted?.inputStart)).toEqual([0, 0, 1, 0]);
    at.session.leave(join(at.session, "left").client);
    expect(attach("left", 0)).toMatchObject({ ok: false, code: 4404 });
  });

  test("R6: a plain client's input has no numbers, whatever waits", () => {
    const at = rig();
    const connection = new ServerConnection(PLAIN, socket, 0);
    connection.attach(at.session, request("p", { acknowledges: false }));
    connection.receive(bytes("a"), 0);
    connection.receive(bytes("b"), 0);
    const client = at.session.client("p");
    expect(client && takeAll(at.session, client)).toBe("ab");
  });
});

describe("the client's side", () => {
  function harness(options: Partial<ClientOptions> = {}) {
    const queries: string[] = [];
    const sent: (string | Uint8Array)[] = [];
    const discarded: number[] = [];
    let events: { open(): void; text(text: string): void; closed(code: number, detail: string): void } | undefined;
    let retry: (() => void) | undefined;
    const ignore = () => undefined;
    const client = new StdioClient(
      { session: "s", ...options },
      {
        connect: (query, given) => {
          queries.push([...query].map(([name, value]) => `${name}=${value}`).join("&"));
          events = given;
          return { send: (frame) => void sent.push(frame), close: ignore, abort: ignore };
        },
        setTimer: (_ms, callback) => {
          retry = callback;
          return ignore;
        },
        now: () => 0,
        random: () => 0,
      },
      { ...SILENT, discarded: (keys) => void discarded.push(keys.length) },
    );
    client.start();
    const { peer } = join(rig().session, "a");
    return {
      client,
      queries,
      sent,
      discarded,
      greet: (stdin: number) => events?.text(JSON.stringify({ ...peer.hello, stdin })),
      say: (message: object) => events?.text(JSON.stringify(message)),
      cut: () => {
        events?.closed(1006, "");
        retry?.();
      },
    };
  }

  test("R5: it says where what it keeps starts, once it knows", () => {
    const { client, queries, greet, say, cut } = harness();
    greet(0);
    client.write(bytes("abcdef"));
    say({ type: "stdin_ack", offset: 4 });
    cut();
    expect(queries).toEqual(["session=s&attempt=0000000.1", "session=s&resume=r-a&offset=0&stdin=4&attempt=0000000.3"]);
  });

  test("R6: what a new life wrote before its first greeting starts where the session says, its end too", () => {
    const { client, sent, greet } = harness({ resume: "r-a", offset: 0 });
    client.write(bytes("abc"));
    client.endInput();
    greet(500);
    expect(sent.map((frame) => (typeof frame === "string" ? frame : [...frame]))).toEqual([
      [97, 98, 99],
      '{"type":"eof","offset":503}',
    ]);
    expect(client.unackedInput).toBe(3);
  });

  test("R6: a new life without a place says that its input is new, with one that it repeats it", () => {
    expect(harness({ resume: "r" }).queries).toEqual(["session=s&resume=r&stdin=new&attempt=0000000.1"]);
    expect(harness({ resume: "r", offset: 7 }).queries).toEqual(["session=s&resume=r&offset=7&attempt=0000000.1"]);
    expect(harness({ resume: "r", offset: 7, repeatsInput: false }).queries).toEqual([
      "session=s&resume=r&offset=7&stdin=new&attempt=0000000.1",
    ]);
  });

  test("R6b: what one life kept the next sends, but for what the session turns out to have", () => {
    const first = harness();
    first.greet(0);
    first.client.write(bytes("abcdef"));
    first.say({ type: "stdin_ack", offset: 2 });
    const keptInput = first.client.suspend();
    expect(keptInput).toEqual({ offset: 2, length: 4, bytes: bytes("cdef") });
    const second = harness({ resume: "r", keptInput });
    // Put aside before it is greeted, it keeps the same.
    expect(second.client.suspend()).toEqual(keptInput);
    const third = harness({ resume: "r", keptInput });
    expect(third.queries).toEqual(["session=s&resume=r&stdin=2&attempt=0000000.1"]);
    third.greet(4);
    third.client.write(bytes("g"));
    expect(third.sent.map((frame) => (typeof frame === "string" ? frame : text(frame)))).toEqual(["ef", "g"]);
    third.say({ type: "stdin_ack", offset: 7 });
    expect([third.client.suspend(), third.discarded]).toEqual([undefined, []]);
  });

  test("R6b: keys that woke a session, and were never numbered, are sent by the next life behind what was received", () => {
    const keptInput = { offset: undefined, length: 2, bytes: bytes("ab") };
    const { queries, greet, sent } = harness({ resume: "r", keptInput });
    expect(queries).toEqual(["session=s&resume=r&stdin=new&attempt=0000000.1"]);
    greet(7);
    expect(sent.map((frame) => (typeof frame === "string" ? frame : text(frame)))).toEqual(["ab"]);
  });

  test("R6b: secret input is kept by its length alone; as much of it as the session does not have is told", () => {
    const first = harness();
    first.greet(3);
    first.client.setSecret(true);
    first.client.write(bytes("secret"));
    const keptInput = first.client.suspend();
    expect(keptInput).toEqual({ offset: 3, length: 6 });
    const second = harness({ resume: "r", keptInput });
    expect(second.queries).toEqual(["session=s&resume=r&stdin=new&attempt=0000000.1"]);
    expect(second.client.suspend()).toEqual(keptInput);
    const third = harness({ resume: "r", keptInput });
    third.greet(5);
    expect([third.discarded, third.sent]).toEqual([[4], []]);
    expect(third.client.suspend()).toBe(undefined);
    const taken = harness({ resume: "r", keptInput });
    taken.greet(9);
    expect(taken.discarded).toEqual([]);
  });

  test("R7: a life that repeats its input leaves out what an earlier one turns out to have brought through", () => {
    const { client, sent, greet, say, cut } = harness({ resume: "r", offset: 0 });
    greet(2);
    client.write(bytes("cd"));
    cut();
    greet(6);
    client.write(bytes("efgh"));
    // What it has not sent yet is not left out in mid-connection: the session counts what comes.
    say({ type: "stdin_ack", offset: 9 });
    client.write(bytes("ijk"));
    expect(sent.map((frame) => (typeof frame === "string" ? frame : text(frame)))).toEqual(["cd", "gh", "ijk"]);
    expect(client.unackedInput).toBe(2);
  });

  test("R7: a life with new input that finds other input in its place ends, and never throws", () => {
    const { client, greet, cut } = harness();
    greet(0);
    client.write(bytes("ab"));
    cut();
    greet(6);
    expect(client.state).toMatchObject({ phase: "ended", end: { kind: "refused", code: 4409 } });
    // Nobody knows whose bytes were taken: the next life tells its own as not sent, and doubles nothing.
    const keptInput = client.suspend();
    const next = harness({ resume: "r", keptInput });
    next.greet(6);
    expect([keptInput, next.queries, next.discarded, next.sent]).toEqual([
      { offset: undefined, length: 2 },
      ["session=s&resume=r&stdin=new&attempt=0000000.1"],
      [2],
      [],
    ]);
  });

  test("I9: an end of input that was refused is told again when a driver has left", () => {
    const { client, sent, greet, say } = harness();
    greet(0);
    client.endInput();
    say({ type: "leave", id: "viewer" });
    say({ type: "error", code: "not_stdin_holder", message: "not stdin holder" });
    say({ type: "leave", id: "driver" });
    say({ type: "leave", id: "another" });
    expect(sent).toEqual(['{"type":"eof","offset":0}', '{"type":"eof","offset":0}']);
  });

  test("a connection that fails at once, within the call that makes it, is waited for like any other", () => {
    const states: string[] = [];
    let timers = 0;
    const ignore = () => undefined;
    const client = new StdioClient(
      { session: "s" },
      {
        connect: (_query, events) => {
          events.closed(1006, "no route");
          return { send: ignore, close: ignore, abort: ignore };
        },
        setTimer: () => {
          timers += 1;
          return ignore;
        },
        now: () => 0,
        random: () => 0,
      },
      { ...SILENT, state: (state) => states.push(state.phase) },
    );
    client.start();
    expect([states, timers]).toEqual([["connecting", "waiting"], 1]);
  });

  test("an offset without a proof is nobody's place: it is not asked for, and not acknowledged", () => {
    const { client, queries, greet, sent } = harness({ offset: 100 });
    greet(0);
    client.dealtWith(0);
    expect([queries, sent, client.resumePoint?.offset]).toEqual([["session=s&attempt=0000000.1"], [], 0]);
  });
});
