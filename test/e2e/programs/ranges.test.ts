// D1 to D5 for any range: what a read says is what a WebSocket client got, wherever characters and escape sequences are cut.
import fc from "fast-check";
import { plainTextOf } from "sandbox-stdio/programs";
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { exitedIn } from "../support/clients/exited-in.ts";
import { Programs } from "../support/clients/programs.ts";
import { person } from "../support/system/system.ts";

const seed = Number(process.env.FUZZ_SEED ?? 1);
const RUNS = Number(process.env.FUZZ_RUNS ?? 15);
const FRAGMENTS = [
  ...["abc", "ü", "€", "😀", "e\u0301", "\r\n", "\n", "\r", "\b", "\t"],
  ...["\x1b[31m", "\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://a\x1b\\", "\x1bP1;2q~\x1b\\", "\x1b[2K", "\x9b1m"],
].map((text) => Buffer.from(text));
const BROKEN = [Buffer.of(0xff), Buffer.of(0xc3), Buffer.of(0xe2, 0x82), Buffer.of(0x1b)];

test(`D1 to D5: any range, in any form, is what a client got, while the process runs and afterwards (seed ${seed})`, async () => {
  const at = new Programs(await person());
  const fragments = fc.sample(fc.constantFrom(...FRAGMENTS, ...BROKEN), { numRuns: 3_000, seed });
  // What is unfinished at the end of a running process's output is held back: this ends it, whatever it is.
  const payload = Buffer.concat([...fragments, Buffer.from("\x18end\n")]);
  const script = `echo ${payload.toString("base64")} | base64 -d; exec cat`;
  await at.put("s", { cmd: "sh", args: ["-c", script] });
  const client = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await expect.poll(() => client.bytes().length).toBe(payload.length);
  const got = Buffer.from(client.bytes());
  expect(got.equals(payload)).toBe(true);

  const place = fc.nat(payload.length);
  const look = async (a: number, b: number, maxBytes: number) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    const coded = (await at.read("s", { from, to, maxBytes, format: "base64" })).body;
    const bytes = got.subarray(from, Math.min(to, from + maxBytes));
    expect([coded.from, coded.next, coded.end]).toEqual([from, from + bytes.length, got.length]);
    expect(Buffer.from(coded.output, "base64").equals(bytes)).toBe(true);
    for (const format of ["text", "plain"] as const) {
      const { next, output } = (await at.read("s", { from, to, maxBytes, format })).body;
      // What the budget cuts is left to the next call: a character, and of plain text what may still change. It makes progress.
      expect(next).toBeLessThanOrEqual(from + bytes.length);
      if (bytes.length > 0) expect(next).toBeGreaterThan(from);
      if (format === "plain") continue;
      expect(next).toBeGreaterThan(from + bytes.length - 4);
      expect(output).toBe(new TextDecoder().decode(got.subarray(from, next)));
    }
  };
  const ranges = fc.asyncProperty(place, place, fc.integer({ min: 16, max: 5_000 }), look);
  await fc.assert(ranges, { seed, numRuns: RUNS });
  const plain = async () => (await at.read("s", { format: "plain", maxBytes: 1_048_576 })).body.output;
  expect(await plain()).toBe(plainTextOf(payload));
  client.say({ type: "eof" });
  await client.end();
  await exitedIn(at, "s");
  await fc.assert(ranges, { seed: seed + 1, numRuns: RUNS });
  expect(await plain()).toBe(plainTextOf(payload));
});
