// Part of `npm run check`: fails if a source file imports against the rules of docs/rooms.json, or if files, folders and
// commits do not keep to the rules of CONTRIBUTING.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { directionFaults, readDirections } from "./tree/import-direction.ts";
import { crowdedFolders, entangledFolders, FIRST_CHECKED_COMMIT, longSubjects, sliceCopies } from "./tree/layout.ts";
import { sourceFiles, workspacePackages } from "./tree/source-files.ts";
import { subjectsSince, trackedFiles } from "./tree/tree.ts";

const directions = readDirections(readFileSync(join(ROOT, "docs/rooms.json"), "utf8"));
const files = sourceFiles();
const faults = [
  ...directionFaults(files, directions, workspacePackages()),
  ...entangledFolders(files),
  ...crowdedFolders(trackedFiles()),
  ...sliceCopies(files.filter(({ path }) => !path.startsWith("scripts/"))),
  ...longSubjects(subjectsSince(FIRST_CHECKED_COMMIT)),
];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
