// The screen of a session, through the worker: exactness, safe places, laziness, floods, answers, and a worker that dies.

import { OutputLog, type Snapshot } from "sandbox-stdio/core";
import { afterEach, expect, test, vi } from "vitest";
import { MAX_SNAPSHOT_BYTES } from "../../src/screen/draw.ts";
import { SessionScreen } from "../../src/screen/session-screen.ts";
import { ScreenWorkers } from "../../src/screen/workers.ts";
import { recordings, Viewer } from "./screen-state.ts";

const MIB = 1024 * 1024;
const WORKER = new URL("../../src/screen/worker.ts", import.meta.url).href;
/** On a busy machine a worker comes to one piece of work for longer than a bridge would let it. */
const NEVER_STUCK_MS = 60_000;
const encoder = new TextEncoder();

/** A session's log and its screen, which are told the same things. */
class Output {
  readonly log: OutputLog;
  readonly started: Worker[] = [];
  readonly screen: SessionScreen;

  constructor(size = { cols: 80, rows: 24 }) {
    this.log = new OutputLog(size);
    const workers = new ScreenWorkers(() => {
      const worker = new Worker(WORKER);
      this.started.push(worker);
      return worker;
    }, NEVER_STUCK_MS);
    this.screen = new SessionScreen(this.log, workers);
    outputs.push(this);
  }

  write(bytes: Uint8Array | string): void {
    this.log.append(typeof bytes === "string" ? encoder.encode(bytes) : bytes, 1);
    this.screen.appended();
  }

  /** As a process writes: piece by piece, with the event loop running in between. */
  async flood(line: (n: number) => string, totalBytes: number): Promise<void> {
    for (let n = 0, done = 0; done < totalBytes; ) {
      let piece = "";
      while (piece.length < 60_000) piece += line(n++);
      this.write(piece);
      done += piece.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async snapshot(): Promise<Snapshot> {
    const snapshot = await this.screen.snapshot();
    if (snapshot === undefined) throw new Error("There is no snapshot");
    expect(snapshot.bytes.length).toBeLessThanOrEqual(MAX_SNAPSHOT_BYTES);
    return snapshot;
  }
}

const outputs: Output[] = [];
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const output of outputs.splice(0)) output.screen.close();
});

/** What a person sees at the bottom of the screen. */
function lastLines(viewer: Viewer, count: number): string[] {
  const { active } = viewer.core.buffers;
  const lines: string[] = [];
  for (let row = active.y - count + 1; row <= active.y; row += 1) {
    const line = active.lines.get(active.ybase + row);
    let text = "";
    for (let column = 0; column < 80; column += 1) text += line?.getString(column) || " ";
    lines.push(text.trimEnd());
  }
  return lines;
}

test("G7: a log that could be replayed starts no worker, and is drawn for a client that starts with the screen", async () => {
  const output = new Output();
  output.write("x".repeat(65_535));
  output.write("y");
  expect(output.started).toEqual([]);
  expect(await output.snapshot()).toMatchObject({ offset: 65_536, isExact: true });
  expect(output.started).toHaveLength(1);
});

test("while the process is held back no worker is started, until somebody asks for the screen or it goes on", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const line = (n: number): string => `line ${n}\r\n`;
  for (const bytes of [100_000, 400_000]) {
    const asked = new Output();
    const released = new Output();
    for (const output of [asked, released]) {
      output.screen.isHeld = true;
      await output.flood(line, bytes);
      vi.advanceTimersByTime(60_000);
      expect({ bytes, started: output.started.length }).toEqual({ bytes, started: 0 });
    }
    expect(await asked.snapshot()).toMatchObject({ offset: asked.log.endOffset, isExact: true });
    expect(asked.started).toHaveLength(1);
    released.screen.isHeld = false;
    released.write("more\r\n");
    vi.advanceTimersByTime(60_000);
    expect({ bytes, started: released.started.length }).toEqual({ bytes, started: 1 });
  }
});

