// A disk that takes nothing: sessions start all the same, and whoever can't have one is told why.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSettings } from "../../src/base/settings.ts";
import { type Bridge, startBridge } from "../../src/server/server.ts";
import { scripts } from "../../src/shell/integration.ts";

const TOKEN = "a secret of this test only";
const { TMPDIR } = process.env;

let root = "";
let bridge: Bridge;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-full-"));
  mkdirSync(join(root, "boxes"));
  const read = readSettings({ HOST: "127.0.0.1", PORT: "0", SANDBOX_ROOT: join(root, "boxes") }, TOKEN);
  if (!read.ok) throw new Error(read.problem);
  bridge = startBridge(read.settings);
});

afterEach(async () => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  await bridge.stop();
  rmSync(root, { recursive: true, force: true });
});

async function order(cmd: string, args: readonly string[]) {
  const body = JSON.stringify({
    ...{ label: "x", session: "shell", cmd, args, env: [], tty: true, mode: "collaborative", keep: 60, keepExited: 60 },
    ...{ delivery: "live", stdin: Buffer.from("echo $((6*7)); exit 3\n").toString("base64"), isStdinEnded: false },
  });
  const headers = { Authorization: `Bearer ${TOKEN}` };
  return fetch(`${bridge.url}/sessions?sandbox=box`, { method: "POST", headers, body });
}

test("where the scripts of its marks can't be written, a shell starts without them, and leaves nothing behind", async () => {
  process.env.TMPDIR = join(root, "full");
  writeFileSync(process.env.TMPDIR, "");
  expect(scripts()).toBeUndefined();
  expect((await order("bash", [])).status).toBe(201);
  const socket = new WebSocket(`${bridge.url.replace("http", "ws")}/attach?sandbox=box&session=shell&offset=0`, {
    headers: { Authorization: `Bearer ${TOKEN}` },
  });
  socket.binaryType = "arraybuffer";
  let output = "";
  const exit = await new Promise<unknown>((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") output += Buffer.from(data as ArrayBuffer, 1).toString();
      else if (data.includes('"exit"')) resolve(JSON.parse(data));
    });
  });
  expect(exit).toMatchObject({ type: "exit", code: 3 });
  expect(output).toContain("42\r\n");
  expect(output).not.toContain("]133;");
  expect(readdirSync(root).sort()).toEqual(["boxes", "full"]);
});

test("where a sandbox's directory can't be made, whoever starts something is told why", async () => {
  rmSync(join(root, "boxes"), { recursive: true });
  writeFileSync(join(root, "boxes"), "");
  const response = await order("true", []);
  expect([response.status, await response.json()]).toEqual([
    422,
    { error: "start_failed", message: "the sandbox's directory can't be made: is its disk full?" },
  ]);
});
