// The gateway's decisions, for the shell that carries them out.

export { JsonLines, type Line, MAX_MESSAGE_BYTES } from "./json-lines.ts";
export type { LongLineState } from "./long-line.ts";
export {
  batchFault,
  isInitialize,
  needsNewerServer,
  PRIMED_SINCE,
  readBody,
  type Sent,
  versionOf,
} from "./messages.ts";
export {
  type EventPlace,
  type Journal,
  type JournalEvent,
  type JournalStream,
  type KeptEvent,
  LISTENING,
  MAX_UNANSWERED_BYTES,
  placeOf,
  refusalOf,
  Streams,
  TOO_LONG,
} from "./streams.ts";
