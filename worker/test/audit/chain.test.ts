// The hash chain of the audit: what follows is taken, what was tampered with is found, wherever it is.
import { describe, expect, test } from "vitest";
import { CHAIN_START, type ChainedRecord, chained, verifyChain } from "../../src/audit/chain.ts";

function chainOf(count: number): ChainedRecord[] {
  const records: ChainedRecord[] = [];
  for (let i = 0; i < count; i += 1) {
    const last = records.at(-1) ?? CHAIN_START;
    records.push(chained(last, { type: "input", text: `line ${i}`, offset: i * 7 }));
  }
  return records;
}

const records = chainOf(20);

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe("a chain", () => {
  test("verifies whole, and from any record on with the one before it", () => {
    const [head] = records.slice(-1).map(({ seq, hash }) => ({ seq, hash }));
    expect(verifyChain(records)).toEqual({ ok: true, head });
    expect(verifyChain([])).toEqual({ ok: true, head: CHAIN_START });
    for (const [i, record] of records.entries())
      expect(verifyChain(records.slice(i + 1), record)).toMatchObject({ ok: true, head });
  });

  test("is the same after a way through JSON", () => {
    expect(verifyChain(JSON.parse(JSON.stringify(records)))).toMatchObject({ ok: true });
  });

  test("has these hashes: SHA-256 of the hash before it, a newline and the record as JSON, what was typed as its own SHA-256", async () => {
    const typed = await sha256("line 0 ä");
    const begin = '{"seq":1,"type":"input",';
    for (const [content, json] of [
      [{ text: "line 0 ä" }, `${begin}"text":"${typed}","offset":0}`],
      [{ text: new TextEncoder().encode("line 0 ä") }, `${begin}"text":"${typed}","offset":0}`],
      [{ base64: "/w==" }, `${begin}"base64":"${await sha256("/w==")}","offset":0}`],
      [{ sha256: typed }, `${begin}"sha256":"${typed}","offset":0}`],
      [{}, `${begin}"offset":0}`],
    ] as const) {
      const { hash } = chained(CHAIN_START, { type: "input", ...content, offset: 0 });
      expect(hash).toBe(await sha256(`${CHAIN_START.hash}\n${json}`));
    }
  });
});

describe("a tampered chain is found at the record", () => {
  test("that was changed, in any field", () => {
    for (let i = 0; i < records.length; i += 1) {
      for (const change of [
        { text: "rm -rf /" },
        { seq: i + 2 },
        { text: undefined },
        { text: undefined, base64: "bGluZQ==" },
        { base64: "" },
        { type: "exit" },
        { more: 1 },
        { hash: "f".repeat(64) },
      ]) {
        const changed = records.map((record, at) => (at === i ? { ...record, ...change } : record));
        expect(verifyChain(changed)).toMatchObject({ ok: false, index: i });
      }
    }
  });

  test("that follows one that is missing", () => {
    for (let i = 0; i < records.length - 1; i += 1) {
      expect(verifyChain(records.filter((_, at) => at !== i))).toMatchObject({ ok: false, index: i });
    }
  });

  test("that was put in, even with a hash that fits, where the rest was not made anew", () => {
    for (let i = 0; i < records.length - 1; i += 1) {
      const forged = chained(records[i - 1] ?? CHAIN_START, { type: "input", text: "forged" });
      expect(verifyChain([...records.slice(0, i), forged, ...records.slice(i)])).toMatchObject({
        ok: false,
        index: i + 1,
      });
      expect(verifyChain([...records.slice(0, i), forged, ...records.slice(i + 1)])).toMatchObject({
        ok: false,
        index: i + 1,
      });
    }
  });

  test("that was moved", () => {
    const [first, second, ...rest] = records;
    if (first === undefined || second === undefined) throw new Error("unreachable");
    expect(verifyChain([second, first, ...rest])).toMatchObject({ ok: false, index: 0 });
  });
});
