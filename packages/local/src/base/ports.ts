// Choosing TCP ports on the loopback interface. Knows nothing of their listeners.
import { connect, createServer } from "node:net";
import { isErrorCode } from "./files.ts";

/** True when something answers at `host:port`. */
function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const done = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => done(true));
    socket.once("timeout", () => done(false));
    socket.once("error", () => done(false));
  });
}

/** True when one can listen on `port`: it is neither taken nor another's to take. */
function canListen(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      if (isErrorCode(error, "EADDRINUSE") || isErrorCode(error, "EACCES")) resolve(false);
      else reject(error);
    });
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** True when nothing uses `port`, on 127.0.0.1 or on ::1, and we may listen there. */
export async function isPortFree(port: number): Promise<boolean> {
  // Connecting as well: on macOS one can listen beside a server that listens on all addresses; and `localhost` is
  // ::1 first to most browsers, so another program there would get our visitors.
  if ((await answers("127.0.0.1", port)) || (await answers("::1", port))) return false;
  return canListen(port);
}

/** Below what systems choose from by default, so that no listener at port 0 and no connection takes one before its server. */
const FIRST = 10_000;
const COUNT = 6_000;
/** Processes that choose at the same time begin apart: a port is free until its server, seconds later, listens. */
const BLOCK = 32;
let chosen = (process.pid * BLOCK) % COUNT;

/** A free port, another one each time: the ports of a system are all chosen before anything listens there. */
export async function anyFreePort(): Promise<number> {
  for (let tried = 0; tried < COUNT; tried++) {
    chosen = (chosen + 1) % COUNT;
    const port = FIRST + chosen;
    if (await isPortFree(port)) return port;
  }
  throw new Error(`Cannot find a free port from ${FIRST} to ${FIRST + COUNT - 1} on 127.0.0.1`);
}

/** Whether a port may be used; the answer yes may make it ours. */
export type MayUse = (port: number) => Promise<boolean>;

/**
 * The first free port of `first`, `first + 1`, and so on.
 *
 * @throws {Error} If a hundred in a row are in use.
 */
export async function nextFreePort(first: number, mayUse: MayUse = isPortFree): Promise<number> {
  for (let port = first; port < first + 100 && port <= 65535; port++) {
    if (await mayUse(port)) return port;
  }
  throw new Error(`Cannot find a free port from ${first} on`);
}

/**
 * The port to use, from the setting PORT.
 *
 * @param setting The variable's text; undefined or empty: `fallback` or the next free one.
 * @throws {PortError} If the setting is no port, or the port it asks for is in use.
 */
export async function chosenPort(
  setting: string | undefined,
  fallback: number,
  mayUse: MayUse = isPortFree,
): Promise<number> {
  if (setting === undefined || setting === "") return nextFreePort(fallback, mayUse);
  const port = Number(setting);
  if (!/^\d+$/.test(setting) || port < 1 || port > 65535) {
    throw new PortError(`Cannot use PORT=${setting}: a port is a whole number from 1 to 65535`);
  }
  if (!(await mayUse(port))) {
    throw new PortError(
      `Cannot use PORT=${port}: it is in use. Choose another, or leave PORT out for the next free one`,
    );
  }
  return port;
}

/** The port that was asked for can't be had; the message is for the person who asked. */
export class PortError extends Error {
  override readonly name = "PortError";
}
