// Connections on which nothing happens, over a system that soon ends them.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { TtydClient } from "../support/clients/ttyd-client.ts";
import { cat, newAddress, Visitors } from "../support/clients/visitors.ts";
import { TtydServer } from "../support/servers/ttyd-server.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh } from "../support/system/system.ts";

let system: System;
let visitors: Visitors;
let ttyd: TtydServer;
const dir = mkdtempSync(join(tmpdir(), "sbx-idle-"));

beforeAll(async () => {
  ttyd = await TtydServer.listen();
  system = await startSystem({
    dir,
    workerVars: {
      TENANT_CLAIM: "org_id",
      IDLE_SECONDS: "4",
      IDLE_SECONDS_PTY: "2",
      TERMINAL_UPSTREAM: "ttyd:7681",
      TERMINAL_URL: ttyd.url,
    },
  });
  visitors = new Visitors(system);
});

afterAll(async () => {
  await system?.stop();
  await ttyd?.kill();
  rmSync(dir, { recursive: true, force: true });
});

describe("an idle connection", () => {
  test("is closed with 4408, pings or not; one with input, output or a resize is not", async () => {
    const org = fresh("org");
    const params = cat({ tty: 1, keep: 60 });
    const since = Date.now(); // Its hello may be read late.
    const idle = await visitors.attached(await visitors.person(org), params);
    // Its own session: the first one's output would be its own.
    const active = await visitors.attached(await visitors.person(org), cat({ tty: 1 }));
    const pinging = setInterval(() => idle.say({ type: "ping" }), 500);
    let cols = 80;
    const resizing = setInterval(() => {
      cols += 1;
      active.say({ type: "resize", cols, rows: 24 });
    }, 500);
    try {
      const { bye, code } = await idle.end();
      expect([code, bye]).toEqual([4408, { type: "bye", code: 4408, reason: "idle for 4 s", retry: "never" }]);
      expect(Date.now() - since).toBeGreaterThanOrEqual(3_900);
      expect(active.messages("bye")).toEqual([]);
    } finally {
      clearInterval(pinging);
      clearInterval(resizing);
    }
    // The session lives on: a key would wake it.
    await visitors.attached(await visitors.person(org), params);
  });

  test.each(["pty"])("of /exec/%s has its own limit, and is closed with the code alone", async (path) => {
    const socket = await ptySocket(path);
    const closed = closeCode(socket);
    socket.send(Buffer.from("true\r"));
    // The limit of others, which begins later and is longer.
    const other = await visitors.attached(await visitors.person(), cat({ tty: 1 }));
    const first = await Promise.race([closed, other.end()]);
    expect(first).toBe(4408);
  });
});

describe("an idle connection that is passed on to a ttyd", () => {
  test("is closed with 4408, and its page told not to come back; one with input, output or a resize is not", async () => {
    const { token } = await visitors.person();
    const url = `${system.origin.replace(/^http/, "ws")}/terminal/${fresh("project")}`;
    const before = ttyd.connections.length;
    const join = (): Promise<TtydClient> => {
      const headers = { Authorization: `Bearer ${token}`, "CF-Connecting-IP": newAddress() };
      return TtydClient.connect(url, { headers });
    };
    // One after the other: that is how they are told apart at the ttyd. The idle one last: the others' end would come first.
    const [typing, resizing, watching, idle] = [await join(), await join(), await join(), await join()];
    const ends = ttyd.connections.slice(before);
    const acting = setInterval(() => {
      idle.pause();
      idle.resume();
      typing.type("x");
      resizing.resize(80, 24);
      ends[2]?.socket.send(Buffer.from("0x"));
    }, 500);
    try {
      expect(await idle.end()).toEqual({ code: 4408, reason: "idle for 4 s" });
      expect(idle.said("2")).toEqual(['{"disableReconnect":true}']);
      for (const [i, one] of [typing, resizing, watching].entries()) {
        ends[i]?.socket.send(Buffer.from("0still here"));
        await one.shows("still here");
      }
    } finally {
      clearInterval(acting);
    }
    await expect.poll(() => ends[3]?.closed).toEqual({ code: 4408, reason: "idle for 4 s" });
  });
});

/** A client of PandaStack's, from an address of its own. */
async function ptySocket(path: string): Promise<WebSocket> {
  const { token } = await visitors.person();
  const url = `${system.origin.replace(/^http/, "ws")}/v1/sandboxes/one/exec/${path}`;
  const headers = { Authorization: `Bearer ${token}`, "CF-Connecting-IP": newAddress() };
  const socket = new WebSocket(url, ["pds-pty"], { headers });
  await once(socket, "open");
  return socket;
}

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, "close")) as [number];
  return code;
}
