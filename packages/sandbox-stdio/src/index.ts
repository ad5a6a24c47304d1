// What the package offers. Everything is listed, so that a reader sees the whole surface here.

export { type Answerer, Answerers } from "./answerers.ts";
export { decodeArchive, encodeArchive } from "./archive.ts";
export {
  type AttachQuery,
  type AttachQueryResult,
  type Attempt,
  attachParams,
  isName,
  type ProcessWish,
  parseAttachQuery,
  seenName,
} from "./attach.ts";
export { Budget, type BudgetLimits, DEFAULT_BUDGET } from "./budget.ts";
export { StdioClient } from "./client.ts";
export { ClientRecord, knownOf, type Peer, type Presence, type Reach, type TerminalSize } from "./client-record.ts";
export type {
  ClientEnd,
  ClientEvents,
  ClientOptions,
  ClientPorts,
  ClientSocket,
  ClientSocketEvents,
  ClientState,
} from "./client-types.ts";
export { type ConnectionHooks, ServerConnection, type ServerSocket } from "./connection.ts";
export * from "./constants.ts";
export {
  type Bye,
  type ClientMessage,
  type ControlFault,
  type ControlResult,
  type ExitStatus,
  type Hello,
  isSize,
  type Participant,
  type ParticipantKind,
  PING_TEXT,
  PONG_TEXT,
  parseClientMessage,
  parseServerMessage,
  type Retry,
  type ServerMessage,
} from "./control.ts";
export { COUNTS, type CountUnit, mostOf, type ScreenSize, withinScreen } from "./counts.ts";
export { Departures, type DepartureVerdict, type SocketQueue } from "./departures.ts";
export {
  type AttachWish,
  type Begin,
  type ClientCommand,
  chooseRoute,
  type DecodedCommand,
  type Dialect,
  type DialectRoute,
  type Encoded,
  type Frame,
  type RouteRequest,
  type SessionEvent,
} from "./dialect.ts";
export { ADDON, ADDON_ROUTES } from "./dialects/addon.ts";
export { JSON_GATEWAY, JSON_ROUTES } from "./dialects/json.ts";
export { PTY, PTY_ROUTES, PTY_SHARED } from "./dialects/pty.ts";
export { PLAIN, PLAIN_TEXT, STDIO } from "./dialects/stdio.ts";
export { DIALECT_ROUTES, dialectNamed } from "./dialects/table.ts";
export { TTYD } from "./dialects/ttyd.ts";
export { Floor, type FloorFault, type FloorResult, type Mode, type Role } from "./floor.ts";
export {
  decodeFrame,
  decodeStdin,
  encodeFrame,
  encodeStdin,
  type OutputFrame,
  STDIN_HEADER_BYTES,
  type StdinFrame,
} from "./frames.ts";
export type { InnerCommand, InnerMessage, KnownClient, Question } from "./inner.ts";
export {
  InnerClient,
  type InnerClientEvents,
  type InnerHello,
  type InnerSocket,
  type WriteOutcome,
  type WriteWish,
} from "./inner-client.ts";
export { InnerServer, type ProcessFacts, type ProgramPorts } from "./inner-server.ts";
export { type InputEntry, InputQueue } from "./input.ts";
export { type InputFate, InputPositions, type InputRecorder } from "./input-recorder.ts";
export { type BridgeListing, MAX_LISTING_BYTES, parseListings } from "./listing.ts";
export { type LogItem, OutputLog, type OutputStream, type SizeMark } from "./log.ts";
export { areAlike, distinctName } from "./names.ts";
export { Outbox } from "./outbox.ts";
export { type Delivery, isWindowSpent, type Paced, pacingClient } from "./pacing.ts";
export {
  colourIndex,
  followPeople,
  type Keyboard,
  keyboardOf,
  mayType,
  otherDrivers,
  type People,
  participantOf,
  peopleOf,
} from "./people.ts";
export { announcementOf, keyboardWords, nameOf } from "./people-words.ts";
export { QueryFilter, type Sequence } from "./query-filter.ts";
export { type Flow, FrameSource, LinkFlow, type OutputPeer, OutputReader, RatedFlow } from "./reader.ts";
export { release } from "./release.ts";
export { backoffMs, decideRetry, type RetryDecision } from "./retry.ts";
export { type ScreenFrame, type ScreenSource, SNAPSHOT_PATIENCE_MS } from "./screens.ts";
export { describePace, tracedUpstream } from "./session/traced-upstream.ts";
export { Session } from "./session.ts";
export type {
  AttachRequest,
  AttachResult,
  Party,
  ProgramRequest,
  SessionFacts,
  SessionOptions,
  Upstream,
} from "./session-types.ts";
export { parseInSlices, Slices, worstNsPerByte } from "./slices.ts";
export type { Snapshot } from "./snapshot.ts";
export { LOG_LEVELS, type Log, type LogLevel, logAt, readLogLevel } from "./text/log-level.ts";
export { clipUtf8, utf8Length } from "./utf8.ts";
export { splitUtf8 } from "./utf8-text.ts";
export { Window } from "./window.ts";
export {
  describeFrame,
  describeMessage,
  type Speaker,
  type Trace,
  tracedReceiver,
  tracedSocket,
  traceOf,
} from "./wire/trace.ts";
export { mendEraseToCursor, parseOnAfterFaults, type XtermTerminal } from "./xterm-fault.ts";
export { limitWork } from "./xterm-limits.ts";
