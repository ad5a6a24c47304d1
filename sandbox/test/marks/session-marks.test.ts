// Marks of a shell and calls for attention, found in output wherever it is cut.

import type { Attention } from "sandbox-stdio/programs";
import { expect, test } from "vitest";
import { SessionMarks } from "../../src/marks/session-marks.ts";

const BASH =
  "\x1b]633;P;Cwd=/srv\x07\x1b]133;A\x07$ \x1b]133;B\x07echo a\\;b\r\n\x1b]633;E;echo a\\x3bb \\\\é\x07\x1b]133;C\x07" +
  "a;b\r\n\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07false\r\n\x1b]633;E;false\x07\x1b]133;C\x07\x1b]133;D;1\x1b\\$ ";

/** What is found in output that is cut at these places. */
function found(output: string | Uint8Array, cuts: readonly number[] = [], clock = { ms: 0 }) {
  const bytes = Buffer.from(output);
  const ends: object[] = [];
  const attentions: Attention[] = [];
  const marks = new SessionMarks(
    {
      commandEnded: (end) => ends.push(end),
      attention: (attention) => attentions.push(attention),
      titled: () => undefined,
    },
    () => clock.ms,
  );
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    // The memory is the log's, and used again.
    const piece = Uint8Array.from(bytes.subarray(from, to));
    marks.scan(piece, from);
    piece.fill(0x7e);
    from = to;
  }
  const commands = marks.commands.list.map(({ startedAt, endedAt, ...command }) => {
    expect([typeof startedAt, typeof endedAt]).toEqual(["string", command.to === undefined ? "undefined" : "string"]);
    return command;
  });
  return { commands, ends, attentions, isMarked: marks.commands.isMarked };
}

test("C1: marks of OSC 133 and 633 are found at their offsets, wherever the output is cut", () => {
  const at = (text: string, from = 0) => Buffer.from(BASH).indexOf(text, from);
  const behind = (text: string, from = 0) => at(text, from) + Buffer.byteLength(text);
  const second = at("false\x07");
  const expected = {
    commands: [
      { line: "echo a;b \\é", cwd: "/srv", from: behind("133;C\x07"), to: at("\x1b]133;D;0"), exit: 0 },
      { line: "false", cwd: "/srv", from: behind("133;C\x07", second), to: at("\x1b]133;D;1"), exit: 1 },
    ],
    ends: [
      { to: at("\x1b]133;D;0"), exit: 0 },
      { to: at("\x1b]133;D;1"), exit: 1 },
    ],
    attentions: [],
    isMarked: true,
  };
  expect(found(BASH)).toEqual(expected);
  const { length } = Buffer.from(BASH);
  for (let cut = 1; cut < length; cut += 1) expect([cut, found(BASH, [cut])]).toEqual([cut, expected]);
  const everywhere = Array.from({ length: length - 1 }, (_, i) => i + 1);
  expect(found(BASH, everywhere)).toEqual(expected);
});

test("C1: fish's own marks tell the line with C, and a shell within a shell ends before it", () => {
  const output =
    "\x1b]133;C;cmdline_url=ssh%20h\x07\x1b]133;C;cmdline_url=ls%C3%A9\x07x\x1b]133;D;3\x07\x1b]133;D;0\x07";
  expect(found(output).commands.map(({ line, exit }) => [line, exit])).toEqual([
    ["ssh h", 0],
    ["lsé", 3],
  ]);
});

test("C1: what only looks like a mark is none: a broken off one, another number, a title", () => {
  const output = "\x1b]133;C\x18\x1b]1337;C\x07\x1b]0;133;C\x07]133;C\x07\x1b]133;Z\x07";
  expect(found(output)).toMatchObject({ commands: [], isMarked: false });
});

test("C3: the newest thousand commands are kept, and half a MiB of their lines", () => {
  const command = (n: number) => `\x1b]633;E;${n}\x07\x1b]133;C\x07\x1b]133;D;0\x07`;
  const many = found(Array.from({ length: 1_500 }, (_, n) => command(n)).join("")).commands;
  expect([many.length, many[0]?.line, many.at(-1)?.line]).toEqual([1_000, "500", "1499"]);
  const long = `\x1b]633;E;${"x".repeat(10_000)}\x07\x1b]133;C\x07`;
  const lines = found(long.repeat(500)).commands;
  expect(lines.reduce((sum, { line = "" }) => sum + line.length, 0)).toBeLessThanOrEqual(512 * 1024);
});

test("N1: BEL, OSC 9, 99 and 777 ask for attention, wherever they are cut", () => {
  const asked: readonly (readonly [string, object])[] = [
    ["a\x07", { kind: "bell" }],
    ["\x1b]9;done é\x07", { kind: "notify", body: "done é" }],
    ["\x1b]777;notify;Build;all; well\x1b\\", { kind: "notify", title: "Build", body: "all; well" }],
    ["\x1b]99;i=1:d=0;Half\x07\x1b]99;i=1:p=body;rest\x07", { kind: "notify", title: "Half", body: "rest" }],
    ["\x1b]99;e=1;aGk=\x07", { kind: "notify", title: "hi" }],
  ];
  for (const [output, attention] of asked) {
    const expected = [{ ...attention, offset: Buffer.byteLength(output) }];
    expect(found(output).attentions).toEqual(expected);
    const everywhere = Array.from({ length: Buffer.byteLength(output) - 1 }, (_, i) => i + 1);
    expect(found(output, everywhere).attentions).toEqual(expected);
  }
});

