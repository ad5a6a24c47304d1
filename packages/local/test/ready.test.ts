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
