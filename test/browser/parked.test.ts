// A session that is parked again and again, its object taken out of memory each time, with a page, a command line and a plain client
// at it: each of them types, the process writes by itself, and both hops break, fall silent and come late. PARKED_ROUNDS=100 has it
// done a hundred times.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch } from "../../packages/dashboard/test/browser.ts";
import { ROOT } from "../../packages/local/src/paths.ts";
import { anyFreePort } from "../../packages/local/src/ports.ts";
import { type System, startSystem } from "../../packages/local/src/system.ts";
import { BridgeProxy } from "../e2e/support/bridge-proxy.ts";
import { CLI, cliEnv } from "../e2e/support/cli.ts";
import { connect, type Params, type TestClient } from "../e2e/support/client.ts";
import { fresh, type Person } from "../e2e/support/system.ts";
import { until } from "../e2e/support/wait.ts";
import { logIn } from "./support/fixture.ts";
import { Tab } from "./support/tab.ts";

const ROUNDS = Number(process.env.PARKED_ROUNDS ?? 5);
const ROUND_MS = 30_000;
const dir = mkdtempSync(join(tmpdir(), "sbx-parked-"));
const fifo = join(dir, "news");

let system: System;
let inner: BridgeProxy;
let outer: BridgeProxy;
let browser: Browser;

