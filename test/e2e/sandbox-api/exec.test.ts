// Sandboxes and execs of `/v1/sandbox` (V1 to V3), by plain requests.
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { ApiSandbox, refusedAs } from "../support/agents/sandbox-api.ts";
import { run } from "../support/system/installed.ts";
import {
  api,
  cutInnerHop,
  fresh,
  type Person,
  person,
  restartBridge,
  restartWorker,
  system,
} from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const NOBODY = { sub: "nobody", org: "none", token: "garbage" };

test("V3: both streams come as they are said, and the exit behind them", async () => {
  const box = await ApiSandbox.make(await person());
  expect(await box.exec(["/bin/sh", "-lc", "echo one; exit 7"])).toEqual([
    { event: "stdout", data: "b25lCg==" },
    { event: "exit", data: '{"exit_code":7}' },
  ]);
  const { stderr, exit } = await box.outcome(["sh", "-c", "echo two >&2; kill -TERM $$"]);
  expect([stderr, exit]).toEqual(["two\n", { exit_code: 143 }]);
  expect(await box.outcome(["cat"])).toEqual({ stdout: "", stderr: "", exit: { exit_code: 0 } });
  // All of it, from a reader that is slower than the process.
  const { stdout } = await box.outcome(["sh", "-c", "seq 1 400000"]);
  expect(stdout).toBe(Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`).join(""));
});

test("V3: no event ends within a character, and a time that no timer holds is as long as one does", async () => {
  const box = await ApiSandbox.make(await person());
  const events = await box.exec(["sh", "-c", "yes ä€😀 | head -c 300000; yes ö | head -c 7 >&2"], { timeout_ms: 3e12 });
  const strict = new TextDecoder("utf-8", { fatal: true });
  const texts = events.flatMap(({ event, data }) =>
    event === "stdout" ? [strict.decode(Buffer.from(data, "base64"))] : [],
  );
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.join("")).toBe("ä€😀\n".repeat(30_000));
  // What a process leaves unfinished comes as it is.
  const rest = Buffer.concat(
    events.flatMap(({ event, data }) => (event === "stderr" ? [Buffer.from(data, "base64")] : [])),
  );
  expect([rest, events.at(-1)]).toEqual([
    Buffer.from("ö\nö\nö").subarray(0, 7),
    { event: "exit", data: '{"exit_code":0}' },
  ]);
});

test("V3: what can't be started exits with 127 or 126, and says why", async () => {
  const box = await ApiSandbox.make(await person());
  const missing = await box.outcome(["no-such-program"]);
  expect([missing.exit, missing.stderr]).toEqual([{ exit_code: 127 }, "Cannot find no-such-program\n"]);
  expect((await box.outcome(["/etc/passwd"])).exit).toEqual({ exit_code: 126 });
  const nowhere = await box.outcome(["true"], { cwd: "/no/such" });
  expect([nowhere.exit, nowhere.stderr]).toEqual([{ exit_code: 126 }, expect.stringContaining("/no/such")]);
});

test("V3: a process whose time is over is ended with its group, and the client told", async () => {
  const box = await ApiSandbox.make(await person());
  const { stdout, error } = await box.outcome(["sh", "-c", "echo begun; sleep 3600 & wait"], { timeout_ms: 3_000 });
  expect([stdout, error.code]).toEqual(["begun\n", "exec_timeout"]);
  expect(await box.alive()).toBe(0);
});

test("V3: a client that goes away ends the process", async () => {
  const box = await ApiSandbox.make(await person());
  const gone = new AbortController();
  const body = JSON.stringify({ argv: ["sh", "-c", "while echo on; do sleep 0.1; done"] });
  const response = await box.fetch("POST", "/exec", { body, signal: gone.signal });
  const reader = response.body?.getReader();
  let text = "";
  while (!text.includes("stdout")) text += new TextDecoder().decode((await reader?.read())?.value);
  expect(await box.alive()).toBe(1);
  gone.abort();
  await until("the process has gone", async () => (await box.alive()) === 0);
});

test("V3: a cut between Worker and sandbox loses nothing of a running exec", async () => {
  const box = await ApiSandbox.make(await person());
  const script = "for i in $(seq 1 30); do echo $i; sleep 0.1; done";
  const running = box.outcome(["sh", "-c", script]);
  await until("it runs", async () => (await box.alive()) === 1);
  await cutInnerHop();
  const { stdout, exit } = await running;
  expect([stdout.split("\n").length, exit]).toEqual([31, { exit_code: 0 }]);
});

test("V3: a bridge that is lost is told as process_lost", async () => {
  const box = await ApiSandbox.make(await person());
  const running = box.outcome(["sleep", "3600"]);
  await until("it runs", async () => (await box.alive()) === 1);
  await restartBridge();
  expect((await running).error.code).toBe("process_lost");
});

test("V3: a session keeps directory and environment between its execs, and its own wishes", async () => {
  const box = await ApiSandbox.make(await person());
  const made = await box.post("/session", { cwd: "/usr", env: { FIRST: "a b" } });
  const { id } = (await made.json()) as { id: string };
  const run = async (argv: string[], more: object = {}) => (await box.outcome(argv, more, id)).stdout;
  expect(await run(["sh", "-c", 'pwd; echo "$FIRST"'])).toBe("/usr\na b\n");
  await run(["cd", "lib"]);
  await run(["export", "SECOND=it's 2"]);
  await run(["unset", "FIRST"]);
  expect(await run(["sh", "-c", 'pwd; echo "[$FIRST] $SECOND"'])).toBe("/usr/lib\n[] it's 2\n");
  expect(await run(["pwd"], { cwd: "/" })).toBe("/\n");
  expect(await run(["pwd"])).toBe("/usr/lib\n");
  // Outside of it nothing has changed.
  expect((await box.outcome(["sh", "-c", 'echo "[$SECOND]"'])).stdout).toBe("[]\n");
  expect((await box.outcome(["sh", "-c", "exit 5"], {}, id)).exit).toEqual({ exit_code: 5 });
  expect((await box.outcome(["true"], { cwd: "/no/such" }, id)).exit).toEqual({ exit_code: 126 });
  expect((await box.fetch("DELETE", `/session/${id}`)).status).toBe(204);
  for (const response of [
    await box.post("/exec", { argv: ["true"] }, { "Session-Id": id }),
    await box.fetch("DELETE", `/session/${id}`),
  ])
    expect(await refusedAs(response)).toEqual([404, "no_session"]);
});

/** What its session "work" has been given of the kind: arguments (cmdline) or variables (environ), one a line. */
async function givenTo(box: ApiSandbox, kind: "cmdline" | "environ"): Promise<string> {
  return (await box.outcome(["sh", "-c", `tr '\\0' '\\n' < /proc/$PPID/${kind}; env`], {}, "work")).stdout;
}

const folderIn = (given: string) => /^SBX_EXEC_STATE=(.*)$/m.exec(given)?.[1] ?? "none";

test("V3: a session's environment lies where its user alone may enter, unnamed, and goes with session and sandbox", async () => {
  const box = await ApiSandbox.make(await person());
  for (const end of ["/session/work", ""]) {
    await box.post("/session", { id: "work", env: { SECRET: "a secret" } });
    const folder = folderIn(await givenTo(box, "environ"));
    // Neither in the arguments nor passed on.
    expect(await givenTo(box, "cmdline")).not.toContain(basename(folder));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, "state"), "utf8")).toContain('SECRET="a secret"');
    expect((await box.fetch("DELETE", end)).status).toBe(204);
    expect(existsSync(folder)).toBe(false);
  }
});

test("V3: a link or another user's folder in the place of a session's is not written through", async () => {
  const box = await ApiSandbox.make(await person());
  await box.post("/session", { id: "work" });
  const folder = folderIn(await givenTo(box, "environ"));
  const elsewhere = mkdtempSync(join(tmpdir(), "sbx-elsewhere-"));
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  rmSync(folder, { recursive: true });
  symlinkSync(elsewhere, folder);
  const refused = { exit: { exit_code: 126 }, stdout: "", stderr: expect.stringContaining(folder) };
  expect(await box.outcome(["echo", "ran"], {}, "work")).toMatchObject(refused);
  unlinkSync(folder);
  mkdirSync(folder, { mode: 0o777 });
  chownSync(folder, 65_534, 65_534);
  expect(await box.outcome(["echo", "ran"], {}, "work")).toMatchObject(refused);
  expect([readdirSync(elsewhere), readdirSync(folder)]).toEqual([[], []]);
  expect((await box.fetch("DELETE", "/session/work")).status).toBe(204);
  expect(existsSync(folder)).toBe(false);
});

test("V3: a session that is asked for twice is one, and another one under its id is refused", async () => {
  const box = await ApiSandbox.make(await person());
  const wish = { id: "work", env: { A: "1" } };
  for (const _ of ["once", "again"]) expect(await (await box.post("/session", wish)).json()).toEqual({ id: "work" });
  expect(await refusedAs(await box.post("/session", { id: "work" }))).toEqual([409, "other_session"]);
});

test("V2: a sandbox is found until it is deleted, by its own tenant alone, and its processes go with it", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  expect(box.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  const running = box.exec(["sleep", "3600"]);
  await until("it runs", async () => (await box.alive()) === 1);
  expect(await (await box.fetch("GET", "/running")).json()).toEqual({ running: true });
  const stranger = await person();
  const all = (as: Person) => [
    box.fetch("GET", "/running", {}, as),
    box.fetch("DELETE", "", {}, as),
    box.fetch("POST", "/exec", { body: '{"argv":["true"]}' }, as),
    box.fetch("POST", "/session", { body: "{}" }, as),
    box.fetch("POST", "/mount", { body: "{}" }, as),
  ];
  for (const response of await Promise.all(all(stranger)))
    expect(await refusedAs(response)).toEqual([404, "not_found"]);
  expect((await box.delete()).status).toBe(204);
  expect((await running).at(-1)).toEqual({ event: "exit", data: '{"exit_code":129}' });
  for (const response of await Promise.all(all(who))) expect(await refusedAs(response)).toEqual([404, "not_found"]);
  const never = await api(who, `/v1/sandbox/${fresh("box")}/running`);
  expect(await refusedAs(never)).toEqual([404, "not_found"]);
});

test("V1: refusals have words and a code; what is unknown is ignored, and what can't be had is not silently left out", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  const viewer = await person({ ...who, scope: "sandbox:connect" });
  const create = (body: string, as: Person | undefined = who) => api(as, "/v1/sandbox", { method: "POST", body });
  const cases: [Promise<Response>, number, string][] = [
    [create("{}", NOBODY), 401, "malformed"],
    [api(undefined, "/v1/sandbox", { method: "POST" }), 401, "no_token"],
    [create("{}", viewer), 403, "insufficient_scope"],
    [create('{"mounts":[{"bucket":"b"}]}'), 501, "unsupported"],
    [create("[]"), 400, "bad_request"],
    [create("{"), 400, "bad_request"],
    [api(who, "/v1/pool/prime", { method: "POST" }), 501, "unsupported"],
    [api(who, "/v1/pool/stats"), 501, "unsupported"],
    [box.post("/mount", {}), 501, "unsupported"],
    [box.post("/unmount", {}), 501, "unsupported"],
    [box.post("/exec", { argv: [] }), 400, "bad_request"],
    [box.post("/exec", { argv: ["echo", 1] }), 400, "bad_request"],
    [box.post("/exec", { argv: ["a\0b"] }), 400, "bad_request"],
    [box.post("/exec", {}), 400, "bad_request"],
    [box.post("/exec", { argv: ["true"], timeout_ms: -1 }), 400, "bad_request"],
    [box.post("/exec", { argv: ["true", "x".repeat(200_000)] }), 422, "cmd_too_long"],
    [box.fetch("POST", "/exec", { body: '{"argv":["true"]}' }, viewer), 403, "insufficient_scope"],
    [box.post("/session", { id: "../x" }), 400, "bad_request"],
    [box.post("/session", { env: { "A=B": "1" } }), 400, "bad_request"],
    [box.fetch("GET", "/nothing"), 404, "not_found"],
  ];
  for (const [response, status, code] of cases) expect(await refusedAs(await response)).toEqual([status, code]);
  expect((await create('{"mounts":[],"exposedPorts":[1],"other":1}')).status).toBe(200);
  expect((await box.fetch("GET", "/running", {}, viewer)).status).toBe(200);
  const document = (await (await api(viewer, "/v1/openapi.json")).json()) as {
    info: { version: string };
    paths: object;
  };
  expect([document.info.version, Object.keys(document.paths)]).toEqual([
    "1.0.0",
    expect.arrayContaining(["/v1/sandbox"]),
  ]);
  expect(await refusedAs(await api(undefined, "/v1/openapi.json"))).toEqual([401, "no_token"]);
});

test("V2: sandboxes that were made count against the tenant's limit until they are deleted", async () => {
  const who = await person();
  const boxes = await Promise.all(Array.from({ length: 10 }, () => ApiSandbox.make(who)));
  const more = () => api(who, "/v1/sandbox", { method: "POST" });
  expect(await refusedAs(await more())).toEqual([429, "too_many_sandboxes"]);
  await restartWorker();
  expect(await refusedAs(await more())).toEqual([429, "too_many_sandboxes"]);
  expect((await boxes[0]?.delete())?.status).toBe(204);
  expect((await more()).status).toBe(200);
});

test("the guide's lines for curl, from no sandbox to none", async () => {
  const who = await person();
  const [, block = ""] = /```sh\n(URL=[\s\S]*?)```/.exec(readFileSync(join(ROOT, "docs/programs.md"), "utf8")) ?? [];
  const lines = block.replace("http://localhost:8787", system.origin).replace("$(npm run --silent token)", who.token);
  const { code, stdout, stderr } = await run("bash", ["-euc", lines], "/");
  const output = Buffer.from("Linux\n").toString("base64");
  const events = `event: stdout\ndata: ${output}\n\nevent: exit\ndata: {"exit_code":0}\n\n`;
  expect([code, stdout.replaceAll(": \n\n", ""), stderr]).toEqual([0, `${events}Linux\n`, ""]);
  expect(await (await api(who, "/api/sandboxes")).json()).toEqual({ sandboxes: [] });
});
