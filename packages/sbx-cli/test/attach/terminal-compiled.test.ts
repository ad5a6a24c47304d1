// The tests of a terminal once more, with the compiled program.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { buildBinary } from "../../../local/src/build/binaries.ts";

const directory = mkdtempSync(join(tmpdir(), "sbx-compiled-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

// Read by the fixture of those tests, when it is loaded.
process.env.SBX_CLI_PROGRAM = await buildBinary("linux-x64", directory);
await import("./terminal.test.ts");
