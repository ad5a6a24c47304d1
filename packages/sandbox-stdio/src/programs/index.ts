// What programs without a WebSocket need of a session (D, U, W, T), apart from sockets and clocks.

export { MAX_TIME_MARKS, offsetSince, readTimeIndex, TimeIndex, type TimeMark } from "../output/time-index.ts";
export { decodeUtf8 } from "../text/utf8-text.ts";
export type { Attention } from "./attention.ts";
export { type EncodedWrite, encodeWrite, needsModes, type WriteInput } from "./encode-write.ts";
export { type HeadTail, headTail } from "./head-tail.ts";
export { inputModesOf, USUAL_MODES } from "./input-modes.ts";
export { encodeEnter, encodeKeys, encodePaste, type InputModes, type KeysResult } from "./keys.ts";
export {
  type Gap,
  MAX_READ_BYTES,
  MIN_READ_BYTES,
  type OutputAnswer,
  type OutputFormat,
  type OutputQuery,
  type OutputResult,
  outputText,
  readOutput,
  type StreamChoice,
  USUAL_READ_BYTES,
} from "./output-range.ts";
export { EMPTY, OP, PatternMachine, type PatternProgram, type PatternState, type Slots } from "./pattern.ts";
export { PlainMap, type PlainRun } from "./plain-runs.ts";
export { MAX_PLAIN_LINE, type PlainChange, PlainText, plainTextOf } from "./plain-text.ts";
export {
  OutputSearch,
  SEARCHED_UNITS,
  type SearchMatch,
  type SearchProgress,
  type SearchTarget,
} from "./search.ts";
export {
  MAX_ORDER_BYTES,
  MAX_WORD_BYTES,
  orderBody,
  parseOrder,
  parseStarted,
  processIdentity,
  type Started,
  type StartOrder,
} from "./start-order.ts";
export {
  type CommandEnd,
  lastOutput,
  WAIT_WORK,
  Wait,
  type WaitOutcome,
  type WaitResult,
  type WaitSetup,
  type WaitUntil,
} from "./wait.ts";
export {
  continuesAt,
  MAX_WRITE_BYTES,
  MAX_WRITERS,
  planWrite,
  receiptOf,
  type WritePlan,
  type WriteRequest,
  type WriterCount,
  type WriterName,
  type WriterResult,
  Writers,
  type WriteState,
} from "./writers.ts";
