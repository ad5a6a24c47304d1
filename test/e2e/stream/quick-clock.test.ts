// Clients that vanish without a word or stop reading, and tokens that their issuer takes back: what the Worker finds out by its own
// clock. That runs five times as fast here, on a system of its own, so that nobody waits for its limits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { CLI_CLIENT_ID } from "../../../packages/local/src/issuer/tokens.ts";
import { approveDevice } from "../../../packages/local/test/approve.ts";
import { connect, refusedHttp, type TestClient } from "../support/clients/client.ts";
import { resetUpgrade } from "../support/clients/raw-http.ts";
import { TtydClient } from "../support/clients/ttyd-client.ts";
import { newAddress } from "../support/clients/visitors.ts";
import { addonPath, jsonPath, ptyPath, sharedPath } from "../support/generators/foreign-routes.ts";
import { type TtydConnection, TtydServer } from "../support/servers/ttyd-server.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const IS_FULL = process.env.SBX_LOAD === "full";
const PLACES = 40;
const JSON_PLACES = 10;
const ATTACKER = "203.0.113.66";

let ttyd: TtydServer;
let quick: System;
let server: string;
const dir = mkdtempSync(join(tmpdir(), "sbx-quick-"));

beforeAll(async () => {
  ttyd = await TtydServer.listen();
  quick = await startSystem({
    dir,
    accessTokens: "opaque",
    workerEntry: join(ROOT, "worker/test/support/chaos-entry.ts"),
    workerVars: {
      CHAOS_SPEED: "5",
      TENANT_CLAIM: "org_id",
      LIMIT_CONNECTIONS_PER_IP: String(PLACES),
      LIMIT_JSON_CONNECTIONS_PER_IP: String(JSON_PLACES),
      LIMIT_ATTACHES_PER_MINUTE: "100000",
      LIMIT_CALLS_PER_MINUTE: "100000",
      TERMINAL_UPSTREAM: "ttyd:7681",
      TERMINAL_URL: ttyd.url,
    },
  });
  server = quick.origin.replace(/^http/, "ws");
});

afterAll(async () => {
  await quick?.stop();
  await ttyd?.kill();
  rmSync(dir, { recursive: true, force: true });
});

async function person(): Promise<Person> {
  const [sub, org] = [fresh("person"), fresh("org")];
  return { sub, org, token: await quick.mintToken({ sub, org }) };
}

const workerBytes = (): number =>
  namedInGroup("workerd", quick.pids.worker).reduce((sum, pid) => sum + residentBytes(pid), 0);

/** Clients on a sandbox's sessions. */
async function count(who: Person, sandbox: string): Promise<number> {
  const headers = { Authorization: `Bearer ${who.token}` };
  const response = await fetch(`${quick.origin}/api/sandboxes/${sandbox}/sessions`, { headers });
  const { sessions } = (await response.json()) as { sessions: { clients: number }[] };
  return sessions.reduce((sum, { clients }) => sum + clients, 0);
}

/** @returns Whether there was a place. */
async function holdsPlace(who: Person, path: string, address = ATTACKER): Promise<WebSocket | undefined> {
  const headers = { Authorization: `Bearer ${who.token}`, "CF-Connecting-IP": address };
  const socket = new WebSocket(`${server}${path}`, { headers, perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_request, response) => {
      response.resume();
      if (response.statusCode === 429) resolve(undefined);
      else reject(new Error(`${path} was answered with ${response.statusCode}`));
    });
    socket.once("error", reject);
  });
}

/** Fills every place of the attacker's address. @returns Whether all were free. */
async function fills(who: Person, sandboxes: readonly string[]): Promise<WebSocket[] | undefined> {
  const paths = [
    ...Array.from({ length: PLACES }, (_, i) => addonPath(sandboxes[i % sandboxes.length] ?? "")),
    ...Array.from({ length: JSON_PLACES }, () => jsonPath(sandboxes[0] ?? "")),
  ];
  const sockets = (await Promise.all(paths.map((path) => holdsPlace(who, path)))).filter(
    (socket) => socket !== undefined,
  );
  if (sockets.length === paths.length) return sockets;
  for (const socket of sockets) socket.terminate();
  await delay(100);
  return undefined;
}

