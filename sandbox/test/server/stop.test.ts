// The bridge is told to stop, as a container is: what its clients hear, and how long that may take.

import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type BridgeProcess, HEADERS, order, SECRET, startBridgeProcess, temporary } from "../support/bridge.ts";
import { Hop, PlainClient } from "../support/clients.ts";

const start = (env: Readonly<Record<string, string>> = {}) =>
  startBridgeProcess({ env: { SANDBOX_ROOT: temporary(), ...env } });

/** Runs `script` on pipes. */
function running(script: string): URLSearchParams {
  return new URLSearchParams([
    ["cmd", "bash"],
    ["arg", "-c"],
    ["arg", script],
    ["tty", "0"],
  ]);
}

/** A session object at the session "job", after its first output. @param query Starts the process. Absent: it runs already. */
async function held({ url }: BridgeProcess, query = new URLSearchParams()): Promise<Hop> {
  query.set("session", "job");
  const hop = await Hop.open(url, SECRET, query);
  hop.attach();
  await hop.until(() => hop.output !== "");
  return hop;
}

/** A plain client that runs `script`, after its first output. */
async function attach({ url }: BridgeProcess, script: string): Promise<PlainClient> {
  const client = await PlainClient.attach(url, SECRET, running(script));
  await client.until(() => client.output !== "");
  return client;
}

/** Sends the signal. @returns The bridge's exit code. */
async function stop({ child }: BridgeProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
  child.kill(signal);
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

test.each([
  { signal: "SIGTERM", code: 143 },
  { signal: "SIGINT", code: 130 },
] as const)(
  "on $signal a client is told how its process ended, and the bridge ends with $code",
  async ({ signal, code }) => {
    const bridge = await start();
    const client = await attach(bridge, "echo ready; sleep 60");
    expect(await stop(bridge, signal)).toBe(code);
    expect(client.messages.at(-1)).toEqual({ type: "exit", code: 129, signal: "SIGHUP", offset: 6 });
    expect(await client.closed).toBe(1000);
  },
);

test("a process that has something to do before it ends gets the time, and its last words arrive", async () => {
  const bridge = await start();
  const script = "trap 'sleep 0.5; echo saved; exit 3' HUP; echo ready; while :; do sleep 0.05; done";
  const client = await attach(bridge, `exec 2>/dev/null; ${script}`);
  expect(await stop(bridge)).toBe(143);
  expect(client.messages.at(-1)).toEqual({ type: "exit", code: 3, offset: 12 });
});

test("a process that ignores SIGHUP and SIGTERM is killed, and nothing is started meanwhile", async () => {
  const bridge = await start();
  const client = await attach(bridge, "exec 2>/dev/null; trap '' HUP TERM; echo ready; while :; do sleep 0.05; done");
  const stopped = stop(bridge);
  let answer: Response;
  do answer = await fetch(`${bridge.url}/sessions`, { headers: HEADERS });
  while (answer.status === 200);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ error: "unavailable", message: "the bridge is shutting down" });
  await stopped;
  expect(client.messages.at(-1)).toEqual({ type: "exit", code: 137, signal: "SIGKILL", offset: 6 });
});

test("a bridge that stops leaves none of its scripts for shells behind, nor those of one that was killed", async () => {
  const TMPDIR = temporary();
  const withShell = async (): Promise<BridgeProcess> => {
    const bridge = await start({ TMPDIR });
    const shell = await PlainClient.attach(bridge.url, SECRET, { session: "shell", cmd: "bash", tty: "1" });
    await shell.until(() => shell.output !== "");
    return bridge;
  };
  const folderOf = ({ child }: BridgeProcess) => expect.stringMatching(`^stdio-shell-\\d+-${child.pid}-`);
  const killed = await withShell();
  const other = await withShell();
  expect(readdirSync(TMPDIR)).toHaveLength(2);
  await stop(killed, "SIGKILL");
  const last = await withShell();
  expect(readdirSync(TMPDIR).sort()).toEqual(expect.arrayContaining([folderOf(other), folderOf(last)]));
  expect(readdirSync(TMPDIR)).toHaveLength(2);
  await Promise.all([stop(other), stop(last, "SIGINT")]);
  expect(readdirSync(TMPDIR)).toEqual([]);
});

