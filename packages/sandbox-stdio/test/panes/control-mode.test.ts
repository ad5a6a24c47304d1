// The parser of tmux's control mode: what was written comes out, whatever pieces it comes in.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ControlEvent, ControlMode, MAX_LINE_BYTES, MAX_REPLY_BYTES } from "../../src/panes/control-mode.ts";
import { bytes } from "../support/fixtures.ts";

/** As tmux writes it: below 32, and a backslash, in octal. */
function escaped(output: Uint8Array): Uint8Array {
  const text = [...output].map((byte) =>
    byte < 32 || byte === 0x5c ? `\\${byte.toString(8).padStart(3, "0")}` : String.fromCharCode(byte),
  );
  return Uint8Array.from(text.join(""), (character) => character.charCodeAt(0));
}

function joined(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === "string" ? bytes(part) : part))));
}

/** All events, with copies of their bytes: a chunk is overwritten as soon as it has been read. */
function read(stream: Uint8Array, cuts: readonly number[]): ControlEvent[] {
  const parser = new ControlMode();
  const events: ControlEvent[] = [];
  const at = [...cuts.map((cut) => cut % (stream.length + 1)), 0, stream.length].sort((a, b) => a - b);
  for (let i = 1; i < at.length; i++) {
    const chunk = stream.slice(at[i - 1], at[i]);
    for (const event of parser.push(chunk)) {
      events.push(structuredClone(event));
    }
    chunk.fill(0x58);
  }
  return events;
}

const anyBytes = fc.uint8Array({ maxLength: 60 });
const anyCuts = fc.array(fc.nat(), { maxLength: 12 });
const anyPane = fc.nat(200).map((n) => `%${n}`);
/** A line of a screen: no line end, and it may look like anything else. */
const anyLine = fc.oneof(
  fc.uint8Array({ maxLength: 30 }).map((line) => line.map((byte) => (byte < 32 ? 32 : byte))),
  fc.constantFrom("%end 1 2 1x", "%end 9 9 1", "%error", "%output %0 no", "%begin 1 2 1", "").map(bytes),
);

const anyPiece = fc.oneof(
  fc.record({ kind: fc.constant("output" as const), pane: anyPane, bytes: anyBytes }),
  fc.record({ kind: fc.constant("extended" as const), pane: anyPane, bytes: anyBytes, age: fc.nat(5_000) }),
  fc.record({ kind: fc.constant("reply" as const), isError: fc.boolean(), lines: fc.array(anyLine, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant("pause" as const), pane: anyPane }),
);

describe("B2: control mode", () => {
  test("gives output and answers byte for byte, cut anywhere, with and without the control string of -CC", () => {
    fc.assert(
      fc.property(
        fc.array(anyPiece, { maxLength: 8 }),
        anyCuts,
        fc.boolean(),
        fc.boolean(),
        (pieces, cuts, isCc, isCrLf) => {
          const end = isCrLf ? "\r\n" : "\n";
          const parts: (string | Uint8Array)[] = isCc ? ["\u001bP1000p"] : [];
          const expected: ControlEvent[] = [];
          for (const piece of pieces) {
            if (piece.kind === "output") {
              parts.push(`%output ${piece.pane} `, escaped(piece.bytes), end);
              expected.push({ type: "output", pane: piece.pane, bytes: piece.bytes });
            } else if (piece.kind === "extended") {
              parts.push(`%extended-output ${piece.pane} ${piece.age} : `, escaped(piece.bytes), end);
              expected.push({ type: "output", pane: piece.pane, bytes: piece.bytes, ageMs: piece.age });
            } else if (piece.kind === "pause") {
              parts.push(`%pause ${piece.pane}`, end);
              expected.push({ type: "pause", pane: piece.pane });
            } else {
              parts.push("%begin 17 42 1", end);
              for (const line of piece.lines) parts.push(line, end);
              parts.push(piece.isError ? "%error 17 42 1" : "%end 17 42 1", end);
              expected.push({ type: "reply", isOurs: true, isError: piece.isError, lines: piece.lines });
            }
          }
          if (isCc) parts.push("%exit", end, "\u001b\\", end);
          if (isCc) expected.push({ type: "exit", reason: "" });
          expect(read(joined(...parts), cuts)).toEqual(expected);
        },
      ),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
    );
  });

  test("tells a command of ours from one that tmux runs by itself", () => {
    const replies = read(bytes("%begin 1 5 0\n%end 1 5 0\n%begin 1 6 1\n%error 1 6 1\n"), [3, 20]);
    const flags = { type: "reply", lines: [] };
    expect(replies).toEqual([false, true].map((isOurs) => ({ ...flags, isOurs, isError: isOurs })));
  });

  test("says what has changed", () => {
    const lines = [
      "%layout-change @1 8205,80x24,0,0 b25d,80x24,0,0 *",
      "%window-add @2",
      "%window-renamed @2 a name",
      "%session-changed $3 my session",
      "%subscription-changed names $0 @0 0 %1 : left : right",
      "%a-word-from-a-newer-tmux 1",
      "%exit too far behind",
    ];
    expect(read(bytes(`${lines.join("\n")}\n`), [])).toEqual([
      { type: "layout", window: "@1", layout: "8205,80x24,0,0", visible: "b25d,80x24,0,0" },
      { type: "changed", what: "window-add" },
      { type: "changed", what: "window-renamed" },
      { type: "attached", session: "$3", name: "my session" },
      { type: "subscription", name: "names", pane: "%1", value: "left : right" },
      { type: "other", name: "%a-word-from-a-newer-tmux" },
      { type: "exit", reason: "too far behind" },
    ]);
  });

  test("leaves a backslash that is no escape as it is", () => {
    expect(read(bytes("%output %0 a\\9b\\01\\777\\101\\\n"), [])).toEqual([
      { type: "output", pane: "%0", bytes: bytes("a\\9b\\01\\777A\\") },
    ]);
  });

  test.each([
    ["something else", "no sessions\n"],
    ["output of no pane", "%output 0 x\n"],
    ["a line without end", "x".repeat(MAX_LINE_BYTES + 1)],
    ["an answer without end", `%begin 1 1 1\n${`${"x".repeat(1_000_000)}\n`.repeat(Math.ceil(MAX_REPLY_BYTES / 1e6))}`],
  ])("fails once and for all on %s", (_, text) => {
    const parser = new ControlMode();
    const events = parser.push(bytes(text));
    expect(events.map(({ type }) => type)).toEqual(["fault"]);
    expect(parser.push(bytes("%output %0 x\n"))).toEqual([]);
  });
});