/** Of each row, and of each place in an upgrade, several. */
const RESETS = IS_FULL ? 320 : 96;
type Row = readonly [name: string, path: (sandbox: string) => string, protocol: string, process?: "silent"];
const ROWS: readonly Row[] = [
  ["plain", (sandbox) => `/attach?sandbox=${sandbox}&session=main`, ""],
  ["addon", addonPath, ""],
  ["pty", (sandbox) => ptyPath(sandbox, { session: "main" }), "pds-pty"],
  // It is not greeted, and its program prints nothing: nothing is ever sent to it.
  ["pty, silent", (sandbox) => ptyPath(sandbox, { session: "main" }), "pds-pty", "silent"],
  ["pty, shared", sharedPath, "pds-pty"],
  ["json", jsonPath, ""],
  ["a ttyd in the sandbox", (sandbox) => `/terminal/${sandbox}`, "tty"],
  ["stdio", (sandbox) => `/attach?sandbox=${sandbox}&session=main`, "stdio.v1"],
];

test("upgrades that are reset at once leave neither clients nor places of their address behind, nor connections to a ttyd", async () => {
  ttyd.serve = ({ socket }) => socket.send(Buffer.from("1ttyd"));
  const who = await person();
  const homes: TestClient[] = [];
  const sandboxes = ROWS.map(() => fresh("box"));
  for (const [i, sandbox] of sandboxes.entries()) {
    const isSilent = ROWS[i]?.[3] === "silent";
    const shell = { cmd: "bash", arg: ["--norc"], env: "PS1=ready>" };
    const process = isSilent ? { cmd: "sleep", arg: ["1000"] } : shell;
    // Plain: one that pings would have to do so five times as often.
    const home = await connect(who, { sandbox, session: "main", tty: 1, ...process }, { server, protocols: [] });
    homes.push(home);
    if (isSilent) await until("its process", async () => (await count(who, sandbox)) === 1);
    else await home.output("ready>");
  }
  const counts = () => Promise.all(sandboxes.map((sandbox) => count(who, sandbox)));

  for (let i = 0; i < RESETS; i += 1) {
    const row = ROWS[i % ROWS.length];
    const sandbox = sandboxes[i % ROWS.length] ?? "";
    if (row === undefined) continue;
    const [, path, protocol] = row;
    // Each address has some places, so that enough of them get through to their sessions.
    const address = i % 3 === 0 ? ATTACKER : `203.0.113.${i % 50}`;
    const headers = [`Authorization: Bearer ${who.token}`, `CF-Connecting-IP: ${address}`];
    if (protocol !== "") headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
    await resetUpgrade(quick.origin, path(sandbox), headers, i % 6);
  }
  console.log(`clients of each sandbox afterwards: ${await counts()}; of the ttyd: ${ttyd.open.length}`);
  // 40 s of the Worker's clock for one that is still to speak first, or to ping.
  await until("the ghosts' end", async () => (await counts()).every((clients) => clients === 1), 120_000);
  await until("the end of all connections to the ttyd", () => ttyd.open.length === 0, 120_000);
  const sockets = await until("all places of the address", () => fills(who, sandboxes), 120_000);

  // A session's object that dies takes its connections with it, and their places are found when somebody needs them.
  for (const sandbox of sandboxes) {
    const url = `${quick.origin}/chaos/abort?sandbox=${sandbox}&session=main`;
    const response = await fetch(url, { method: "POST", headers: { Authorization: `Bearer ${who.token}` } });
    expect(response.status).toBe(204);
  }
  const again = await until("all places of the address after the restart", () => fills(who, sandboxes), 120_000);
  for (const socket of [...sockets, ...again]) socket.terminate();
  await until("everybody's end", async () => (await counts()).every((clients) => clients <= 1), 120_000);
  const next = await connect(who, { sandbox: sandboxes[0] ?? "", session: "main" }, { server });
  await next.hello();
  next.type("echo $((6 * 7))\n");
  await next.output(/\b42\b/);
  for (const home of homes) home.drop();
});

const VIEWERS = IS_FULL ? 52 : 12;
/** Of 52 viewers no more than 450 MiB are seen, and of few more than their share: garbage is not collected at once. */
const ROOM_BYTES = (IS_FULL ? 450 : 200) * MIB;

