// Finding Ctrl+] among what is typed and pasted.

import { describe, expect, test } from "vitest";
import { KeyReader } from "../src/keys.ts";

/** Types each chunk; answers what was sent, with `|` where it detached. */
function type(...chunks: string[]): string {
  const reader = new KeyReader();
  let sent = "";
  for (const chunk of chunks) {
    const { bytes, isDetach } = reader.read(Buffer.from(chunk, "latin1"));
    sent += Buffer.from(bytes).toString("latin1");
    if (isDetach) return `${sent}|`;
  }
  return sent;
}

describe("Ctrl+] detaches", () => {
  const table: [string, string[], string][] = [
    ["alone", ["\x1d"], "|"],
    ["at the start of a chunk, and what follows is not sent", ["\x1dabc"], "|"],
    ["at the end of a chunk, after what goes before is sent", ["abc\x1d"], "abc|"],
    ["in the middle", ["ab\x1dcd"], "ab|"],
    ["encoded by the kitty protocol", ["a\x1b[93;5u"], "a|"],
    ["encoded with caps lock on", ["\x1b[93;69u"], "|"],
    ["encoded as a press with event types and alternate keys", ["\x1b[93:125;5:1u"], "|"],
    ["encoded by xterm", ["\x1b[27;5;93~"], "|"],
    ["after a paste has ended", ["\x1b[200~x\x1b[201~", "\x1d"], "\x1b[200~x\x1b[201~|"],
    ["in the chunk in which a paste ends", ["\x1b[200~\x1d\x1b[201~\x1dz"], "\x1b[200~\x1d\x1b[201~|"],
    ["alone even where a paste never ended", ["\x1b[200~x", "\x1d"], "\x1b[200~x|"],
  ];
  for (const [what, chunks, sent] of table) test(what, () => expect(type(...chunks)).toBe(sent));
});

describe("what is not Ctrl+] is sent as it is", () => {
  const table: [string, string[]][] = [
    ["every other byte", [Array.from({ length: 256 }, (_, i) => (i === 0x1d ? "" : String.fromCharCode(i))).join("")]],
    ["the byte in pasted text", ["\x1b[200~a\x1db\x1b[201~"]],
    ["the byte in pasted text whose marker came in pieces", ["\x1b", "[20", "0~", "a\x1db", "\x1b[201", "~c"]],
    ["the key's release", ["\x1b[93;5:3u"]],
    ["] with other modifiers", ["\x1b[93;7u", "\x1b[93;2u", "\x1b[27;6;93~"]],
    ["a marker that is none", ["\x1b[202~", "\x1b[20x", "\x1b\x1b[200~a\x1db\x1b[201~"]],
  ];
  for (const [what, chunks] of table) test(what, () => expect(type(...chunks)).toBe(chunks.join("")));
});
