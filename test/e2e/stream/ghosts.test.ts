// Upgrades that are reset right after their request: no event of the runtime says that some of these clients are gone. The
// Worker's clock runs five times as fast, so that nobody waits for its limits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { resetUpgrade } from "../support/clients/raw-http.ts";
import { addonPath, jsonPath, ptyPath, sharedPath } from "../support/generators/foreign-routes.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const RESETS = 500;
const PLACES = 40;
const JSON_PLACES = 10;
const ATTACKER = "203.0.113.66";

type Row = readonly [name: string, path: (sandbox: string) => string, protocol: string, process?: "silent"];
const ROWS: readonly Row[] = [
  ["plain", (sandbox) => `/attach?sandbox=${sandbox}&session=main`, ""],
  ["addon", addonPath, ""],
  ["pty", (sandbox) => ptyPath(sandbox, { session: "main" }), "pds-pty"],
  // It is not greeted, and its program prints nothing: nothing is ever sent to it.
  ["pty, silent", (sandbox) => ptyPath(sandbox, { session: "main" }), "pds-pty", "silent"],
  ["pty, shared", sharedPath, "pds-pty"],
  ["json", jsonPath, ""],
  ["ttyd", (sandbox) => `/terminal/${sandbox}`, "tty"],
  ["stdio", (sandbox) => `/attach?sandbox=${sandbox}&session=main`, "stdio.v1"],
];

let quick: System;
const dir = mkdtempSync(join(tmpdir(), "sbx-ghosts-"));

beforeAll(async () => {
  quick = await startSystem({
    dir,
    workerEntry: join(ROOT, "worker/test/chaos-entry.ts"),
    workerVars: {
      CHAOS_SPEED: "5",
      TENANT_CLAIM: "org_id",
      LIMIT_CONNECTIONS_PER_IP: String(PLACES),
      LIMIT_JSON_CONNECTIONS_PER_IP: String(JSON_PLACES),
      LIMIT_ATTACHES_PER_MINUTE: "100000",
      LIMIT_CALLS_PER_MINUTE: "100000",
    },
  });
});

afterAll(async () => {
  await quick?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** @returns Whether there was a place. */
async function holdsPlace(who: Person, path: string): Promise<WebSocket | undefined> {
  const headers = { Authorization: `Bearer ${who.token}`, "CF-Connecting-IP": ATTACKER };
  const socket = new WebSocket(`${quick.origin.replace(/^http/, "ws")}${path}`, { headers });
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

test("500 upgrades that are reset at once leave neither clients nor places of their address behind", {
  timeout: 120_000,
}, async () => {
  const [sub, org] = [fresh("person"), fresh("org")];
  const who: Person = { sub, org, token: await quick.mintToken({ sub, org }) };
  const server = quick.origin.replace(/^http/, "ws");
  const homes: TestClient[] = [];
  const sandboxes = ROWS.map(() => fresh("box"));
  const count = async (sandbox: string) => {
    const url = `${quick.origin}/api/sandboxes/${sandbox}/sessions`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${who.token}` } });
    const { sessions } = (await response.json()) as { sessions: { clients: number }[] };
    return sessions.reduce((sum, { clients }) => sum + clients, 0);
  };
  for (const [i, sandbox] of sandboxes.entries()) {
    const isSilent = ROWS[i]?.[3] === "silent";
    const shell = { cmd: "bash", arg: ["--norc"], env: "PS1=ready>" };
    const process = isSilent ? { cmd: "sleep", arg: ["1000"] } : shell;
    // Plain: one that pings would have to do so five times as often.
    const home = await connect(who, { sandbox, session: "main", tty: 1, ...process }, { server, protocols: [] });
    homes.push(home);
    if (isSilent) await until("its process", async () => (await count(sandbox)) === 1);
    else await home.output("ready>");
  }
  const counts = () => Promise.all(sandboxes.map(count));

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
  console.log(`clients of each sandbox afterwards: ${await counts()}`);
  // 40 s of the Worker's clock for one that is still to speak first, or to ping.
  await until("the ghosts' end", async () => (await counts()).every((clients) => clients === 1), 30_000);
  const sockets = await until("all places of the address", () => fills(who, sandboxes), 30_000);

  // A session's object that dies takes its connections with it, and their places are found when somebody needs them.
  for (const sandbox of sandboxes) {
    const url = `${quick.origin}/chaos/abort?sandbox=${sandbox}&session=main`;
    const response = await fetch(url, { method: "POST", headers: { Authorization: `Bearer ${who.token}` } });
    expect(response.status).toBe(204);
  }
  const again = await until("all places of the address after the restart", () => fills(who, sandboxes), 30_000);
  for (const socket of [...sockets, ...again]) socket.terminate();
  await until("everybody's end", async () => (await counts()).every((clients) => clients <= 1), 30_000);
  const next = await connect(who, { sandbox: sandboxes[0] ?? "", session: "main" }, { server });
  await next.hello();
  next.type("echo $((6 * 7))\n");
  await next.output(/\b42\b/);
  for (const home of homes) home.drop();
});
