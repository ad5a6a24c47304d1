// A session that is parked again and again, its object taken out of memory each time, with a page, a command line and a plain client
// at it: each of them types, the process writes by itself, and both hops meet what the chaos kit has. PARKED_ROUNDS=100 has it done a
// hundred times, CHAOS_SEED has it done otherwise.
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BreakKind } from "../../packages/chaos/src/faults.ts";
import { launch, STILL } from "../../packages/dashboard/test/browser.ts";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { anyFreePort } from "../../packages/local/src/base/ports.ts";
import { Random } from "../../packages/local/src/base/random.ts";
import { CLI, cliEnv } from "../e2e/support/clients/cli.ts";
import { connect, type Params, type TestClient } from "../e2e/support/clients/client.ts";
import { type System, startSystem } from "../e2e/support/system/own-system.ts";
import { fresh, type Person } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";
import { fastNode, speedUp } from "./support/fast-clock.ts";
import { logIn } from "./support/fixture.ts";
import { drawBreak, KitHop } from "./support/kit-hop.ts";
import { Tab } from "./support/tab.ts";

/** What a round meets while the session is parked or as it wakes, besides bytes that are slow, delayed and in pieces. */
type Fault =
  | { readonly hop: "outer" | "inner"; readonly kind: BreakKind }
  /** The clients' network is silent for a while; the bridge is slow to answer; the Worker is killed; nothing. */
  | "frozen"
  | "held"
  | "killed"
  | "none";

const outerBreak = (kind: BreakKind): Fault => ({ hop: "outer", kind });
const innerBreak = (kind: BreakKind): Fault => ({ hop: "inner", kind });
/** The first ones are what a short run has. */
const FAULTS: readonly Fault[] = [
  ...[outerBreak("silent"), "frozen", innerBreak("late"), "killed", outerBreak("late"), innerBreak("silent"), "held"],
  ...[outerBreak("silent-up"), outerBreak("rst"), innerBreak("fin"), "none", outerBreak("silent-down")],
  ...[innerBreak("rst"), innerBreak("silent-up"), outerBreak("fin"), innerBreak("silent-down"), "none"],
] as const;
const SEED = Number(process.env.CHAOS_SEED ?? 20_261_126);
const ROUNDS = Number(process.env.PARKED_ROUNDS ?? 3);
const ROUND_MS = 120_000;
const CLIENTS = 3;
/** Of all clocks but the bridge's: a half-open connection is noticed after 40 s by design. */
const SPEED = 5;
const dir = mkdtempSync(join(tmpdir(), "sbx-parked-"));
const fifo = join(dir, "news");

let system: System;
let inner: KitHop;
let outer: KitHop;
let line: ChildProcessWithoutNullStreams | undefined;
let browser: Browser;

beforeAll(async () => {
  const [bridge, worker] = [await anyFreePort(), await anyFreePort()];
  inner = await KitHop.listen("inner", SEED, bridge);
  outer = await KitHop.listen("outer", SEED, worker);
  system = await startSystem({
    dir,
    ports: { bridge, worker },
    workerEntry: join(ROOT, "worker/test/support/chaos-entry.ts"),
    workerFlags: ["unsafe_module"],
    workerVars: {
      ...{ PARK_SECONDS: String(SPEED), PARK_PLAIN: "1", BRIDGE_URL: inner.gate.url, CHAOS_SPEED: String(SPEED) },
      ...{ LIMIT_ATTACHES_PER_MINUTE: "1000", ALLOWED_HOSTS: new URL(outer.gate.url).host },
    },
  });
  browser = await launch(`--host-resolver-rules=MAP localhost:${worker} ${new URL(outer.gate.url).host}`);
  execFileSync("mkfifo", [fifo]);
});

afterAll(async () => {
  line?.kill();
  await browser?.close();
  await system?.stop();
  await Promise.all([inner?.close(), outer?.close()]);
  rmSync(dir, { recursive: true, force: true });
});

const SILENT = /"type":"(pong|stdin_ack)"/;

