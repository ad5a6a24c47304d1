// How connections of clients end that say little: at the exit, and after a close with an odd code.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect as connectTcp, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { foreign } from "../support/clients/foreign-client.ts";
import { addonPath, jsonPath, sharedPath } from "../support/generators/foreign-routes.ts";
import { api, fresh, type Person, person, system } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

const attachPath = (sandbox: string) => `/attach?sandbox=${sandbox}&session=main`;
const ttydPath = (sandbox: string) => `/terminal/${sandbox}`;

type Path = readonly [name: string, path: (sandbox: string) => string, protocol: string];
const PATHS: readonly Path[] = [
  ["stdio", attachPath, "stdio.v1"],
  ["plain", attachPath, ""],
  ["sandbox addon", addonPath, ""],
  ["ttyd", ttydPath, "tty"],
  ["pty, shared", sharedPath, "pds-pty"],
  ["json", jsonPath, ""],
];

/** Sends an upgrade's request, and nothing after it. */
async function upgrade(who: Person, path: string, protocol: string): Promise<Socket> {
  const { hostname, port, host } = new URL(system.origin);
  const socket = connectTcp(Number(port), hostname);
  socket.on("error", () => undefined); // A close follows.
  await within("a connection", new Promise((resolve) => socket.once("connect", resolve)));
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    `Authorization: Bearer ${who.token}`,
    ...(protocol === "" ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

/** Waits for the answer to the upgrade; then for the end of the stream. */
async function answered(socket: Socket): Promise<{ readonly ended: Promise<unknown>; readonly bytes: () => Buffer }> {
  const chunks: Buffer[] = [];
  const bytes = () => Buffer.concat(chunks);
  // What a client's kernel does when the server has finished; before a close of its own.
  const ended = new Promise((resolve) => {
    socket.once("end", resolve);
    socket.once("close", resolve);
  });
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await until("an answer to the upgrade", () => bytes().includes("\r\n\r\n"));
  expect(bytes().toString("latin1")).toMatch(/^HTTP\/1\.1 101/);
  return { ended, bytes };
}

async function clients(who: Person, sandbox: string): Promise<number | undefined> {
  const response = await api(who, `/api/sandboxes/${sandbox}/sessions/main`);
  return response.ok ? ((await response.json()) as { clients: number }).clients : undefined;
}

describe("X2: a client that has said nothing sees the end of its connection right after the exit", () => {
  test.each(PATHS.filter(([name]) => name !== "ttyd" && name !== "stdio"))("%s", async (_name, path, protocol) => {
    const who = await person();
    const sandbox = fresh("box");
    const driver = await connect(who, { sandbox, session: "main", tty: 1, cmd: "cat" });
    await driver.hello();
    const silent = await foreign(who, path(sandbox), { protocols: protocol === "" ? [] : [protocol] });
    await until("the client among the others", async () => (await clients(who, sandbox)) === 2);
    driver.say({ type: "eof" });
    // Its library gives up waiting for the end of TCP after 30 s.
    expect(await silent.end()).toMatchObject({ code: 1000 });
  });
});

describe("Z: a close with a code that can't be answered with the same ends the connection too", () => {
  test.each(PATHS)("%s", async (_name, path, protocol) => {
    const who = await person();
    const sandbox = fresh("box");
    for (const code of [0, 1005, 1015, 5000]) {
      const socket = await upgrade(who, path(sandbox), protocol);
      const { ended } = await answered(socket);
      // A close, masked with zeros.
      socket.write(Buffer.of(0x88, 0x82, 0, 0, 0, 0, code >> 8, code & 0xff));
      await within(`the end of a connection closed with ${code}`, ended);
      socket.destroy();
    }
  });
});

/** Frames of clients that break the protocol of WebSockets itself, masked with zeros. */
const OFFENCES: readonly (readonly [name: string, frame: Buffer])[] = [
  ["a frame of 48 MiB", Buffer.from([0x82, 0xff, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1])],
  ["a ping in fragments", Buffer.from([0x09, 0x81, 0, 0, 0, 0, 1])],
  ["reserved bits", Buffer.from([0xf2, 0x81, 0, 0, 0, 0, 1])],
  ["an opcode that is none", Buffer.from([0x83, 0x81, 0, 0, 0, 0, 1])],
];

describe("frames that break the protocol end their connection, and fill no log", () => {
  test.each(PATHS)("%s", async (_name, path, protocol) => {
    const who = await person();
    const sandbox = fresh("box");
    const logFile = join(system.dir, "logs/worker.log");
    const before = readFileSync(logFile).length;
    for (const [name, frame] of OFFENCES) {
      const socket = await upgrade(who, path(sandbox), protocol);
      const { ended, bytes } = await answered(socket);
      socket.write(frame);
      // Of a socket that outlives its object the runtime leaves TCP open: its client is told by the close alone.
      const hasClose = () =>
        bytes()
          .subarray(bytes().indexOf("\r\n\r\n") + 4)
          .includes(0x88);
      if (protocol === "stdio.v1") await until(`a close after ${name}`, hasClose);
      else await within(`the end after ${name}`, ended);
      socket.destroy();
    }
    const logged = readFileSync(logFile).subarray(before).toString().split("\n");
    expect(logged.filter((line) => /uncaught|unhandled|exception|\[ERROR\]/i.test(line))).toEqual([]);
  });
});
