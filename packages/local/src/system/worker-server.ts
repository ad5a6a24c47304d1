// Runs the Worker in one workerd, as a process of its own: node worker-server.ts PORT BUNDLE VARS_FILE STATE_DIR [FLAG...]. The
// flags are compatibility flags beside those of wrangler.toml.
// Not `wrangler dev`: its proxy believes a client's MF-Original-URL, and it opens an inspector and a debug port.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { ROOT } from "../base/paths.ts";
import { optionsBeside, pageBeside } from "./worker-bundle.ts";

interface Miniflare {
  readonly ready: Promise<URL>;
  dispose(): Promise<void>;
}

interface MiniflareModule {
  readonly Miniflare: new (options: unknown) => Miniflare;
  readonly convertV4MiniflareOptions: (options: unknown) => unknown;
  readonly Log: new (level: number) => unknown;
  readonly LogLevel: { readonly WARN: number };
}

/** What worker-options.ts writes, as far as it is read here. */
interface WorkerOptions {
  readonly bindings: Readonly<Record<string, unknown>>;
  readonly assets: object;
  readonly compatibilityFlags: readonly string[];
}

/** wrangler's own, so that the options that wrangler makes fit it. */
function miniflare(): MiniflareModule {
  const ours = createRequire(import.meta.url);
  return createRequire(ours.resolve("wrangler"))("miniflare") as MiniflareModule;
}

/** The runtime's words about a CONNECT, which it has refused: they are no fault of the Worker's, and anybody can send one. */
const ABOUT_CONNECT = /Received a connect event but we lack a handler|Handler does not export a connect\(\) function/;

/** One line for each that the Worker logs, as it is; with the level before it where that is a warning or an error. */
function log({ level, message }: { level: string; message: string }): void {
  if (ABOUT_CONNECT.test(message)) return;
  const mark = level === "error" ? "[ERROR] " : level === "warn" ? "[WARNING] " : "";
  process.stdout.write(`${mark}${message}\n`);
}

const [port = "", bundle = "", varsFile = "", stateDir = "", ...flags] = process.argv.slice(2);
const { Miniflare, convertV4MiniflareOptions, Log, LogLevel } = miniflare();
const options = JSON.parse(readFileSync(optionsBeside(bundle), "utf8")) as WorkerOptions;
const server = new Miniflare(
  convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: Number(port),
    log: new Log(LogLevel.WARN),
    logRequests: false,
    handleStructuredLogs: log,
    resourcePersistencePath: join(stateDir, "v3"),
    // These would tell any page of this machine of state, triggers, and requests with their headers.
    unsafeLocalExplorer: false,
    unsafeTriggerHandlers: false,
    unsafeObservability: false,
    telemetry: { enabled: false },
    cf: false,
    workers: [
      {
        ...options,
        bindings: { ...options.bindings, ...parseEnv(readFileSync(varsFile, "utf8")) },
        assets: { ...options.assets, directory: pageBeside(bundle) },
        compatibilityFlags: [...options.compatibilityFlags, ...flags],
        modules: true,
        scriptPath: bundle,
        rootPath: ROOT,
        modulesRoot: dirname(bundle),
      },
    ],
  }),
);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void server.dispose().finally(() => process.exit(0)));
}
await server.ready;
