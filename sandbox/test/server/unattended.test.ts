// W14 over a real process: a terminal that floods with nobody attached is held by not being read, and nothing of it is lost.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSettings } from "../../src/base/settings.ts";
import { type Bridge, startBridge } from "../../src/server/server.ts";

const TOKEN = "a secret of this test only";
const RATE = 4_096;
const headers = { Authorization: `Bearer ${TOKEN}` };

let bridge: Bridge;
let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-unattended-"));
  const read = readSettings(
    { HOST: "127.0.0.1", PORT: "0", SANDBOX_ROOT: root, UNATTENDED_BYTES_PER_SECOND: String(RATE) },
    TOKEN,
  );
  if (!read.ok) throw new Error(read.problem);
  bridge = startBridge(read.settings);
});

afterAll(async () => {
  await bridge.stop();
  rmSync(root, { recursive: true, force: true });
});

async function offset(): Promise<number> {
  const response = await fetch(`${bridge.url}/sessions`, { headers });
  return ((await response.json()) as { sessions: { offset: number }[] }).sessions[0]?.offset ?? 0;
}

test("W14: a flood that nobody reads is held near its rate, and runs on at full speed for who comes, without a gap", async () => {
  const started = performance.now();
  const body = JSON.stringify({
    ...{ label: "x", session: "flood", cmd: "seq", args: ["100000000", "199999999"], env: [], tty: true },
    ...{ mode: "collaborative", keep: 60, keepExited: 60, delivery: "live", stdin: "", isStdinEnded: false },
  });
  expect((await fetch(`${bridge.url}/sessions`, { method: "POST", headers, body })).status).toBe(201);
  // Far less than a second's worth of an unheld one (8 MB), and never more than the burst, the time's share and what a read brings.
  for (let looks = 0; looks < 20; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const seconds = (performance.now() - started) / 1000;
    expect(await offset()).toBeLessThan(RATE * (16 + seconds) + 512 * 1024);
  }
  const held = await offset();
  expect(held).toBeGreaterThan(RATE * 16);

  const query = new URLSearchParams({ session: "flood", offset: "0" });
  const socket = new WebSocket(`${bridge.url.replace("http", "ws")}/attach?${query}`, { headers });
  socket.binaryType = "arraybuffer";
  let received = "";
  const wanted = held + 4 * 1024 * 1024;
  await new Promise<void>((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") return;
      received += Buffer.from(data as ArrayBuffer, 1).toString();
      if (received.length > wanted) resolve();
    });
  });
  socket.close();
  const lines = received.split("\r\n").slice(0, -1);
  expect(lines.findIndex((line, i) => line !== String(100_000_000 + i))).toBe(-1);
});
