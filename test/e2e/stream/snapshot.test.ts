// Whoever comes late, comes back or falls behind sees the screen of a PTY as it is: over the whole path, with a flood that
// says of each byte where it stands, and a terminal of the test's own to compare with.
import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { connect, type TestClient } from "../support/clients/client.ts";
import { fresh, person, restartWorker } from "../support/system/system.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const SNAPSHOT = 3;
const SIZE = { cols: 80, rows: 24 };
/** Lines of the flood: nine digits, CR and LF. */
const LINE_BYTES = 11;
const FIRST = 100_000_000;
/** Several logs' worth, 15 MB; at full size a little more than 100 MB. */
const LINES = process.env.SBX_LOAD === "full" ? 9_600_000 : 1_400_000;
/** Of the flood, when somebody comes. */
const EARLY = (LINES * LINE_BYTES) / 8;
const READY = "ready\r\n";
const FLOOD = {
  cmd: "sh",
  arg: ["-c", `stty -echo; echo ready; seq ${FIRST} ${FIRST + LINES - 1}; echo over; exec cat`],
};

/** The flood's bytes from one offset to another. */
function floodBytes(from: number, to: number): Buffer {
  const first = Math.max(0, Math.floor((from - READY.length) / LINE_BYTES));
  const last = Math.min(LINES, Math.ceil((to - READY.length) / LINE_BYTES));
  const lines = Array.from({ length: last - first }, (_, i) => `${FIRST + first + i}\r\n`).join("");
  const over = last === LINES ? "over\r\n" : "";
  const start = READY.length + first * LINE_BYTES;
  return Buffer.from(lines + over).subarray(from - start, to - start);
}

/** What a terminal shows: its lines, and where its cursor is. */
async function shown(...pieces: Uint8Array[]): Promise<{ lines: string[]; cursor: [number, number] }> {
  const terminal = new Terminal({ ...SIZE, allowProposedApi: true });
  for (const piece of pieces) await new Promise<void>((resolve) => terminal.write(piece, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from(
    { length: SIZE.rows },
    (_, y) =>
      active
        .getLine(active.baseY + y)
        ?.translateToString()
        .trimEnd() ?? "",
  );
  terminal.dispose();
  return { lines, cursor: [active.cursorX, active.cursorY] };
}

/** What the client has got since its first snapshot, and where that stands. */
function viewOf(client: TestClient): { snapshot: Buffer; rest: Buffer; offset: number } {
  const at = client.received.findIndex((one) => one.kind === "output" && one.stream === SNAPSHOT);
  const snapshot = client.received[at];
  if (snapshot?.kind !== "output") throw new Error(`No snapshot came:\n${client.describe()}`);
  const rest = client.received.slice(at + 1).flatMap((one) => (one.kind === "output" ? [one.bytes] : []));
  return { snapshot: snapshot.bytes, rest: Buffer.concat(rest), offset: client.offset };
}

/** Waits for output beyond `offset`, and, where a gap has led there, for the screen that follows the gap. */
async function reaches(client: TestClient, offset: number): Promise<void> {
  await client.until("output", () => client.offset > offset && client.received.at(-1)?.kind === "output");
}

/** The client's screen is the one that all bytes so far would have drawn. */
async function expectTrueScreen(client: TestClient): Promise<void> {
  const { snapshot, rest, offset } = viewOf(client);
  const expected = await shown(floodBytes(Math.max(0, offset - 16 * KIB), offset));
  expect(await shown(snapshot, rest)).toEqual(expected);
}

test("A9, O7: whoever attaches to a session that has printed much gets 64 KiB at most before it is live, and the true screen: during the flood, after it, and after the exit", async () => {
  const who = await person();
  const session = fresh("s");
  const driver = await connect(who, { session, ...FLOOD, tty: 1, ...SIZE });
  await driver.until("some of the flood", () => driver.offset > EARLY);
  for (const role of ["viewer", "driver"]) {
    const late = await connect(who, { session, role });
    const hello = await late.hello();
    const { offset, live, gap } = hello as unknown as { offset: number; live: number; gap?: number };
    await late.until("a snapshot", () => late.received.some((one) => one.kind === "output"));
    const { snapshot } = viewOf(late);
    console.log(
      `during: ${JSON.stringify({ offset, live, snapshot: snapshot.length, approximate: hello.approximate })}`,
    );
    expect([offset > EARLY, gap, snapshot.length + live - offset <= 64 * KIB]).toEqual([true, undefined, true]);
    await reaches(late, live + 1 * MIB);
    await expectTrueScreen(late);
    await late.leave();
  }

  await driver.until("the end of the flood", () => driver.offset >= READY.length + LINES * LINE_BYTES + 6);
  const after = await connect(who, { session });
  const { offset, live } = await after.hello();
  expect(offset).toBe(READY.length + LINES * LINE_BYTES + 6);
  expect(live).toBe(offset);
  await after.until("a snapshot", () => after.received.some((one) => one.kind === "output"));
  expect(viewOf(after).snapshot.length).toBeLessThanOrEqual(64 * KIB);
  await expectTrueScreen(after);

  after.say({ type: "kill" });
  await driver.end();
  await after.end();
  for (const what of ["told", "stored"]) {
    if (what === "stored") await restartWorker();
    const reader = await connect(who, { session, role: "viewer" });
    await reader.end();
    const view = viewOf(reader);
    expect([view.offset, view.rest.length, reader.messages("exit").length]).toEqual([offset, 0, 1]);
    await expectTrueScreen(reader);
  }
});

/** Floods, and ends each flood by ^C. */
async function interrupt(driver: TestClient): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    const before = driver.offset;
    driver.type("yes\r");
    await driver.until("a flood", () => driver.offset > before + 2 * MIB);
    driver.type("\x03");
    await driver.until("the prompt", () => driver.endsWith("ready> "));
  }
}

