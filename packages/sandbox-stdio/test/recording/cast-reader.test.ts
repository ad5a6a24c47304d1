// Recordings from anybody: what is read, and what is refused.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CastEvent, CastFault, CastReader } from "../../src/recording/cast-reader.ts";
import { CastWriter } from "../../src/recording/cast-writer.ts";
import { encodeUtf8 } from "../../src/text/utf8-text.ts";

/** @param pieceBytes How the bytes come. */
function read(text: string | Uint8Array, pieceBytes = 7): { info: unknown; events: CastEvent[] } {
  const reader = new CastReader();
  const bytes = typeof text === "string" ? encodeUtf8(text) : text;
  const events: CastEvent[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    events.push(...reader.push(bytes.subarray(at, at + pieceBytes)));
  events.push(...reader.end());
  return { info: reader.info, events };
}

const V2 = '{"version":2,"width":80,"height":24,"timestamp":1504467315,"title":"Demo","idle_time_limit":1.5}\n';
const V3 = '{"version":3,"term":{"cols":80,"rows":24}}\n';

describe("asciicast v2 in", () => {
  it("has its size, start, title and idle limit, and times from the start become intervals", () => {
    const events = '[0.25,"o","é\\u001b[1m"]\n[1.25,"i","ls"]\n[1.5,"r","100x30"]\n[2,"m","step"]\n[2,"o","b"]\n';
    expect(read(V2 + events)).toEqual({
      info: { version: 2, cols: 80, rows: 24, startMs: 1504467315000, title: "Demo", idleLimitMs: 1500 },
      events: [
        { afterMs: 250, type: "o", text: "é\x1b[1m" },
        { afterMs: 1000, type: "o", text: "" },
        { afterMs: 250, type: "r", cols: 100, rows: 30 },
        { afterMs: 500, type: "m", label: "step" },
        { afterMs: 0, type: "o", text: "b" },
      ],
    });
  });
});

describe("asciicast v3 in", () => {
  it("has intervals, comments, blank lines, exits, and codes to come, which are ignored", () => {
    const events = '# a comment\n[0.5,"o","a"]\n\n#\n[0,"z","new"]\n[0.1,"m","x"]\r\n[2,"x","143"]';
    expect(read(V3 + events)).toEqual({
      info: { version: 3, cols: 80, rows: 24 },
      events: [
        { afterMs: 500, type: "o", text: "a" },
        { afterMs: 100, type: "m", label: "x" },
        { afterMs: 2000, type: "x", code: 143 },
      ],
    });
  });

  it("reads what the writer writes, however it is cut", () => {
    const output = fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.integer({ min: 0, max: 9_999 })));
    fc.assert(
      fc.property(output, fc.integer({ min: 1, max: 50 }), (outputs, pieceBytes) => {
        const writer = new CastWriter();
        let cast = writer.header({ cols: 10, rows: 5, startMs: 5_000 });
        let atMs = 5_000;
        for (const [text, ms] of outputs) {
          atMs += ms;
          cast += writer.event({ kind: "output", bytes: encodeUtf8(text), atMs: atMs });
        }
        const { events } = read(cast + writer.end(atMs), pieceBytes);
        const shown = events.map((event) => (event.type === "o" ? event.text : "")).join("");
        expect(shown).toBe(
          outputs.map(([text]) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(encodeUtf8(text))).join(""),
        );
        const last = outputs.findLastIndex(([text]) => text !== "");
        const wantedMs = outputs.slice(0, last + 1).reduce((sum, [, ms]) => sum + ms, 0);
        expect(Math.round(events.reduce((sum, { afterMs }) => sum + afterMs, 0))).toBe(wantedMs);
      }),
    );
  });
});

