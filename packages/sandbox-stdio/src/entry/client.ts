// `sandbox-stdio/client`: a process in a sandbox from any runtime, as web streams over a WebSocket, or over HTTP.

export type {
  ConnectionState,
  ConnectOptions,
  Exit,
  ResumePoint,
  TokenSource,
  WebSocketConstructor,
  WebSocketLike,
} from "../connect/connect-options.ts";
export { type Connection, connect } from "../connect/connection.ts";
export { StdioError, type StdioErrorOptions } from "../connect/error.ts";
export type { CallOptions } from "../http/call.ts";
export type { OutputEvent } from "../http/events.ts";
export type {
  Command,
  CommandsAnswer,
  CreateRequest,
  Description,
  ExitInfo,
  GapInfo,
  KeyboardAnswer,
  KeyboardRequest,
  ListAnswer,
  ListQuery,
  ProcessFields,
  ReadAnswer,
  ReadQuery,
  ResizeRequest,
  RunAnswer,
  RunRequest,
  ScreenAnswer,
  ScreenQuery,
  SignalRequest,
  State,
  Until,
  WaitAnswer,
  WaitRequest,
  WriteAnswer,
  WriteRequest,
} from "../http/program-types.ts";
export { type Sandbox, type SandboxOptions, type SandboxSession, sandbox } from "../http/sandbox.ts";
export type { SignalName } from "../wire/constants.ts";
export type { ClientMessage, Hello, Participant, ServerMessage } from "../wire/control.ts";
export type { Delivery, Mode, Role } from "../wire/terms.ts";
