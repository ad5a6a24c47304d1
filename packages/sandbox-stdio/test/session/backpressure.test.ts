// Clients that keep up, and would be skipped all the same: what the process does for them, and how little it does for the others.

import { expect, test } from "vitest";
import { newHop } from "../../src/hop/hop-state.ts";
import { forgetAcks, noteAttached, relayAck } from "../../src/hop/relayed-acks.ts";
import {
  type ClientRecord,
  describePace,
  MAX_FRAME_BYTES,
  MIN_WINDOW_BYTES,
  type RelaySession,
} from "../../src/index.ts";
import type { OutputLog } from "../../src/output/output-log.ts";
import { Backpressure, type Pressure } from "../../src/session/backpressure.ts";
import type { Clients } from "../../src/session/clients.ts";
import { Keyboard } from "../../src/session/keyboard.ts";
import { Pace } from "../../src/session/pace.ts";
import type { InnerCommand } from "../../src/wire/inner-messages.ts";
import { InnerRig, join, output, pass, type Rig, rig } from "../support/fixtures.ts";

const LOG_BYTES = 1 << 20;
const PIECE_BYTES = 32_768;
/** A viewer that is sent its first window, acknowledges one byte at a time, and is further and further behind. */
const live = { tty: true, delivery: "live" } as const;

type Crowd = { at: Rig; driver: ClientRecord; viewer: ClientRecord; gaps: () => number };

function crowd(): Crowd {
  const at = rig(live, { logBytes: LOG_BYTES });
  const driver = join(at.session, "driver", { delivery: "live" }).client;
  const viewer = join(at.session, "viewer", { role: "viewer" });
  return { at, driver, viewer: viewer.client, gaps: () => viewer.peer.of("gap").length };
}

const cursorOf = ({ greeted }: ClientRecord): number => greeted?.reader.cursor ?? 0;

/** The process writes a piece, and the driver deals with it at once. */
function write({ at, driver }: Crowd): void {
  output(at, new Uint8Array(PIECE_BYTES));
  while (driver.acked < at.log.endOffset) at.session.command(driver, { type: "ack", offset: cursorOf(driver) });
}

function creep({ at, viewer }: Crowd): void {
  at.session.command(viewer, { type: "ack", offset: Math.min(cursorOf(viewer), viewer.acked + 1) });
}

/** Writes until the process is held, or so much has come. @returns Whether it is held. */
function fill(one: Crowd, bytes = 2 * LOG_BYTES): boolean {
  for (let done = 0; done < bytes && !one.at.session.shouldHold; done += PIECE_BYTES) {
    creep(one);
    write(one);
  }
  return one.at.session.shouldHold;
}

test("W7c: the process waits for a viewer that keeps up and is three quarters of the log behind, and goes on as soon as it is not", () => {
  const one = crowd();
  const mayRelease = () => [one.driver, one.viewer].map((client) => one.at.session.mayReleaseProcess(client));
  expect(mayRelease()).toEqual([true, false]);
  expect(fill(one)).toBe(true);
  const behind = one.at.log.endOffset - cursorOf(one.viewer);
  expect([behind >= (3 * LOG_BYTES) / 4, behind < (3 * LOG_BYTES) / 4 + PIECE_BYTES]).toEqual([true, true]);
  const pace = /^driver paces, 0 of \d+ B .*, waits for a client that would be skipped$/;
  expect(describePace(one.at.session)).toMatch(pace);
  // Now each of the two may set it going, and at the latest it is looked at again after 25 ms.
  expect([mayRelease(), one.at.session.nextTickMs]).toEqual([[true, true], one.at.clock.ms + 25]);
  one.at.session.command(one.viewer, { type: "ack", offset: cursorOf(one.viewer) });
  expect([one.at.session.shouldHold, one.gaps()]).toEqual([false, 0]);
});

test("W7a: the process does not wait for one that has acknowledged nothing for 200 ms", () => {
  const one = crowd();
  fill(one);
  pass(one.at, 199);
  expect(one.at.session.shouldHold).toBe(true);
  pass(one.at, 1);
  expect([one.at.session.shouldHold, one.at.session.nextTickMs]).toEqual([false, undefined]);
});

test("W7c: it waits for 250 ms at most, and then for a tenth of the time: who is slower for long is skipped", () => {
  const one = crowd();
  const { at } = one;
  fill(one);
  const from = at.clock.ms;
  for (; at.session.shouldHold; at.clock.ms += 10) creep(one);
  expect(at.clock.ms - from).toBe(250);
  // It is skipped, and then not waited for at all.
  while (cursorOf(one.viewer) >= at.log.startOffset) write(one);
  at.session.command(one.viewer, { type: "ack", offset: cursorOf(one.viewer) });
  const held = [];
  for (let i = 0; i < 300; i += 1) {
    at.clock.ms += 10;
    creep(one);
    write(one);
    if (at.session.shouldHold) held.push(i);
  }
  expect(held).toEqual([]);
});

