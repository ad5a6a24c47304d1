// The dialect of codex' exec-server (section 12), apart from sockets and processes.

export { applyEnvPolicy, type EnvPolicy } from "./env-policy.ts";
export {
  CODEX_PULL_HEADER,
  CodexError,
  type CodexRequest,
  ERROR,
  MAX_MESSAGE_BYTES,
  parseMessage,
  pathOf,
  type RequestId,
  uriOf,
} from "./messages.ts";
export { StdioRelay } from "./stdio-relay.ts";
