// `forward`: listens on a local port and forwards each connection to a port of the sandbox, over a session that survives failures.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { attachParams } from "sandbox-stdio/core";
import { tokenSource } from "../account/credentials.ts";
import type { ForwardCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { codeOf } from "../base/errors.ts";
import { onEndingSignal } from "../base/ignored-signals.ts";
import { CliError, EXIT, type Outcome, usage } from "../base/outcome.ts";
import { oneLine } from "../base/plain-text.ts";
import { notify, Printer } from "../base/print.ts";
import { Connector } from "../connection/connector.ts";
import { within } from "../connection/endings.ts";
import { Forwarded } from "./forwarded.ts";

const FAREWELL_MS = 1_000;

/** Runs until a signal ends it. @throws {CliError} If it can't listen. */
export async function forward(command: ForwardCommand, env: Environment): Promise<Outcome> {
  const { endpoint, sandbox, local, port, isJson, isVerbose } = command;
  const token = tokenSource(command, env);
  // Fail now, before anybody connects, if there is no token.
  await token.token();
  const query = attachParams({ sandbox, process: { args: [], env: [], tcp: port }, ended: "replace", isUnnamed: true });
  const connector = new Connector({ attachUrl: endpoint.attachUrl, token: token.token });
  const open = new Set<Forwarded>();
  let lost = 0;
  let heldUp = 0;
  const accept = (socket: Socket): void => {
    const number = `${socket.remoteAddress}:${socket.remotePort}`;
    const detail = (text: string) => void (isVerbose && notify(`${number}: ${oneLine(text)}`));
    detail("connected");
    const forwarded: Forwarded = new Forwarded({
      ...{ socket, connector, token, query, onDetail: detail },
      onLost: (isLost) => {
        lost += isLost ? 1 : -1;
        if (isLost && lost === 1) notify("connection lost, reconnecting…");
        if (!isLost && lost === 0) notify("reconnected, nothing lost");
      },
      onHeldUp: (isHeldUp, reason) => {
        heldUp += isHeldUp ? 1 : -1;
        if (isHeldUp && heldUp === 1) notify(`new connections are waiting: ${oneLine(reason)}`);
        if (!isHeldUp && heldUp === 0) notify("new connections are no longer waiting");
      },
      onEnd: (fault) => {
        open.delete(forwarded);
        if (fault !== undefined) notify(oneLine(fault));
        detail("closed");
      },
    });
    open.add(forwarded);
  };
  const { server, second, bound } = await listenTwice(local);
  // Connections wait, paused, until the loop check is done.
  const early: Socket[] = [];
  const hold = (socket: Socket) => void early.push(socket);
  second?.on("connection", hold);
  // Only a local server's sandbox can share this machine's ports.
  if (endpoint.isLoopback && bound.port === port) {
    const forwardProbe = (socket: Socket, settled: () => void) => {
      const ignore = { onLost: () => undefined, onDetail: () => undefined };
      const parts = { socket, connector, token, query, ...ignore, onBegun: settled, onEnd: settled };
      const probe = new Forwarded(parts);
      return () => probe.stop();
    };
    const { isLoop, others } = await probeLoop(server, bound.address, port, forwardProbe);
    if (isLoop) {
      server.close();
      second?.close();
      for (const socket of [...others, ...early]) socket.destroy();
      throw usage(
        `the sandbox is on this machine, and its port ${port} is this one; choose another local port, as in ${otherPort(port)}`,
      );
    }
    for (const socket of others) accept(socket);
  }
  server.on("connection", accept);
  second?.off("connection", hold).on("connection", accept);
  for (const socket of early) accept(socket);
  const ended = new Promise<NodeJS.Signals>((resolve) => {
    // A second signal ends at once.
    const ignoreSignals = onEndingSignal(env, (signal) => {
      ignoreSignals();
      resolve(signal);
    });
  });
  const printer = new Printer();
  await printer.print(
    isJson
      ? `${JSON.stringify({ address: bound.address, port: bound.port, sandbox, remotePort: port })}\n`
      : `${hostAndPort(bound)} is port ${port} of sandbox ${sandbox}\n`,
  );
  const signal = await ended;
  server.close();
  second?.close();
  for (const forwarded of [...open]) forwarded.stop();
  await within(FAREWELL_MS, connector.closed(FAREWELL_MS));
  return { kind: "signal", signal };
}

/** Suggests another local port. */
const otherPort = (port: number) => `forward ${port < 64_000 ? port + 1_000 : port - 1_000}:${port}`;

type Bound = { readonly address: string; readonly port: number };

function hostAndPort({ address, port }: Bound): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

type Listening = { readonly server: Server; readonly second: Server | undefined; readonly bound: Bound };

/** Listens, for localhost also on the same port of ::1, which browsers try first. @throws {CliError} */
async function listenTwice({ address, port, isLocalhost }: ForwardCommand["local"], attempts = 5): Promise<Listening> {
  const server = newServer();
  const bound = await listen(server, { address, port });
  if (isLocalhost !== true) return { server, second: undefined, bound };
  const second = newServer();
  try {
    await listen(second, { address: "::1", port: bound.port });
    return { server, second, bound };
  } catch (error) {
    const code = error instanceof CliError ? codeOf(error.cause) : undefined;
    // The machine has no IPv6.
    if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") return { server, second: undefined, bound };
    server.close();
    if (port === 0 && code === "EADDRINUSE" && attempts > 1)
      return listenTwice({ address, port, isLocalhost }, attempts - 1);
    throw error;
  }
}

const newServer = () => createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });

