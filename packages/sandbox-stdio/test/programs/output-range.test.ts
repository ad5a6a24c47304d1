// D1 to D5 and U3: which bytes of the log a read and a run answer with.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutputLog, STREAM_STDERR, STREAM_STDOUT } from "../../src/index.ts";
import { headTail, outputText, plainTextOf, readOutput } from "../../src/programs/index.ts";
import { MAX_READ_BYTES, MIN_READ_BYTES, type OutputQuery, USUAL_READ_BYTES } from "../../src/programs/output-range.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (raw: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(raw);

/** A log of these pieces; those that begin with `!` are stderr, without it. */
function logOf(pieces: readonly string[], capacity = 4_096): OutputLog {
  const log = new OutputLog({ cols: 80, rows: 24 }, capacity);
  for (const piece of pieces) {
    if (piece.startsWith("!")) log.append(bytes(piece.slice(1)), STREAM_STDERR);
    else log.append(bytes(piece), STREAM_STDOUT);
  }
  return log;
}

function read(log: OutputLog, query: OutputQuery, canGrow = false) {
  const result = readOutput(log, query, canGrow);
  if (!result.ok) return result;
  const { ok: _, bytes: raw, ...rest } = result;
  return { ...rest, output: query.format === "base64" ? raw : outputText(raw, result.from, query.format ?? "text") };
}

/** All of the log, read call after call. */
function readAll(log: OutputLog, query: OutputQuery, canGrow: boolean): string {
  let all = "";
  let from = log.startOffset;
  for (;;) {
    const answer = readOutput(log, { ...query, from }, canGrow);
    if (!answer.ok) throw new Error(answer.code);
    all += outputText(answer.bytes, answer.from, query.format === "plain" ? "plain" : "text");
    if (answer.next === from) return all;
    from = answer.next;
  }
}

