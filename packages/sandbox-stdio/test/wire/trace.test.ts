// The trace of a session: what its lines say, whose they are, and what must never stand in one.

import { describe, expect, test } from "vitest";
import { tracedUpstream } from "../../src/session/traced-upstream.ts";
import { encodeFrame, encodeStdin } from "../../src/wire/frames.ts";
import { describeFrame, describeMessage, tracedReceiver, tracedSocket, traceOf } from "../../src/wire/trace.ts";
import { bytes, FakeUpstream, join, output, rig } from "../support/fixtures.ts";

const PLACE = { sandbox: "dev", session: "work", part: "bridge" };

/** The lines of a trace with this setting. */
function traced(setting: string | undefined) {
  const lines: string[] = [];
  const now = () => "12:00:00.000";
  return { trace: traceOf(setting, PLACE, (line) => lines.push(line), now), lines };
}

test.each([["*"], ["work"], ["dev/work"], ["other, work"], ["a,*"]])("the setting %j traces dev/work", (setting) => {
  const { trace, lines } = traced(setting);
  trace?.("tells #1 pong");
  expect(lines).toEqual(["trace 12:00:00.000 dev/work bridge tells #1 pong"]);
});

test.each([[undefined], [""], ["wor"], ["dev"], ["other/work"], ["work/dev"], ["dev/*"]])(
  "the setting %j does not: there is no trace, which costs its caller one branch",
  (setting) => {
    expect(traced(setting).trace).toBeUndefined();
  },
);

describe("a frame in words", () => {
  test.each([
    ["stdin 3 B", bytes("ls\n"), "client"],
    ["stdout 5 B", encodeFrame(1, bytes("hello")), "server"],
    ["stderr 2 B", encodeFrame(2, bytes("oh")), "bridge"],
    ["snapshot 6 B", encodeFrame(3, bytes("screen")), "server"],
    ["binary 5 B", bytes("0ttyd"), "server"],
    ["stdin slot=7 from=1099511627776 3 B", encodeStdin(7, 2 ** 40, bytes("abc")), "object"],
    ["unknown frame 5 B", bytes("short"), "object"],
    ["ack offset=4096", '{"type":"ack","offset":4096}', "client"],
    ["exit code=143 signal=SIGTERM", '{"type":"exit","code":143,"signal":"SIGTERM"}', "server"],
    ['bye code=4409 reason="two words"', '{"type":"bye","code":4409,"reason":"two words"}', "server"],
    ["text 8 characters", "not json", "client"],
    ["text 8 characters", '"a text"', "client"],
    ["text 13 characters", '{"no":"type"}', "client"],
  ] as const)("%s", (words, frame, speaker) => {
    expect(describeFrame(frame, speaker)).toBe(words);
  });

  test("a greeting shows offsets and ids, lists by their length, and leaves the proof out", () => {
    const you = { id: "c1", name: "Ann", role: "driver" };
    const said = { type: "hello", session: "work", tty: true, offset: 10, resume: "proof" };
    expect(describeMessage({ ...said, you, participants: [you, you] })).toBe(
      "hello session=work tty=true offset=10 resume=… you=c1 participants=[2]",
    );
  });

  test("what a peer makes up stays on one line and moves no cursor", () => {
    const nasty = "\x1b[2J\r\n\u009b\u202e\ud800";
    const words = describeMessage({ type: nasty, name: nasty, [nasty]: 1 });
    expect(words).toMatch(/^[\x20-\x7e]+$/);
    expect(describeMessage({ type: "x".repeat(1_000), name: "y".repeat(1_000) }).length).toBeLessThan(200);
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, i]));
    expect(describeMessage({ type: "many", ...fields }).length).toBeLessThan(300);
  });

  test("no input, output, token, ticket, proof or variable stands in a line", () => {
    const secret = "hunter2";
    const frames = [
      bytes(secret),
      encodeFrame(1, bytes(secret)),
      encodeStdin(1, 0, bytes(secret)),
      secret,
      ...["token", "ticket", "resume", "data", "input", "env", "title", "anything"].map((key) =>
        JSON.stringify({ type: "any", [key]: secret, nested: { [key]: secret }, list: [secret] }),
      ),
    ];
    const speakers = ["client", "server", "object", "bridge"] as const;
    const lines = frames.flatMap((frame) => speakers.map((speaker) => describeFrame(frame, speaker)));
    expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  });
});

test("a socket is told the same frames, each after the line about it", () => {
  const log: string[] = [];
  const socket = {
    send: (frame: string | Uint8Array) => void log.push(`sent ${frame.length}`),
    close: (code: number, reason: string) => void log.push(`closed ${code} ${reason}`),
    isWritable: () => true,
  };
  const seen = tracedSocket(socket, (line) => log.push(line), "#1", "server");
  seen.send(encodeFrame(1, bytes("hi")));
  seen.close(1011, "too slow");
  expect(log).toEqual(["tells #1 stdout 2 B", "sent 3", 'closes #1 1011 reason="too slow"', "closed 1011 too slow"]);
  expect(seen.isWritable()).toBe(true);
});

test("where nothing is traced, socket, receiver and upstream are themselves: nothing stands between", () => {
  const socket = { send: () => undefined };
  const receive = () => undefined;
  const upstream = new FakeUpstream();
  expect(tracedSocket(socket, undefined, "#1", "server")).toBe(socket);
  expect(tracedReceiver(receive, undefined, "#1", "client")).toBe(receive);
  expect(tracedUpstream(upstream, undefined)).toBe(upstream);
});

test("what a session decides is said in order, and asked of its upstream all the same", () => {
  const lines: string[] = [];
  const upstream = new FakeUpstream();
  const at = rig({ mode: "exclusive", tty: true }, { upstream: tracedUpstream(upstream, (line) => lines.push(line)) });
  const ann = join(at.session, "ann", { size: { cols: 100, rows: 30 } });
  at.session.stdin(ann.client, bytes("ls"), 0);
  const bob = join(at.session, "bob");
  at.session.stdin(bob.client, bytes("rm"), 0);
  at.session.command(ann.client, { type: "grant_stdin", to: "bob" });
  at.session.command(bob.client, { type: "signal", signal: "SIGINT" });
  output(at, "out");
  at.session.command(bob.client, { type: "ack", offset: 3 });
  at.session.command(bob.client, { type: "kill" });
  at.session.leave(ann.client);
  expect(lines).toEqual([
    "decides attach client=ann name=ann role=driver delivery=lossless acked=0 received=0",
    "decides holder id=ann",
    'decides resize client="" cols=100 rows=30',
    "decides answerer id=ann offset=0",
    "decides take what=bytes client=ann from=0 to=2",
    "decides attach client=bob name=bob role=driver delivery=lossless acked=0 received=0",
    "decides take what=refused client=bob from=0 to=2",
    "decides holder id=bob",
    "decides answerer id=bob offset=0",
    "decides signal client=bob signal=SIGINT",
    "decides kill client=bob",
    "decides depart client=ann how=left",
  ]);
  expect(upstream.of("acked").at(-1)).toEqual(["acked", "bob", 3]);
  expect(upstream.of("attached", "kill", "departed")).toEqual([
    ["attached", "ann"],
    ["attached", "bob"],
    ["kill", "bob"],
    ["departed", "ann", "left"],
  ]);
  expect(upstream.of("holder", "signal")).toEqual([
    ["holder", "ann"],
    ["holder", "bob"],
    ["signal", "bob", "SIGINT"],
  ]);
});
