// Recordings of sessions (section 14 of the contract), apart from storage, sockets and clocks.

export type { RecordedEvent, RecordedStart } from "./events.ts";
export {
  decodeSegment,
  encodeSegment,
  type KeyFrame,
  MAX_SEGMENT_BYTES,
  MAX_STORED_SEGMENT,
  type RecordedExit,
  type Segment,
} from "./segment.ts";
