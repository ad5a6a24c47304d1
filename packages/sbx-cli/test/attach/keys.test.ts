// Finding Ctrl+] among what is typed and pasted.

import { describe, expect, test } from "vitest";
import { KeyReader, readMenuKey } from "../../src/attach/keys.ts";

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

describe("Ctrl+^ opens the menu", () => {
  const read = (chunk: string) => {
    const after = readMenuKey(Buffer.from(chunk, "latin1"));
    return after === undefined ? undefined : Buffer.from(after).toString("latin1");
  };

  test.each([
    ["alone", "\x1e", ""],
    ["with the key that was pressed after it", "\x1ew", "w"],
    ["twice", "\x1e\x1e", "\x1e"],
    ["encoded by the kitty protocol", "\x1b[94;5u", ""],
    ["encoded as Ctrl+6, as Ctrl+Shift+6, and with num lock on", "\x1b[54;5u", ""],
    ["as Ctrl+Shift+6", "\x1b[54:94;6u", ""],
    ["with num lock on", "\x1b[54;133u", ""],
    ["encoded by xterm", "\x1b[27;5;94~", ""],
  ])("%s", (_, chunk, after) => expect(read(chunk)).toBe(after));

  test.each([
    ["in text that came with it", "\x1eab"],
    ["after text", "a\x1e"],
    ["another key", "\x1b[95;5u"],
    ["with another modifier", "\x1b[94;7u"],
    ["its release", "\x1b[94;5:3u"],
    ["nothing", ""],
  ])("not %s", (_, chunk) => expect(read(chunk)).toBeUndefined());
});
