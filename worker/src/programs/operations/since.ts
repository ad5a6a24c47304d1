// The offset where output of a time or later begins (D2a): by the bridge's index of times, live or as it was kept at the end.

import type { InnerClient } from "sandbox-stdio/core";
import { offsetSince, readTimeIndex } from "sandbox-stdio/programs";
import type { SessionRecord } from "../../session/session-store.ts";
import { askProcess, type Kept, keptState } from "./ask-process.ts";
import type { Reached } from "./reached.ts";

/** The parts of the session that the search needs beside its log. */
export interface SincePorts {
  readonly hop: InnerClient;
  kept(): Kept;
  readonly record: Pick<SessionRecord, "createdAt" | "exitedAtMs"> | undefined;
}

/** Never behind the first such byte. Of a process that has no index (it ended within seconds) it is all, or nothing. */
export async function offsetAt(reached: Reached, sinceMs: number, ports: SincePorts): Promise<number> {
  const end = reached.log.endOffset;
  if (ports.record?.exitedAtMs !== undefined && sinceMs > ports.record.exitedAtMs) return end;
  const text = reached.state === "running" ? await askProcess(ports.hop, { about: "commands" }) : ports.kept().commands;
  const index = readTimeIndex(keptState(text)?.times);
  return index === undefined ? 0 : Math.min(offsetSince(index, sinceMs, end), end);
}
