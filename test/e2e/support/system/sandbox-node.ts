// How a sandbox runs a script of a test's: a container has neither this machine's Node nor its files, and Bun from its image.
import { readFileSync } from "node:fs";
import { system } from "./system.ts";

const IN_CONTAINERS = system.sandboxesDir === "";

/** Takes `-e SCRIPT`, as Node does. */
export const NODE = IN_CONTAINERS ? "bun" : process.execPath;

/** Words after {@link NODE} that run a file of this machine's which imports nothing beside it. */
export const runsFile = (path: string): string[] => (IN_CONTAINERS ? ["-e", readFileSync(path, "utf8")] : [path]);