function listen(server: Server, { address, port }: Bound): Promise<Bound> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "port already in use" : error.message;
      reject(new CliError(`cannot listen on ${hostAndPort({ address, port })}: ${why}`, EXIT.failed, { cause: error }));
    });
    server.listen(port, address, () => {
      const bound = server.address();
      if (typeof bound === "object" && bound !== null) resolve(bound);
    });
  });
}

const PROBE_MS = 5_000;
const MARK_BYTES = 16;

/** Forwards a connection. @param settled Called when it is established or has failed. @returns Aborts it. */
type Forward = (socket: Socket, settled: () => void) => () => void;

/** Whether a connection comes back, and the connections that others made meanwhile, paused. */
type ProbeResult = { readonly isLoop: boolean; readonly others: readonly Socket[] };

/**
 * Detects a forwarding loop with a probe connection: under `npm start` the sandbox may be this machine, and the forwarded port the
 * listening one. @param port The listening port. The server pauses accepted connections.
 */
async function probeLoop(server: Server, address: string, port: number, forward: Forward): Promise<ProbeResult> {
  const accepted: Socket[] = [];
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const collect = (socket: Socket) => void accepted.push(socket);
  server.on("connection", collect);
  const own = connect({ host: reachable(address), port });
  own.on("error", () => undefined); // Destroyed at the end.
  await once(own, "connect");
  const isOwn = ({ remotePort }: Socket) => remotePort === own.localPort;
  while (!accepted.some(isOwn)) await once(server, "connection");
  const aborts = accepted.filter(isOwn).map((socket) => forward(socket, settle));
  await within(PROBE_MS, settled);
  // The bridge's connection is accepted now, if it leads to this listener.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const others = accepted.filter((socket) => !isOwn(socket));
  const isLoop = others.length > 0 && (await comesOut(own, others));
  server.off("connection", collect);
  own.destroy();
  for (const abort of aborts) abort();
  return { isLoop, others };
}

/** Whether bytes written into one connection come out of another. */
async function comesOut(own: Socket, others: readonly Socket[]): Promise<boolean> {
  const mark = randomBytes(MARK_BYTES);
  own.write(mark);
  const found = others.map(async (socket) => {
    const bytes = await firstBytes(socket);
    if (bytes?.equals(mark) !== true) throw new Error("Another connection");
  });
  let isSame = false;
  const all = Promise.any(found).then(
    () => {
      isSame = true;
    },
    () => undefined,
  );
  await within(PROBE_MS, all);
  return isSame;
}

/** The first bytes, which stay readable. */
async function firstBytes(socket: Socket): Promise<Buffer | undefined> {
  for (;;) {
    await once(socket, "readable");
    const bytes: unknown = socket.read(MARK_BYTES);
    if (!Buffer.isBuffer(bytes)) {
      if (socket.readableEnded) return undefined;
      continue;
    }
    socket.unshift(bytes);
    return bytes;
  }
}

/** An address that reaches a listener on all addresses. */
function reachable(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}
