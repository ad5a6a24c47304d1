// `logs` of a long log: the lines that are asked for, whole, and what is said where its beginning is gone.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runHere } from "../fixture/here.ts";

const LINE = 8;
const LINES = 160_000;
/** Lines of eight bytes, more than an answer holds. */
const LOG = Array.from({ length: LINES }, (_, at) => `${String(at).padStart(LINE - 1, "0")}\n`).join("");

/** A server that holds the log from here on, and reads as the real one does. */
async function serverOf(log: string, start: number, queries: URLSearchParams[] = []): Promise<string> {
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? "", "http://x").searchParams;
    queries.push(query);
    const number = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise);
    const asked = query.has("tail") ? Math.max(start, log.length - number("tail", 0)) : number("from", start);
    const from = Math.max(asked, start);
    const next = Math.max(from, Math.min(number("to", log.length), from + number("maxBytes", 65_536), log.length));
    const output = Buffer.from(log.slice(from, next)).toString("base64");
    const gap = asked < from ? { gap: { from: asked, to: from } } : {};
    const body = { incarnation: "i", state: "exited", from, next, end: log.length, output, ...gap };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function logs(url: string, ...words: string[]) {
  const { stdout, stderr, code } = await runHere(["logs", url, "--session", "s", ...words]);
  return { first: stdout.split("\n", 1)[0], bytes: stdout.length, stderr, code, stdout };
}

test("-n prints as many lines as are asked for, also where they are more than an answer holds", async () => {
  const url = await serverOf(LOG, 0);
  for (const lines of [131_072, 150_000, LINES + 1]) {
    const told = await logs(url, "-n", String(lines));
    const count = Math.min(lines, LINES);
    expect([told.bytes, told.stdout === LOG.slice(-count * LINE), told.stderr]).toEqual([count * LINE, true, ""]);
  }
  expect((await logs(url, "-n", "150000", "--json")).first).toBe(
    JSON.stringify({ offset: 10_000 * LINE, next: 10_001 * LINE, text: "0010000" }),
  );
});

test("all of it is of one process, whatever takes the name meanwhile", async () => {
  const queries: URLSearchParams[] = [];
  const url = await serverOf(LOG, 0, queries);
  for (const words of [
    [],
    ["-n", "150000"],
    ["--since", "10m"],
    ["-n", "150000", "--json"],
    ["-n", "1", "--since", "10m"],
  ]) {
    await logs(url, ...words);
    const [first, ...more] = queries.splice(0).map((query) => query.get("incarnation"));
    expect([words, first, more.length > 0, new Set(more)]).toEqual([words, null, true, new Set(["i"])]);
  }
});

test("where so many are not held, it begins at a line, and says what is gone", async () => {
  const url = await serverOf(LOG, 80_003);
  const words = "sbx-stdio: the first 80003 bytes are no longer available; starting at the next line\n";
  for (const lines of ["149999", "150000"]) {
    const held = { first: "0010001", bytes: 149_999 * LINE, code: 0 };
    expect(await logs(url, "-n", lines)).toMatchObject({ ...held, stderr: lines === "150000" ? words : "" });
  }
});

test("--json says what is gone, and begins at a line that is whole", async () => {
  const url = await serverOf(LOG.slice(0, 80), 19);
  for (const words of [[], ["-n", "20"]]) {
    const { stdout } = await logs(url, "--json", ...words);
    const [gap, line, ...rest] = stdout.split("\n");
    expect([gap, line, rest.length]).toEqual([
      JSON.stringify({ gap: { from: 0, to: 19 } }),
      JSON.stringify({ offset: 24, next: 32, text: "0000003" }),
      7,
    ]);
  }
});
