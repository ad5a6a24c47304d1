// A connection to a TCP port of this machine's loopback, in a process's place: input is sent, received bytes are stdout, and each
// direction ends separately.

import { constants } from "node:os";
import { errno, errnoName, F_DUPFD_CLOEXEC, LibcError, libc, O_CLOEXEC, O_NONBLOCK, Struct } from "../base/libc.ts";
import type { StartFault } from "./command.ts";
import type { ChildProcess, ExitStatus, OutputSink, ProcessEvents } from "./process.ts";
import { ProcessInput } from "./process-input.ts";
import { ProcessOutput } from "./process-output.ts";

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOL_SOCKET = 1;
const SO_ERROR = 4;
const SO_LINGER = 13;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const SHUT_WR = 1;
const POLLOUT = 0x004;
const POLLFD_BYTES = 8;
const { ECONNREFUSED, EINPROGRESS } = constants.errno;

/** The exit of a connection that the other side has reset. */
const RESET: ExitStatus = { code: 1 };

/** Connects to 127.0.0.1, else to ::1. @returns The connection, or why there is none. */
export function connectTcp(port: number, sink: OutputSink, events: ProcessEvents): ChildProcess | StartFault {
  let refusal = 0;
  for (const address of [ipv4(port), ipv6(port)]) {
    const outcome = connected(address);
    if ("fd" in outcome) return takeOver(outcome.fd, sink, events);
    // An error of a machine without IPv6 says nothing about the port.
    if (refusal === 0 || outcome.failure === ECONNREFUSED) refusal = outcome.failure;
  }
  const detail = `Cannot connect to port ${port} of the sandbox: `;
  if (refusal === ECONNREFUSED) return { fault: "connection_refused", detail: `${detail}nothing listens there` };
  return { fault: "start_failed", detail: `${detail}${errnoName(refusal)}` };
}

type SocketAddress = { readonly family: number; readonly bytes: Uint8Array };

function ipv4(port: number): SocketAddress {
  const { view, bytes } = new Struct(16);
  view.setUint16(0, AF_INET, true);
  view.setUint16(2, port);
  bytes.set([127, 0, 0, 1], 4);
  return { family: AF_INET, bytes };
}

function ipv6(port: number): SocketAddress {
  const { view, bytes } = new Struct(28);
  view.setUint16(0, AF_INET6, true);
  view.setUint16(2, port);
  view.setUint8(23, 1);
  return { family: AF_INET6, bytes };
}

function connected({ family, bytes }: SocketAddress): { fd: number } | { failure: number } {
  const fd = libc.socket(family, SOCK_STREAM | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0) return { failure: errno() };
  const failure = libc.connect(fd, bytes, bytes.length) === 0 ? 0 : errno();
  const result = failure === EINPROGRESS ? settled(fd) : failure;
  if (result === 0) {
    const on = new Int32Array([1]);
    libc.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, on, on.byteLength);
    return { fd };
  }
  libc.close(fd);
  return { failure: result };
}

/** On the loopback the handshake is over when connect() returns, unless the backlog is full: then it continues, and bytes wait. */
function settled(fd: number): number {
  const { view, bytes } = new Struct(POLLFD_BYTES);
  view.setInt32(0, fd, true);
  view.setInt16(4, POLLOUT, true);
  if (libc.poll(bytes, 1, 0) === 0) return 0;
  const failure = new Int32Array(1);
  const length = new Uint32Array([failure.byteLength]);
  if (libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, failure, length) !== 0) throw new LibcError("ask a socket");
  return failure[0] ?? 0;
}

function takeOver(fd: number, sink: OutputSink, events: ProcessEvents): ChildProcess | StartFault {
  // Each direction has a descriptor to close, as they end separately.
  const input = libc.fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (input >= 0) return new TcpConnection(fd, input, sink, events);
  const detail = `Cannot connect: ${errnoName(errno())}`;
  libc.close(fd);
  return { fault: "start_failed", detail };
}

class TcpConnection implements ChildProcess {
  /** The other end is not a process of the bridge. */
  readonly pid = 0;
  readonly tty = false;
  readonly #inputFd: number;
  readonly #input: ProcessInput;
  readonly #output: ProcessOutput;
  readonly #events: ProcessEvents;
  #hasInputEnded = false;
  #hasOutputEnded = false;
  #isOver = false;

  constructor(outputFd: number, inputFd: number, sink: OutputSink, events: ProcessEvents) {
    this.#events = events;
    this.#inputFd = inputFd;
    this.#input = new ProcessInput(inputFd, () => events.onWritable());
    this.#output = new ProcessOutput(outputFd, 1, sink, (isBrokenOff) => {
      this.#hasOutputEnded = true;
      if (isBrokenOff) this.#end(RESET);
      else if (this.#hasInputEnded) this.#end({ code: 0 });
      else events.onOutputEnd?.();
    });
  }

  hold(): void {
    this.#output.hold();
  }

  release(): void {
    this.#output.release();
  }

  write(bytes: Uint8Array): number {
    this.#output.expectAnswer();
    const taken = this.#input.write(bytes);
    // The other side is gone. If it may have left output, reading finds out.
    if (this.#input.isClosed && !this.#hasInputEnded && this.#hasOutputEnded) this.#end(RESET);
    return taken;
  }

  closeStdin(): void {
    if (this.#hasInputEnded || this.#isOver) return;
    this.#hasInputEnded = true;
    if (!this.#input.isClosed) libc.shutdown(this.#inputFd, SHUT_WR);
    this.#input.close();
    if (this.#hasOutputEnded) this.#end({ code: 0 });
  }

  veof(): number {
    return 0;
  }

  resize(): void {
    // There is no terminal.
  }

  signal(): boolean {
    return false;
  }

  /** Any signal that is sent to end a process ends the connection. */
  signalAll(name: string): void {
    const number = Object.entries(constants.signals).find(([candidate]) => candidate === name)?.[1];
    if (number === undefined) throw new RangeError(`Cannot send ${name}: no such signal`);
    this.#end({ code: 128 + number, signal: name });
  }

  #end(status: ExitStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // The other side must not take this for an orderly end: it gets a reset.
    if (status.code !== 0 && !this.#input.isClosed) {
      const atOnce = new Int32Array([1, 0]);
      libc.setsockopt(this.#inputFd, SOL_SOCKET, SO_LINGER, atOnce, atOnce.byteLength);
    }
    this.#input.close();
    this.#output.close();
    // As for a program: no callback runs inside a call.
    setImmediate(() => this.#events.onExit(status));
  }
}
