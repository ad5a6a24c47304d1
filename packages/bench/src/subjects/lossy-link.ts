// An IP link of a given delay, rate and loss from this machine to itself, run by Bun: what is sent to FAR comes back to NEAR, as
// if FAR had sent it. Real TCP and UDP run over it. Needs the right to make a network device. Argument: a LinkShape as JSON. Each
// line of its input is a LinkEvent as JSON.

import { dlopen, FFIType } from "bun:ffi";
import { openSync, read, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { type LinkEvent, type LinkShape, NEAR } from "./ip-link.ts";

const { i32, u64, ptr: pointer } = FFIType;
const { symbols: libc } = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  ioctl: { args: [i32, u64, pointer], returns: i32 },
});

const TUNSETIFF = 0x400454ca;
const IFF_TUN_NO_PI = 0x1001;
const SIOCSIFFLAGS = 0x8914;
const SIOCSIFADDR = 0x8916;
const SIOCSIFNETMASK = 0x891c;
const IFF_UP_RUNNING = 0x41;
const [AF_INET, SOCK_DGRAM] = [2, 2];
// struct ifreq: a name, then a union.
const IFREQ_BYTES = 40;
const NAME_BYTES = 16;
const MOST_PACKET_BYTES = 65_536;
/** A router's queue: a packet that finds it full is dropped. */
const QUEUE_MS = 100;

type Queued = { readonly bytes: Uint8Array; readonly dueMs: number };

/** One way of the link. */
class Direction {
  readonly #queue: Queued[] = [];
  #freeAtMs = 0;
  #isTimed = false;

  carry(bytes: Uint8Array): void {
    const now = performance.now();
    if (isHole || this.#freeAtMs - now > QUEUE_MS || Math.random() < shape.loss) return;
    this.#freeAtMs = Math.max(this.#freeAtMs, now) + (1000 * bytes.length) / shape.bytesPerSecond;
    this.#queue.push({ bytes, dueMs: this.#freeAtMs + shape.delayMs });
    this.#time();
  }

  #time(): void {
    const next = this.#queue[0];
    if (next === undefined || this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(() => this.#deliver(), next.dueMs - performance.now());
  }

  #deliver(): void {
    this.#isTimed = false;
    const now = performance.now();
    let count = 0;
    for (; (this.#queue[count]?.dueMs ?? Number.POSITIVE_INFINITY) <= now; count += 1) {
      writeSync(device, this.#queue[count]?.bytes ?? new Uint8Array());
    }
    this.#queue.splice(0, count);
    this.#time();
  }
}

const shape = JSON.parse(process.argv[2] ?? "") as LinkShape;
const device = openSync("/dev/net/tun", "r+");
const request = new Uint8Array(new ArrayBuffer(IFREQ_BYTES));
setUp();
const [there, back] = [new Direction(), new Direction()];
let isHole = false;
let forgetMs = Number.POSITIVE_INFINITY;
const UDP = 17;
/** Bytes of a UDP packet before its checksum, which is optional. */
const UDP_CHECKSUM = 6;

/** What a router knows of a connection: the port of who began, and the one that the server sees. */
type Flow = {
  readonly port: number;
  readonly server: number;
  readonly isUdp: boolean;
  seen: number;
  isKnown: boolean;
  atMs: number;
};
const flows: Flow[] = [];
let nextPort = 20_000;
const packet = new Uint8Array(MOST_PACKET_BYTES);
readOn();
createInterface({ input: process.stdin }).on("line", (line) => happen(JSON.parse(line) as LinkEvent));
console.log(JSON.stringify({ listening: NEAR }));

function setUp(): void {
  const view = new DataView(request.buffer);
  view.setUint16(NAME_BYTES, IFF_TUN_NO_PI, true);
  control(device, TUNSETIFF); // The kernel chooses a name, and writes it into the request.
  const socket = libc.socket(AF_INET, SOCK_DGRAM, 0);
  for (const [what, address] of [
    [SIOCSIFADDR, NEAR],
    [SIOCSIFNETMASK, "255.255.255.252"],
  ] as const) {
    request.fill(0, NAME_BYTES);
    view.setUint16(NAME_BYTES, AF_INET, true);
    request.set(address.split(".").map(Number), NAME_BYTES + 4);
    control(socket, what);
  }
  request.fill(0, NAME_BYTES);
  view.setUint16(NAME_BYTES, IFF_UP_RUNNING, true);
  control(socket, SIOCSIFFLAGS);
}

function control(fd: number, what: number): void {
  if (libc.ioctl(fd, what, request) < 0) throw new Error(`Cannot make a network device: ioctl ${what.toString(16)}`);
}

function readOn(): void {
  read(device, packet, 0, packet.length, null, (error, length) => {
    if (error !== null) throw error;
    turnBack(packet.slice(0, length));
    readOn();
  });
}

function turnBack(bytes: Uint8Array): void {
  const [first = 0] = bytes;
  if (first >> 4 !== 4) return; // The kernel looks for IPv6 neighbours.
  const view = new DataView(bytes.buffer);
  const ports = (first & 15) * 4;
  const [from, to] = [view.getUint16(ports), view.getUint16(ports + 2)];
  const isUdp = bytes[9] === UDP;
  const answered = flows.find((flow) => flow.seen === to && flow.server === from && flow.isUdp === isUdp);
  const flow = answered ?? flowOf(from, to, isUdp);
  if (performance.now() - flow.atMs > forgetMs) flow.isKnown = false;
  flow.atMs = performance.now();
  // A TCP connection ends with what the router knew of it; UDP goes on from another port when the client sends.
  if (!flow.isKnown && (!isUdp || answered !== undefined)) return;
  if (!flow.isKnown) Object.assign(flow, { seen: nextPort++, isKnown: true });
  if (isUdp) {
    view.setUint16(answered === undefined ? ports : ports + 2, answered === undefined ? flow.seen : flow.port);
    view.setUint16(ports + UDP_CHECKSUM, 0);
  }
  // The sum of the two addresses is the same when they are swapped: every other checksum stays true.
  const source = bytes.slice(12, 16);
  bytes.copyWithin(12, 16, 20);
  bytes.set(source, 16);
  (answered === undefined ? there : back).carry(bytes);
}

function flowOf(port: number, server: number, isUdp: boolean): Flow {
  const known = flows.find((flow) => flow.port === port && flow.server === server && flow.isUdp === isUdp);
  if (known !== undefined) return known;
  const flow = { port, server, isUdp, seen: port, isKnown: true, atMs: performance.now() };
  flows.unshift(flow);
  return flow;
}

function happen(event: LinkEvent): void {
  isHole = event.isHole ?? isHole;
  forgetMs = event.forgetMs ?? forgetMs;
  if (event.isMoved === true) for (const flow of flows) flow.isKnown = false;
}