test("a shell that is hung up on as it draws its prompt ends of that, 30 times", async () => {
  const { url } = await start();
  for (let i = 0; i < 30; i++) {
    const query = { session: `shell-${i}`, cmd: "bash", arg: "--norc", tty: "1" };
    const shell = await PlainClient.attach(url, SECRET, query);
    await shell.until(() => shell.output !== "");
    await fetch(`${url}/sessions/shell-${i}`, { method: "DELETE", headers: HEADERS });
    await shell.until(() => shell.exit !== undefined);
    expect(shell.exit).toMatchObject({ code: 129, signal: "SIGHUP" });
  }
});

test("output that goes on for ever after the process does not keep the bridge", async () => {
  const bridge = await start();
  const client = await attach(bridge, "setsid bash -c 'while echo x; do sleep 0.1; done' & sleep 60");
  expect(await stop(bridge)).toBe(143);
  expect(await client.closed).toBe(1001);
});

describe("with STOP_SECONDS", () => {
  const told = ({ messages }: Hop) => messages.filter(({ type }) => type === "stopping");

  test("X8: on SIGTERM people are told how long there is, a job ends by itself, and then the bridge does", async () => {
    const go = join(temporary(), "go");
    const bridge = await start({ STOP_SECONDS: "600" });
    const script = `echo ready; while [ ! -e ${go} ]; do sleep 0.02; done; echo saved; exit 3`;
    const client = await held(bridge, running(script));
    const stopped = stop(bridge);
    await client.until(() => told(client).length === 1);
    expect(told(client)).toEqual([{ type: "stopping", seconds: 600 }]);
    // Nothing new is started, and what there is can be attached to.
    const upgrade = { ...HEADERS, Upgrade: "websocket", Connection: "Upgrade" };
    const refused = await fetch(`${bridge.url}/attach?cmd=true`, { headers: upgrade });
    const message = expect.stringMatching(/^the sandbox stops within \d+ s: nothing new is started/);
    expect([refused.status, await refused.json()]).toEqual([503, { error: "stopping", message }]);
    const ordered = await order(bridge.url, "new", "true", []);
    expect([ordered.status, ((await ordered.json()) as { error: string }).error]).toEqual([503, "stopping"]);
    const late = await held(bridge);
    expect(await client.closed).toBe(4409);
    expect(told(late)).toHaveLength(1);
    writeFileSync(go, "");
    expect(await stopped).toBe(143);
    expect(late.messages.at(-1)).toEqual({ type: "exit", code: 3, offset: 12 });
  });

  test("X8: what still runs when the time is over is ended as ever", async () => {
    const bridge = await start({ STOP_SECONDS: "1" });
    const client = await attach(bridge, "echo ready; sleep 600");
    expect(await stop(bridge)).toBe(143);
    expect(client.messages.at(-1)).toEqual({ type: "exit", code: 129, signal: "SIGHUP", offset: 6 });
  });

  test("X8: a bridge without sessions ends at once, and a second SIGTERM ends what runs", async () => {
    expect(await stop(await start({ STOP_SECONDS: "600" }))).toBe(143);
    const bridge = await start({ STOP_SECONDS: "600" });
    const client = await held(bridge, running("echo ready; sleep 600"));
    const stopped = stop(bridge);
    await client.until(() => told(client).length === 1);
    bridge.child.kill("SIGTERM");
    expect(await stopped).toBe(143);
    expect(client.messages.at(-1)).toMatchObject({ type: "exit", signal: "SIGHUP" });
  });

  test("X8: an exit that nobody was here for keeps the bridge until somebody has come for it", async () => {
    const go = join(temporary(), "go");
    const bridge = await start({ STOP_SECONDS: "600" });
    const ordered = await order(bridge.url, "job", "bash", ["-c", `while [ ! -e ${go} ]; do sleep 0.02; done; exit 3`]);
    expect(ordered.status).toBe(201);
    const stopped = stop(bridge);
    writeFileSync(go, "");
    type Listing = { readonly idleMs: number; readonly sessions: readonly { readonly state: string }[] };
    const listing = async () => (await (await fetch(`${bridge.url}/sessions`, { headers: HEADERS })).json()) as Listing;
    await expect.poll(async () => (await listing()).sessions[0]?.state).toBe("exited");
    expect((await listing()).idleMs).toBe(0);
    const client = await PlainClient.attach(bridge.url, SECRET, { session: "job" });
    await client.until(() => client.exit !== undefined);
    expect(client.exit).toEqual({ type: "exit", code: 3, offset: 0 });
    expect(await stopped).toBe(143);
  });
});
