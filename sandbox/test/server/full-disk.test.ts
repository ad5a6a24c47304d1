// A disk that takes nothing: sessions start all the same, and a caller who can't have one is told why.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { scripts } from "../../src/shell/integration.ts";
import { order, SECRET, temporary, testBridge } from "../support/bridge.ts";
import { PlainClient } from "../support/clients.ts";

function bridge() {
  const root = temporary();
  const boxes = join(root, "boxes");
  mkdirSync(boxes);
  return { root, boxes, url: testBridge({}, boxes).url };
}

test("where the scripts of its marks can't be written, a shell starts without them, and leaves nothing behind", async () => {
  const { root, url } = bridge();
  vi.stubEnv("TMPDIR", join(root, "full"));
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(join(root, "full"), "");
  expect(scripts()).toBeUndefined();
  const stdin = Buffer.from("echo $((6*7)); exit 3\n").toString("base64");
  expect((await order(url, "shell", "bash", [], { tty: true, stdin, isStdinEnded: false })).status).toBe(201);
  const client = await PlainClient.attach(url, SECRET, { session: "shell", offset: "0" });
  await client.closed;
  expect(client.exit).toMatchObject({ code: 3 });
  expect(client.output).toContain("42\r\n");
  expect(client.output).not.toContain("]133;");
  expect(readdirSync(root).sort()).toEqual(["boxes", "full"]);
});

test("where a sandbox's directory can't be made, whoever starts something is told why", async () => {
  const { boxes, url } = bridge();
  rmSync(boxes, { recursive: true });
  writeFileSync(boxes, "");
  const response = await order(url, "shell", "true", []);
  expect([response.status, await response.json()]).toEqual([
    422,
    { error: "start_failed", message: "the sandbox's directory can't be made: is its disk full?" },
  ]);
});
