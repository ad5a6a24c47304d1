import { describe, expect, it } from "vitest";
import { CastWriter } from "../../src/recording/cast-writer.ts";
import { encodeUtf8 } from "../../src/text/utf8-text.ts";

const START_MS = Date.UTC(2026, 10, 29, 14, 3);

function writer(idleLimitMs?: number): CastWriter {
  const cast = new CastWriter(idleLimitMs === undefined ? {} : { idleLimitMs });
  cast.header({ cols: 80, rows: 24, startMs: START_MS });
  return cast;
}

describe("asciicast v3 out (G3)", () => {
  it("begins with a header that names version, size, type and start", () => {
    const header = new CastWriter().header({
      cols: 80,
      rows: 24,
      startMs: START_MS + 999,
      title: "build",
      command: "make all",
      more: { lossy: true },
    });
    expect(JSON.parse(header)).toEqual({
      version: 3,
      term: { cols: 80, rows: 24, type: "xterm-256color" },
      timestamp: START_MS / 1000,
      command: "make all",
      title: "build",
      lossy: true,
    });
    expect(header.endsWith("}\n")).toBe(true);
  });

  it("writes every kind of event with its interval in seconds, of whole milliseconds", () => {
    const cast = writer();
    expect(cast.event({ kind: "output", bytes: encodeUtf8("a\r\n\x1b[1m"), atMs: START_MS + 1 })).toBe(
      '[0.001,"o","a\\r\\n\\u001b[1m"]\n',
    );
    expect(cast.event({ kind: "size", cols: 100, rows: 30, atMs: START_MS + 1501 })).toBe('[1.5,"r","100x30"]\n');
    expect(cast.event({ kind: "command", line: "make", atMs: START_MS + 1501 })).toBe('[0,"m","make"]\n');
    expect(cast.event({ kind: "exit", code: 143, atMs: START_MS + 3601501 })).toBe('[3600,"x","143"]\n');
  });

  it("never cuts a character, and gives it the time of its last byte", () => {
    const cast = writer();
    const euro = encodeUtf8("€");
    expect(cast.event({ kind: "output", bytes: euro.subarray(0, 2), atMs: START_MS + 10 })).toBe("");
    expect(cast.event({ kind: "output", bytes: euro.subarray(2), atMs: START_MS + 30 })).toBe('[0.03,"o","€"]\n');
    expect(cast.isLossy).toBe(false);
  });

  it("replaces bytes that are not UTF-8 by U+FFFD, and says that it did", () => {
    const cast = writer();
    expect(cast.event({ kind: "output", bytes: encodeUtf8("\ufffd"), atMs: START_MS })).toBe('[0,"o","\ufffd"]\n');
    expect(cast.isLossy).toBe(false);
    expect(cast.event({ kind: "output", bytes: Uint8Array.of(0x61, 0xff, 0x62), atMs: START_MS })).toBe(
      '[0,"o","a\ufffdb"]\n',
    );
    expect(cast.isLossy).toBe(true);
  });

  it("tells a gap with its offsets, and finishes no character across it", () => {
    const cast = writer();
    const euro = encodeUtf8("€");
    cast.event({ kind: "output", bytes: euro.subarray(0, 2), atMs: START_MS });
    expect(cast.event({ kind: "gap", from: 100, to: 250, atMs: START_MS + 5 })).toBe(
      '[0.005,"o","\ufffd"]\n[0,"m","gap 100-250"]\n',
    );
    expect(cast.event({ kind: "output", bytes: euro.subarray(2), atMs: START_MS + 5 })).toBe('[0,"o","\ufffd"]\n');
  });

  it("flushes the start of a character before the exit, and at the end", () => {
    const cast = writer();
    cast.event({ kind: "output", bytes: Uint8Array.of(0xe2), atMs: START_MS });
    expect(cast.event({ kind: "exit", code: 0, atMs: START_MS })).toBe('[0,"o","\ufffd"]\n[0,"x","0"]\n');
    cast.event({ kind: "output", bytes: Uint8Array.of(0xe2), atMs: START_MS });
    expect(cast.end(START_MS)).toBe('[0,"o","\ufffd"]\n');
    expect(cast.end(START_MS)).toBe("");
  });

  it("shortens intervals to the idle limit, and makes none of a clock that is set back", () => {
    const cast = writer(2000);
    expect(cast.event({ kind: "output", bytes: encodeUtf8("a"), atMs: START_MS + 60_000 })).toBe('[2,"o","a"]\n');
    expect(cast.event({ kind: "output", bytes: encodeUtf8("b"), atMs: START_MS + 61_000 })).toBe('[1,"o","b"]\n');
    expect(cast.event({ kind: "output", bytes: encodeUtf8("c"), atMs: START_MS + 50_000 })).toBe('[0,"o","c"]\n');
    expect(cast.event({ kind: "output", bytes: encodeUtf8("d"), atMs: START_MS + 61_500 })).toBe('[0.5,"o","d"]\n');
  });
});