test("a recording's screen is that of all bytes, wherever a session is asked for it", async () => {
  for (const recording of recordings().filter(({ name }) => ["vim", "tmux", "wide"].includes(name))) {
    const output = new Output(recording);
    // Too much for a replay, and then nothing of it is left.
    output.write(`${"padding\r\n".repeat(8_000)}\x1bc`);
    const start = output.log.endOffset;
    const stops = new Set(recording.marks.map((mark) => mark.offset));
    for (let at = 4_999; at < recording.bytes.length; at += 4_999) stops.add(at);
    let written = 0;
    for (const stop of [...stops].sort((a, b) => a - b)) {
      output.write(recording.bytes.subarray(written, stop));
      written = stop;
      const mark = recording.marks.find((candidate) => candidate.offset === stop);
      if (mark !== undefined) output.log.markSize(mark.cols, mark.rows);
      const snapshot = await output.snapshot();
      expect(snapshot.isExact).toBe(true);
      const reference = new Viewer(recording, 0);
      reference.play(recording, snapshot.offset - start);
      const late = Viewer.of(snapshot);
      const { scrollback } = late;
      expect({ stop, ...late.state(scrollback) }).toEqual({ stop, ...reference.state(scrollback) });
    }
    output.screen.close();
  }
});

test("a snapshot is of the place before a sequence or character that is not complete yet", async () => {
  for (const open of ["\x1b", "\x1b[38;2;1", "\x1b]0;half a tit", "\x1bP+q54", "\xc3", "\xe2\x80", "\x1b]0;x\x1b"]) {
    const output = new Output();
    output.write("line\r\n".repeat(20_000));
    const end = output.log.endOffset;
    output.write(Uint8Array.from(open, (byte) => byte.charCodeAt(0)));
    const snapshot = await output.snapshot();
    expect([open, snapshot.offset]).toEqual([open, end]);
    expect(snapshot.isExact).toBe(true);
    output.screen.close();
  }
});

test("what follows a string that never ends is kept from being drawn as text, and the screen is not called exact", async () => {
  const output = new Output();
  output.write("line\r\n".repeat(20_000));
  output.write(`\x1b]0;${"a title without an end ".repeat(10_000)}`);
  const snapshot = await output.snapshot();
  expect(snapshot.isExact).toBe(false);
  expect(output.log.endOffset - snapshot.offset).toBeLessThan(65_536);
  const late = Viewer.of(snapshot);
  late.write(encoder.encode("more of it\x07after"));
  expect(lastLines(late, 2)).toEqual(["line", "after"]);
});

test("two who ask at once get one drawing", async () => {
  const output = new Output();
  output.write("line\r\n".repeat(20_000));
  const first = output.screen.snapshot();
  expect(output.screen.snapshot()).toBe(first);
  expect((await first)?.offset).toBe(120_000);
});

test("the screen is right during a flood and after it, in at most 64 KiB", async () => {
  const output = new Output();
  output.write("\x1b]0;the title\x07\x1b[?2004h\x1b[32m");
  const line = (n: number): string => `line ${n} of a flood of text that is about as long as lines are\r\n`;
  for (let round = 0; round < 2; round += 1) {
    await output.flood(line, 8 * MIB);
    const snapshot = await output.snapshot();
    expect(snapshot.offset).toBe(output.log.endOffset);
    // Text alone was skipped, and a screenful of lines has come since.
    expect(snapshot.isExact).toBe(true);
    const late = Viewer.of(snapshot);
    const lines = lastLines(late, 24).slice(0, 23);
    const [first = 0] = /\d+/.exec(lines[0] ?? "") ?? [];
    expect(lines).toEqual(lines.map((_, index) => line(Number(first) + index).trimEnd()));
    expect(late.scrollback).toBeGreaterThan(500);
    expect(late.core._inputHandler._windowTitle).toBe("the title");
    expect(late.core.coreService.decPrivateModes.bracketedPasteMode).toBe(true);
    expect(late.core._inputHandler._curAttrData.fg & 255).toBe(2);
  }
});