test("W7c: of many slow viewers none gets the process to wait for more than a tenth of the time", () => {
  const one = crowd();
  const { at } = one;
  let heldMs = 0;
  for (let turn = 0; turn < 2_000; turn += 1) {
    // A new one at each turn in which there is nobody to wait for.
    const viewer = turn % 50 === 0 ? join(at.session, `v${turn}`, { role: "viewer" }).client : one.viewer;
    const sessions = [...at.session.clients].filter(({ role }) => role === "viewer");
    for (const other of [...sessions, viewer]) {
      if (other.acked < cursorOf(other)) at.session.command(other, { type: "ack", offset: other.acked + 1 });
    }
    if (at.session.shouldHold) heldMs += 5;
    else write(one);
    pass(at, 5);
  }
  expect([heldMs > 500, heldMs <= 250 + 10_000 / 10]).toEqual([true, true]);
});

test("W7b: while one who keeps up is half the log behind, only what its link holds is read ahead for the pacing client", () => {
  const one = crowd();
  const { at, driver } = one;
  const ahead = () => {
    const from = at.log.endOffset;
    while (!at.session.shouldHold) output(at, new Uint8Array(1_024));
    const bytes = at.log.endOffset - from;
    while (driver.acked < at.log.endOffset) at.session.command(driver, { type: "ack", offset: cursorOf(driver) });
    return Math.floor(bytes / 1_024);
  };
  write(one);
  const window = driver.windowBytes;
  expect(ahead()).toBe(Math.ceil((window + MAX_FRAME_BYTES) / 1_024));
  while (at.log.endOffset - cursorOf(one.viewer) <= LOG_BYTES / 2) write(one);
  creep(one);
  // The clock stood still: the link holds nothing. The least window remains, and a frame.
  expect(ahead()).toBe(Math.ceil((MIN_WINDOW_BYTES + MAX_FRAME_BYTES) / 1_024));
});

test("W8b: with viewers alone nobody is waited for", () => {
  const one = crowd();
  one.at.session.leave(one.driver);
  let wasHeld = false;
  for (let i = 0; i < 64; i += 1) {
    creep(one);
    output(one.at, new Uint8Array(PIECE_BYTES));
    wasHeld ||= one.at.session.shouldHold;
  }
  expect(wasHeld).toBe(false);
});

test("W7b, W7c, W9a: over the inner hop the bridge holds the process for whom the session object would have to skip", () => {
  const hop = new InnerRig({ delivery: "live" }).connect().flush();
  const driver = join(hop.session, "driver", { delivery: "live" }).client;
  const viewer = join(hop.session, "viewer", { role: "viewer" });
  hop.flush();
  const capacity = hop.session.log.capacityBytes;
  const turn = () => {
    const offset = Math.min(cursorOf(viewer.client), viewer.client.acked + 1);
    hop.session.command(viewer.client, { type: "ack", offset });
    output(hop.bridge, new Uint8Array(PIECE_BYTES));
    hop.flush();
    hop.session.command(driver, { type: "ack", offset: hop.session.log.endOffset });
    hop.flush();
  };
  for (let bytes = 0; bytes < 4 * capacity && !hop.bridge.session.shouldHold; bytes += PIECE_BYTES) turn();
  const behind = hop.bridge.log.endOffset - cursorOf(viewer.client);
  expect([behind >= (3 * capacity) / 4, behind < capacity]).toEqual([true, true]);
  // It acknowledges nothing more.
  hop.bridge.clock.ms += 200;
  hop.session.tick();
  hop.flush();
  expect(hop.bridge.session.shouldHold).toBe(false);
  for (let bytes = 0; bytes < capacity; bytes += PIECE_BYTES) turn();
  hop.session.command(viewer.client, { type: "ack", offset: cursorOf(viewer.client) });
  expect(viewer.peer.of("gap")).toHaveLength(1);
});

test("W9a: once nobody has to be waited for, each lossless driver of whom less was said is said anew", () => {
  const { session } = rig({ tty: false, delivery: "lossless" });
  const [a, b] = ["a", "b"].map((id) => join(session, id, { delivery: "lossless" }).client);
  if (a === undefined || b === undefined) throw new Error("unreachable");
  const real = ({ acked, windowBytes }: ClientRecord) => ({ offset: acked, window: windowBytes });
  const pace = { update: () => a, pressure: "none" as Pressure, effective: real };
  const said: InnerCommand[] = [];
  const hop = newHop({ hello: () => undefined, bye: () => undefined, clientBye: () => undefined });
  hop.session = { pace } as unknown as RelaySession;
  hop.socket = { send: (frame) => void said.push(JSON.parse(String(frame)) as InnerCommand) };
  for (const client of [a, b]) noteAttached(hop, client);
  const least = { offset: 1, window: 0 };
  Object.assign(pace, { pressure: "waiting", effective: () => least });
  for (const client of [b, a]) relayAck(hop, client);
  expect(said.splice(0)).toEqual(["b", "a"].map((client) => ({ type: "ack", client, ...least })));
  Object.assign(pace, { pressure: "none", effective: real });
  relayAck(hop, a);
  // The bridge would wait for b, which has nothing left to acknowledge.
  expect(said.splice(0)).toEqual([a, b].map((client) => ({ type: "ack", client: client.id, ...real(client) })));
  // Nothing more is said of one that has gone meanwhile.
  Object.assign(pace, { pressure: "waiting", effective: () => least });
  for (const client of [b, a]) relayAck(hop, client);
  forgetAcks(hop, "b");
  said.length = 0;
  Object.assign(pace, { pressure: "none", effective: real });
  relayAck(hop, a);
  expect(said).toEqual([{ type: "ack", client: "a", ...real(a) }]);
});

