// Every route of the Worker and of the bridge against requests that nobody meant, made of those in the corpus: each is answered,
// with no 5xx but those of the contract, and nothing is thrown that nobody caught. `FUZZ_RUNS=N` sends more, `FUZZ_SEED=S`
// others, `FUZZ_SECONDS=N` ends it after so long; `FUZZ_KEEP=1` adds to the corpus what was answered in a new way.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { mutate } from "../../../packages/sandbox-stdio/test/fuzz/mutate.ts";
import { connect } from "../support/clients/client.ts";
import { rawRequest } from "../support/clients/raw-http.ts";
import { routesOfCode, routesWithout } from "../support/generators/routes-of-code.ts";
import { fresh, person, pids, system } from "../support/system/system.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? 50);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Ends a long search. */
const LIMIT_MS = Number(process.env.FUZZ_SECONDS ?? 3_600) * 1000;
/** Most of the time is waiting. */
const SIDE_BY_SIDE = 10;
/** A long search says how far it is. */
const PROGRESS_RUNS = 5_000;
const CORPUS = join(import.meta.dirname, "../corpus");

/** What may wait for the process, or for time: nobody waits for its answer here. */
const WAITING = /\/(wait|run|input|output|screen)\b|^\/mcp/;

/** A request as the corpus has it: first line, headers, an empty line, body. TOKEN stands for a good token. */
type Entry = { readonly line: string; readonly headers: readonly string[]; readonly body: string };

const latin = (text: string): Buffer => Buffer.from(text, "latin1");
function entryOf(bytes: Buffer): Entry {
  const text = bytes.toString("latin1");
  const at = text.indexOf("\n\n");
  const [line = "", ...headers] = (at < 0 ? text.trimEnd() : text.slice(0, at)).split("\n");
  return { line, headers, body: at < 0 ? "" : text.slice(at + 2) };
}
const textOf = ({ line, headers, body }: Entry): string => `${[line, ...headers].join("\n")}\n\n${body}`;

/** Another entry: one part of one changed, so that the rest of it is still read. */
function changed(pool: readonly Entry[], random: Random): Entry {
  const entry = random.pick(pool);
  const other = (parts: readonly string[], max: number) => mutate(parts.map(latin), random, max);
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
  // An entry is lines: a line break in a part would make two of it.
  const oneLine = (bytes: Uint8Array) => text(bytes).replace(/[\r\n]/g, "");
  const part = random.int(0, entry.body === "" ? 2 : 3);
  if (part === 3) return { ...entry, body: text(other([entry.body, ...pool.map(({ body }) => body)], 4_000)) };
  if (part === 2 && entry.headers.length > 0) {
    const at = random.int(0, entry.headers.length - 1);
    const header = oneLine(other([entry.headers[at] ?? "", ...random.pick(pool).headers], 1_000));
    // What frames the request is the runtime's business, and a wrong length only waits.
    const isFraming = /^\s*(content-length|transfer-encoding|expect|host)\b/i.test(header);
    return { ...entry, headers: entry.headers.map((was, i) => (i === at && !isFraming ? header : was)) };
  }
  const [method = "GET", ...target] = entry.line.split(" ");
  const path = oneLine(other([target.join(" "), ...pool.map(({ line }) => line.slice(line.indexOf(" ") + 1))], 2_000));
  return { ...entry, line: `${random.chance(0.1) ? random.pick(["POST", "PUT", "DELETE", "HEAD"]) : method} ${path}` };
}

async function expectServed(): Promise<void> {
  const client = await connect(await person(), { session: fresh("next"), cmd: "cat", keep: 0 });
  await client.hello();
  client.type("served");
  expect(await client.output("served")).toBe("served");
  await client.leave();
}

