// Runs the tests of worker/test in workerd itself, with the bindings of the Worker's own configuration.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const own = file("../wrangler.toml");
const standIn = file("./test/auth/wrangler.toml");
const isWorkerThere = existsSync(own) && existsSync(file("./src/index.ts"));

/** They change what is fixed once for a Worker: its variables as its own objects see them, or by which way it authenticates. */
const CHANGE_THE_WORKER = [
  "objects/own-bell",
  "objects/parking",
  "objects/recording",
  "objects/recording-bucket",
  "preview/preview",
  "objects/unanswered-calls",
  "objects/waits",
];
/** They stop the timers of the whole isolate, and would let those of an earlier file's objects fire in their own context. */
const STOP_TIMERS = ["audit/gathering", "audit/refusals", "objects/session-object"];
/** They do so as well, but leave no objects to each other. */
const STOP_TIMERS_ALONE = [
  ...["bridge/given-up", "bridge/inner-hop", "sandbox/hang-watch", "programs/no-screen-yet"],
  ...["terminal/terminal", "terminal/ttyd-relay"],
];
const filesOf = (names: readonly string[]) => names.map((name) => `test/${name}.test.ts`);
const [APART, TIMERS] = [filesOf([...CHANGE_THE_WORKER, ...STOP_TIMERS]), filesOf(STOP_TIMERS_ALONE)];

const project = (name: string, isolate: boolean, include: string[], exclude: string[]) => ({
  root: file("."),
  plugins: [
    cloudflareTest({
      ...(isWorkerThere ? { main: file("./test/support/entry.ts") } : {}),
      wrangler: { configPath: isWorkerThere ? own : standIn },
      ...(isWorkerThere
        ? { miniflare: { durableObjects: { NATIVE: { className: "NativeSandbox", useSQLite: true } } } }
        : {}),
    }),
  ],
  test: {
    ...{ name, isolate, include, exclude },
    globalSetup: ["./test/support/global-setup.ts"],
    // What one test has put in the place of something, the next one doesn't meet: nor the next file.
    restoreMocks: true,
    // For what hangs. A busy machine is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});

export default defineConfig({
  root: file("."),
  test: {
    maxWorkers: "100%",
    // The SDK handles no rejection of the pipe that it passes an answer on by, and a caller that goes away ends that pipe.
    onUnhandledError: ({ message }) => !message.startsWith("ReadableStream sent over RPC was canceled"),
    projects: [
      // A workerd with the Worker's modules for each file would take four fifths of the whole time.
      project("worker", false, ["test/**/*.test.ts"], [...APART, ...TIMERS]),
      project("worker-timers", false, TIMERS, []),
      project("worker-apart", true, APART, []),
    ],
  },
});