test("after a flood of nothing but coloured lines the screen is exact", async () => {
  const output = new Output();
  const line = (n: number): string => `\x1b[3${n % 8}mcoloured line ${n}\x1b[m and\x1b[4m more\x1b[0m\r\n`;
  output.write("\x1b[1;44m");
  await output.flood(line, 8 * MIB);
  const snapshot = await output.snapshot();
  expect(snapshot.isExact).toBe(true);
  const late = Viewer.of(snapshot);
  const [last = 0] = /\d+/.exec(lastLines(late, 2)[0] ?? "") ?? [];
  const reference = new Viewer(snapshot, 0);
  reference.write(encoder.encode("\x1b[1;44m"));
  for (let n = Math.max(0, Number(last) - 2_500); n <= Number(last); n += 1) reference.write(encoder.encode(line(n)));
  expect(late.state(500)).toEqual(reference.state(500));
});

test("of a flood of lines no more is parsed than is remembered, and the prompt behind it makes no difference", async () => {
  // On a busy machine the flood is so slow that it would be taken for over.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const output = new Output();
  output.write("\x1b[?2004h$ yes\r\n");
  await output.flood((n) => `line ${n}\r\n`, 4 * MIB);
  output.write("\x1b[?2004h\x1b[1m$ \x1b[m");
  const [worker] = output.started;
  if (worker === undefined) throw new Error("Nothing was parsed during the flood");
  let parsed = 0;
  const post: (message: unknown, transfer: ArrayBuffer[]) => void = worker.postMessage.bind(worker);
  vi.spyOn(worker, "postMessage").mockImplementation((message: unknown, transfer: unknown) => {
    // Counted before it goes: then it is empty.
    if (message instanceof Object && "bytes" in message) parsed += (message.bytes as Uint8Array).length;
    post(message, transfer as ArrayBuffer[]);
  });
  const snapshot = await output.snapshot();
  expect(snapshot.offset).toBe(output.log.endOffset);
  // Two thousand lines and twice the screen.
  expect(parsed).toBeGreaterThan(2_000 * "line 400000\r\n".length);
  expect(parsed).toBeLessThan(2_100 * "line 400000\r\n".length);
  const late = Viewer.of(snapshot);
  expect(late.scrollback).toBe(2_000);
  expect(lastLines(late, 1)).toEqual(["$"]);
});

test("a style or a size that is set among the last lines of a flood is not passed over", async () => {
  for (const change of ["style", "size"]) {
    const output = new Output();
    await output.flood((n) => `line ${n}\r\n`, 2 * MIB);
    if (change === "style") output.write("\x1b[32m");
    else output.log.markSize(80, 100);
    await output.flood((n) => `late ${n}\r\n`, 100_000);
    const snapshot = await output.snapshot();
    expect({ change, isExact: snapshot.isExact }).toEqual({ change, isExact: true });
    const late = Viewer.of(snapshot);
    expect(late.scrollback).toBe(2_000);
    if (change === "style") expect(late.core._inputHandler._curAttrData.fg & 255).toBe(2);
  }
});

test("after a flood with other sequences modes, alternate screen and title are right, but it is not called exact", async () => {
  const output = new Output();
  output.write("before\r\n\x1b]0;old\x07");
  await output.flood((n) => `\x1b[3${n % 8}mcoloured line ${n}\x1b[m\r\n`, 4 * MIB);
  output.write("\x1b]2;new title\x07\x1b[?1049h\x1b[?1000;1006h\x1b[?25l\x1b=");
  await output.flood((n) => `\x1b[3${n % 8}mcoloured line ${n}\x1b[m\r\n`, 4 * MIB);
  output.write("\x1b[Hlast");
  const snapshot = await output.snapshot();
  expect(snapshot.isExact).toBe(false);
  const late = Viewer.of(snapshot);
  expect(late.core._inputHandler._windowTitle).toBe("new title");
  expect(late.core.buffers.active).toBe(late.core.buffers.alt);
  expect(late.core.mouseStateService).toMatchObject({ activeProtocol: "VT200", activeEncoding: "SGR" });
  expect(late.core.coreService.isCursorHidden).toBe(true);
  expect(late.core.coreService.decPrivateModes.applicationKeypad).toBe(true);
  expect(lastLines(late, 1)[0]).toMatch(/^last/);
  output.write("\x1bcfresh");
  expect((await output.snapshot()).isExact).toBe(true);
});

