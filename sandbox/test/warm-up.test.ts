// What runs at the bridge's start so that the first keys cost no more than later ones.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { KEYS, KEYS_A_LINE, warmUp } from "../src/warm-up.ts";

const WAYS = 4;

test("each key of the warm-up comes back on all ways, no client is refused, and nothing stays of it", async () => {
  const types = new Set<string>();
  let output = "";
  const before = left();
  await warmUp((frame) => {
    if (typeof frame === "string") types.add((JSON.parse(frame) as { type: string }).type);
    else output += Buffer.from(frame.subarray(1)).toString();
  });
  const typed = output.split("x").length - 1;
  const lines = KEYS / KEYS_A_LINE;
  const echoed = WAYS * lines * (KEYS_A_LINE - 1);
  // The program prints each line again; of the last ones nobody waits for that.
  const again = (typed - echoed) / (KEYS_A_LINE - 1);
  expect(Number.isInteger(again)).toBe(true);
  expect(again).toBeGreaterThanOrEqual(WAYS * (lines - 1));
  expect(again).toBeLessThanOrEqual(WAYS * lines);
  const seen = ["hello", "stdin_ack", "greeting", "error", "refused", "bye"].filter((type) => types.has(type));
  expect(seen).toEqual(["hello", "stdin_ack"]);
  await expect.poll(left).toEqual(before); // The dead are reaped a moment later.
});

/** What it uses and must give back: terminals, connections, processes and its directory. */
function left(): unknown {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).replace(/^(socket|pipe):.*/, "$1");
    } catch {
      return ""; // The list's own.
    }
  });
  const children = readFileSync("/proc/thread-self/children", "utf8");
  const directories = readdirSync(tmpdir()).filter((name) => name.startsWith("stdio-warm-"));
  return { descriptors: targets.filter((target) => /ptmx|pts|socket|pipe/.test(target)).sort(), children, directories };
}
