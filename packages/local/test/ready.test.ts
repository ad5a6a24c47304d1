import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Child } from "../src/processes/children.ts";
import { waitUntilReady } from "../src/processes/ready.ts";

/** A server that answers so, one after another. */
async function answering(...answers: readonly (readonly [status: number, text: string])[]): Promise<string> {
  let at = 0;
  const server = createServer((_, response) => {
    const [status, text] = answers[Math.min(at++, answers.length - 1)] ?? [500, ""];
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`;
}

const CHILD = { name: "Worker", exited: new Promise(() => undefined) } as unknown as Child;

test("a setting that can't be used is told at once, and what is not up yet is waited for", async () => {
  const wrong = JSON.stringify({ error: "misconfigured", message: "AUDIT must be one of three" });
  await expect(waitUntilReady(CHILD, await answering([503, wrong]), 60_000)).rejects.toThrow(
    "AUDIT must be one of three",
  );
  const unavailable = JSON.stringify({ error: "unavailable", message: "soon" });
  await waitUntilReady(CHILD, await answering([503, unavailable], [502, "no JSON"], [200, ""]), 60_000);
});

test("another server at its port, which does not know its secret, is not it", async () => {
  const asked: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(request.headers.authorization === "Bearer theirs" ? 200 : 401).end();
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/sessions`;
  // The port is taken: its own process has ended by the second answer.
  const exited = new Promise((resolve) => other.on("request", () => asked.length === 2 && resolve({ code: 1 })));
  const child = { ...CHILD, exited, logFile: "bridge.log", lastLines: () => "the port is in use" } as unknown as Child;
  const headers = { Authorization: "Bearer ours" };
  await expect(waitUntilReady(child, url, 60_000, { headers })).rejects.toThrow(/ended before it was ready/);
  expect(asked).toEqual(["Bearer ours", "Bearer ours"]);
});