beforeAll(async () => {
  const [bridge, worker] = [await anyFreePort(), await anyFreePort()];
  inner = await BridgeProxy.listen(bridge);
  outer = await BridgeProxy.listen(worker);
  system = await startSystem({
    dir,
    ports: { bridge, worker },
    workerEntry: join(ROOT, "worker/test/chaos-entry.ts"),
    workerFlags: ["unsafe_module"],
    workerVars: {
      ...{ PARK_SECONDS: "1", PARK_PLAIN: "1", BRIDGE_URL: inner.url, LIMIT_ATTACHES_PER_MINUTE: "1000" },
      ALLOWED_HOSTS: new URL(outer.url).host,
    },
  });
  browser = await launch(`--host-resolver-rules=MAP localhost:${worker} ${new URL(outer.url).host}`);
  execFileSync("mkfifo", [fifo]);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await system?.stop();
  await Promise.all([inner?.close(), outer?.close()]);
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

const SILENT = /"type":"(pong|stdin_ack)"/;

/** The tab of a person who has logged in there, and all that its page is told. */
async function openPage(path: string): Promise<{ tab: Tab; told: string[] }> {
  const tab = new Tab(await (await browser.newContext()).newPage());
  const told: string[] = [];
  tab.page.on("websocket", (socket) =>
    socket.on("framereceived", ({ payload }) => {
      if (typeof payload === "string" && !SILENT.test(payload)) told.push(payload);
    }),
  );
  await tab.page.goto(new URL(path, system.origin).href);
  await logIn(tab, "alice");
  await tab.state("attached");
  return { tab, told };
}

const toldTo = (client: TestClient): string[] =>
  client.received.flatMap((one) => (one.kind === "control" && !SILENT.test(one.text) ? [one.text] : []));

test(
  `H21, H21a: page, command line and plain client through ${ROUNDS} evictions, with typing, output, cuts, silence and a killed Worker between: nothing lost, doubled or said`,
  async () => {
    const token = await system.mintToken({ sub: "alice", org: "local", expires: 7_200 });
    const who: Person = { sub: "alice", org: "local", token };
    const [sandbox, session] = [fresh("box"), fresh("s")];
    const script = `stty -echo; (while :; do cat ${fifo}; done) & echo ready; while read line; do echo "got $line"; done`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const made = await fetch(`${system.origin}/api/sandboxes/${sandbox}/sessions/${session}`, {
      ...{ method: "PUT", headers, body: JSON.stringify({ cmd: "sh", args: ["-c", script], tty: true }) },
    });
    expect(made.status).toBe(201);

    const { tab, told } = await openPage(`/?sandbox=${sandbox}&session=${session}&debug=1&renderer=dom`);
    const line = spawn(process.execPath, [CLI, outer.url, "--sandbox", sandbox, "--session", session], {
      env: cliEnv(who),
    });
    const heard = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) line[name].on("data", (bytes) => (heard[name] += String(bytes)));
    /** The plain client's connections: it comes back where its output ended. */
    let before = "";
    const attachPlain = (place: Params) => {
      const options = { server: outer.url.replace(/^http/, "ws"), protocols: [], pings: true };
      return connect(who, { sandbox, session, ...place }, options);
    };
    let plain = await attachPlain({});
    const plainText = () => before + plain.text();

    const expected = ["ready"];
    const allHave = async (row: string) => {
      expected.push(row);
      const text = `${expected.join("\r\n")}\r\n`;
      await tab.find(new RegExp(`^${row}$`));
      await until(`the command line's "${row}"`, () => heard.stdout === text, ROUND_MS);
      await until(`the plain client's "${row}"`, () => plainText() === text, ROUND_MS);
    };
    const evict = () =>
      until(
        "a parked session",
        async () => {
          const place = new URLSearchParams({ sandbox, session });
          const answer = await fetch(`${system.origin}/chaos/evict?${place}`, { method: "POST", headers });
          return answer.status === 204;
        },
        ROUND_MS,
        100,
      );
    expected.pop();
    await allHave("ready");

    const news = () => [...told, "|", ...toldTo(plain), "|", heard.stderr];
    const hellos = () => told.filter((text) => text.includes('"type":"hello"')).length;
    /** Breaks every client's connection. Each comes back where it was. */
    const breakOff = async (how: () => void | Promise<void>) => {
      before = plainText();
      const resume = String((await plain.hello()).resume);
      const helloCount = hellos();
      await how();
      await plain.closed;
      plain = await attachPlain({ resume, offset: Buffer.byteLength(before) });
      await until("the page's return", () => hellos() > helloCount, ROUND_MS);
      await tab.state("attached");
    };
    const types = [
      (text: string) => tab.run(text),
      (text: string) => void line.stdin.write(`${text}\n`),
      (text: string) => plain.type(`${text}\n`),
      (text: string) => writeFile(fifo, `${text}\n`),
    ];
    const names = ["got page", "got line", "got plain", "news"];
    const isInLog = async (row: string) => {
      const address = `${system.origin}/api/sandboxes/${sandbox}/sessions/${session}/output?format=plain&tail=4096`;
      return (await (await fetch(address, { headers })).text()).includes(row);
    };

    for (let round = 0; round < ROUNDS; round += 1) {
      await evict();
      const said = news();
      const by = round % types.length;
      const row = `${names[by]} ${round}`;
      const type = async () => types[by]?.(row.replace("got ", ""));
      switch (round % 5) {
        case 0: // The clients' network is silent while the process writes, and what they type comes late.
          outer.freeze();
          await type();
          if (by !== 3) {
            expected.push(`frozen ${round}`);
            await writeFile(fifo, `frozen ${round}\n`);
          }
          await until("the output in silence", () => isInLog(by === 3 ? row : `frozen ${round}`), ROUND_MS);
          outer.thaw();
          break;
        case 1: // The bridge is slow to answer the object that wakes.
          inner.hold();
          await type();
          if (by !== 3) await until("the knock", () => inner.heldCount > 0, ROUND_MS);
          inner.release();
          break;
        case 2: // The Worker is killed while the session is parked.
          await breakOff(() => system.restartWorker());
          await type();
          break;
        case 3: // The object's way to the bridge breaks as it wakes.
          await type();
          inner.cut();
          break;
        default: // The clients' network breaks while the session is parked.
          await breakOff(() => outer.cut());
          await type();
      }
      await allHave(row);
      // A hop that breaks is said, and mended; silence, late news and evictions are not.
      if (round % 5 < 2) expect(news()).toEqual(said);
    }
    line.kill();
    plain.drop();
    expect(tab.problems).toEqual([]);
    expect(await tab.lines()).toEqual(expected);
  },
  ROUNDS * ROUND_MS,
);
