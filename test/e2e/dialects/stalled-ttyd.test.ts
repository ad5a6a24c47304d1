// Clients of a ttyd in the sandbox that stop reading, or were reset before they could: what they cost, and that they end. The
// Worker's clock runs five times as fast, so that nobody waits for its limits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { resetUpgrade } from "../support/clients/raw-http.ts";
import { dropTtydClients, TtydClient } from "../support/clients/ttyd-client.ts";
import { type TtydConnection, TtydServer } from "../support/servers/ttyd-server.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { fresh } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
/** More than this and the test ends what it tests. */
const WORKER_BYTES = 1_500 * MIB;

let ttyd: TtydServer;
let quick: System;
const dir = mkdtempSync(join(tmpdir(), "sbx-stalled-"));

beforeAll(async () => {
  ttyd = await TtydServer.listen();
  quick = await startSystem({
    dir,
    workerEntry: join(ROOT, "worker/test/chaos-entry.ts"),
    workerVars: {
      CHAOS_SPEED: "5",
      TERMINAL_UPSTREAM: "ttyd:7681",
      TERMINAL_URL: ttyd.url,
      LIMIT_ATTACHES_PER_MINUTE: "1000",
    },
  });
});

afterAll(async () => {
  dropTtydClients();
  await quick?.stop();
  await ttyd?.kill();
  rmSync(dir, { recursive: true, force: true });
});

/** Sends 64 KiB after 64 KiB until the connection is closed. */
async function flood({ socket, received }: TtydConnection, heedsPause: boolean): Promise<void> {
  const chunk = Buffer.alloc(65_536, "0");
  let read = 0;
  let isPaused = false;
  while (socket.readyState === socket.OPEN) {
    for (; read < received.length; read += 1) {
      const word = received[read]?.bytes[0];
      if (word === 0x32) isPaused = true;
      if (word === 0x33) isPaused = false;
    }
    if ((!heedsPause || !isPaused) && socket.bufferedAmount < MIB) socket.send(chunk);
    await turn();
  }
}

function workerBytes(): number {
  return namedInGroup("workerd", quick.pids.worker)
    .map(residentBytes)
    .reduce((sum, bytes) => sum + bytes, 0);
}

test.each([
  ["that pauses when it is told to", true],
  ["that pauses for nobody", false],
] as const)(
  "W11: a client that stops reading a flood from a ttyd %s is closed, and costs no memory",
  {
    timeout: 90_000,
  },
  async (_name, heedsPause) => {
    const floods: Promise<void>[] = [];
    ttyd.serve = (connection) => void floods.push(flood(connection, heedsPause));
    const token = await quick.mintToken({ sub: fresh("person") });
    const before = workerBytes();
    const client = await TtydClient.connect(
      `${quick.origin.replace("http", "ws")}/terminal/${fresh("box")}?token=${token}`,
    );
    client.socket.pause();
    let highest = before;
    await until("the flood", () => floods.length > 0);
    let isOver = false;
    void Promise.all(floods).then(() => {
      isOver = true;
    });
    const hasEnded = () => {
      highest = Math.max(highest, workerBytes());
      if (highest > WORKER_BYTES) for (const { socket } of ttyd.open) socket.terminate();
      return isOver;
    };
    await until("its connection's end", hasEnded, 60_000);
    console.log(`workerd: grown by ${Math.round((highest - before) / MIB)} MiB at most`);
    expect(highest - before).toBeLessThan(150 * MIB);
    client.socket.resume();
    expect(await within("a close", client.closed, 20_000)).toMatchObject({ code: 1011 });
  },
);

test("300 upgrades that are reset at once leave no connection to the ttyd behind", {
  timeout: 90_000,
}, async () => {
  ttyd.serve = ({ socket }) => socket.send(Buffer.from("1ttyd"));
  const token = await quick.mintToken({ sub: fresh("person") });
  const headers = [`Authorization: Bearer ${token}`, "Sec-WebSocket-Protocol: tty"];
  const path = `/terminal/${fresh("box")}`;
  for (let i = 0; i < 300; i += 1) {
    await resetUpgrade(quick.origin, path, [...headers, `CF-Connecting-IP: 203.0.113.${i % 100}`], i % 12);
  }
  console.log(`connections to the ttyd afterwards: ${ttyd.open.length}`);
  await until("their end", () => ttyd.open.length === 0, 30_000);
});
