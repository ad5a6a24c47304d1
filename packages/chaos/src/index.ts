// The package's exports to others: everything is listed.

export { Random } from "../../local/src/base/random.ts";
export { countDamage, type Damage, type DamageKind, describeDamage, StreamChecker } from "./checker.ts";
export {
  type Break,
  type BreakKind,
  type ConnectionPlan,
  DEFAULT_PROFILE,
  type FaultProfile,
  type LaneShape,
  OPEN_LANE,
  OPEN_PLAN,
  planConnection,
} from "./faults.ts";
export { type Ground, localGround, remoteGround } from "./ground.ts";
export { fill, patternBytes, type StreamKey } from "./pattern.ts";
export { ChaosProxy, type ProxyOptions } from "./proxy.ts";
export { Run, type RunOptions } from "./run.ts";
export { chunksOf, EXIT, type InputReport, keyOf, lengthsOf, type Work } from "./work.ts";