test("W7c: the slowest counts that keeps up, also at the start of the log: not who does not, nor who is skipped already", () => {
  const stopsAt = (...readers: [cursor: number, keepsUp?: boolean][]) => {
    const log = { startOffset: 100, endOffset: 1_100, capacityBytes: 1_000 } as OutputLog;
    const all = readers.map(([cursor, keepsUp = true]) => ({
      greeted: { reader: { cursor, flow: { keepsUp: () => keepsUp } } },
    }));
    const backpressure = new Backpressure(log, { all } as unknown as Clients);
    return backpressure.update({} as ClientRecord, 0) === "none" ? undefined : backpressure.stopsAt;
  };
  expect([stopsAt([100]), stopsAt([99]), stopsAt([300, false])]).toEqual([850, undefined, undefined]);
  // Each time is looked at anew.
  const log = { startOffset: 0, endOffset: 1_000, capacityBytes: 1_000 };
  const reader = { cursor: 1_000, flow: { keepsUp: () => true } };
  const clients = { all: [{ greeted: { reader } }] } as unknown as Clients;
  const backpressure = new Backpressure(log as OutputLog, clients);
  const seen = [backpressure.update({} as ClientRecord, 0)];
  Object.assign(log, { startOffset: 400, endOffset: 1_400 });
  reader.cursor = 500;
  expect([...seen, backpressure.update({} as ClientRecord, 1)]).toEqual(["none", "waiting"]);
  expect([stopsAt([300], [600]), stopsAt([600], [300]), stopsAt([300, false], [400])]).toEqual([1_050, 1_050, 1_150]);
});

test("W7c: while the process waits, the window of the pacing client ends where the process is held", () => {
  const viewerAt = (cursor: number) => ({
    ...{ id: "v", isPresent: true, role: "viewer" },
    greeted: { reader: { cursor, flow: { keepsUp: () => true } } },
  });
  const effective = (acked: number, linkBytes = 300, frameBytes = 10, cursor = 0) => {
    const log = { startOffset: 0, endOffset: 1_000, capacityBytes: 1_000, frameBytes } as OutputLog;
    const driver = { id: "d", isPresent: true, role: "driver", acknowledges: true, acked, windowBytes: 400, linkBytes };
    const clients = { all: [viewerAt(cursor), driver] } as unknown as Clients;
    const pace = new Pace(log, new Keyboard("collaborative"), clients, { delivery: "live", now: () => 0 });
    const leader = pace.update();
    if (leader === undefined) throw new Error("nobody paces");
    return [pace.pressure, pace.effective(leader).offset, pace.effective(leader).window];
  };
  expect([effective(500), effective(600), effective(900)]).toEqual([
    ["waiting", 500, 240],
    ["waiting", 600, 140],
    ["waiting", 740, 0],
  ]);
  // While it only reads less ahead, it is what the link holds.
  expect([effective(500, 300, 10, 300), effective(900, 300, 10, 300)]).toEqual([
    ["throttled", 500, 300],
    ["throttled", 900, 300],
  ]);
  // Nor is it more than the link holds, or less than nothing.
  expect([effective(500, 100), effective(500, 300, 800)]).toEqual([
    ["waiting", 500, 100],
    ["waiting", 0, 0],
  ]);
});

test("W7b, W7c: it is behind beyond half of the log, and waited for again once a fifth of the longest wait is saved up", () => {
  const leader = {} as ClientRecord;
  const pressures = (cursor: number, ...atMs: number[]) => {
    const log = { startOffset: 0, endOffset: 1_000, capacityBytes: 1_000 } as OutputLog;
    const all = [{ greeted: { reader: { cursor, flow: { keepsUp: () => true } } } }];
    const backpressure = new Backpressure(log, { all } as unknown as Clients);
    return atMs.map((ms) => backpressure.update(leader, ms));
  };
  expect([500, 499, 251, 250].map((cursor) => pressures(cursor, 0)[0])).toEqual([
    ...["none", "throttled", "throttled", "waiting"],
  ]);
  expect(pressures(250, 0, 249, 250, 699)).toEqual(["waiting", "waiting", "throttled", "throttled"]);
  expect(pressures(250, 0, 250, 700)).toEqual(["waiting", "throttled", "waiting"]);
});
