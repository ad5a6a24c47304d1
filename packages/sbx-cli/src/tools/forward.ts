// A port of the sandbox, here: listens, and gives each connection a way of its own that survives cuts.

import { createServer, type Server, type Socket } from "node:net";
import { attachParams } from "sandbox-stdio/core";
import { tokenSource } from "../account/credentials.ts";
import type { ForwardCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { isIgnoredFromStart } from "../base/ignored-signals.ts";
import { CliError, EXIT, type Outcome, usage } from "../base/outcome.ts";
import { oneLine } from "../base/plain-text.ts";
import { aside, Printer } from "../base/print.ts";
import { within } from "../connection/endings.ts";
import { Connector } from "../connection/socket.ts";
import { probeLoop } from "./forward-loop.ts";
import { Forwarded } from "./forwarded.ts";

const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const FAREWELL_MS = 1_000;

/** Runs until a signal ends it. @throws {CliError} Where it can't listen. */
export async function forward(command: ForwardCommand, env: Environment): Promise<Outcome> {
  const { endpoint, sandbox, local, port, isJson, isVerbose } = command;
  const token = tokenSource(command, env);
  // Asked for once before anybody connects: without a login there is nothing to wait for.
  await token.token();
  const query = attachParams({ sandbox, process: { args: [], env: [], tcp: port }, ended: "replace", isUnnamed: true });
  const connector = new Connector({ attachUrl: endpoint.attachUrl, token: token.token });
  const open = new Set<Forwarded>();
  let lost = 0;
  let heldUp = 0;
  const accept = (socket: Socket): void => {
    const number = `${socket.remoteAddress}:${socket.remotePort}`;
    const detail = (text: string) => void (isVerbose && aside(`${number}: ${oneLine(text)}`));
    detail("connected");
    const forwarded: Forwarded = new Forwarded({
      ...{ socket, connector, token, query, onDetail: detail },
      onLost: (isLost) => {
        lost += isLost ? 1 : -1;
        if (isLost && lost === 1) aside("connection lost, reconnecting…");
        if (!isLost && lost === 0) aside("reconnected, nothing lost");
      },
      onHeldUp: (isHeldUp, reason) => {
        heldUp += isHeldUp ? 1 : -1;
        if (isHeldUp && heldUp === 1) aside(`new connections wait: ${oneLine(reason)}`);
        if (!isHeldUp && heldUp === 0) aside("new connections wait no more");
      },
      onEnd: (fault) => {
        open.delete(forwarded);
        if (fault !== undefined) aside(oneLine(fault));
        detail("closed");
      },
    });
    open.add(forwarded);
  };
  const { server, second, bound } = await listenTwice(local);
  // They wait, paused, until it is known where they lead.
  const early: Socket[] = [];
  const wait = (socket: Socket) => void early.push(socket);
  second?.on("connection", wait);
  // Elsewhere a port of the sandbox is none of this machine.
  if (endpoint.isLoopback && bound.port === port) {
    const passOn = (socket: Socket, told: () => void) => {
      const quiet = { onLost: () => undefined, onDetail: () => undefined };
      const probe = new Forwarded({ socket, connector, token, query, ...quiet, onBegun: told, onEnd: told });
      return () => probe.stop();
    };
    const { leadsBack, others } = await probeLoop(server, bound.address, port, passOn);
    if (leadsBack) {
      server.close();
      second?.close();
      for (const socket of [...others, ...early]) socket.destroy();
      throw usage(
        `the sandbox is on this machine, and its port ${port} is this one: listen on another, as in ${otherPort(port)}`,
      );
    }
    for (const socket of others) accept(socket);
  }
  server.on("connection", accept);
  second?.off("connection", wait).on("connection", accept);
  for (const socket of early) accept(socket);
  const ended = endingSignal(env);
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

/** What may be typed instead. */
const otherPort = (port: number) => `forward ${port < 64_000 ? port + 1_000 : port - 1_000}:${port}`;

type Bound = { readonly address: string; readonly port: number };

function hostAndPort({ address, port }: Bound): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

type Listening = { readonly server: Server; readonly second: Server | undefined; readonly bound: Bound };

/** Listens, and where the address is localhost on ::1 too, at the same port: browsers try that first. @throws {CliError} */
async function listenTwice({ address, port, isLocalhost }: ForwardCommand["local"], attempts = 5): Promise<Listening> {
  const server = newServer();
  const bound = await listen(server, { address, port });
  if (isLocalhost !== true) return { server, second: undefined, bound };
  const second = newServer();
  try {
    await listen(second, { address: "::1", port: bound.port });
    return { server, second, bound };
  } catch (error) {
    const code = error instanceof CliError && error.cause instanceof Error && "code" in error.cause && error.cause.code;
    // A machine without IPv6 has nobody who would come that way.
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
      const why = error.code === "EADDRINUSE" ? "the port is taken" : error.message;
      reject(new CliError(`cannot listen on ${hostAndPort({ address, port })}: ${why}`, EXIT.failed, { cause: error }));
    });
    server.listen(port, address, () => {
      const bound = server.address();
      if (typeof bound === "object" && bound !== null) resolve(bound);
    });
  });
}

function endingSignal(env: Environment): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ENDING) process.once(signal, () => void (isIgnoredFromStart(signal, env) || resolve(signal)));
  });
}
