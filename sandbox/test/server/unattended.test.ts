// W14 over a real process: a terminal that floods without a client is held, and no output is lost.
import { expect, test } from "vitest";
import { HEADERS, order, SECRET, testBridge } from "../support/bridge.ts";
import { PlainClient } from "../support/clients.ts";

const RATE = 4_096;

async function offsetAt(url: string): Promise<number> {
  const response = await fetch(`${url}/sessions`, { headers: HEADERS });
  return ((await response.json()) as { sessions: { offset: number }[] }).sessions[0]?.offset ?? 0;
}

test("W14: a flood that nobody reads is held near its rate, and runs on at full speed for who comes, without a gap", async () => {
  const started = performance.now();
  const { url } = testBridge({ UNATTENDED_BYTES_PER_SECOND: String(RATE) });
  const live = { tty: true, delivery: "live", isStdinEnded: false };
  expect((await order(url, "flood", "seq", ["100000000", "199999999"], live)).status).toBe(201);
  // Far less than a second's worth of an unheld one (8 MB), and never more than the burst, the time's share and what a read brings.
  for (let looks = 0; looks < 20; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const seconds = (performance.now() - started) / 1000;
    expect(await offsetAt(url)).toBeLessThan(RATE * (16 + seconds) + 512 * 1024);
  }
  await expect.poll(() => offsetAt(url)).toBeGreaterThan(RATE * 16);
  const held = await offsetAt(url);

  const client = await PlainClient.attach(url, SECRET, { session: "flood", offset: "0" });
  await client.until(() => client.output.length > held + 4 * 1024 * 1024);
  client.close();
  const lines = client.output.split("\r\n").slice(0, -1);
  expect(lines.findIndex((line, i) => line !== String(100_000_000 + i))).toBe(-1);
});
