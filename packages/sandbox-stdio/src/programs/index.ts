// The parts of a session for programs without a WebSocket (D, U, W, T), without sockets and clocks.

export { marksWithin, offsetSince, readTimeIndex, TimeIndex } from "../output/time-index.ts";
export { decodeUtf8, isLossy } from "../text/utf8-text.ts";
export type { Attention } from "../wire/attention.ts";
export { type InputModes, MAX_WRITE_BYTES } from "../wire/write-messages.ts";
export { type Chunk, type ChunkList, ChunkTable, readChunkList } from "./chunk-table.ts";
export { encodeWrite } from "./encode-write.ts";
export { headTail } from "./head-tail.ts";
export { inputModesOf, USUAL_MODES } from "./input-modes.ts";
export { type OutputFormat, outputText, readOutput } from "./output-range.ts";
export { OP, PatternMachine, type PatternProgram } from "./pattern.ts";
export { plainTextOf } from "./plain-text.ts";
export {
  OutputSearch,
  SEARCHED_UNITS,
  type SearchMatch,
  type SearchTarget,
} from "./search.ts";
export {
  MAX_ORDER_BYTES,
  MAX_WORD_BYTES,
  MAX_WORDS,
  orderBody,
  parseOrder,
  parseStarted,
  processIdentity,
  type Started,
  type StartOrder,
} from "./start-order.ts";
export { type KeptWait, lastOutput, outputBetween, Wait, type WaitUntil } from "./wait.ts";
export { WorkShare } from "./work-share.ts";
export { receiptOf, WriteIds } from "./writers.ts";
