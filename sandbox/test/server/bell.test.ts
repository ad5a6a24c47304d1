// H20a over a real bridge: it says that it calls session objects once somebody has answered a call for nobody, and not before.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSettings } from "../../src/base/settings.ts";
import { type Bridge, startBridge } from "../../src/server/server.ts";

const TOKEN = "a secret of this test only";
const headers = { Authorization: `Bearer ${TOKEN}` };

let bridge: Bridge | undefined;
let root = "";
let status = 404;
const asked: string[] = [];
let answers: Bun.Server<undefined>;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-bell-"));
  status = 404;
  asked.length = 0;
  answers = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      asked.push(`${request.headers.get("authorization")} ${await request.text()}`);
      return new Response(null, { status });
    },
  });
});

afterEach(async () => {
  await bridge?.stop();
  await answers.stop(true);
  rmSync(root, { recursive: true, force: true });
});

type Message = { readonly type: string; readonly calls?: boolean };

/** A session object's connection to a process. @returns What it is told, as it comes. */
function open(session: string): { readonly told: Message[]; next(type: string): Promise<Message>; close(): void } {
  const told: Message[] = [];
  const waiting: (() => void)[] = [];
  const query = new URLSearchParams({ session, cmd: "cat" });
  const socket = new WebSocket(`${bridge?.url.replace("http", "ws")}/attach?${query}`, {
    protocols: ["stdio.inner.v1"],
    headers,
  });
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") told.push(JSON.parse(data) as Message);
    for (const look of waiting.splice(0)) look();
  });
  const next = async (type: string): Promise<Message> => {
    for (;;) {
      const found = told.find((message) => message.type === type);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  return { told, next, close: () => socket.close() };
}

test("H20a: a bridge whose calls nobody answers says of none, and says so once they are answered", async () => {
  const bellUrl = `http://127.0.0.1:${answers.port}/bell`;
  const read = readSettings({ HOST: "127.0.0.1", PORT: "0", SANDBOX_ROOT: root, STDIO_BELL_URL: bellUrl }, TOKEN);
  if (!read.ok) throw new Error(read.problem);
  bridge = startBridge(read.settings);
  const early = open("early");
  expect((await early.next("hello")).calls).toBeUndefined();
  expect(early.told.some(({ type }) => type === "calls")).toBe(false);
  status = 204;
  await early.next("calls");
  const late = open("late");
  expect((await late.next("hello")).calls).toBe(true);
  expect(new Set(asked)).toEqual(new Set([`Bearer ${TOKEN} {}`]));
  early.close();
  late.close();
}, 60_000);

test("the call goes to its address also where the environment names a proxy, which would get the secret", async () => {
  const proxy = `http://127.0.0.1:${answers.port}`;
  const script = `
    import { BellLine } from "./src/session/bell.ts";
    const own = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(null, { status: 204 }) });
    const line = new BellLine({ url: "http://127.0.0.1:" + own.port + "/bell", token: "t" }, () => undefined);
    console.log(await line.call({ session: "s", incarnation: "i" }));
    process.exit();
  `;
  const env = { ...process.env, HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: "", no_proxy: "" };
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: join(import.meta.dirname, "../.."),
    env,
    stdout: "pipe",
  });
  expect([await new Response(child.stdout).text(), asked]).toEqual(["204\n", []]);
}, 60_000);
