// Which end-to-end tests don't run over containers, and why. All others do, by each way to a container.

type Reason = string;

const OWN_SYSTEM: Reason = "starts a system of its own, with a local bridge";
const ASKS_BRIDGE: Reason = "asks the bridge without the Worker, or reads what the Worker sends to it";
const LOCAL_SERVER: Reason = "is about the local system's own server, in whose place wrangler's stands here";
const OUR_FILES: Reason = "looks for the sandbox's files among this machine's, or runs programs that are there";
const KEEPS_AWAY: Reason = "keeps the bridge from coming back; a container is started again for whoever comes";
const LOSES_CONTAINERS: Reason = "restarts the Worker, which finds none of its containers again in the local runtime";

/** Files below test/e2e, without `.test.ts`. */
export const LEFT_OUT_FILES: Readonly<Record<string, Reason>> = {
  "access/audit-settings": OWN_SYSTEM,
  "access/idle": OWN_SYSTEM,
  "access/listening-ports": LOCAL_SERVER,
  "access/projects": OWN_SYSTEM,
  "access/quotas": OWN_SYSTEM,
  "access/restarts": LOSES_CONTAINERS,
  "attacks/hostile-bridge": OWN_SYSTEM,
  "cli/recipes": OUR_FILES,
  "dialects/terminal": OWN_SYSTEM,
  "packages/own-worker": OWN_SYSTEM,
  "packages/packed": OWN_SYSTEM,
  "programs/mcp-servers": OUR_FILES,
  "sandbox-api/workspace": OUR_FILES,
  "serve/serve": OWN_SYSTEM,
  "serve/serve-attacks": OWN_SYSTEM,
  "stream/big-input": "looks at the bridge's own memory",
  "stream/lives": OWN_SYSTEM,
  "stream/parking": OWN_SYSTEM,
  "stream/quick-clock": OWN_SYSTEM,
};

/** Tests of the other files, by the beginnings of their titles. */
export const LEFT_OUT_TESTS: Readonly<Record<string, Readonly<Record<string, Reason>>>> = {
  "access/isolation": {
    "of a client's request, the bridge sees": ASKS_BRIDGE,
    "starts in a directory of its sandbox's own": OUR_FILES,
    "the bridge itself": ASKS_BRIDGE,
  },
  "access/preview": {
    "a request that its browser gives up keeps no place": LOCAL_SERVER,
    "the server is asked under its own name": LOCAL_SERVER,
    "a request that is too long is refused before it is read": LOCAL_SERVER,
  },
  "attacks/garbage": {
    "the bridge serves the next client after one that knows": ASKS_BRIDGE,
    "nothing was thrown that nobody caught": LOCAL_SERVER,
  },
  "attacks/load": {
    "on 50 sockets, a byte at a time: the bridge": ASKS_BRIDGE,
    "ends its connection with 1009, and the bridge": ASKS_BRIDGE,
    "is none to the bridge, which agrees to no compression": ASKS_BRIDGE,
  },
  "attacks/requests": { "a CONNECT leads nowhere, and nothing is logged for it": LOCAL_SERVER },
  "attacks/route-fuzz": { "the bridge's routes answer what nobody meant": ASKS_BRIDGE },
  "cli/cli": { "and they do while the Worker is killed": LOSES_CONTAINERS },
  "cli/codex": { "E4: over cuts and a restart of the Worker": LOSES_CONTAINERS },
  "cli/copy": {
    "cp --resume leaves out what is there": OUR_FILES,
    "a cp that is killed leaves no whole-looking copy": OUR_FILES,
  },
  "cli/forward": { "forward to the very port that it listens on": "is about a sandbox on this machine" },
  "cli/run": { "the Worker's death is outlived": LOSES_CONTAINERS },
  "dialects/codex": { "E2: a session goes on after a cut and a restart": LOSES_CONTAINERS },
  "dialects/stock-pages": {
    "K6b: a file of a MiB comes through whole": "needs rz and sz, which the image does not have",
  },
  "programs/exactly-once": { "W2, W3, T2: every byte": LOSES_CONTAINERS },
  "programs/mcp-gateway": {
    "M2: a restart of the session's object": LOSES_CONTAINERS,
    "M2: a client that gives up during initialize": LOCAL_SERVER,
  },
  "programs/mcp-hosts": {
    // wrangler's proxy does not tell the Worker that its client has gone.
    "M1: a wait cancelled over stdio by revision 2025-06-18": LOCAL_SERVER,
    "M1: the inspector's command line finds the schemas good": OUR_FILES,
  },
  "programs/panes": { "B2, B4, B8, B9: split, resized": OUR_FILES, "B4: ": LOSES_CONTAINERS },
  "programs/output": { "D6: a stream goes on at Last-Event-ID over a restart": LOSES_CONTAINERS },
  "sandbox-api/exec": {
    // As above.
    "V3: a client that goes away": LOCAL_SERVER,
    "V2: sandboxes that were made count": LOSES_CONTAINERS,
  },
  "stream/connect": { "R1, I5: bytes pass both ways": LOSES_CONTAINERS },
  "stream/foreign-endings": { "frames that break the protocol end their connection": LOCAL_SERVER },
  "stream/log-size": { "P1: of a log of 100,000 bytes so much is held": LOSES_CONTAINERS },
  "stream/restart": {
    "in the middle of 3 MiB each way: the client resumes": LOSES_CONTAINERS,
    "what the process printed meanwhile is there": LOSES_CONTAINERS,
    "and not there: an attach is told 4503": KEEPS_AWAY,
  },
  "stream/unwatched": {
    "of a process that writes on with nobody there": ASKS_BRIDGE,
    "a job that nobody watches is asked after once": ASKS_BRIDGE,
  },
};
