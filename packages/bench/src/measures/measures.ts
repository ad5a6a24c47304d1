// The measurements in the order of the table, and who is left out of which.

import type { Subject, SubjectName } from "../subjects/subjects.ts";
import * as amounts from "./amounts.ts";
import { echoBesideWaits, runTrue } from "./calls.ts";
import { carried } from "./carrying.ts";
import { codexTrue } from "./codex.ts";
import { shortCommand } from "./command-line.ts";
import { growth } from "./growth.ts";
import { onIpLinks } from "./ip-links.ts";
import * as latencies from "./latencies.ts";
import type { Result } from "./measuring.ts";
import { recordingOn } from "./recording.ts";

/** @param share How much of the full measurement is made, up to 1: of its bytes, keys or connections. */
export type Measure = (subject: Subject, share: number) => Promise<Result>;

/** Other programs, measured where this machine has or can make them; and `serve`, which is held against ttyd. */
export const PEERS: readonly SubjectName[] = ["serve", "ttyd", "node-pty", "ssh", "mosh"];
export const SUBJECTS: readonly SubjectName[] = ["bridge", "bridge floor", "path", "path floor", ...PEERS];

export const MEASURES: readonly Measure[] = [
  amounts.start,
  latencies.connectToPrompt,
  latencies.connectAtOnce,
  runTrue,
  codexTrue,
  echoBesideWaits,
  latencies.echoIdle,
  latencies.echoUnderFlood,
  latencies.echoBesideStoppedViewer,
  amounts.outputRaw,
  amounts.outputCooked,
  amounts.inputRaw,
  latencies.interrupt,
  latencies.interruptOnSlowLinks,
  onIpLinks,
  amounts.stalledReader,
  amounts.idleSessions,
  amounts.idleCpu,
  growth,
  amounts.fanOut,
  shortCommand,
  carried,
  recordingOn,
];

/** Measurements of a quick run. The whole table alone has those that take long or need long runs to mean anything. */
export const QUICK_MEASURES: readonly Measure[] = [
  latencies.connectToPrompt,
  latencies.echoIdle,
  latencies.echoUnderFlood,
  amounts.outputRaw,
  amounts.outputCooked,
  amounts.inputRaw,
  latencies.interrupt,
];

const WITHOUT = new Map<Measure, readonly SubjectName[]>([
  // These rows have one viewer each, and the bridge serves one session object.
  [amounts.fanOut, [...PEERS, "bridge", "bridge floor"]],
  [latencies.echoBesideStoppedViewer, [...PEERS, "bridge", "bridge floor", "path floor"]], // It is compared with itself.
  [shortCommand, ["bridge", "bridge floor", "path floor", "ttyd", "node-pty"]], // They have no command line.
  [carried, ["bridge", "bridge floor", "ttyd", "node-pty"]],
  [runTrue, [...PEERS, "bridge", "bridge floor"]], // Only the Worker answers calls.
  [codexTrue, [...PEERS, "bridge", "bridge floor", "path floor"]],
  [recordingOn, [...PEERS, "bridge", "bridge floor", "path floor"]],
  [echoBesideWaits, [...PEERS, "bridge", "bridge floor", "path floor"]],
  [latencies.connectAtOnce, ["ssh"]], // By default it refuses so many.
  [amounts.start, PEERS],
  [growth, PEERS],
  [amounts.idleCpu, ["ssh"]], // Its sessions are processes, half a minute to open, and do nothing.
  [onIpLinks, ["bridge floor", "path floor"]], // They are no measure there: without flow control.
]);

/** What a ttyd is used for as well. */
const SERVED = [
  ...QUICK_MEASURES,
  latencies.connectAtOnce,
  amounts.stalledReader,
  amounts.idleSessions,
  amounts.idleCpu,
];

export function isMeasured(measure: Measure, name: SubjectName): boolean {
  if (name === "mosh") return measure === onIpLinks; // For nothing else anybody uses it.
  if (name === "serve") return SERVED.includes(measure);
  return WITHOUT.get(measure)?.includes(name) !== true;
}
