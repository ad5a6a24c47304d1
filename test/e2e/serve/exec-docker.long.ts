// `serve --exec 'docker exec -i NAME'` with a real engine: two containers behind one page.
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker } from "../../../packages/local/src/base/docker.ts";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { connect, type Params, type TestClient } from "../support/clients/client.ts";
import { act, installServe, Served } from "../support/system/served.ts";
import { until } from "../support/system/wait.ts";

const [, IMAGE = ""] = /^FROM (\S+)/m.exec(readFileSync(join(ROOT, "sandbox/Dockerfile"), "utf8")) ?? [];
const HOST = process.env.DOCKER_HOST;
const NAMES = ["one", "two"].map((name) => `sbx-exec-${name}-${randomUUID().slice(0, 8)}`);
const [ONE = "", TWO = ""] = NAMES;

let project = "";
let served: Served;
let headers: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  project = await installServe();
  for (const name of NAMES)
    await docker("run", "--detach", "--rm", "--name", name, "--hostname", name, "--entrypoint", "sleep", IMAGE, "3600");
});

afterAll(async () => {
  await docker("rm", "--force", ...NAMES);
  rmSync(project, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const words = ["docker", ...(HOST === undefined ? [] : ["--host", HOST]), "exec", "-i", "NAME"];
  served = await Served.start(project, ["--exec", words.join(" ")]);
  const { stdout } = await act(project, served.state, ["token"], String(served.port));
  headers = { Authorization: `Bearer ${stdout.trim()}` };
}

const attach = (script: string, params: Params): Promise<TestClient> =>
  connect(
    undefined,
    { sandbox: ONE, session: `s-${randomUUID()}`, cmd: "sh", arg: ["-c", script], ...params },
    { headers, server: served.origin.replace("http", "ws") },
  );
/** The command lines of all that runs there. */
const running = (): Promise<string> => docker("top", ONE, "-eo", "pid,args");

describe.each([
  ["a PTY", "1"],
  ["pipes", "0"],
])("on %s", (_, tty) => {
  test("each program runs in the container of its sandbox's name, and its own exit code comes", async () => {
    await start();
    for (const [sandbox, code] of [
      [ONE, 7],
      [TWO, 255],
    ] as const) {
      const client = await attach(`hostname; exit ${code}`, { sandbox, tty });
      expect((await client.end()).exit).toMatchObject({ code });
      expect(client.text().trim()).toBe(sandbox);
    }
    const absent = await attach("true", { sandbox: "sbx-exec-absent", tty });
    expect((await absent.end()).exit).toMatchObject({ code: 1 });
    expect(absent.text()).toContain("No such container: sbx-exec-absent");
  });

  test("a signal reaches the program there, and all of it ends with its session", async () => {
    await start();
    const mark = String(4_000_000 + Math.floor(Math.random() * 1_000_000));
    const first = await attach(
      "trap 'echo told; exit 3' USR1; echo ready; while :; do sleep 0.05; done",
      tty === "1" ? { tty, cols: 132, rows: 40 } : { tty },
    );
    await first.output("ready");
    first.say({ type: "signal", signal: "SIGUSR1" });
    expect((await first.end()).exit).toMatchObject({ code: 3 });
    expect(first.text()).toContain("told");

    const session = `ends-${tty}`;
    const second = await attach(`trap '' HUP TERM; setsid sleep ${mark} & echo ready; sleep ${mark}`, { session, tty });
    await second.output("ready");
    await until("both to run", async () => (await running()).split(mark).length > 2);
    const path = `${served.origin}/api/sandboxes/${ONE}/sessions/${session}`;
    expect((await fetch(path, { method: "DELETE", headers })).status).toBe(204);
    await until("all to end", async () => !(await running()).includes(mark));
  });
});

test("a terminal there has the size of its client, and is told of another; every key arrives", async () => {
  await start();
  const script =
    "stty size; trap 'stty size; exit 9' WINCH; echo ready; read line; echo got $line; while :; do sleep 0.05; done";
  const client = await attach(script, { tty: "1", cols: 132, rows: 40 });
  await client.output("ready");
  expect(client.text()).toMatch(/^40 132\r\n/);
  // What docker would take for its own command.
  client.type("\u0010\u0011x\r");
  await client.output(/got .*x\r\n/);
  client.say({ type: "resize", cols: 100, rows: 30 });
  expect((await client.end()).exit).toMatchObject({ code: 9 });
  expect(client.text()).toContain("30 100\r\n");
});

test("through pipes bytes stay bytes, both ways, and streams stay apart", async () => {
  await start();
  const client = await attach("sha256sum; echo apart >&2", { tty: "0" });
  await client.hello();
  client.type(Buffer.from(Array.from({ length: 256 }, (_, index) => index)));
  client.say({ type: "eof" });
  expect((await client.end()).exit).toMatchObject({ code: 0 });
  expect(client.text(1)).toBe("40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880  -\n");
  expect(client.text(2)).toBe("apart\n");
});
