// Recordings of sessions (section 14 of the contract), apart from storage, sockets and clocks.

export { NEW_LINE_MODE } from "./alis.ts";
export { type CastEvent, CastFault, type CastInfo, CastReader } from "./cast-reader.ts";
export { CAST_COMMENT, CAST_TYPE, type CastHeader, CastWriter, type CastWriterOptions } from "./cast-writer.ts";
export { EventReader, type RecordedEvent } from "./event-reader.ts";
export { type Hit, LineSearch } from "./line-search.ts";
export { BATCH_MS, type Batch, Recorder } from "./recorder.ts";
export { Redactor } from "./redaction.ts";
export {
  decodeSegment,
  encodeSegment,
  type KeyFrame,
  MAX_SEGMENT_BYTES,
  type RecordedExit,
  type Segment,
} from "./segment.ts";
export { gapsWithin, offsetAt, type SegmentFacts, type Start, segmentAt, startFor, timeAt } from "./timeline.ts";
