// The gateway's decisions, for the shell that carries them out.

export { JsonLines, MAX_MESSAGE_BYTES } from "./json-lines.ts";
export {
  isInitialize,
  type Message,
  needsNewerServer,
  PRIMED_SINCE,
  readBody,
  type Sent,
  versionOf,
} from "./messages.ts";
export { type EventPlace, placeOf } from "./place.ts";
export {
  type Journal,
  type JournalEvent,
  type JournalStream,
  type KeptEvent,
  LISTENING,
  MAX_UNANSWERED_BYTES,
  type Pending,
  Streams,
} from "./streams.ts";
