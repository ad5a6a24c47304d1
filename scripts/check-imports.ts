// Part of `npm run check`: fails if a source file imports against the rules of docs/rooms.json.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { directionFaults, readDirections } from "./tree/import-direction.ts";
import { sourceFiles, workspacePackages } from "./tree/source-files.ts";

const directions = readDirections(readFileSync(join(ROOT, "docs/rooms.json"), "utf8"));
const faults = directionFaults(sourceFiles(), directions, workspacePackages());
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
