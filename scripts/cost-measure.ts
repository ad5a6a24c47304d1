// Counts, on a local system, the cost of a client's use in messages and rows.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type WebSocketConstructor } from "sandbox-stdio/client";
import { startSystem } from "../packages/local/src/system.ts";
import type { Inputs } from "./cost-model.ts";

const KEYS = 100;
const KEY_MS = 200;
const IDLE_MS = 60_000;
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
  const system = await startSystem({ dir });
  try {
    const token = await system.mintToken({ sub: "alice", org: "local", scope: "sandbox:admin" });
    const rowsOf = async (session: string): Promise<number> => {
      const url = `${system.origin}/api/sandboxes/default/sessions/${session}/audit?limit=1`;
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      const { head } = (await answer.json()) as { head: { seq: number } };
      return head.seq;
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
    await pause(2_000);
    taken();
    const rowsBefore = await rowsOf(shell.session);
    for (let key = 0; key < KEYS; key += 1) {
      await keys.write("x");
      await pause(KEY_MS);
    }
    await pause(1_000);
    const typed = taken();
    const rowsTyped = (await rowsOf(shell.session)) - rowsBefore;
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
    return {
      sentPerKey: rounded(typed.sent / KEYS),
      receivedPerKey: rounded(typed.received / KEYS),
      rowsPerKey: rounded(rowsTyped / KEYS),
      sentPerMib: rounded(flood.sent / OUTPUT_MIB),
      receivedPerMib: rounded(flood.received / OUTPUT_MIB),
      pingsPerHour: Math.round((idle.pings * 3_600_000) / IDLE_MS),
      rowsPerSession: await rowsOf(reader.session),
    };
  } finally {
    await system.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
