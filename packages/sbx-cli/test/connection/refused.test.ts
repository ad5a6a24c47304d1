// Refusals say what a person may do: log in again, or look at the address where something else answers. And limits of an answer.

import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readEndpoint } from "../../src/base/endpoint.ts";
import { CliError } from "../../src/base/outcome.ts";
import { fetchText } from "../../src/connection/api-call.ts";
import { runCli } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";

async function serve(answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer);
  server.on("upgrade", (request, socket) => {
    const response = new http.ServerResponse(request);
    response.assignSocket(socket as never);
    answer(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A verb for each way of asking, at this address. */
const LINES = ["ls", "whoami", "kill --session s", "logs --session s", "run -- true", "attach --session s", "-- true"];
const VERBS = [...LINES, "cp f :f"].map((line) => line.split(" "));

async function told(url: string, [verb = "", ...words]: readonly string[]) {
  const line = verb === "--" ? [url, "--", ...words] : [verb, url, ...words];
  const run = verb === "cp" ? runCli : runHere;
  const { code, stdout, stderr } = await run(line.map((word) => (word === "f" ? import.meta.filename : word)));
  return [verb, code, stdout, stderr];
}

test("a token that is refused: each verb says how to log in again", async () => {
  const url = await serve((_, response) => {
    response.writeHead(401, { "Content-Type": "application/json" });
    response.end('{"error":"expired","message":"The token has expired"}');
  });
  const words = `sbx-stdio: The token has expired (log in again with \`sbx-stdio login ${url}\`, or set a new SBX_TOKEN)\n`;
  for (const verb of VERBS) expect(await told(url, verb)).toEqual([verb[0], 255, "", words]);
  // A program is given the server's words.
  const { stdout } = await runHere(["ls", url, "--json"]);
  expect(JSON.parse(stdout)).toEqual({ error: "expired", message: "The token has expired" });
});

const page = "<!doctype html><title>404</title>";
const ELSEWHERE: readonly (readonly [string, http.RequestListener, string])[] = [
  [
    "this server, below another path",
    ({ method, url }, response) => {
      response.writeHead(404, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ error: "not_found", message: `no ${method} ${url?.replace(/\?.*/, "")}` }));
    },
    "no (GET|POST|DELETE) /wrong/[^ ]+",
  ],
  ["another server's page that says 404", (_, response) => response.writeHead(404).end(page), ".*404.*"],
  ["another server's page that says 200", (_, response) => response.writeHead(200).end(page), ".*(JSON|200).*"],
];

test.each(ELSEWHERE)(
  "an address at which there is %s: it is said that no such interface is there",
  async (what, answer, reason) => {
    const url = `${await serve(answer)}/wrong`;
    const advice = `check host, port and path, or run \`sbx-stdio doctor ${url}\``;
    // Every verb at one of these places, and one at each.
    const at = ELSEWHERE.findIndex(([each]) => each === what);
    for (const verb of VERBS.filter((each, index) => each[0] === "ls" || index % ELSEWHERE.length === at)) {
      const [, code, stdout, stderr] = await told(url, verb);
      expect([what, verb[0], code, stdout]).toEqual([what, verb[0], 255, ""]);
      expect(stderr, verb[0]).toMatch(new RegExp(`^sbx-stdio: no sbx-stdio API at ${url} \\(${reason}\\): `));
      expect(stderr).toContain(advice);
    }
  },
);

test("an answer that does not come, or does not end, has a limit", async () => {
  const url = await serve(({ url: path }, response) => {
    if (path === "/api/half") response.writeHead(200).write("{");
  });
  for (const path of ["/api/none", "/api/half"]) {
    const failure = await fetchText(readEndpoint(url), path, "t", { withinMs: 100 }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CliError);
    expect(failure).toMatchObject({
      code: "unreachable",
      message: expect.stringMatching(/no complete response from/),
    });
  }
});
