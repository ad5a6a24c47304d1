// The ground of a run: a whole local system with a proxy on either hop, or some server somewhere with one in front.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { BIN, ROOT } from "../../local/src/base/paths.ts";
import { anyFreePort } from "../../local/src/base/ports.ts";
import { buildAndStart } from "../../local/src/system/parts.ts";
import type { ProxyOptions } from "./proxy.ts";
import { ChaosProxy } from "./proxy.ts";
import type { Hop } from "./tally.ts";
import type { Work } from "./work.ts";

export type ProgramLine = { readonly cmd: string; readonly args: readonly string[] };

/** A proxy's options besides its target. */
export type HopOptions = Omit<ProxyOptions, "target">;

export interface Ground {
  readonly attachUrl: URL;
  readonly token: string;
  /** Port of the proxy in front of the server. */
  readonly proxyPort: number;
  /** The command line that does this work in a sandbox there. */
  program(work: Work, tty: boolean): ProgramLine;
  /** Ends this life of a session's Durable Object. Absent where that is out of reach. @returns Whether there was one. */
  readonly abort?: (sandbox: string, session: string) => Promise<boolean>;
  /** Takes a session's parked Durable Object out of memory. Absent: out of reach. @returns Whether it was parked. */
  readonly evict?: ((sandbox: string, session: string) => Promise<boolean>) | undefined;
  /** kill -9 of the Worker, or of the bridge with all processes, and a start in the same place; resolves when it is up again. */
  readonly kill?: (part: "Worker" | "bridge") => Promise<void>;
  /** A folder that the sandboxes' programs share with this process. Absent: out of reach. */
  readonly scratch?: string;
  /** Settles, with a message for people, when a server has ended without being told to. */
  readonly failed?: Promise<string>;
  /** Lines of the servers' logs that must never come; absent if the logs are out of reach. */
  readonly faults?: () => readonly string[];
  close(): Promise<void>;
}

const GENERATOR = join(ROOT, "packages/chaos/src/generator.ts");
const TOKEN_SECONDS = 24 * 60 * 60;

export type LocalOptions = {
  /** How many seconds pass in the Worker in a real one. */
  readonly speed: number;
  /** After how many of these a quiet session is parked; 0: never. */
  readonly parkSeconds: number;
};

export async function localGround(
  { speed, parkSeconds }: LocalOptions,
  hop: (hop: Hop) => HopOptions,
  signal?: AbortSignal,
): Promise<Ground> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-chaos-"));
  const [bridgePort, workerPort] = [await anyFreePort(), await anyFreePort()];
  const inner = await ChaosProxy.listen({ ...hop("inner"), target: { host: "127.0.0.1", port: bridgePort } });
  const outer = await ChaosProxy.listen({ ...hop("outer"), target: { host: "127.0.0.1", port: workerPort } });
  const closeProxies = async () => {
    await Promise.all([outer.close(), inner.close()]);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const system = await buildAndStart({
      dir,
      ports: { bridge: bridgePort, worker: workerPort },
      workerEntry: join(ROOT, "worker/test/support/chaos-entry.ts"),
      workerFlags: ["unsafe_module"],
      workerVars: {
        // A client that is a program of its own knows the proxy's address alone.
        ALLOWED_HOSTS: `localhost:${outer.port}`,
        PARK_SECONDS: String(parkSeconds),
        PARK_PLAIN: "1",
        BRIDGE_URL: `http://127.0.0.1:${inner.port}`,
        CHAOS_SPEED: String(speed),
        // One user, from one address, does all of it, and plain clients come back as new ones.
        LIMIT_ATTACHES_PER_MINUTE: "1000000",
        LIMIT_CONNECTIONS_PER_IP: "1000000",
        LIMIT_SESSIONS: "1000000",
        LIMIT_CALLS_PER_MINUTE: "1000000",
      },
      signal,
    });
    const earlierFaults: string[] = [];
    const token = await system.mintToken({ expires: TOKEN_SECONDS, scope: "sandbox:connect sandbox:exec" });
    const act = async (path: string, sandbox: string, session: string): Promise<boolean> => {
      const url = `${system.origin}/chaos/${path}?${new URLSearchParams({ sandbox, session })}`;
      const response = await fetch(url, { method: "POST", headers: { Authorization: `Bearer ${token}` } });
      await response.body?.cancel();
      return response.status === 204;
    };
    return {
      attachUrl: new URL(`${system.origin}/attach`),
      token,
      proxyPort: outer.port,
      program: (work, tty) => programLine([join(BIN, "bun"), GENERATOR], work, tty),
      abort: (sandbox, session) => act("abort", sandbox, session),
      evict: parkSeconds === 0 ? undefined : (sandbox, session) => act("evict", sandbox, session),
      kill: (part) => {
        // A new start begins a new log.
        earlierFaults.push(...faultsIn((part === "bridge" ? system.bridge : system.worker).logFile));
        return part === "bridge" ? system.restartBridge() : system.restartWorker();
      },
      scratch: dir,
      failed: system.failed,
      faults: () => [...earlierFaults, ...faultsIn(system.worker.logFile), ...faultsIn(system.bridge.logFile)],
      close: async () => {
        await system.stop();
        await closeProxies();
      },
    };
  } catch (error) {
    await closeProxies();
    throw error;
  }
}

/** Uncaught exceptions, but for the aborts that were asked for. */
function faultsIn(path: string): string[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => /uncaught|unhandled|panic/i.test(line) && !line.includes("aborted by the chaos kit"));
}

/** @param url The server's origin, or its `/attach`. Its sandbox must have Node. */
export async function remoteGround(url: URL, token: string, hop: HopOptions): Promise<Ground> {
  const attachUrl = new URL(url);
  if (attachUrl.pathname === "/") attachUrl.pathname = "/attach";
  const isTls = attachUrl.protocol === "https:" || attachUrl.protocol === "wss:";
  const port = Number(attachUrl.port) || (isTls ? 443 : 80);
  const proxy = await ChaosProxy.listen({ ...hop, target: { host: attachUrl.hostname, port } });
  const source = await bundledGenerator();
  return {
    attachUrl,
    token,
    proxyPort: proxy.port,
    program: (work, tty) => programLine(["node", "-e", source], work, tty),
    close: () => proxy.close(),
  };
}

/** A terminal must be told to leave the bytes as they are. */
function programLine(command: readonly [string, ...string[]], work: Work, tty: boolean): ProgramLine {
  const [cmd, ...args] = [...command, JSON.stringify(work)];
  if (!tty) return { cmd, args };
  return { cmd: "sh", args: ["-c", 'stty raw -echo; exec "$0" "$@"', cmd, ...args] };
}

/** The generator as one text, to be sent along in the attach URL: it is some kilobytes. */
export async function bundledGenerator(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [GENERATOR],
    bundle: true,
    write: false,
    minify: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "silent",
  });
  return outputFiles[0]?.text.trim() ?? "";
}