test("N1: progress, a directory, a title's end and a BEL inside a string ask for nothing", () => {
  const outputs = [
    "\x1b]9;4;1;50\x07",
    "\x1b]9;9;/srv\x07",
    "\x1b]0;title\x07",
    "\x1bPq\x07\x07\x1b\\",
    "\x1b]99;p=?;\x07",
  ];
  for (const output of outputs) {
    const everywhere = Array.from({ length: Buffer.byteLength(output) - 1 }, (_, i) => i + 1);
    expect([output, found(output).attentions]).toEqual([output, []]);
    expect([output, found(output, everywhere).attentions]).toEqual([output, []]);
  }
});

test("N1: attention is told at most once a second", () => {
  const clock = { ms: 0 };
  const attentions: Attention[] = [];
  const marks = new SessionMarks(
    { commandEnded: () => undefined, titled: () => undefined, attention: (one) => attentions.push(one) },
    () => clock.ms,
  );
  for (let at = 0; at < 30; at += 1) {
    clock.ms = at * 100;
    marks.scan(Buffer.from("\x07\x07"), at * 2);
  }
  expect(attentions.map(({ offset }) => offset)).toEqual([1, 21, 41]);
});

test("P3: the title is what OSC 0 or 2 said last, without what moves a cursor, told at most every 200 ms", async () => {
  const told: string[] = [];
  const last = Promise.withResolvers<void>();
  const titled = (title: string) => {
    told.push(title);
    if (title === "last") last.resolve();
  };
  const marks = new SessionMarks({ commandEnded: () => undefined, attention: () => undefined, titled }, () => 0);
  const say = (text: string) => marks.scan(Buffer.from(text), 0);
  say("\x1b]1;an icon\x07\x1b]0;fir");
  expect(told).toEqual([]);
  say("st\x07");
  for (let i = 0; i < 100; i += 1) say(`\x1b]2;spinner ${i}\x1b\\`);
  say("\x1b]2;last\x07");
  await last.promise;
  expect(told).toEqual(["first", "last"]);
});

/** A shell that says which it is at each prompt. */
const prompt = (shell: string) => `\x1b]633;P;Shell=${shell}\x07\x1b]633;P;Cwd=/\x07\x1b]133;A\x07$ \x1b]133;B\x07`;
const begins = (line: string) => `\x1b]633;E;${line}\x07\x1b]133;C\x07`;
const ends = (code: number) => `\x1b]133;D;${code}\x07`;

test("C3: where a remote shell dies without a word, its command and the ssh around it have ended", () => {
  const far = `\x1b]133;A\x07far\x1b]133;B\x07${begins("sleep 100")}`;
  const output = `${prompt("a.1")}${begins("ssh far")}${far}closed\r\n${ends(255)}${prompt("a.1")}${begins("true")}${ends(0)}`;
  const to = output.indexOf(ends(255));
  const { commands, ends: told } = found(output);
  expect(commands.map(({ line, to, exit }) => [line, to, exit])).toEqual([
    ["ssh far", to, 255],
    ["sleep 100", to, undefined],
    ["true", output.indexOf(ends(0)), 0],
  ]);
  expect(told).toEqual([
    { to, exit: 255 },
    { to: output.indexOf(ends(0)), exit: 0 },
  ]);
});

test("C3: a shell within a shell that ends as it should leaves the outer one's command and status alone", () => {
  const inner = `${prompt("b.2")}${begins("false")}${ends(1)}${prompt("b.2")}`;
  const output = `${prompt("a.1")}${begins("ssh b")}${inner}${ends(7)}${prompt("a.1")}`;
  expect(found(output).commands.map(({ line, exit }) => [line, exit])).toEqual([
    ["ssh b", 7],
    ["false", 1],
  ]);
});

test("C3: commands that are open when the process ends have ended there, without a status", () => {
  const marks = new SessionMarks(
    { commandEnded: () => undefined, attention: () => undefined, titled: () => undefined },
    () => 0,
  );
  const output = `${prompt("a.1")}${begins("ssh far")}${begins("sleep 100")}dead`;
  marks.scan(Buffer.from(output), 0);
  marks.commands.close(output.length);
  expect(marks.commands.list).toMatchObject([
    { line: "ssh far", to: output.length, endedAt: expect.any(String) },
    { line: "sleep 100", to: output.length, endedAt: expect.any(String) },
  ]);
  expect(marks.commands.list.map(({ exit }) => exit)).toEqual([undefined, undefined]);
});
