// What `logs -f`, `read -f` and `wait --exit` end with, by how the process ended.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runHere } from "../fixture/here.ts";

const OUTPUT = { incarnation: "i", from: 0, next: 3, end: 3, output: "aGkK", format: "base64" };

/** A server whose one session has put out "hi" and ended so. */
async function serverOf(end: object, waited: object): Promise<string> {
  const server = createServer((request, response) => {
    if (request.headers.accept === "text/event-stream") {
      const { state } = end as { state?: string };
      const last = `event: exit\nid: i.3\ndata: ${JSON.stringify({ offset: 3, ...end })}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`event: output\nid: i.3\ndata: ${JSON.stringify({ ...OUTPUT, state, to: 3 })}\n\n${last}`);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(request.method === "POST" ? waited : { ...OUTPUT, ...end }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const FOLLOWING = [
  ["logs", "-f"],
  ["logs", "-f", "--json"],
  ["read", "--follow"],
  ["read", "--follow", "--json"],
] as const;

test("to follow a process that is lost ends with 255, and says so; one that ended with 3 is followed to its end, 0", async () => {
  const lost = await serverOf({ state: "lost" }, {});
  const ended = await serverOf({ state: "exited", code: 3 }, {});
  for (const [verb, ...words] of FOLLOWING) {
    expect(await runHere([verb, lost, "--session", "s", ...words])).toMatchObject({
      code: 255,
      stdout: expect.stringMatching(/hi|aGkK/),
      stderr: "sbx-stdio: the process was lost\n",
    });
    expect(await runHere([verb, ended, "--session", "s", ...words])).toMatchObject({ code: 0, stderr: "" });
  }
});

test("wait --exit prints the exit code, as docker wait does; --match prints what matched", async () => {
  const exit = await serverOf({}, { outcome: "met", offset: 3, exit: { code: 3 }, output: "" });
  expect(await runHere(["wait", exit, "--session", "s", "--exit"])).toMatchObject({
    code: 0,
    stdout: "3\n",
    stderr: "",
  });
  const match = { outcome: "met", offset: 3, match: { from: 0, to: 2, text: "hi", groups: [] }, exit: { code: 3 } };
  const matched = await serverOf({}, { ...match, output: "" });
  expect(await runHere(["wait", matched, "--session", "s", "--match", "h."])).toMatchObject({
    code: 0,
    stdout: "hi\n",
  });
});

test("wait ends with 124 where its search was given up, and says from where to go on", async () => {
  const answer = { outcome: "timeout", undecided: true, offset: 7, searchedTo: 7, output: "", exit: { code: 0 } };
  const url = await serverOf({}, answer);
  expect(await runHere(["wait", url, "--session", "s", "--match", "h."])).toMatchObject({
    code: 124,
    stdout: "",
    stderr: "sbx-stdio: the output was not searched completely; wait again, with --from 7\n",
  });
  const told = await runHere(["wait", url, "--session", "s", "--match", "h.", "--json"]);
  expect([told.code, JSON.parse(told.stdout), told.stderr]).toEqual([124, answer, ""]);
});

test("read says of text that it is not all of the bytes", async () => {
  const url = await serverOf({ state: "exited", output: "gr\ufffdn", lossy: true }, {});
  const words = ["read", url, "--session", "s", "--format", "text"];
  expect(await runHere(words)).toMatchObject({
    code: 0,
    stdout: "gr\ufffdn",
    stderr: "sbx-stdio: some bytes are not UTF-8; omit --format for the raw bytes\n",
  });
  const told = await runHere([...words, "--json"]);
  expect([JSON.parse(told.stdout).lossy, told.stderr]).toEqual([true, ""]);
});