describe("a recording with lies in it, or a bomb, is refused with the line and the reason", () => {
  const nested = `${"[".repeat(100_000)}${"]".repeat(100_000)}\n`;
  it.each<[string, string | Uint8Array, string | RegExp]>([
    ["nothing", "", "it is empty: no asciicast"],
    ["no JSON", "hello\n", "line 1 is not JSON"],
    ["no header", "[1,2]\n", "line 1 is not the header of an asciicast"],
    [
      "version 1",
      '{"version":1,"width":80,"height":24,"stdout":[]}\n',
      /^it is asciicast version 1; 2 and 3 .*convert/,
    ],
    ["another version", '{"version":"3"}\n', 'it is asciicast version "3"; 2 and 3 can be read'],
    ["no version", "{}\n", "it is asciicast version none; 2 and 3 can be read"],
    ["gzip", Uint8Array.of(0x1f, 0x8b, 8, 0), "it is compressed: unpack it first"],
    ["a header without an end", `{"version":3,"title":"${"x".repeat(70_000)}`, "line 1 is longer than 65536 bytes"],
    ["no size", '{"version":3}\n', "line 1 has a size that can't be: none by none, not from 1x1 to 1000x500"],
    ["a huge size", '{"version":2,"width":1e9,"height":24}\n', /line 1 has a size that can't be: 1000000000 by 24/],
    ["half a column", '{"version":2,"width":80.5,"height":24}\n', /line 1 has a size that can't be: 80.5 by 24/],
    ["a size that is text", '{"version":3,"term":{"cols":"80","rows":24}}\n', /size that can't be: "80" by 24/],
    ["an event that is none", `${V3}{"o":1}\n`, 'line 2 is not an event: [TIME, "CODE", "DATA"]'],
    ["an event cut short", `${V3}[1,"o","abc`, "line 2 is cut short: the recording ends within an event"],
    ["data that is no text", `${V3}[1,"o",["x"]]\n`, "line 2 has a code or data that is no text"],
    ["a negative time", `${V3}[0,"o","a"]\n[-1,"o","a"]\n`, "line 3 has a time that can't be: -1"],
    ["a time without end", `${V3}[1e999,"o","a"]\n`, "line 2 has a time that can't be: null"],
    ["a time that is text", `${V3}["1","o","a"]\n`, 'line 2 has a time that can\'t be: "1"'],
    ["a wait of years", `${V3}[1e9,"o","a"]\n`, "line 2 waits longer than 366 days"],
    ["a jump of years", `${V2}[1e9,"o","a"]\n`, "line 2 waits longer than 366 days"],
    ["time that goes back", `${V2}[5,"o","a"]\n[3,"o","b"]\n`, "line 3 goes back in time, from 5 s to 3 s"],
    ["a resize to nothing", `${V3}[0,"r","0x0"]\n`, /line 2 has a size that can't be: 0 by 0/],
    ["a resize beyond all screens", `${V3}[0,"r","99999x99999"]\n`, /line 2 has a size that can't be/],
    ["a resize that is none", `${V3}[0,"r","big"]\n`, /line 2 has a size that can't be: "big"/],
    ["an exit that is none", `${V3}[0,"x","ok"]\n`, 'line 2 has an exit status that can\'t be: "ok"'],
    ["a comment in version 2", `${V2}# no\n`, "line 2 is not JSON"],
    ["bytes that are not UTF-8", Uint8Array.of(...encodeUtf8(V3), 0xff, 0x0a), "line 2 is not UTF-8"],
    ["deep nesting", V3 + nested, /^line 2 (is not an event|is not JSON)/],
    ["a line of 9 MB", `${V3}[0,"o","${"x".repeat(9_000_000)}"]\n`, "line 2 is longer than 8388608 bytes"],
  ])("%s", (_name, cast, message) => {
    let refused: unknown;
    try {
      read(cast, 65_536);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(CastFault);
    if (typeof message === "string") expect((refused as CastFault).message).toBe(message);
    else expect((refused as CastFault).message).toMatch(message);
  });

  it("keeps no more than one line, and cuts labels and titles", () => {
    const long = "x".repeat(50_000);
    const { info, events } = read(`{"version":2,"width":8,"height":2,"title":"${long}"}\n[0,"m","${long}"]\n`);
    expect((info as { title: string }).title.length).toBe(4_096);
    expect(events).toEqual([{ afterMs: 0, type: "m", label: "x".repeat(4_096) }]);
  });
});