test("W11: viewers that don't read are closed, and a flood costs the Worker no more than it allows for all of them", async () => {
  const who = await person();
  const sandbox = fresh("box");
  // More than they take, which is nothing, and less than a machine can.
  const script = `yes ${"x".repeat(200)} | while head -c 1000000; do sleep 0.4; done`;
  const place = { sandbox, session: "main" };
  const driver = await connect(who, { ...place, tty: 1, cmd: "sh", arg: ["-c", script] }, { server, pings: false });
  await driver.hello();
  const pings = setInterval(() => driver.say({ type: "ping" }), 2_000);
  const paths = [
    `/attach?sandbox=${sandbox}&session=main&role=viewer`,
    addonPath(sandbox, { role: "viewer" }),
    `${jsonPath(sandbox)}&role=viewer`,
  ];
  const path = (i: number) => paths[i % 10 === 0 ? 2 : i % 2] ?? "";
  const viewers = await Promise.all(Array.from({ length: VIEWERS }, (_, i) => holdsPlace(who, path(i), newAddress())));
  for (const viewer of viewers) viewer?.pause();
  const before = workerBytes();
  let highest = before;
  const areGone = async () => {
    highest = Math.max(highest, workerBytes());
    return (await count(who, sandbox)) === 1;
  };
  try {
    await until("the viewers to be gone", areGone, 120_000);
  } finally {
    clearInterval(pings);
  }
  console.log(`workerd: grown by ${Math.round((highest - before) / MIB)} MiB at most`);
  expect(highest - before).toBeLessThan(ROOM_BYTES);
  const [first] = viewers;
  const closed = new Promise((resolve) => first?.once("close", resolve));
  first?.resume();
  expect(await within("a close", closed)).toBe(1011);
  for (const viewer of viewers) viewer?.terminate();
  driver.drop();
});

/** More than this and the test ends what it tests. */
const WORKER_BYTES = 1_500 * MIB;

/** Sends 64 KiB after 64 KiB until the connection is closed, and pauses for nobody. */
async function flood({ socket }: TtydConnection): Promise<void> {
  const chunk = Buffer.alloc(65_536, "0");
  while (socket.readyState === socket.OPEN) {
    if (socket.bufferedAmount < MIB) socket.send(chunk);
    await turn();
  }
}

test("W11: a client that stops reading a flood from a ttyd that pauses for nobody is closed, and costs no memory", async () => {
  const floods: Promise<void>[] = [];
  ttyd.serve = (connection) => void floods.push(flood(connection));
  const before = workerBytes();
  const client = await TtydClient.connect(`${server}/terminal/${fresh("box")}?token=${(await person()).token}`);
  client.socket.pause();
  let highest = before;
  await until("the flood", () => floods.length > 0);
  let isOver = false;
  void Promise.all(floods).then(() => {
    isOver = true;
  });
  const hasEnded = () => {
    highest = Math.max(highest, workerBytes());
    if (highest > WORKER_BYTES) for (const { socket } of ttyd.open) socket.terminate();
    return isOver;
  };
  await until("its connection's end", hasEnded, 120_000);
  console.log(`workerd: grown by ${Math.round((highest - before) / MIB)} MiB at most`);
  expect(highest - before).toBeLessThan(150 * MIB);
  client.socket.resume();
  expect(await within("a close", client.closed)).toMatchObject({ code: 1011 });
});

async function post(path: string, form: Record<string, string>): Promise<Record<string, string>> {
  const response = await fetch(`${quick.issuerUrl}${path}`, { method: "POST", body: new URLSearchParams(form) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, string>);
}

/** Signs in as the command line does. */
async function signIn(sub: string, org: string): Promise<Person> {
  const client = { client_id: CLI_CLIENT_ID };
  const asked = await post("/oauth/device", { ...client, scope: "sandbox:connect sandbox:exec" });
  await approveDevice(quick.issuerUrl, asked.user_code ?? "", { sub, org });
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const given = await post("/oauth/token", { ...client, grant_type, device_code: asked.device_code ?? "" });
  return { sub, org, token: given.access_token ?? "" };
}

// Only the issuer can tell, so it is asked again every minute.
test("an opaque token that is revoked at its issuer ends its connection within the minute, and no other of its user", async () => {
  const [sub, org] = [fresh("person"), fresh("org")];
  const [revoked, good] = [await signIn(sub, org), await signIn(sub, org)];
  expect(revoked.token).toMatch(/^at_/);
  const session = fresh("s");
  const options = { protocols: [], server };
  const client = await connect(revoked, { session, cmd: "cat" }, options);
  const other = await connect(good, { session }, options);
  client.type("one");
  await other.output("one");

  await post("/oauth/revoke", { client_id: CLI_CLIENT_ID, token: revoked.token });
  expect(await client.end()).toMatchObject({ code: 4401, reason: "the token is not valid any more" });
  expect((await refusedHttp(revoked, { session }, options)).status).toBe(401);
  // Its own token was asked about at the same time.
  other.type("two");
  await other.output("onetwo");
});
