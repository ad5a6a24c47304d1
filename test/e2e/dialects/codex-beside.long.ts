// codex' own exec-server and this one over the same cuts, by the same client: the rows of the table in docs/programs.md. What is ours is
// asserted; of the other's it is printed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { childEnv } from "../../../packages/local/src/base/env.ts";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { installedCodex } from "../../../packages/local/src/build/codex.ts";
import { guidedConfig, installCli } from "../support/agents/codex.ts";
import { type Chunk, codexUrl, RawCodex } from "../support/agents/codex-raw.ts";
import { folder, runTask } from "../support/agents/codex-task.ts";
import { Outage } from "../support/agents/outage.ts";
import { CLI, cliEnv } from "../support/clients/cli.ts";
import { fresh, person, restartWorker } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

const LINES = 100;
const OUTAGES = [40, 60];
/** As lines some 50 MB. */
const NUMBERS = 6_500_000;

type Break = (outage: Outage, isOver: () => boolean) => Promise<void>;
/** A server, and how codex gets there through what breaks. */
type Way = {
  readonly name: string;
  make(work: string): Promise<{
    outage: Outage;
    environments: string;
    path: string[];
    /** Of a client without the command line. */
    url: string;
    restart(): Promise<unknown>;
  }>;
};

const toml = (url: string) => `default = "sbx"\n\n[[environments]]\nid = "sbx"\nurl = "${url}"\n`;

/** codex' own server, in a folder of its own. */
class OwnServer {
  readonly #port: number;
  readonly #home: string;
  #child: ReturnType<typeof spawn> | undefined;

