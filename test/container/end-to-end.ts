// Which end-to-end tests don't run over containers, and why. All others do, by each way to a container.

type Reason = string;

const OWN_SYSTEM: Reason = "starts a system of its own, with a local bridge";
const ASKS_BRIDGE: Reason = "asks the bridge without the Worker, or reads what the Worker sends to it";
const CUTS_HOP: Reason = "cuts the connections between Worker and bridge, and no others";
const OUR_PROCESSES: Reason = "looks for the sandbox's processes, or the bridge's, among this machine's";
const OUR_FILES: Reason = "looks for the sandbox's files, or the bridge's, among this machine's";
const LOSES_CONTAINERS: Reason = "restarts the Worker, which finds none of its containers again in the local runtime";

/** Files below test/e2e, without `.test.ts`. */
export const LEFT_OUT_FILES: Readonly<Record<string, Reason>> = {
  "access/audit-settings": OWN_SYSTEM,
  "access/idle": OWN_SYSTEM,
  "access/isolation": ASKS_BRIDGE,
  "access/listening-ports": ASKS_BRIDGE,
  "access/matrix": ASKS_BRIDGE,
  "access/projects": OWN_SYSTEM,
  "access/quotas": OWN_SYSTEM,
  "access/reintrospection": OWN_SYSTEM,
  "access/restarts": ASKS_BRIDGE,
  "attacks/garbage": ASKS_BRIDGE,
  "attacks/hostile-bridge": OWN_SYSTEM,
  "attacks/load": ASKS_BRIDGE,
  "attacks/many-waits": OUR_PROCESSES,
  "attacks/requests": OUR_FILES,
  "attacks/route-fuzz": ASKS_BRIDGE,
  "attacks/system": OWN_SYSTEM,
  "cli/system": OUR_PROCESSES,
  "dialects/stalled-ttyd": OWN_SYSTEM,
  "dialects/terminal-page": OWN_SYSTEM,
  "dialects/terminal-proxy": OWN_SYSTEM,
  "packages/own-worker": OWN_SYSTEM,
  "packages/packed": OWN_SYSTEM,
  "programs/mcp-servers": OUR_FILES,
  "stream/big-input": OWN_SYSTEM,
  "stream/deployment": OWN_SYSTEM,
  "stream/flow": OUR_PROCESSES,
  "stream/foreign-stalls": OUR_PROCESSES,
  "stream/ghosts": OWN_SYSTEM,
  "stream/lost": ASKS_BRIDGE,
  "stream/parked-stop": OWN_SYSTEM,
  "stream/parking": OWN_SYSTEM,
  "stream/queries": OUR_FILES,
  "stream/revival": OWN_SYSTEM,
  "stream/stopping": OWN_SYSTEM,
  "stream/surroundings": OUR_FILES,
  "stream/trace": OWN_SYSTEM,
  "stream/unwatched": ASKS_BRIDGE,
};

/** Tests of the other files, by the beginnings of their titles. */
export const LEFT_OUT_TESTS: Readonly<Record<string, Readonly<Record<string, Reason>>>> = {
  "access/preview": { "the bridge's own port is not shown": ASKS_BRIDGE },
  "cli/cli": {
    "a reader that goes away ends it with 141": OUR_PROCESSES,
    "sessions lists, kill ends": OUR_PROCESSES,
  },
  "cli/cli-terminal": {
    "Ctrl+] detaches: the process lives": OUR_PROCESSES,
    "a terminal that is closed leaves the process running": OUR_PROCESSES,
  },
  "cli/forward": { "A13: 20 MB each way at once": CUTS_HOP },
  "cli/run": { "the Worker's death is outlived": LOSES_CONTAINERS },
  "dialects/json-gateway": { "the process ends when all clients have disconnected": OUR_PROCESSES },
  "programs/exactly-once": { "W2, W3, T2: seed": LOSES_CONTAINERS },
  "programs/library": { "D6: output is followed to the exit, over a restart": LOSES_CONTAINERS },
  "programs/mcp-gateway": {
    "M2: initialize starts one process": OUR_PROCESSES,
    "M2: a process that nobody calls": OUR_PROCESSES,
    "M2: a restart of the session's object": LOSES_CONTAINERS,
    "M2: more than 8 MiB": OUR_PROCESSES,
  },
  "programs/output": {
    "D3: a read waits for what is new": CUTS_HOP,
    "D6: a stream goes on at Last-Event-ID over a restart": LOSES_CONTAINERS,
    "a wait that is open while the Worker's objects restart": CUTS_HOP,
  },
  "programs/panes": { "B4: ": CUTS_HOP },
  "stream/connect": { "R1, I5: bytes pass both ways": CUTS_HOP },
  "stream/protocol": { "a signal goes to the foreground process group": OUR_PROCESSES },
  "stream/pty": {
    "ends with its client, after": OUR_PROCESSES,
    "D9: in a main where everybody types": CUTS_HOP,
    "survives whoever goes": OUR_PROCESSES,
    "a client of another kind that is attached keeps it": OUR_PROCESSES,
  },
  "stream/restart": {
    "five times in the middle of 24 MiB": CUTS_HOP,
    "the client is told that it is lost, and when it is back": CUTS_HOP,
    "in the middle of 24 MiB each way: the client resumes": LOSES_CONTAINERS,
    "what the process printed meanwhile is there": LOSES_CONTAINERS,
    "a detached process lives on": LOSES_CONTAINERS,
    "and not there: an attach is told 4503": "keeps the bridge from coming back",
  },
  "stream/sessions": {
    "keep=1: it ends a second after": OUR_PROCESSES,
    "DELETE ends the whole process tree": OUR_PROCESSES,
    "DELETE of a session with nobody attached": OUR_PROCESSES,
  },
};