test("O5, O7: beside a flood a viewer that reads a KB a second holds up nobody's ^C, and gets gap and screen when it reads on", async () => {
  const who = await person();
  const session = fresh("s");
  const shell = { cmd: "env", arg: ["PS1=ready> ", "bash", "--norc", "--noprofile", "-i"], tty: 1, ...SIZE };
  const driver = await connect(who, { session, ...shell });
  await driver.output("ready> ");
  const viewer = await connect(who, { session, role: "viewer" }, { acks: false });
  await viewer.hello();
  let acked = Number((await viewer.hello()).offset);
  const reading = setInterval(() => {
    acked = Math.min(acked + 100, viewer.offset);
    viewer.say({ type: "ack", offset: acked });
  }, 100);
  // At the viewer's pace one of these floods would take half an hour.
  await interrupt(driver);
  clearInterval(reading);

  const marker = driver.received.length;
  driver.type("clear; echo the end\r");
  await driver.until("the last line", () => {
    const text = Buffer.concat(
      driver.received.slice(marker).flatMap((one) => (one.kind === "output" ? [one.bytes] : [])),
    );
    return /the end\r\n[^\n]*ready> $/.test(text.toString());
  });
  const reached = viewer.offset;
  expect(viewer.messages("gap")).toEqual([]);
  viewer.say({ type: "ack", offset: reached });
  const gap = await viewer.message("gap");
  expect([gap.from, Number(gap.to) > reached]).toEqual([reached, true]);
  const after = viewer.received.findIndex((one) => one.kind === "control" && one.message.type === "gap");
  await viewer.until("a snapshot", () => viewer.received.slice(after).some((one) => one.kind === "output"));
  const pieces = viewer.received.slice(after).flatMap((one) => (one.kind === "output" ? [one] : []));
  expect(pieces[0]?.stream).toBe(SNAPSHOT);
  await viewer.until("all output", () => viewer.offset === driver.offset);
  const { lines, cursor } = await shown(...pieces.map((one) => one.bytes));
  expect([lines.slice(0, 3), cursor]).toEqual([
    ["the end", "ready>", ""],
    [7, 1],
  ]);
});