describe("D1 to D5: read", () => {
  test("D1: the bytes from `from` on, to `to`; `next` is where to go on, `end` where the log ends", () => {
    const log = logOf(["0123456789"]);
    expect(read(log, { from: 3 })).toEqual({ from: 3, next: 10, end: 10, output: "3456789" });
    expect(read(log, { from: 3, to: 5 })).toEqual({ from: 3, next: 5, end: 10, output: "34" });
    expect(read(log, { from: 10 })).toEqual({ from: 10, next: 10, end: 10, output: "" });
    expect(read(log, { from: 5, to: 3 })).toEqual({ from: 5, next: 5, end: 10, output: "" });
  });

  test("D1: a gap when bytes before are no longer held", () => {
    const log = logOf(["x".repeat(5_000)]);
    expect(read(log, { from: 100, maxBytes: 16 })).toEqual({
      from: 904,
      next: 920,
      end: 5_000,
      gap: { from: 100, to: 904 },
      output: "x".repeat(16),
    });
  });

  test("D2: the last N bytes; neither: from the start of what is held; beyond the end: bad_offset", () => {
    const log = logOf(["0123456789"]);
    expect(read(log, { tail: 4 })).toMatchObject({ from: 6, output: "6789" });
    expect(read(log, { tail: 99 })).toMatchObject({ from: 0, output: "0123456789" });
    expect(read(log, {})).toMatchObject({ from: 0, output: "0123456789" });
    expect(read(log, { from: 11 })).toEqual({ ok: false, code: "bad_offset", end: 10 });
    expect(read(logOf(["aé日"]), { tail: 2 })).toMatchObject({ from: 6, output: "" });
    expect(read(logOf(["aé日b"]), { tail: 3 })).toMatchObject({ from: 6, output: "b" });
  });

  test("D2: maxBytes is 16 to 1 MiB, 65,536 if nothing is said, of the stream that was asked for", () => {
    expect([MIN_READ_BYTES, MAX_READ_BYTES, USUAL_READ_BYTES]).toEqual([16, 1_048_576, 65_536]);
    const log = logOf(["a".repeat(10), `!${"b".repeat(50)}`, "a".repeat(20), "!c"]);
    expect(read(log, { stream: "stdout", maxBytes: 16 })).toMatchObject({ next: 66, output: "a".repeat(16) });
    expect(read(log, { stream: "stderr", from: 66 })).toMatchObject({ from: 66, next: 81, output: "c" });
  });

  test("D4: a text ends before an unfinished character while more can come, and not afterwards", () => {
    const log = new OutputLog({ cols: 80, rows: 24 }, 4_096);
    log.append(bytes("a日").subarray(0, 3), STREAM_STDOUT);
    expect(read(log, {}, true)).toMatchObject({ next: 1, output: "a" });
    expect(read(log, {}, false)).toMatchObject({ next: 3, output: "a\ufffd" });
    expect(read(log, { format: "base64" }, true)).toMatchObject({ next: 3 });
    expect(read(logOf([`${"x".repeat(15)}é`]), { maxBytes: 16 })).toMatchObject({ next: 15, output: "x".repeat(15) });
  });

  test("D4: of one stream, an unfinished character is left where it begins, whatever the other wrote since", () => {
    const log = new OutputLog({ cols: 80, rows: 24 }, 4_096);
    log.append(bytes("aé").subarray(0, 2), STREAM_STDOUT);
    log.append(bytes("error"), STREAM_STDERR);
    expect(read(log, { stream: "stdout" }, true)).toMatchObject({ next: 1, output: "a" });
    log.append(bytes("é").subarray(1), STREAM_STDOUT);
    expect(read(log, { stream: "stdout", from: 1 }, true)).toMatchObject({ next: 8, output: "é" });
  });

  test("D2, D4: plain passes over an escape sequence that is longer than the budget", () => {
    const log = logOf([`\x1b]0;${"t".repeat(100)}\x07done`]);
    expect(read(log, { format: "plain", maxBytes: 16 }, true)).toMatchObject({ next: 105, output: "" });
    expect(read(log, { format: "plain", from: 105 }, true)).toMatchObject({ output: "done" });
    expect(read(logOf(["ab\x1b[3"]), { format: "plain" }, true)).toMatchObject({ next: 2, output: "ab" });
    expect(read(logOf(["\x1b[3"]), { format: "plain" }, true)).toMatchObject({ next: 0, output: "" });
    expect(read(logOf([`\x1b]${"t".repeat(4_094)}`]), { format: "plain" }, true)).toMatchObject({
      next: 4_096,
      output: "",
    });
  });

  test("D1 to D4: read call after call, every range gives the whole, in text and in plain", () => {
    const title = "\x1b]0;é title that is long\x07";
    const unit = fc.constantFrom("a", "é", "日", "🦊", "\n", "\x1b[31m", title, "\x1b[K", "!x", "!é");
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 40 }),
        fc.integer({ min: 16, max: 40 }),
        fc.boolean(),
        (pieces, maxBytes, canGrow) => {
          const log = logOf(pieces);
          const all = (wanted: (piece: string) => boolean) =>
            pieces
              .filter(wanted)
              .map((piece) => piece.replace(/^!/, ""))
              .join("");
          const out = all((piece) => !piece.startsWith("!"));
          expect(readAll(log, { maxBytes }, canGrow)).toBe(all(() => true));
          expect(readAll(log, { maxBytes, stream: "stdout" }, canGrow)).toBe(out);
          expect(readAll(log, { maxBytes, stream: "stderr" }, canGrow)).toBe(all((piece) => piece.startsWith("!")));
          expect(readAll(log, { maxBytes, format: "plain", stream: "stdout" }, canGrow)).toBe(plainTextOf(bytes(out)));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("U3: the budget of run", () => {
  test("U3: what fits comes whole, stdout and stderr apart and together", () => {
    const { output, stdout, stderr, ...rest } = headTail(logOf(["one\n", "!two\n", "three\n"]), 0, 16);
    expect([text(output), text(stdout), text(stderr)]).toEqual(["one\ntwo\nthree\n", "one\nthree\n", "two\n"]);
    expect(rest).toEqual({ from: 0, next: 14, end: 14 });
  });

  test("U3: more is the first half and the last half of the budget, and truncated names the rest", () => {
    const { output, stdout, stderr, truncated } = headTail(logOf(["0123456789", "!abcdefghij", "0123456789"]), 0, 16);
    expect(text(output)).toBe("0123456723456789");
    expect([text(stdout), text(stderr)]).toEqual(["0123456723456789", ""]);
    expect(truncated).toEqual({ from: 8, to: 22, bytes: 14 });
  });

  test("U3: cut at line ends where one is near", () => {
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join("");
    const { output, truncated } = headTail(logOf([lines]), 0, 100);
    const kept = [0, 1, 2, 3, 4, 5, 6, 44, 45, 46, 47, 48, 49];
    expect(text(output)).toBe(kept.map((i) => `line ${i}\n`).join(""));
    expect(lines.slice(truncated?.from, truncated?.to)).toBe(lines.slice(49, lines.indexOf("line 44")));
  });

  test("U3: never inside a character, and nothing is cut silently", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "é", "日", "🦊", "\n"), maxLength: 60 }),
        fc.integer({ min: 16, max: 64 }),
        (all, maxBytes) => {
          const log = logOf([all]);
          const { output, truncated } = headTail(log, 0, maxBytes);
          expect(output.length).toBeLessThanOrEqual(Math.max(maxBytes, 16));
          expect(text(output)).not.toContain("\ufffd");
          if (truncated === undefined) {
            expect(text(output)).toBe(all);
            return;
          }
          const left = readOutput(log, { from: truncated.from, to: truncated.to }, false);
          const middle = left.ok ? text(left.bytes) : "";
          const head = text(output.subarray(0, truncated.from));
          expect(head + middle + text(output.subarray(truncated.from))).toBe(all);
          expect(truncated.bytes).toBe(truncated.to - truncated.from);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("U3: what the log no longer holds is a gap", () => {
    const { gap, from, end, truncated } = headTail(logOf(["x".repeat(5_000)]), 0, 100);
    expect({ gap, from, end, truncated }).toEqual({
      gap: { from: 0, to: 904 },
      from: 0,
      end: 5_000,
      truncated: { from: 954, to: 4_950, bytes: 3_996 },
    });
  });
});
