// The configuration is tried with workerd itself, and a Worker that tells what it was given.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { BIN, ROOT } from "../src/base/paths.ts";
import { anyFreePort } from "../src/base/ports.ts";
import { workerdConfig } from "../src/system/workerd-config.ts";
import { temporaryDirectory } from "./temporary.ts";

const WORKER = `
import { DurableObject } from "cloudflare:workers";
export class Alarmed extends DurableObject {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/object/set") await this.ctx.storage.setAlarm(Date.now() + 500);
    if (pathname === "/object/wait") {
      const told = new Promise((resolve) => { this.told = resolve; });
      if (!(await this.ctx.storage.get("went"))) await told;
    }
    return Response.json([...this.ctx.storage.sql.exec("SELECT 1 AS one")]);
  }
  async alarm() {
    await this.ctx.storage.put("went", true);
    this.told?.();
  }
}
const bytesOf = async (stored) => stored && [...new Uint8Array(await stored.arrayBuffer())];
async function bucketed(bucket) {
  await bucket.put("a/b/one", new Uint8Array([1, 2, 255]));
  await bucket.put("a/b/one", new Uint8Array([3]));
  await bucket.put("a/two", new Uint8Array(0));
  const found = [await bytesOf(await bucket.get("a/b/one")), await bytesOf(await bucket.get("a/two"))];
  await bucket.delete(["a/b/one", "absent"]);
  return Response.json([...found, await bucket.get("a/b/one")]);
}
export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/log") for (const level of ["log", "warn", "error"]) console[level]("a line of", level);
    if (pathname === "/vars") return Response.json(env.ODD);
    if (pathname === "/bucket") return bucketed(env.RECORDINGS);
    return pathname.startsWith("/object/") ? env.OBJECT.getByName("one").fetch(request) : env.ASSETS.fetch(request);
  },
};
`;

const ODD = 'quote " and back\\slash, \n\t\u007f, \\n, é, 漢, 🙂, $HOME, # and )';

/** Starts workerd in a folder of the test. @returns A function that asks it, and one that kills it and starts it again. */
async function startWorkerd() {
  const dir = temporaryDirectory();
  const objects = join(dir, "objects");
  const [page, recordings] = [join(dir, "page"), join(dir, "recordings")];
  for (const folder of [objects, recordings, join(page, "assets")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(dir, "worker.js"), WORKER);
  writeFileSync(join(dir, "secret.js"), "outside");
  for (const file of ["index.html", "assets/a.js", "icon.svg", "app.webmanifest"])
    writeFileSync(join(page, file), file);
  const port = await anyFreePort();
  const options = {
    name: "tried",
    compatibilityDate: "2026-08-01",
    compatibilityFlags: ["nodejs_compat"],
    bindings: { ODD: "replaced" },
    durableObjects: { OBJECT: { className: "Alarmed" } },
  };
  const config = workerdConfig(
    options,
    { ODD },
    {
      v8Flags: [],
      address: `127.0.0.1:${port}`,
      bundle: join(dir, "worker.js"),
      page,
      modules: join(ROOT, "packages/local/src/system"),
      objects,
      recordings,
    },
  );
  writeFileSync(join(dir, "config.capnp"), config);
  const start = async () => {
    const args = ["serve", "--control-fd=3", "--import-path=/", join(dir, "config.capnp")];
    const child = spawn(join(BIN, "workerd"), args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
    const control = child.stdio[3];
    if (!control) throw new Error("workerd has no control pipe");
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    // It says where it listens.
    await Promise.race([
      once(control, "data"),
      once(child, "exit").then(() => Promise.reject(new Error("workerd has ended"))),
    ]);
    return child;
  };
  let printed = "";
  let child = await start();
  const kill = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  onTestFinished(kill);
  return {
    recordings,
    ask: (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init),
    printed: () => printed.split("\n").sort(),
    restart: async () => {
      await kill();
      child = await start();
    },
  };
}

test("a variable reaches the Worker as it is, whatever it holds, and replaces that of the options", async () => {
  const { ask } = await startWorkerd();
  expect(await (await ask("/vars")).json()).toBe(ODD);
});

test("files of the page have their types, and nothing else is served: no folder, no file outside", async () => {
  const { ask } = await startWorkerd();
  const typeOf = async (path: string) => {
    const answer = await ask(path);
    return [answer.status, answer.headers.get("content-type"), await answer.text()];
  };
  expect(await typeOf("/")).toEqual([200, "text/html; charset=utf-8", "index.html"]);
  expect(await typeOf("/assets/a.js")).toEqual([200, "text/javascript; charset=utf-8", "assets/a.js"]);
  expect(await typeOf("/icon.svg")).toEqual([200, "image/svg+xml", "icon.svg"]);
  expect(await typeOf("/app.webmanifest")).toEqual([200, "application/manifest+json", "app.webmanifest"]);
  expect((await ask("/", { method: "HEAD" })).headers.get("content-length")).toBe("10");
  for (const path of ["/assets", "/assets/", "/b.js", "/..%2fsecret.js", "/assets/%2e%2e/%2e%2e/secret.js"]) {
    expect([path, (await ask(path)).status]).toEqual([path, 404]);
  }
});

test("a folder is a bucket: what is put is got back, is a file for its owner, and goes when it is deleted", async () => {
  const { ask, recordings } = await startWorkerd();
  expect(await (await ask("/bucket")).json()).toEqual([[3], [], null]);
  expect(readdirSync(recordings, { recursive: true }).sort()).toEqual(["a", "a/b", "a/two"]);
  expect(statSync(join(recordings, "a/two")).size).toBe(0);
});

test("an alarm that was set before workerd was killed goes off after its restart", async () => {
  const { ask, restart } = await startWorkerd();
  expect(await (await ask("/object/set")).json()).toEqual([{ one: 1 }]);
  await restart();
  expect((await ask("/object/wait")).status).toBe(200);
});

test("a warning and an error are marked in what workerd prints", async () => {
  const { ask, printed } = await startWorkerd();
  await ask("/log");
  await vi.waitUntil(() => printed().length >= 4, { timeout: 240_000 });
  expect(printed()).toEqual(["", "[ERROR] a line of error", "[WARNING] a line of warn", "a line of log"]);
});