/** The tab of a person who has logged in there, and all that its page is told. */
async function openPage(path: string): Promise<{ tab: Tab; told: string[] }> {
  const tab = new Tab(await (await browser.newContext(STILL)).newPage());
  const told: string[] = [];
  tab.page.on("websocket", (socket) =>
    socket.on("framereceived", ({ payload }) => {
      if (typeof payload === "string" && !SILENT.test(payload)) told.push(payload);
    }),
  );
  await tab.page.addInitScript(speedUp, SPEED);
  await tab.page.goto(new URL(path, system.origin).href);
  await logIn(tab, "alice");
  await tab.state("attached");
  return { tab, told };
}

const toldTo = (client: TestClient): string[] =>
  client.received.flatMap((one) => (one.kind === "control" && !SILENT.test(one.text) ? [one.text] : []));

const SAYS_LOSS = /"type":"(gap|error|exit)"/;

test(
  `H21, H21a: page, command line and plain client through ${ROUNDS} evictions and the chaos kit's faults: nothing lost, doubled or said`,
  async () => {
    const token = await system.mintToken({ sub: "alice", org: "local", expires: 7_200 });
    const who: Person = { sub: "alice", org: "local", token };
    const [sandbox, session] = [fresh("box"), fresh("s")];
    const script = `stty -echo; (while :; do cat ${fifo}; done) & echo ready; while read line; do echo "got $line"; done`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const address = `${system.origin}/api/sandboxes/${sandbox}/sessions/${session}`;
    const made = await fetch(address, {
      ...{ method: "PUT", headers, body: JSON.stringify({ cmd: "sh", args: ["-c", script], tty: true }) },
    });
    expect(made.status).toBe(201);

    const { tab, told } = await openPage(`/?sandbox=${sandbox}&session=${session}&debug=1&renderer=dom`);
    const words = [fastNode(SPEED), CLI, outer.gate.url, "--sandbox", sandbox, "--session", session];
    const cli = spawn(process.execPath, words, { env: cliEnv(who) });
    line = cli;
    const heard = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) cli[name].on("data", (bytes) => (heard[name] += String(bytes)));
    /** The plain client's connections: it comes back where its output ended. */
    let before = "";
    const earlier: string[] = [];
    const attachPlain = (place: Params) => {
      const options = { server: outer.gate.url.replace(/^http/, "ws"), protocols: [], pings: true };
      return connect(who, { sandbox, session, ...place }, options);
    };
    let plain = await attachPlain({});
    const plainText = () => before + plain.text();

    const expected: string[] = [];
    const describe = async () =>
      JSON.stringify(
        {
          page: (await tab.lines()).slice(-4),
          words: await tab.words(),
          told: told.slice(-6),
          heard: [heard.stdout.slice(-80), heard.stderr.slice(-300)],
          plain: plainText().slice(-80),
        },
        undefined,
        1,
      );
    const wait = (what: string, ask: () => boolean | Promise<boolean>) =>
      until(what, ask, ROUND_MS).catch(async (error: unknown) => {
        throw new Error(`${String(error)}, ${at}\n${await describe()}`, { cause: error });
      });
    let at = "at first";
    const allHave = async (row: string) => {
      expected.push(row);
      const text = `${expected.join("\r\n")}\r\n`;
      await wait(`the page's "${row}"`, async () => (await tab.lines()).at(-1) === row);
      await wait(`the command line's "${row}"`, () => heard.stdout === text);
      await wait(`the plain client's "${row}"`, () => plainText() === text);
    };
    const evict = async () => {
      const place = new URLSearchParams({ sandbox, session });
      const answer = await fetch(`${system.origin}/chaos/evict?${place}`, { method: "POST", headers });
      return answer.status === 204;
    };
    const isInLog = async (row: string) => {
      // The Worker may be being restarted.
      const response = await fetch(`${address}/output?format=plain&tail=4096`, { headers }).catch(() => undefined);
      return (await response?.text().catch(() => ""))?.includes(row) === true;
    };
    const write = async (row: string) => {
      await writeFile(fifo, `${row}\n`);
      await wait(`"${row}" in the log`, () => isInLog(row));
      expected.push(row);
    };
    const unsent = async () => Number((await tab.data("unsent-keys")) ?? 0);
    const typists = [
      // At once: a page that is being connected again says that it has not sent these keys. A person types them again.
      async (text: string) => {
        for (let isSent = false; !isSent; ) {
          await tab.state("attached");
          const unsentBefore = await unsent();
          await tab.page.evaluate((typed) => window.sbx.terminal.input(typed), `${text}\r`);
          const isGiven = async () => (await isInLog(`got ${text}`)) || (await unsent()) > unsentBefore;
          await wait(`what becomes of "${text}"`, isGiven);
          isSent = (await unsent()) <= unsentBefore;
        }
      },
      (text: string) => void cli.stdin.write(`${text}\n`),
      (text: string) => plain.type(`${text}\n`),
    ];
    const typist = ["page", "line", "plain"];
    const PLAIN = 2;
    const hellos = () => told.filter((text) => text.includes('"type":"hello"')).length;
    /** Meanwhile each client's connection breaks. Each comes back where it was. */
    const broken = async (meanwhile: () => Promise<void>) => {
      const resume = String((await plain.hello()).resume);
      const [helloCount, connections] = [hellos(), outer.connections];
      await meanwhile();
      // Not by the kind of break: a plain client may take whatever time it likes to notice.
      plain.drop();
      await plain.closed;
      earlier.push(...toldTo(plain));
      before = plainText();
      plain = await attachPlain({ resume, offset: Buffer.byteLength(before) });
      await wait("the page's return", () => hellos() > helloCount);
      await wait("all connections", () => outer.connections >= connections + CLIENTS);
      await tab.state("attached");
    };
    await allHave("ready");

    for (let round = 0; round < ROUNDS; round += 1) {
      const fault = FAULTS[round % FAULTS.length] ?? "none";
      const random = new Random(SEED, `round ${round}`);
      at = `seed ${SEED}, round ${round}: ${JSON.stringify(fault)}`;
      await wait("a parked session", evict);
      const news = () => [...told, "|", ...toldTo(plain), "|", heard.stderr];
      const said = news();
      let by = random.int(0, typists.length - 1);
      // The others are connected anew if a key is not answered for 5 s of their clock.
      if (fault === "frozen") by = PLAIN;
      const type = async () => typists[by]?.(`${typist[by]} ${round}`);
      const isQuiet = fault === "frozen" || fault === "held" || fault === "none";
      if (fault === "held") {
        inner.gate.hold();
        const knocks = async () => {
          await wait("the knock", () => inner.gate.heldCount > 0);
          inner.gate.release();
        };
        await Promise.all([type(), knocks()]);
      } else if (isQuiet) {
        if (random.chance(0.5)) await write(`news ${round}`);
        if (fault === "frozen") outer.gate.freeze();
        const thaws = async () => {
          if (fault === "frozen") await write(`frozen ${round}`);
          outer.gate.thaw();
        };
        await Promise.all([type(), thaws()]);
      } else if (fault !== "killed" && fault.hop === "inner") {
        const count = inner.brokenCount;
        inner.breakNext(drawBreak(random, fault.kind));
        await type();
        await wait("the break", () => inner.brokenCount > count);
      } else {
        // What a plain client has sent nobody acknowledges.
        by = random.int(0, 1);
        await broken(async () => {
          const count = outer.brokenCount;
          if (fault !== "killed") outer.break(drawBreak(random, fault.kind));
          if (random.chance(0.5)) await write(`news ${round}`);
          await Promise.all([type(), fault === "killed" ? system.restartWorker() : undefined]);
          await wait("the break", () => fault === "killed" || outer.brokenCount >= count + CLIENTS);
        });
      }
      await allHave(`got ${typist[by]} ${round}`);
      // The runtime takes no object out of memory on order while a socket's close is not answered.
      outer.endBroken();
      inner.endBroken();
      // A hop that breaks is said, and mended; silence, late news and evictions are not.
      if (isQuiet) expect(news(), at).toEqual(said);
    }
    cli.kill();
    plain.drop();
    expect(tab.problems).toEqual([]);
    expect(await tab.lines()).toEqual(expected);
    expect([...told, ...earlier, ...toldTo(plain)].filter((text) => SAYS_LOSS.test(text))).toEqual([]);
  },
  ROUNDS * ROUND_MS,
);
