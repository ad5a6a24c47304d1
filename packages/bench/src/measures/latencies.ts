// The measurements of how long something takes: to a prompt, a key and its echo, ^C and the next prompt.

import { createServer, connect as dial, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { median, percentile, scaled } from "../base/numbers.ts";
import { LINK_PORTS, type Subject } from "../subjects/subjects.ts";
import { openTerminal, seen, type Terminal } from "../subjects/terminal.ts";
import { echoes, KEY, PATIENCE_MS, type Result, readyCat, received, SHELL, startFlood } from "./measuring.ts";

/** The command into which ^C is typed, and when. */
const YES = { command: "yes", runs: (terminal: Terminal) => received(terminal, 1_000_000) };
const SILENT = {
  command: "sh -c 'printf RUN%s NING; exec sleep 60'",
  runs: (terminal: Terminal) => seen(terminal, "RUNNING"),
};
/** A flood that echoes too: keys come back in the midst of lines that do not hold them. */
const ECHO_IN_FLOOD = ["sh", "-c", `stty raw -echo; yes ${"0123456789".repeat(6)} & exec cat`];
/** As much of a flood has gone by before keys are typed: a reader that stopped before it has stopped for good. */
const STOPPED_BYTES = 8_000_000;
const ALONE = ", without it";

/** What the first of many have brought is over. */
const BETWEEN_MS = 2_000;
const AT_ONCE = 200;
/** Slower counts as never: a hundred times as long as it should take. */
const AT_ONCE_PATIENCE_MS = 30_000;
/** The time of one shell's end must not be measured as another's beginning. */
const TEARDOWN_MS = 10;
/** Where an echo takes a second and more, fewer of them have to do. */
const UNDER_FLOOD_MS = 20_000;

/** From the start of a connection to the shell's prompt: of a fresh server's first twenty connections, and of a warm one's. */
export async function connectToPrompt(subject: Subject, share = 1): Promise<Result> {
  const first = scaled(20, share, 5);
  const times: number[] = [];
  for (let i = 0; i < 5 * first; i += 1) {
    const from = performance.now();
    const terminal = await openTerminal(subject.spec(SHELL));
    await seen(terminal, "PROMPT> ");
    times.push(performance.now() - from);
    terminal.close();
    await pause(TEARDOWN_MS);
  }
  // A Worker compiles its code while the first of them come.
  const [cold, warm] = [times.slice(0, first), times.slice(2 * first)];
  return {
    "first prompt p50, ms": median(cold),
    "first prompt p95, ms": percentile(cold, 0.95),
    "connect to prompt, ms": median(warm),
    "connect to prompt p95, ms": percentile(warm, 0.95),
  };
}

/** Many at once, as when a tenant's people all come back: until the last of them has its prompt. */
export async function connectAtOnce(subject: Subject, share = 1): Promise<Result> {
  const count = scaled(AT_ONCE, share, 20);
  for (let i = 0; i < 2; i += 1) (await prompts(subject, 20)).forEach((one) => void one.close());
  await pause(BETWEEN_MS);
  const from = performance.now();
  // What is still open then is closed with the measurement.
  const never = pause(AT_ONCE_PATIENCE_MS, undefined, { ref: false }).then(() => undefined);
  const terminals = await Promise.race([prompts(subject, count), never]);
  const eachMs = terminals === undefined ? Number.POSITIVE_INFINITY : (performance.now() - from) / count;
  for (const terminal of terminals ?? []) terminal.close();
  return { [`connect to prompt, ${AT_ONCE} at once, ms each`]: eachMs };
}

function prompts(subject: Subject, count: number): Promise<Terminal[]> {
  const open = async () => {
    const terminal = await openTerminal(subject.spec(SHELL));
    await seen(terminal, "PROMPT> ");
    return terminal;
  };
  return Promise.all(Array.from({ length: count }, open));
}

/** A keystroke to a program on a raw terminal and back: a fresh server's first thousand, and the next thousand. */
export async function echoIdle(subject: Subject, share = 1): Promise<Result> {
  const terminal = await readyCat(subject);
  const cold = await echoes(terminal, scaled(1_000, share, 100));
  const warm = await echoes(terminal, scaled(1_000, share, 100));
  terminal.close();
  return {
    "first echoes p50, ms": percentile(cold, 0.5),
    "first echoes p99, ms": percentile(cold, 0.99),
    "echo idle p50, ms": percentile(warm, 0.5),
    "echo idle p99, ms": percentile(warm, 0.99),
  };
}

/** The same while another session of the same server floods another client. */
export async function echoUnderFlood(subject: Subject, share = 1): Promise<Result> {
  const terminal = await readyCat(subject);
  const flood = await startFlood(subject);
  const times = await echoes(terminal, scaled(500, share, 50), UNDER_FLOOD_MS * share);
  const { megabytesPerSecond } = await flood.end();
  terminal.close();
  return {
    "echo under flood p50, ms": percentile(times, 0.5),
    "echo under flood p99, ms": percentile(times, 0.99),
    "... beside a flood of, MB/s": megabytesPerSecond,
  };
}

/**
 * The cost to the others of a viewer that stops reading: a key typed into a flooded session, and one typed into another session,
 * with and without such a viewer of the flood. In turn, so that a machine that slows down slows both.
 */
export async function echoBesideStoppedViewer(subject: Subject, share = 1): Promise<Result> {
  const times = new Map<string, number[]>();
  const note = (row: string, more: readonly number[]) => times.set(row, [...(times.get(row) ?? []), ...more]);
  for (let i = 0; i < 2 * scaled(3, share, 1); i += 1) {
    const hasViewer = i % 2 === 1;
    const session = `stopped-${process.pid}-${Date.now()}`;
    const driver = await openTerminal(subject.spec(ECHO_IN_FLOOD, { session }));
    const viewer = hasViewer ? await stoppedViewer(subject, session) : undefined;
    await received(driver, STOPPED_BYTES);
    note(`key into a flooded session p99, ms${hasViewer ? "" : ALONE}`, await echoes(driver, 100, PATIENCE_MS, KEY));
    driver.close();
    viewer?.close();
  }
  for (let i = 0; i < 2 * scaled(3, share, 1); i += 1) {
    const hasViewer = i % 2 === 1;
    const terminal = await readyCat(subject);
    const session = `beside-${process.pid}-${Date.now()}`;
    const flood = await startFlood(subject, session);
    const viewer = hasViewer ? await stoppedViewer(subject, session) : undefined;
    note(`key into another session p99, ms${hasViewer ? "" : ALONE}`, await echoes(terminal, 200, PATIENCE_MS));
    await flood.end();
    viewer?.close();
    terminal.close();
  }
  const rows = [...times].map(([row, values]) => [row, percentile(values, 0.99)] as const);
  return Object.fromEntries(rows);
}

/** A viewer that has been shown something, and then reads no more. */
async function stoppedViewer(subject: Subject, session: string): Promise<Terminal> {
  const viewer = await openTerminal(subject.spec([], { session, role: "viewer" }));
  await received(viewer, 1);
  viewer.pause();
  return viewer;
}

/** From ^C in a flood to the shell's prompt; and what that takes where nothing at all comes between the two. */
export async function interrupt(subject: Subject, share = 1): Promise<Result> {
  const times = await interrupts(subject, subject.url, scaled(20, share, 3));
  const silent = await interrupts(subject, subject.url, scaled(20, share, 3), SILENT);
  return {
    "^C in a flood p50, ms": median(times),
    "^C in a flood max, ms": Math.max(...times),
    "^C of a silent program p50, ms": median(silent),
    "^C of a silent program max, ms": Math.max(...silent),
  };
}

/** The same through a link of 8 MB/s, and through one of 1 MB/s with 50 ms each way. */
export async function interruptOnSlowLinks(subject: Subject, share = 1): Promise<Result> {
  const result: Record<string, number> = {};
  const links = [
    { name: "^C at 8 MB/s, ms", bytesPerSecond: 8e6, delayMs: 0 },
    { name: "^C at 1 MB/s and 2 x 50 ms, ms", bytesPerSecond: 1e6, delayMs: 50 },
  ];
  for (const [i, { name, ...options }] of links.entries()) {
    const link = await openLink(subject.url, { ...options, port: LINK_PORTS[i] ?? 0 });
    result[name] = median(await interrupts(subject, link.url, scaled(3, share, 1)));
    link.close();
  }
  return result;
}

async function interrupts(subject: Subject, url: string, count: number, program = YES): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const terminal = await openTerminal(subject.spec(SHELL, { url }));
    await seen(terminal, "PROMPT> ");
    terminal.send(Buffer.from(`${program.command}\r`));
    await program.runs(terminal);
    const from = performance.now();
    const prompt = seen(terminal, "PROMPT> ");
    terminal.send(Buffer.from("\x03"));
    const isThere = await Promise.race([prompt.then(() => true), pause(PATIENCE_MS).then(() => false)]);
    times.push(isThere ? performance.now() - from : Number.POSITIVE_INFINITY);
    terminal.close();
    if (!isThere) break;
  }
  return times;
}

