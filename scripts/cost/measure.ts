// Counts, on a local system, the cost of a client's use in messages and rows.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect, type WebSocketConstructor } from "sandbox-stdio/client";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { buildAndStart } from "../../packages/local/src/system/parts.ts";
import type { Inputs } from "./model.ts";

const KEYS = 100;
const KEY_MS = 200;
const IDLE_MS = 60_000;
/** How often a session is parked and comes back. */
const PARKS = 5;
const PARK_SECONDS = 2;
const PARK_LIMIT_MS = 60_000;
const LOOK_MS = 10;
const OUTPUT_MIB = 16;
const MIB = 1024 * 1024;
const PING = '{"type":"ping"}';

type Count = { sent: number; received: number; pings: number };

/** A WebSocket that counts its messages into `count`. */
function counting(count: Count): WebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      this.addEventListener("message", () => {
        count.received += 1;
      });
    }

    override send(message: string | Uint8Array<ArrayBuffer>): void {
      if (message === PING) count.pings += 1;
      else count.sent += 1;
      super.send(message);
    }
  } as unknown as WebSocketConstructor;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export async function measure(): Promise<Inputs> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-cost-"));
  const system = await buildAndStart({
    dir,
    workerEntry: join(ROOT, "worker/test/support/chaos-entry.ts"),
    workerFlags: ["unsafe_module"],
    workerVars: { PARK_SECONDS: String(PARK_SECONDS), STDIO_TRACE: "*" },
  });
  try {
    const token = await system.mintToken({ sub: "alice", org: "local", scope: "sandbox:admin" });
    const rowsOf = async ({ session }: Connection): Promise<number> => {
      const url = `${system.origin}/chaos/rows?${new URLSearchParams({ sandbox: "default", session })}`;
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      return ((await answer.json()) as { rows: number }).rows;
    };
    const parked = async (): Promise<void> => {
      const isParked = () => {
        const trace = readFileSync(system.worker.logFile, "utf8");
        return trace.lastIndexOf("hears bridge parked") > trace.lastIndexOf("hears bridge hello");
      };
      for (const limit = Date.now() + PARK_LIMIT_MS; !isParked(); await pause(LOOK_MS))
        if (Date.now() > limit) throw new Error("The session was not parked");
    };
    const count: Count = { sent: 0, received: 0, pings: 0 };
    const taken = (): Count => {
      const copy = { ...count };
      Object.assign(count, { sent: 0, received: 0, pings: 0 });
      return copy;
    };
    const shell = connect(system.origin, { token, WebSocket: counting(count) });
    void shell.stdout.pipeTo(new WritableStream()).catch(() => undefined);
    const keys = shell.stdin.getWriter();
    await keys.write("true\r");
    await pause(1_000);
    taken();
    const rowsBefore = await rowsOf(shell);
    for (let key = 0; key < KEYS; key += 1) {
      await keys.write("x");
      await pause(KEY_MS);
    }
    await pause(1_000);
    const typed = taken();
    const rowsTyped = (await rowsOf(shell)) - rowsBefore;
    await parked();
    const rowsParked = await rowsOf(shell);
    let toParkMs = 0;
    for (let park = 0; park < PARKS; park += 1) {
      await keys.write("x");
      const from = performance.now();
      // The key is on record by then, and the session here.
      await pause(PARK_SECONDS * 500);
      await parked();
      toParkMs += performance.now() - from - PARK_SECONDS * 1000;
    }
    const rowsOfParks = (await rowsOf(shell)) - rowsParked;
    taken();
    await pause(IDLE_MS);
    const idle = taken();
    shell.close();

    const flood: Count = { sent: 0, received: 0, pings: 0 };
    const bytes = String(OUTPUT_MIB * MIB);
    const reader = connect(system.origin, {
      token,
      cmd: "head",
      args: ["-c", bytes, "/dev/zero"],
      WebSocket: counting(flood),
    });
    void reader.stderr.cancel();
    await Promise.all([reader.stdout.pipeTo(new WritableStream()), reader.exited]);
    const rounded = (value: number) => Math.round(value * 100) / 100;
    await pause(1_000);
    return {
      sentPerKey: rounded(typed.sent / KEYS),
      receivedPerKey: rounded(typed.received / KEYS),
      rowsPerKey: rounded(rowsTyped / KEYS),
      sentPerMib: rounded(flood.sent / OUTPUT_MIB),
      receivedPerMib: rounded(flood.received / OUTPUT_MIB),
      pingsPerHour: Math.round((idle.pings * 3_600_000) / IDLE_MS),
      rowsPerSession: await rowsOf(reader),
      // One of them is the key's.
      rowsPerPark: rounded(rowsOfParks / PARKS - 1),
      secondsToPark: rounded(toParkMs / PARKS / 1000),
    };
  } finally {
    await system.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
