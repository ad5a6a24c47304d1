// Part of `npm run check`: fails if a source file imports against the direction that docs/architecture.md says.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { directionFaults, readDirections } from "../packages/local/src/import-direction.ts";
import { ROOT } from "../packages/local/src/paths.ts";
import { sourceFiles, workspacePackages } from "../packages/local/src/source-files.ts";

const directions = readDirections(readFileSync(join(ROOT, "docs/architecture.md"), "utf8"));
const faults = directionFaults(sourceFiles(), directions, workspacePackages());
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
