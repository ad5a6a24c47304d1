// `npm run dev:test`: runs the tests of the protocol and the session core, and again whenever a file that they use changes.
// Needs no build, no Chromium and no running system.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { BIN, ROOT } from "../packages/local/src/paths.ts";

const args = [join(BIN, "vitest"), "watch", "--project", "sandbox-stdio", ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
process.exitCode = status ?? 1;
