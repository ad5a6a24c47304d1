// What a command costs codex: `true` from its start to the news of its end, here and at codex' own server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { installedCodex } from "../../../local/src/build/codex.ts";
import { median, scaled } from "../base/numbers.ts";
import type { Subject } from "../subjects/subjects.ts";
import type { Result } from "./measuring.ts";

/** The first few pay for code that is loaded once. */
const WARM_UP = 10;
const TIMES = 50;

/** In turn, so that a machine that slows down slows both. */
export async function codexTrue(subject: Subject, share = 1): Promise<Result> {
  const { url, headers } = subject.spec(["true"]);
  const home = mkdtempSync(join(tmpdir(), "bench-codex-"));
  const args = [installedCodex(), "exec-server", "--listen", "ws://127.0.0.1:0"];
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home };
  const server = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const [address] = (await once(server.stdout, "data")) as [Buffer];
  const ours = new WebSocket(`${url.replace(/^http/, "ws")}/codex/bench`, { headers });
  const theirs = new WebSocket(String(address).trim());
  const times = { ours: [] as number[], theirs: [] as number[] };
  try {
    const runs = [await trueAt(ours), await trueAt(theirs)] as const;
    for (let i = 0; i < WARM_UP + scaled(TIMES, share, 5); i += 1) {
      const [here, there] = [await runs[0](`p${i}`), await runs[1](`p${i}`)];
      if (i < WARM_UP) continue;
      times.ours.push(here);
      times.theirs.push(there);
    }
  } finally {
    for (const socket of [ours, theirs]) socket.close();
    server.kill();
    rmSync(home, { recursive: true, force: true });
  }
  return { "`true` for codex, ms": median(times.ours), "`true` for codex at its own server, ms": median(times.theirs) };
}

/** @returns Runs `true` under this id. */
async function trueAt(socket: WebSocket): Promise<(processId: string) => Promise<number>> {
  const waiting = new Map<string, () => void>();
  const told = (what: string) => new Promise<void>((resolve) => waiting.set(what, resolve));
  const say = (message: object) => socket.send(JSON.stringify(message));
  socket.on("message", (data) => {
    const said = JSON.parse(String(data)) as { id?: string; method?: string; params?: { processId: string } };
    waiting.get(said.id ?? `${said.method} ${said.params?.processId}`)?.();
  });
  await once(socket, "open");
  const begun = told("begin");
  say({ id: "begin", method: "initialize", params: { clientName: "bench", resumeSessionId: null } });
  await begun;
  say({ method: "initialized", params: {} });
  return async (processId) => {
    const from = performance.now();
    const exited = told(`process/exited ${processId}`);
    const how = { argv: ["true"], cwd: "file:///tmp", env: {}, tty: false, pipeStdin: false, arg0: null };
    say({ id: processId, method: "process/start", params: { processId, ...how } });
    await exited;
    return performance.now() - from;
  };
}
