// Choosing TCP ports on the loopback interface. Knows nothing of what will listen there.
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

/** The port that listening on `port` gives (another one for 0), or undefined where it is taken or not ours to take. */
function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      if (isErrorCode(error, "EADDRINUSE") || isErrorCode(error, "EACCES")) resolve(undefined);
      else reject(error);
    });
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
}

/** True when nothing uses `port`, on 127.0.0.1 or on ::1, and we may listen there. */
export async function isPortFree(port: number): Promise<boolean> {
  // Connecting as well: on macOS one can listen beside a server that listens on all addresses, and `localhost` is
  // ::1 first to most browsers, so another program there would get our visitors.
  if ((await answers("127.0.0.1", port)) || (await answers("::1", port))) return false;
  return (await tryListen(port)) !== undefined;
}

/** Any free port, chosen by the system. */
export async function anyFreePort(): Promise<number> {
  const port = await tryListen(0);
  if (port === undefined) throw new Error("Cannot find a free port on 127.0.0.1");
  return port;
}

/**
 * The first free port of `first`, `first + 1`, and so on, none of which is in `taken`.
 *
 * @throws {Error} If a hundred in a row are in use.
 */
export async function nextFreePort(first: number, taken: readonly number[] = []): Promise<number> {
  for (let port = first; port < first + 100 && port <= 65535; port++) {
    if (!taken.includes(port) && (await isPortFree(port))) return port;
  }
  throw new Error(`Cannot find a free port from ${first} on`);
}

/**
 * The port to use, from the setting PORT.
 *
 * @param setting The variable's text; undefined or empty: `fallback` or the next free one.
 * @throws {PortError} If the setting is no port, or the port it asks for is in use.
 */
export async function chosenPort(setting: string | undefined, fallback: number): Promise<number> {
  if (setting === undefined || setting === "") return nextFreePort(fallback);
  const port = Number(setting);
  if (!/^\d+$/.test(setting) || port < 1 || port > 65535) {
    throw new PortError(`Cannot use PORT=${setting}: a port is a whole number from 1 to 65535`);
  }
  if (!(await isPortFree(port))) {
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