test.each(["worker", "bridge"] as const)(
  "the %s's routes answer what nobody meant",
  {
    timeout: 300_000 + RUNS * 500,
  },
  async (name) => {
    console.log(`seed ${SEED}`);
    const dir = join(CORPUS, name);
    const pool = readdirSync(dir).map((file) => entryOf(readFileSync(join(dir, file))));
    const token =
      name === "bridge"
        ? system.bridgeToken
        : (await person({ scope: "sandbox:admin sandbox:exec sandbox:connect" })).token;
    const address = name === "bridge" ? system.bridgeUrl : system.origin;
    const random = new Random(SEED);
    const before = await pids();
    const logFile = join(system.dir, "logs", `${name}.log`);
    const logged = readFileSync(logFile).length;
    const kinds: Record<string, number> = {};

    async function ask(entry: Entry, what: string): Promise<string> {
      const [method = "", ...target] = entry.line.split(" ");
      const headers = entry.headers.map((header) => header.replace("TOKEN", token));
      const path = target.join(" ");
      const waiting = WAITING.test(path) ? { silenceMs: 1_000 } : {};
      const asked = { method, headers, body: entry.body, patienceMs: 50, ...waiting };
      const answer = await rawRequest(address, path, asked).catch((error: unknown) => {
        throw new Error(`${what} was not answered:\n${textOf(entry)}`, { cause: error });
      });
      const { status, body, code } = answer;
      const error = /"(?:error|code)":"(\w+)"/.exec(body)?.[1] ?? "";
      const kind = `${status} ${code ?? error}`.trim();
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      // Of the 5xx, only what the contract has: it is not there now, come again; and 505, by which Bun's parser tells of a blank
      // or a control character in the target. Of closes, none of our own fault.
      // Of `*` the runtime says 500 by itself.
      const isOurs = entry.line !== `${method} *`;
      // An MCP server that ends at once is one of the contract's, too, and what the sandbox API has not.
      const isToldSo =
        (status === 503 && error !== "") ||
        (status === 502 && error === "server_ended") ||
        (status === 501 && error === "unsupported");
      const isFault = isOurs && ((status >= 500 && status !== 505 && !isToldSo) || code === 1011);
      if (isFault) throw new Error(`${what} was answered with ${kind}: ${body.slice(0, 200)}\n${textOf(entry)}`);
      return kind;
    }

    const routes = name === "worker" ? await routesOfCode() : [];
    const missing = routesWithout(
      pool.map(({ line }) => line),
      routes,
    );
    expect(missing, "routes that nothing in the corpus goes to").toEqual([]);
    for (const [i, entry] of pool.entries()) await ask(entry, `corpus ${i}`);
    const until = Date.now() + LIMIT_MS;
    let run = 0;
    for (; run < RUNS && Date.now() < until; run += SIDE_BY_SIDE) {
      if (run > 0 && run % PROGRESS_RUNS < SIDE_BY_SIDE) console.log(`${name}, ${run} runs: ${JSON.stringify(kinds)}`);
      const entries = Array.from({ length: SIDE_BY_SIDE }, () => changed(pool, random));
      const known = new Set(Object.keys(kinds));
      const answers = await Promise.all(entries.map((entry, i) => ask(entry, `seed ${SEED}, run ${run + i}`)));
      for (const [i, entry] of entries.entries()) {
        const kind = answers[i] ?? "";
        if (known.has(kind)) continue;
        known.add(kind);
        pool.push(entry);
        if (process.env.FUZZ_KEEP !== "1") continue;
        const file = createHash("sha256").update(textOf(entry)).digest("hex").slice(0, 16);
        writeFileSync(join(dir, file), latin(textOf(entry)));
      }
    }
    console.log(`${name}, ${run} runs: ${JSON.stringify(kinds)}`);
    expect(Object.keys(kinds).length).toBeGreaterThan(5);
    expect(await pids()).toEqual(before);
    const log = readFileSync(logFile, "utf8").slice(logged);
    // What the runtime itself says of a Host that is none, and of frames that are none: our code is not reached.
    const known = /remote\.jsg\.(TypeError: Invalid URL string|Error: WebSocket protocol error)/;
    const thrown = log
      .split("\n")
      .filter((line) => /uncaught|unhandled|panic|(Type|Range|Reference|Syntax)Error/i.test(line));
    expect(thrown.filter((line) => !known.test(line))).toEqual([]);
    await expectServed();
  },
);