type Link = { readonly url: string; close(): void };

type LinkOptions = { readonly port: number; readonly bytesPerSecond: number; readonly delayMs: number };

/** How much may be on the link before the sender is held: as much as a queue in a router holds. */
const QUEUE_BYTES = 32 * 1024;

/** A TCP link of a given rate and delay, in both directions, in front of a loopback server. */
function openLink(target: string, options: LinkOptions): Promise<Link> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer({ highWaterMark: 16_384 }, (near) => {
    const far = dial({ port: Number(port), host: hostname });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      carry(from, to, options);
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  return new Promise((resolve) => {
    server.listen(options.port, "127.0.0.1", () => {
      resolve({
        url: `http://127.0.0.1:${options.port}`,
        close: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

/** Each chunk leaves when the link has carried those before it, and arrives a delay later. */
function carry(from: Socket, to: Socket, { bytesPerSecond, delayMs }: LinkOptions): void {
  let freeAt = 0;
  let queued = 0;
  from.on("data", (chunk) => {
    const now = performance.now();
    freeAt = Math.max(freeAt, now) + (chunk.length / bytesPerSecond) * 1000;
    queued += chunk.length;
    if (queued > QUEUE_BYTES) from.pause();
    setTimeout(() => {
      queued -= chunk.length;
      if (queued <= QUEUE_BYTES) from.resume();
    }, freeAt - now);
    setTimeout(() => to.writable && to.write(chunk), freeAt - now + delayMs);
  });
}
