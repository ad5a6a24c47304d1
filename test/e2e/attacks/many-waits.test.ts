// Programs that wait or read in numbers and amounts beyond the limits: those above are told, memory is bounded, neighbours are served.
// Full size by SBX_LOAD: 10,000 waits, and 100 MB of output, in a Worker that collects garbage at once.
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { api, fresh, person, pids } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MB = 1_000_000;
const IS_FULL = process.env.SBX_LOAD === "full";
const WAITS = IS_FULL ? 10_000 : 400;
/** Waits that begin at one time. */
const BATCH = 100;
const OUTPUT_BYTES = IS_FULL ? 100 * MB : 2 * MB;
/** What may be added to the Worker's memory, far below what the waits or the output would take if they were kept. */
const ROOM_BYTES = 500 * MB;
const REFUSED_ROOM_BYTES = 100 * MB;
/** No test may take the machine down: beyond this the Worker is ended. */
const MOST_BYTES = 1_500 * MB;
const WATCH_MS = 100;

let watch: ReturnType<typeof setInterval>;
let startBytes = 0;
let peakBytes = 0;

beforeEach(async () => {
  const { worker, bridge } = await pids();
  const ids = [...namedInGroup("workerd", worker), bridge];
  const resident = () => ids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  startBytes = resident();
  peakBytes = startBytes;
  watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, resident());
    if (peakBytes < MOST_BYTES) return;
    clearInterval(watch);
    process.kill(-worker, "SIGKILL");
  }, WATCH_MS);
});
afterEach(() => clearInterval(watch));

test("R3: of many waits at once 256 stay, the others are 429 with Retry-After, and neighbours are served", async () => {
  const at = new Programs(await person());
  await at.put("s", { cmd: "cat" });
  // A person has 600 calls a minute, an address a limit of its own.
  const callers = await Promise.all(Array.from({ length: WAITS / 400 }, () => person({ org: at.who.org })));
  const neighbour = await connect(await person(), { session: fresh("s"), cmd: "cat" });
  await neighbour.hello();
  const body = JSON.stringify({ until: { text: "go" }, from: 0, timeoutMs: 300_000 });
  const statuses = new Map<number, number>();
  let early = 0;
  const ask = async (i: number) => {
    const who = callers[i % callers.length] ?? at.who;
    const headers = { "CF-Connecting-IP": `10.2.${Math.floor(i / 40)}.1` };
    const response = await api(who, at.path("/sessions/s/wait"), { method: "POST", headers, body });
    const text = await response.text();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (response.status !== 429) return;
    early += 1;
    expect([Number(response.headers.get("Retry-After")) > 0, text.includes('"too_many_')]).toEqual([true, true]);
  };
  const waits: Promise<void>[] = [];
  let halfBytes = 0;
  while (waits.length < WAITS) {
    // More at a time are a matter of this machine's cores.
    if (waits.length === WAITS / 2) halfBytes = peakBytes;
    for (let i = 0; i < BATCH; i += 1) waits.push(ask(waits.length));
    neighbour.type(`echo ${waits.length}\n`);
    await neighbour.output(`echo ${waits.length}\n`);
    await until("answers to those beyond the limit", () => early >= waits.length - 256);
  }
  const typist = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await typist.hello();
  typist.type("go\n");
  await Promise.all(waits);
  expect([...statuses.keys()].sort()).toEqual([200, 429]);
  expect(statuses.get(200)).toBeGreaterThan(0);
  expect(statuses.get(200)).toBeLessThanOrEqual(256);
  // What is refused leaves nothing behind.
  if (IS_FULL) expect(peakBytes - halfBytes).toBeLessThan(REFUSED_ROOM_BYTES);
  expect(peakBytes - startBytes).toBeLessThan(ROOM_BYTES);
}, 600_000);

const LINE = 12;
/** The output at an offset: numbered lines of twelve bytes. */
function numbered(from: number, to: number): string {
  const first = Math.floor(from / LINE);
  const lines = Array.from(
    { length: Math.ceil(to / LINE) - first },
    (_, i) => `${String(first + i).padStart(11, "0")}\n`,
  );
  return lines.join("").slice(from - first * LINE, to - first * LINE);
}

test("D1, D6, T2, T4: a large output in pages, in a stream and by a hostile pattern: each byte true or a gap", async () => {
  const at = new Programs(await person());
  const count = Math.floor(OUTPUT_BYTES / LINE);
  const script = `read -r go; seq -f %011.0f 0 ${count - 1}; echo the end; read -r go`;
  await at.put("s", { cmd: "sh", args: ["-c", script] });
  const end = count * LINE + "the end\n".length;
  // Nested repeats take a backtracking engine for ever at each line of digits.
  const hostile = at.wait("s", { until: { match: "(([0-9]+)*)*x|the (end)" }, from: 0, timeoutMs: 300_000 });
  const streamed = readStream(at);
  const paged = readPages(at, end);
  await at.ask("POST", "/sessions/s/input", { enter: true });
  const met = (await hostile).body;
  expect(met).toMatchObject({ outcome: "met", match: { text: "the end", from: count * LINE } });
  expect(await paged).toBe(end);
  await at.ask("POST", "/sessions/s/input", { enter: true });
  expect(await streamed).toBe(end);
  expect(peakBytes - startBytes).toBeLessThan(ROOM_BYTES);
}, 600_000);

/** @param end Where the numbered lines end. */
function check(from: number, output: string, end: number): void {
  const to = from + output.length;
  const lines = from < end ? numbered(from, Math.min(to, end)) : "";
  const last = to > end ? LAST_LINE.slice(Math.max(0, from - end), to - end) : "";
  expect([from, output.length, output === lines + last]).toEqual([from, output.length, true]);
}

const LAST_LINE = "the end\n";

async function readPages(at: Programs, end: number): Promise<number> {
  let from = 0;
  while (from < end) {
    const { body } = await at.read("s", { from, waitMs: 60_000, maxBytes: 1_048_576 });
    expect(body.from).toBe(body.gap?.to ?? from);
    check(body.from, body.output, end - LAST_LINE.length);
    expect(body.next).toBe(body.from + body.output.length);
    from = body.next;
  }
  return from;
}

async function readStream(at: Programs): Promise<number> {
  const response = await api(at.who, at.path("/sessions/s/output?from=0"), {
    headers: { Accept: "text/event-stream" },
  });
  let text = "";
  let next = 0;
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const { name, data } = /^event: (?<name>.*)\nid: .*\ndata: (?<data>.*)$/.exec(block)?.groups ?? {};
      if (data === undefined) continue;
      const event = JSON.parse(data) as { from: number; to: number; next: number; output: string };
      if (name === "gap") next = event.to;
      if (name !== "output") continue;
      expect(event.from).toBe(next);
      check(event.from, event.output, Math.floor(OUTPUT_BYTES / LINE) * LINE);
      next = event.next;
    }
  }
  return next;
}
