// What a command costs codex: `true` from its start to the news of its end, here and at codex' own server.

import { spawn } from "node:child_process";
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
  const other = await startOther();
  const [ours, theirs] = await Promise.all([
    CodexClient.connect(`${url.replace(/^http/, "ws")}/codex/bench`, headers),
    CodexClient.connect(other.url, {}),
  ]);
  const [here, there]: number[][] = [[], []];
  try {
    for (let i = 0; i < WARM_UP + scaled(TIMES, share, 5); i += 1) {
      const times = [await ours.timeTrue(`${i}`), await theirs.timeTrue(`${i}`)];
      if (i < WARM_UP) continue;
      here?.push(times[0] ?? Number.NaN);
      there?.push(times[1] ?? Number.NaN);
    }
  } finally {
    for (const client of [ours, theirs]) client.close();
    other.stop();
  }
  return { "`true` for codex, ms": median(here ?? []), "`true` for codex at its own server, ms": median(there ?? []) };
}

async function startOther(): Promise<{ url: string; stop(): void }> {
  const home = mkdtempSync(join(tmpdir(), "bench-codex-"));
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home };
  const args = [installedCodex(), "exec-server", "--listen", "ws://127.0.0.1:0"];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`codex exec-server ended with ${code}`)));
    child.stdout.once("data", (said: Buffer) => resolve(String(said).trim()));
  });
  return {
    url,
    stop() {
      child.kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

class CodexClient {
  readonly #socket: WebSocket;
  /** By the id of an answer, or by a notification's method and process. */
  readonly #waiting = new Map<string, () => void>();

  static async connect(url: string, headers: Record<string, string>): Promise<CodexClient> {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    const client = new CodexClient(socket);
    await client.#ask("initialize", "initialize", { clientName: "bench", resumeSessionId: null });
    socket.send(JSON.stringify({ method: "initialized", params: {} }));
    return client;
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const { id, method, params } = JSON.parse(String(data)) as {
        id?: string;
        method?: string;
        params?: { processId: string };
      };
      this.#waiting.get(id ?? `${method} ${params?.processId}`)?.();
    });
  }

  async timeTrue(processId: string): Promise<number> {
    const from = performance.now();
    const exited = this.#told(`process/exited ${processId}`);
    const how = { env: {}, tty: false, pipeStdin: false, arg0: null };
    void this.#ask(`start ${processId}`, "process/start", { processId, argv: ["true"], cwd: "file:///tmp", ...how });
    await exited;
    return performance.now() - from;
  }

  close(): void {
    this.#socket.close();
  }

  #told(what: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(what, resolve));
  }

  #ask(id: string, method: string, params: object): Promise<void> {
    const answered = this.#told(id);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return answered;
  }
}