/** What a screen tells of answers, each with where its query ends. */
function answersOf({ screen }: Output): string[] {
  const told: string[] = [];
  screen.onParsed = (answers) => void told.push(...answers.map(({ offset, text }) => `${offset} ${text}`));
  return told;
}

test("queries are answered with the place where they end: at once where that is asked for, and else when it comes to them", async () => {
  const output = new Output();
  const answers = answersOf(output);
  output.write("abc\x1b[6n");
  output.screen.parseTo(output.log.endOffset);
  output.write("d\x1b[6n\x1b[c");
  output.write("\x1b]11;?");
  output.write("\x07");
  output.screen.parseTo(output.log.endOffset);
  await expect.poll(() => answers).toHaveLength(4);
  output.write("\x1b[5n");
  output.write("text\r\n".repeat(20_000));
  expect(answers).toHaveLength(4);
  await output.snapshot();
  expect(answers).toEqual([
    "7 \x1b[1;4R",
    "12 \x1b[1;5R",
    "15 \x1b[?1;2c",
    "22 \x1b]11;rgb:1717/1818/1c1c\x1b\\",
    "26 \x1b[0n",
  ]);
});

test("whoever reads a short log's screen now and then leaves no emulator behind, and is shown what one would have held", async () => {
  const output = new Output();
  const answers = answersOf(output);
  const kinds: string[] = [];
  const send = ScreenWorkers.prototype.send;
  vi.spyOn(ScreenWorkers.prototype, "send").mockImplementation(function (this: ScreenWorkers, message, transfer) {
    kinds.push(message.kind);
    send.call(this, message, transfer);
  });
  const clock = vi.spyOn(performance, "now");
  const read = async (nowMs: number) => {
    clock.mockReturnValue(nowMs);
    const state = await output.screen.read({ scrollback: 10, runs: false, ansi: false });
    return state?.lines.filter((line) => line !== "").join("\n");
  };
  output.write("one\x1b[6n\r\n");
  const first = await read(0);
  expect(first).toContain("one");
  expect(kinds.splice(0)).toEqual(["open", "write", "write", "show", "rest"]);
  output.write("two\x1b[5n");
  expect(await read(2_000)).toContain("one\ntwo");
  expect(kinds.splice(0)).toEqual(["open", "write", "write", "show", "rest"]);
  // If the screen is read often, the emulator stays.
  output.write(" three");
  expect(await read(2_001)).toContain("one\ntwo three");
  expect(await read(2_002)).toContain("one\ntwo three");
  expect(kinds.splice(0)).toEqual(["open", "write", "write", "show", "write", "show"]);
  // If the log is longer, too.
  output.write("\r\nline".repeat(2_000));
  expect(await read(9_000)).toContain("line\nline");
  expect(kinds).toEqual(["write", "write", "show"]);
  expect(answers).toEqual(["7 \x1b[1;4R", "16 \x1b[0n"]);
});

test("after its worker has died a screen is drawn from the log again, and nothing is answered twice", async () => {
  const output = new Output();
  const answers = answersOf(output);
  output.write(`\x1b[31m${"line\r\n".repeat(20_000)}`);
  output.write("\x1b[5n");
  const before = await output.snapshot();
  expect(answers).toHaveLength(1);
  const [first] = output.started;
  const died = new Promise((resolve) => first?.addEventListener("close", resolve));
  first?.terminate();
  await died;
  const after = await output.snapshot();
  expect(output.started).toHaveLength(2);
  expect(after).toEqual(before);
  expect(answers).toHaveLength(1);
  // What the log has forgotten can't be drawn again.
  await output.flood((n) => `line ${n}\r\n`, 2 * MIB);
  await output.snapshot();
  output.started[1]?.terminate();
  const pending = await output.snapshot();
  expect(pending.isExact).toBe(false);
  expect(lastLines(Viewer.of(pending), 2)[0]).toMatch(/^line \d+$/);
});
