// Flow control over the whole path: who is waited for, and what a reader that stops costs the others.
import { expect, test } from "vitest";
import { connect, type TestClient } from "../support/clients/client.ts";
import { allProcesses, residentBytes } from "../support/system/processes.ts";
import { api, fresh, type Person, person, pids } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
/** Each line says which it is: a byte lost, doubled or out of place shows. */
const COUNTING = { cmd: "sh", arg: ["-c", "echo pid=$$; exec seq 100000000 999999999"] };

async function pidOf(client: TestClient): Promise<number> {
  return Number(/pid=(\d+)/.exec(await client.output(/pid=\d+\r?\n/))?.[1]);
}

/** Resolves once the process sleeps and has used no CPU time for half a second, as its own sandbox sees it. */
async function asleep(who: Person, pid: number): Promise<void> {
  const look = `now=$(cut -d" " -f14,15 /proc/${pid}/stat)`;
  const script = `same=0; while [ $same -lt 10 ]; do ${look}; [ "$now" = "$was" ] && same=$((same+1)) || same=0; was=$now; sleep 0.05; done`;
  const watch = await connect(who, { session: fresh("watch"), cmd: "sh", arg: ["-c", script] });
  expect((await watch.end()).exit).toMatchObject({ code: 0 });
}

async function serverBytes(): Promise<number> {
  const { worker, bridge } = await pids();
  const servers = allProcesses().filter(
    (one) => one.group === bridge || (one.group === worker && one.name === "workerd"),
  );
  return servers.reduce((total, one) => total + residentBytes(one.pid), 0);
}

/** The lines of `text`, which must count on from one to the next; the first and last may be cut. */
function expectCounting(text: string): void {
  const lines = text.split(/\r?\n/).slice(1, -1).map(Number);
  const wrong = lines.findIndex((line, i) => i > 0 && line !== (lines[i - 1] ?? 0) + 1);
  expect(wrong === -1 ? [] : lines.slice(wrong - 1, wrong + 1)).toEqual([]);
}

test("W: a lone reader that stops holds a process back, at no cost, and loses nothing", async () => {
  const who = await person();
  const client = await connect(who, { session: fresh("s"), ...COUNTING, tty: 1 }, { acks: false });
  const pid = await pidOf(client);
  await asleep(who, pid);
  const inFlight = client.offset;
  expect(inFlight).toBeGreaterThan(0);
  expect(inFlight).toBeLessThanOrEqual(Number((await client.hello()).window));
  const before = await serverBytes();
  await asleep(who, pid);
  expect(client.offset).toBe(inFlight);
  // What it would have printed meanwhile is many times that; the servers' own garbage is not.
  expect((await serverBytes()) - before).toBeLessThan(16 * MIB);

  // It reads on: what was held comes, from the very next byte.
  for (let round = 0; round < 4; round += 1) {
    const acked = client.offset;
    client.say({ type: "ack", offset: acked });
    await until("more output", () => client.offset > acked);
    await asleep(who, pid);
  }
  expect(client.messages("gap")).toEqual([]);
  expectCounting(client.text());
  client.drop();
});

test("W: beside an active driver a reader that stops holds nobody back, and is told of its gap when it reads on", async () => {
  const who = await person();
  const session = fresh("s");
  const stopped = await connect(who, { session, ...COUNTING, tty: 1 }, { acks: false });
  await pidOf(stopped);
  const driver = await connect(who, { session });
  // Beyond what anybody's window and the log hold.
  await until("the driver to be far ahead", () => driver.offset > 4 * MIB);
  const reached = stopped.offset;
  expect(reached).toBeLessThanOrEqual(Number((await stopped.hello()).window));
  const told = stopped.text();
  stopped.say({ type: "ack", offset: reached });
  const gap = await stopped.message("gap");
  expect(gap.from).toBe(reached);
  expect(Number(gap.to)).toBeGreaterThan(4 * MIB - 2 * MIB);
  await until("output after the gap", () => stopped.text().length > told.length + 1000);
  expectCounting(told);
  expectCounting(stopped.text().slice(told.length));
  driver.say({ type: "kill" });
  expect((await driver.end()).exit).toMatchObject({ code: 129, signal: "SIGHUP" });
  expectCounting(driver.text());
});

test("W8: viewers alone, whatever they acknowledge, hold no live process back; they get gap and screen", async () => {
  const who = await person();
  const session = fresh("s");
  const driver = await connect(who, { session, ...COUNTING, tty: 1 });
  await pidOf(driver);
  const deaf = await connect(who, { session, role: "viewer" }, { acks: false });
  const plain = await connect(who, { session, role: "viewer" }, { protocols: [] });
  await deaf.hello();
  await plain.hello();
  await driver.leave();
  await until("the driver's leaving to be told", () => plain.messages("leave").length > 0);
  const written = async () => {
    const answer = await api(who, `/api/sandboxes/default/sessions/${session}`);
    return Number(((await answer.json()) as { offset: number }).offset);
  };
  const from = await written();
  // Beyond what anybody's window and the log hold.
  await until("the process to be far ahead", async () => (await written()) > from + 4 * MIB, 60_000);
  const told = deaf.offset;
  expect(deaf.messages("gap")).toEqual([]);
  deaf.say({ type: "ack", offset: told });
  const gap = await deaf.message("gap");
  expect([gap.from, Number(gap.to) > told]).toEqual([told, true]);
  const back = await connect(who, { session });
  await back.hello();
  back.say({ type: "kill" });
  await back.end();
});
