// The dialect of codex' exec-server (section 12), apart from sockets and processes.

export { applyEnvPolicy } from "./env-policy.ts";
export { type FileCall, fileCallOf, requireDone } from "./files.ts";
export {
  CODEX_PULL_HEADER,
  CodexError,
  type CodexParams,
  type EnvPolicy,
  ERROR,
  MAX_MESSAGE_BYTES,
  parseMessage,
  pathOf,
  type RequestId,
  readParams,
  requireBase64,
  uriOf,
} from "./messages.ts";
export { StdioRelay } from "./stdio-relay.ts";