  constructor(port: number, home: string) {
    this.#port = port;
    this.#home = home;
    onTestFinished(() => void this.#child?.kill("SIGKILL"));
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<this> {
    const args = [installedCodex(), "exec-server", "--listen", `ws://127.0.0.1:${this.#port}`];
    const env = childEnv({ CODEX_HOME: this.#home, HOME: this.#home, PATH: process.env.PATH ?? "" });
    const child = spawn(process.execPath, args, { cwd: this.#home, env, stdio: ["ignore", "pipe", "ignore"] });
    this.#child = child;
    await within("the other server's address", once(child.stdout, "data"));
    return this;
  }

  async restart(): Promise<void> {
    const child = this.#child;
    const gone = child === undefined ? undefined : once(child, "exit");
    child?.kill("SIGTERM");
    await gone;
    await this.start();
  }
}

const OURS_BY_URL: Way = {
  name: "ours, by url",
  async make() {
    const { outage, origin } = await Outage.make();
    const { url } = await codexUrl(await person(), fresh("box"));
    const broken = url.replace(/^ws:\/\/[^/]+/, origin.replace(/^http/, "ws"));
    return { outage, environments: toml(broken), path: [], url: broken, restart: restartWorker };
  },
};
const OURS_BY_PROGRAM: Way = {
  name: "ours, by program",
  async make() {
    const { outage, origin } = await Outage.make();
    const [who, bin] = [await person(), folder()];
    installCli(bin, CLI, cliEnv(who));
    return { outage, environments: guidedConfig(origin, bin), path: [bin], url: "", restart: restartWorker };
  },
};
const OTHERS: Way = {
  name: "codex exec-server",
  async make() {
    const server = await new OwnServer(await anyFreePort(), folder()).start();
    const { outage, origin } = await Outage.make(server.origin);
    const url = origin.replace(/^http/, "ws");
    return { outage, environments: toml(url), path: [], url, restart: () => server.restart() };
  },
};

const brief: Break = async (outage, isOver) => {
  for (let cuts = 0; cuts < 100 && !isOver(); cuts += 1) {
    await delay(100);
    outage.begin();
    outage.end();
  }
};
const long =
  (seconds: number): Break =>
  async (outage) => {
    outage.begin();
    await delay(seconds * 1_000);
    outage.end();
  };

/** @returns What the task came to, in a line. */
async function row(way: Way, breaks: Break | "restart"): Promise<{ isWhole: boolean; words: string }> {
  const work = folder();
  const { outage, environments, path, restart } = await way.make(work);
  const end = await runTask(environments, work, path, LINES, (isOver) =>
    breaks === "restart" ? restart() : breaks(outage, isOver),
  );
  const typed = end.said.match(/got abc/g)?.length ?? 0;
  const isWhole = end.lines.length === LINES && end.lines.every((line, i) => line === i + 1) && typed === 1;
  const said = `${end.last} ${end.out}`.match(/[^"\n]*(?:fail|disconnect|unknown process)[^"\n]*/i)?.[0] ?? "";
  return { isWhole, words: `${end.lines.length} of ${LINES} lines, typed ${typed} times; ${said.slice(0, 300)}` };
}

const BREAKS: readonly (readonly [string, Break | "restart", readonly Way[]])[] = [
  ["100 cuts", brief, [OURS_BY_URL, OURS_BY_PROGRAM]],
  ...OUTAGES.map(
    (seconds) =>
      [`${seconds} s`, long(seconds), seconds <= 40 ? [OURS_BY_URL, OURS_BY_PROGRAM] : [OURS_BY_PROGRAM]] as const,
  ),
  ["the server restarted", "restart", [OURS_BY_URL, OURS_BY_PROGRAM]],
];

for (const [name, breaks, promised] of BREAKS) {
  test(`codex beside its own server: ${name}`, async () => {
    for (const way of [OURS_BY_URL, OURS_BY_PROGRAM, OTHERS]) {
      const { isWhole, words } = await row(way, breaks);
      console.log(`${name} | ${way.name} | ${isWhole ? "whole" : "broken"}: ${words}`);
      if (promised.includes(way)) expect([way.name, isWhole, words]).toEqual([way.name, true, words]);
    }
  });
}

type Flooded = { lines: number; missing: number; failure: unknown };

/** 50 MB in one command to a client that is cut off and goes on as codex does: it asks for what it has not had, and is told the rest. */
async function flood(way: Way, seconds: readonly number[]): Promise<Flooded> {
  const { outage, url } = await way.make(folder());
  let sessionId: unknown = null;
  let [next, rest, line, missing] = [1, "", 1, 0];
  const early = new Map<number, string>();
  const take = ({ seq, chunk }: Chunk) => {
    if (seq >= next) early.set(seq, chunk);
    for (let one = early.get(next); one !== undefined; one = early.get(next)) {
      early.delete(next);
      next += 1;
      const lines = (rest + Buffer.from(one, "base64").toString("latin1")).split("\n");
      rest = lines.pop() ?? "";
      for (const text of lines) {
        if (Number(text) !== line) missing += 1;
        line = Number(text) + 1;
      }
    }
  };
  const begin = async () => {
    const client = await until("a connection", () => RawCodex.open(url).catch(() => undefined));
    client.onNotification = ({ method, params }) => {
      if (method === "process/output") take(params as unknown as Chunk);
    };
    const { result } = await client.call("initialize", { clientName: "test", resumeSessionId: sessionId });
    sessionId = result?.sessionId;
    client.say({ method: "initialized", params: {} });
    return client;
  };
  const ask = (client: RawCodex, waitMs: number) =>
    client.result("process/read", { processId: "p", afterSeq: next - 1, maxBytes: 1024 * 1024, waitMs });
  let client = await begin();
  const argv = ["seq", "1", String(NUMBERS)];
  const params = { processId: "p", argv, cwd: "file:///tmp", env: {}, tty: false, pipeStdin: false, arg0: null };
  await client.result("process/start", params);
  let failure: unknown = null;
  for (const gone of seconds) {
    await delay(200);
    outage.begin();
    await delay(gone * 1_000);
    outage.end();
    client = await begin();
    const read = await ask(client, 0);
    failure ??= read.failure;
    for (const chunk of read.chunks as Chunk[]) take(chunk);
  }
  // The other server tells the end once only, perhaps to a connection that is broken.
  const isClosed = async () => client.of("p", "process/closed").length > 0 || (await ask(client, 0)).closed === true;
  await until("the end of 50 MB", isClosed, 600_000);
  // What was never told, and is not held any more either.
  const last = await ask(client, 0);
  for (const chunk of last.chunks as Chunk[]) {
    if (chunk.seq > next) next = chunk.seq;
    take(chunk);
  }
  return { lines: line - 1, missing, failure: failure ?? last.failure };
}

test("codex beside its own server: 50 MB in one command, over an outage of 10 s and five cuts", async () => {
  const seconds = [10, 0, 0, 0, 0, 0];
  const ours = await flood(OURS_BY_URL, seconds);
  console.log("50 MB | ours, by url |", JSON.stringify(ours));
  console.log("50 MB | codex exec-server |", JSON.stringify(await flood(OTHERS, seconds)));
  expect(ours).toEqual({ lines: NUMBERS, missing: 0, failure: null });
});
