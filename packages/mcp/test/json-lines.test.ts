import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonLines, MAX_MESSAGE_BYTES } from "../src/gateway/index.ts";
import { LongLine } from "../src/gateway/long-line.ts";

/** To make fast-check's own of the unit "binary" takes seconds. */
const anyText = fc.array(fc.nat(0x10ffff), { maxLength: 20 }).map((points) => String.fromCodePoint(...points));
const encode = (text: string) => new TextEncoder().encode(text);

test("M2: messages come out whole and in order, with their ends, however their bytes are cut", () => {
  const message = fc.record({ id: fc.integer(), text: anyText });
  const junk = fc.constantFrom("", "Listening…", "[1]", "{broken", "null", "\r");
  const cuts = fc.array(fc.nat(2_000), { maxLength: 20 });
  fc.assert(
    fc.property(fc.array(fc.oneof(message, junk), { maxLength: 10 }), cuts, (items, places) => {
      const texts = items.map((item) => `${typeof item === "string" ? item : JSON.stringify(item)}\n`);
      const bytes = encode(texts.join(""));
      const lines = new JsonLines();
      const found = [];
      let from = 0;
      for (const to of [...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
        found.push(...lines.push(bytes.slice(from, to)));
        from = to;
      }
      expect(found.map((line) => line.message)).toEqual(items.filter((item) => typeof item !== "string"));
      let end = 0;
      const ends = texts.map((text) => {
        end += encode(text).length;
        return end;
      });
      expect(found.map((line) => line.end)).toEqual(ends.filter((_, i) => typeof items[i] !== "string"));
      expect(lines.end).toBe(bytes.length);
      expect(lines.lineStart).toBe(bytes.lastIndexOf(0x0a) + 1);
    }),
  );
});

test("M2: made anew with the unfinished line that was kept, it goes on as if nothing had been", () => {
  const first = new JsonLines();
  expect(first.push(encode('{"id":1}\n{"id":'))).toHaveLength(1);
  const second = new JsonLines(first.end, first.partial);
  expect([first.lineStart, second.lineStart]).toEqual([9, 9]);
  expect(second.push(encode("2}\n"))).toEqual([{ text: '{"id":2}', message: { id: 2 }, end: 18 }]);
});

test("M2: a message of 4 MiB comes out; of a longer one its id and whether it asks, and what follows is whole", () => {
  const whole = `{"a":"${"x".repeat(MAX_MESSAGE_BYTES - 8)}"}`;
  const lines = new JsonLines();
  expect(lines.push(encode(`${whole}\n`)).map(({ text }) => text.length)).toEqual([MAX_MESSAGE_BYTES]);
  expect(lines.push(encode(`{"result":${whole}`))).toEqual([]);
  // As a Durable Object that dies meanwhile finds it again.
  const next = new JsonLines(lines.end, lines.partial, lines.long);
  expect([next.partial, next.lineStart]).toEqual([[], MAX_MESSAGE_BYTES + 1]);
  const after = next.push(encode(`,"id":"7"}\n{"id":8}\n${"x".repeat(MAX_MESSAGE_BYTES + 1)}\n{"id":9}\n`));
  expect(after.map(({ message, isTooLong }) => [message, isTooLong])).toEqual([
    [{ id: "7" }, true],
    [{ id: 8 }, undefined],
    [{ id: 9 }, undefined],
  ]);
  expect(after[1]?.end).toBe(MAX_MESSAGE_BYTES + 1 + `{"result":${whole},"id":"7"}\n{"id":8}\n`.length);
});

test("M2: of any message, cut anywhere, what is kept of a long one is its own id and whether it has a method", () => {
  const id = fc.oneof(fc.integer(), anyText);
  const inner = fc.jsonValue({ maxDepth: 3 });
  const fields = fc.record({ id, method: fc.string(), result: inner, params: inner }, { requiredKeys: [] });
  fc.assert(
    fc.property(fields, fc.nat(200), fc.boolean(), (message, cut, isSpaced) => {
      const bytes = encode(JSON.stringify(message, null, isSpaced ? 1 : 0));
      const first = new LongLine();
      first.push(bytes.subarray(0, cut));
      const second = new LongLine(first.state);
      second.push(bytes.subarray(cut));
      const kept = { ...("id" in message ? { id: message.id } : {}), ...("method" in message ? { method: "" } : {}) };
      expect(second.message).toEqual(Object.keys(kept).length === 0 ? undefined : kept);
      expect(second.state.length).toBe(bytes.length);
    }),
  );
});
