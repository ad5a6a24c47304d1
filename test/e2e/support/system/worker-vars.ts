// The Worker's variables in every system that the end-to-end tests run against, with containers or without.

export const WORKER_VARS = {
  DEFAULT_SCOPES: "sandbox:connect sandbox:exec",
  // Several people in one tenant: who may resume whose place is a question only then.
  TENANT_CLAIM: "org_id",
  COMMAND_BLOCK: "blocked-by-test",
  // Some tests fill a session with one user's clients; quotas.test.ts is about the limits themselves.
  LIMIT_ATTACHES_PER_MINUTE: "1000",
  LIMIT_SESSIONS: "10000",
  // Those whose start says so are recorded.
  RECORDING: "ask",
  RECORDING_REDACT: "sk-[a-z0-9;]{6,}",
  // A webhook's receiver is on this machine.
  WEBHOOK_LOOPBACK: "1",
  METRICS_TOKEN: "the metrics token of tests",
  METRICS_SECONDS: "3",
} as const;
