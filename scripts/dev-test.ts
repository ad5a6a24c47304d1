// `npm run dev:test [-- WORD…]`: runs the tests of the protocol and the session core, and again whenever a file that they use changes.
// Needs no build, no Chromium and no running system. Takes seconds: files that search at random for long run only by their name.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { BIN, ROOT } from "../packages/local/src/base/paths.ts";

/** Each takes a second or more, all of them three quarters of the whole time. */
const LONG = [
  ...["budget", "feed", "fuzz", "hostile-client", "plain-text", "query-filter", "simulation", "viewer-link"],
  "xterm-limits",
];

const words = process.argv.slice(2);
const isForAll = words.every((word) => word.startsWith("-"));
const excluded = isForAll ? LONG.flatMap((name) => ["--exclude", `**/${name}.test.ts`]) : [];
// The files share threads and modules: loading the core anew for each of 60 files takes longer than their tests.
const args = ["watch", "--project", "sandbox-stdio", "--pool=threads", "--no-isolate", ...excluded, ...words];
const { status } = spawnSync(process.execPath, [join(BIN, "vitest"), ...args], { cwd: ROOT, stdio: "inherit" });
process.exitCode = status ?? 1;
