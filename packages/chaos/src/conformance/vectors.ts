// The published vectors, read.

import { readFileSync } from "node:fs";

export function vectorsOf(name: "frames" | "messages" | "resume"): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`../../../sandbox-stdio/vectors/${name}.json`, import.meta.url), "utf8"));
}
