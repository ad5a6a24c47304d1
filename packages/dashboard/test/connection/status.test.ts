// The words for each state. No browser.

import type { ClientState } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { hello } from "../../../sandbox-stdio/test/support/hello.ts";
import { type ConnectionFacts, countKeys, describe as inWords, withoutCode } from "../../src/connection/status.ts";

const attached: ClientState = { phase: "attached", hello: hello(), isResumed: false };

function words(client: ClientState, more: Partial<ConnectionFacts> = {}, nowMs = 10_000): string {
  const status = inWords(
    { client, upstream: "running", resumedAtMs: undefined, hasMissedOutput: false, ...more },
    nowMs,
  );
  const seconds = status.seconds === undefined ? "" : ` ${status.seconds} s`;
  return `${status.name}, ${status.tone}: ${status.words}${seconds} [${status.remedies.join()}]`;
}

test.each<[string, ClientState, Partial<ConnectionFacts>]>([
  ["connecting, busy: Connecting… []", { phase: "connecting", attempt: 0 }, {}],
  ["connecting, busy: Reconnecting… []", { phase: "connecting", attempt: 2 }, {}],
  ["starting, busy: Starting the container… []", { phase: "starting" }, {}],
  ["attached, good: Connected []", attached, {}],
  ["attached, warn: Reconnecting to the sandbox… []", attached, { upstream: "lost" }],
  ["asleep, calm: Asleep: press a key to wake it []", attached, { upstream: "sleeping" }],
  ["attached, good: Resumed, nothing was lost []", attached, { resumedAtMs: 5_001 }],
  ["attached, warn: Resumed, some output was lost []", attached, { resumedAtMs: 5_001, hasMissedOutput: true }],
  ["attached, good: Connected []", attached, { resumedAtMs: 5_000, hasMissedOutput: true }],
  [
    "waiting, warn: Connection lost: retrying in 3 s [retry]",
    { phase: "waiting", retryAtMs: 12_001, reason: "", attempt: 1 },
    {},
  ],
  [
    "waiting, warn: Connection lost: retrying in 0 s [retry]",
    { phase: "waiting", retryAtMs: 9_000, reason: "", attempt: 1 },
    {},
  ],
  [
    "waiting, warn: Offline: reconnects when the network is back [retry]",
    { phase: "waiting", retryAtMs: 12_001, reason: "", attempt: 1 },
    { isOffline: true },
  ],
  [
    "asleep, calm: Asleep: press a key to wake it []",
    { phase: "waiting", retryAtMs: undefined, reason: "idle", attempt: 0 },
    {},
  ],
  [
    "exited, calm: Process exited with code 0 [again,new,close]",
    { phase: "ended", end: { kind: "exit", code: 0 } },
    {},
  ],
  ["exited, bad: Process exited with code 7 [again,new,close]", { phase: "ended", end: { kind: "exit", code: 7 } }, {}],
  [
    "exited, bad: Process killed by SIGKILL (137) [again,new,close]",
    { phase: "ended", end: { kind: "exit", code: 137, signal: "SIGKILL" } },
    {},
  ],
  ["left, calm: Detached []", { phase: "ended", end: { kind: "left" } }, {}],
])("it says %j", (expected, client, more) => {
  expect(words(client, more)).toBe(expected);
});

test.each([
  [4400, "Invalid address", "new"],
  [4401, "Not logged in", "login"],
  [4403, "Not allowed", "login"],
  [4404, "The session no longer exists", "again,new"],
  [4409, "Disconnected", "retry,new"],
  [4422, "Cannot start the command", "new"],
  [1008, "The server rejected a request of this page", "retry"],
  [4999, "Refused (4999)", "retry,new"],
])("a refusal with %i is %j, and what helps is %j", (code, title, remedies) => {
  const client: ClientState = { phase: "ended", end: { kind: "refused", code, reason: "why" } };
  expect(words(client)).toBe(`refused, bad: ${title} [${remedies}]`);
});

const CHECK = "Check its name and the directory.";

test.each([
  [4401, "token expired", "Token expired. Log in again to continue."],
  [4401, "Log in, or give a token", "Log in to continue."],
  [4403, "scope", "Scope. Ask the operator for access to this sandbox."],
  [4422, "cmd_not_found: Cannot find nvim", `Command not found: nvim. ${CHECK}`],
  [4422, "cmd_not_found: nvim", `Command not found: nvim. ${CHECK}`],
  [
    4422,
    "cmd_not_executable: Cannot execute ./a: b: permission denied",
    `Cannot execute ./a: b: permission denied. ${CHECK}`,
  ],
  [
    4422,
    "bad_cwd: Cannot enter /x: no such file or directory",
    `Cannot enter the directory /x: no such file or directory. ${CHECK}`,
  ],
  [4422, "start_failed: the machine has no more processes", "The machine has no more processes."],
  [4422, "why", `Why. ${CHECK}`],
])("a refusal with %i because of %j is told without a code", (code, reason, detail) => {
  const client: ClientState = { phase: "ended", end: { kind: "refused", code, reason } };
  const facts: ConnectionFacts = { client, upstream: "running", resumedAtMs: undefined, hasMissedOutput: false };
  expect(inWords(facts, 10_000).detail).toBe(detail);
});

test("the reason of a transfer that is refused is told without its code", () => {
  expect([withoutCode("bad_cwd: Cannot enter /x"), withoutCode("why: no")]).toEqual(["Cannot enter /x", "why: no"]);
});

test("a key is one key, whatever it takes to write it", () => {
  const count = (text: string) => countKeys(new TextEncoder().encode(text));
  expect([count("a"), count("é"), count("🚀"), count("\x1b[A"), count("\x1b"), count("ab🚀")]).toEqual([
    1, 1, 1, 1, 1, 3,
  ]);
});
