// All exports of the package, listed one by one, so that the whole surface is visible here.

export { StdioClient } from "./client/client.ts";
export type {
  ClientEnd,
  ClientEvents,
  ClientOptions,
  ClientSocket,
  ClientSocketEvents,
  ClientState,
  KeptInput,
} from "./client/client-types.ts";
export {
  colourIndex,
  followParticipants,
  isYourOther,
  keyboardStateOf,
  mayGiveTo,
  mayType,
  otherDrivers,
  type Participants,
  participantOf,
  participantsOf,
  personKey,
  personsOf,
  soleTypistOf,
  yieldsKeyboard,
  yourAsk,
} from "./client/participants.ts";
export {
  announcementOf,
  keyboardWords,
  nameOf,
  nameOrYours,
  PARTICIPANT_WORDS,
  stoppingWords,
} from "./client/participants-text.ts";
export { backoffMs } from "./client/retry.ts";
export { TypedInput } from "./client/typed-input.ts";
export { SANDBOX_PTY } from "./dialects/sandbox-pty.ts";
export { PLAIN, PLAIN_TEXT, STDIO } from "./dialects/stdio.ts";
export { DIALECT_ROUTES, dialectNamed } from "./dialects/table.ts";
export { TTYD } from "./dialects/ttyd.ts";
export type { ProcessFacts } from "./hop/greeting.ts";
export type { InnerHello, WriteOutcome } from "./hop/hop-state.ts";
export { InnerClient } from "./hop/inner-client.ts";
export { InnerServer } from "./hop/inner-server.ts";
export type { ProgramHost } from "./hop/program-calls.ts";
export { type Progress, WakeupSchedule } from "./hop/wakeup.ts";
export type { InputEntry } from "./input/input-queue.ts";
export { release } from "./input/release.ts";
export { decodeArchive, encodeArchive } from "./output/log-archive.ts";
export { OutputLog } from "./output/output-log.ts";
export type { Snapshot } from "./output/snapshot.ts";
export {
  cookiesToBrowser,
  type HeaderList,
  headersToBrowser,
  headersToServer,
  PREVIEW_LEAD,
  PREVIEW_PATH,
  PREVIEW_PREFIX,
  PREVIEW_STATUS,
  type PreviewEnds,
  serverOrigin,
} from "./preview/headers.ts";
export { Deadline, earliest, type Timed } from "./server/deadline.ts";
export { Departures, type SocketQueue } from "./server/departures.ts";
export {
  type AttachWish,
  type Begin,
  chooseRoute,
  type Dialect,
  type DialectRoute,
  type Frame,
} from "./server/dialect.ts";
export type { ServerSocket } from "./server/outgoing.ts";
export { type ConnectionHooks, type ParkedConnection, ServerConnection } from "./server/server-connection.ts";
export { isSecretFor, openAsk } from "./session/asks.ts";
export { type BudgetLimits, DEFAULT_BUDGET } from "./session/budget.ts";
export { ClientRecord, knownOf, type Party, type TerminalSize } from "./session/client-record.ts";
export { type InputFate, InputPositions, type InputRecorder } from "./session/input-recorder.ts";
export {
  type ParkedClient,
  type ParkedSession,
  parkedClientOf,
  parkedSessionOf,
  QuietWatch,
  unpark,
  unparkClient,
  unparkedOptions,
  whyAwake,
} from "./session/parking.ts";
export type { Peer } from "./session/presence.ts";
export { ProcessSession } from "./session/process-session.ts";
export { copyBytes, RelaySession } from "./session/relay-session.ts";
export type {
  Ask,
  AskEvent,
  AttachRequest,
  SessionFacts,
  SessionOptions,
  Upstream,
} from "./session/session-types.ts";
export { describePace, tracedUpstream } from "./session/traced-upstream.ts";
export { KEPT_MODE, leadsTo, partsOf, TarFilter, type WhyLeftOut } from "./tar/tar-filter.ts";
export { TarFault, type TarMember, TarReader, type TarSink } from "./tar/tar-reader.ts";
export { type TarEntry, tarEnd, tarHeader, tarPadding } from "./tar/tar-writer.ts";
export type { Answerer } from "./terminal/answerer-history.ts";
export { type ScreenSize, withinScreen } from "./terminal/counts.ts";
export { EchoPrediction, type PredictionMode } from "./terminal/echo-prediction.ts";
export { FileTransfers } from "./terminal/file-transfers.ts";
export { KeyboardStack } from "./terminal/keyboard-stacks.ts";
export { type ProgramMode, TerminalModes } from "./terminal/modes.ts";
export { NumberedRows } from "./terminal/numbered-rows.ts";
export { QueryFilter, type Sequence } from "./terminal/query-filter.ts";
export { lastLineEnds, lengthWithout, OTHER_CONTROLS, scrolledOff, scrollsWhole } from "./terminal/scrolled-off.ts";
export { parseInSlices, Slices, worstNsPerByte } from "./terminal/slices.ts";
export { mendFaults, parseOnAfterFaults, resizeWithoutParsing, XTERM_OPTIONS } from "./terminal/xterm-fault.ts";
export { limitWork } from "./terminal/xterm-limits.ts";
export { followXterm, LeftModes, REPORTING_CSI } from "./terminal/xterm-modes.ts";
export {
  hasPaths,
  type ScreenFacts,
  type StyleRun,
  screenFacts,
  textsOf,
  visibleRuns,
  type XtermBuffer,
  type XtermCore,
  type XtermLine,
  xtermCoreOf,
} from "./terminal/xterm-screen.ts";
export { latin1 } from "./text/latin1.ts";
export { adjustableLog, LOG_LEVELS, type Log, type LogLevel, readLogLevel } from "./text/log-level.ts";
export { quote } from "./text/shell-word.ts";
export { clipUtf8, cloneBytes, joined, splitUtf8, utf8Length } from "./text/utf8-text.ts";
export {
  type AttachOptions,
  CLIENT_PARAMS,
  fromBody,
  PROCESS_PARAMS,
  rowsOf,
  SIZE_PARAMS,
  toBody,
} from "./wire/attach-params.ts";
export {
  type AttachQuery,
  attachParams,
  commandWords,
  isName,
  type ProcessWish,
  parseAttachQuery,
  placeOf,
  seenName,
  sizeOf,
} from "./wire/attach-query.ts";
export * from "./wire/constants.ts";
export {
  type Asked,
  type ClientMessage,
  type ExitStatus,
  type Hello,
  type Participant,
  type ParticipantKind,
  PING_TEXT,
  PONG_TEXT,
  type Recording,
  type Retry,
  type ServerMessage,
} from "./wire/control.ts";
export { defined } from "./wire/fields.ts";
export {
  ARCHIVE_PATH,
  FILE_HEAD_BYTES,
  FILES_PATH,
  type FileAnswer,
  type FileKind,
  type FileOrder,
  type FileSuccess,
  fileMessageLength,
  MAX_FILE_BYTES,
  packFileMessage,
  unpackFileMessage,
} from "./wire/file-messages.ts";
export type { OutputStream } from "./wire/frames.ts";
export { encodeStdin } from "./wire/frames.ts";
export { type KnownClient, MAX_PARK_SECONDS, type Question } from "./wire/inner-messages.ts";
export { MAX_LISTING_BYTES, parseListings } from "./wire/listing.ts";
export { isForPane, type PaneOrder, type PanesMessage } from "./wire/pane-messages.ts";
export { isRecord } from "./wire/schema.ts";
export type { Delivery, Mode, Role } from "./wire/terms.ts";
export { describeFrame, type Trace, tracedReceiver, tracedSocket, traceOf } from "./wire/trace.ts";
export type { WriteOnce } from "./wire/write-messages.ts";
