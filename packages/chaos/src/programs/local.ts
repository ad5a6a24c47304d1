// The exactly-once suite on a local system of its own, which it disturbs from inside: session objects are aborted, the inner hop is
// cut, the Worker is killed.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinSockets } from "../../../local/src/base/joined-sockets.ts";
import { ROOT } from "../../../local/src/base/paths.ts";
import { anyFreePort } from "../../../local/src/base/ports.ts";
import { buildAndStart } from "../../../local/src/system/parts.ts";
import { exactlyOnce, main } from "./main.ts";
import type { Disturbance } from "./suite.ts";

const TOKEN_SECONDS = 24 * 60 * 60;
const EVERY_MS = 700;

/** Passes on what comes for a port, and can cut all of it. */
async function cuttable(port: number): Promise<{ readonly port: number; cut(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const own = await anyFreePort();
  const server = createServer((client) => joinSockets(client, connect(port, "127.0.0.1"), sockets));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(own, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: own,
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
}

/** `npm run chaos -- programs [options]`. @returns The exit code. */
export async function localExactlyOnce(args: readonly string[], signal?: AbortSignal): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-exactly-once-"));
  const bridgePort = await anyFreePort();
  const inner = await cuttable(bridgePort);
  try {
    const system = await buildAndStart({
      dir,
      ports: { bridge: bridgePort },
      workerEntry: join(ROOT, "worker/test/support/chaos-entry.ts"),
      workerVars: {
        BRIDGE_URL: `http://127.0.0.1:${inner.port}`,
        // One person does all of it.
        LIMIT_CALLS_PER_MINUTE: "1000000",
        LIMIT_ATTACHES_PER_MINUTE: "1000000",
      },
      signal,
    });
    try {
      const token = await system.mintToken({ expires: TOKEN_SECONDS, scope: "sandbox:connect sandbox:exec" });
      process.env.SBX_TOKEN ??= token;
      const names = { abort: "session objects aborted", cut: "cuts of the inner hop", kill: "kills of the Worker" };
      const disturbance: Disturbance = {
        // A kill takes everybody seconds.
        names: [...Array<string>(8).fill(names.abort), ...Array<string>(8).fill(names.cut), names.kill],
        everyMs: EVERY_MS,
        disturb: async (name, sandbox, session) => {
          if (name === names.cut) inner.cut();
          else if (name === names.kill) await system.restartWorker();
          else {
            const url = `${system.origin}/chaos/abort?${new URLSearchParams({ sandbox, session })}`;
            const init = { method: "POST", headers: { Authorization: `Bearer ${token}` } };
            await fetch(url, init).then((response) => response.body?.cancel());
          }
        },
      };
      return await main([system.origin, ...args], (settings) => exactlyOnce(settings, disturbance));
    } finally {
      await system.stop();
    }
  } finally {
    inner.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
