// What a sandbox in a container is to its clients: from the cold start to a shell with the tools that the image brings.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { connect, HttpRefusal } from "../e2e/support/clients/client.ts";
import { api, fresh, person } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";

const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });

test("the first client of a sandbox is told that it starts, then greeted, then hears its process out", async () => {
  const from = performance.now();
  const client = await connect(await person(), sh("printf out; printf err >&2; exit 7"));
  await client.hello();
  console.log(`cold start: ${Math.round(performance.now() - from)} ms until the greeting`);
  expect((await client.end()).exit).toEqual({ type: "exit", code: 7, offset: 6 });
  expect([client.text(1), client.text(2)]).toEqual(["out", "err"]);
  const types = client.received.map((one) => (one.kind === "control" ? one.message.type : "output"));
  expect(types.filter((type) => type !== "pong").slice(0, 2)).toEqual(["status", "hello"]);
  expect(client.messages("status")).toEqual([{ type: "status", status: "starting" }]);
});

test("a plain client of a sandbox that does not run yet is let in once it does", async () => {
  const client = await connect(await person(), sh("printf here"), { protocols: [] });
  expect(await client.output("here")).toBe("here");
});

test("many who come to a sandbox at once start one container, and all are let in", async () => {
  const who = await person();
  const clients = await Promise.all(
    Array.from({ length: 6 }, (_, index) => connect(who, { session: fresh("s"), ...sh(`echo ${index}; hostname`) })),
  );
  const outputs = await Promise.all(clients.map((client) => client.output(/^\d\n\S+\n$/)));
  expect(outputs.map((text) => text.split("\n")[0])).toEqual(["0", "1", "2", "3", "4", "5"]);
  expect(new Set(outputs.map((text) => text.split("\n")[1])).size).toBe(1);
});

test("stdin ends where the client says so", async () => {
  const client = await connect(await person(), { cmd: "cat" });
  await client.hello();
  client.type("abc");
  client.say({ type: "eof" });
  expect((await client.end()).exit).toEqual({ type: "exit", code: 0, offset: 3 });
  expect(client.text()).toBe("abc");
});

test("8 MiB through cat keep every byte", async () => {
  const client = await connect(
    await person(),
    sh("head -c 8388608 /dev/urandom | tee /tmp/sent; sha256sum </tmp/sent >&2"),
  );
  const { exit } = await client.end();
  expect(exit).toMatchObject({ code: 0 });
  const [sum] = client.text(2).split(" ");
  expect(client.bytes(1)).toHaveLength(8_388_608);
  expect(createHash("sha256").update(client.bytes(1)).digest("hex")).toBe(sum);
});

test("a shell has a terminal, follows the client's window, and passes Ctrl+C on", async () => {
  const client = await connect(await person(), { cols: 90, rows: 20 });
  await client.output("# ");
  client.type("tty; stty size\r");
  await client.output(/\/dev\/pts\/\d+\r\n20 90\r\n/);
  client.say({ type: "resize", cols: 120, rows: 40 });
  await client.message("resize");
  client.type("sh -c 'stty size; exec sleep 60'\r");
  await client.output("40 120\r\n");
  client.type("\x03");
  await client.output("^C");
  client.type("exit 3\r");
  expect((await client.end()).exit).toMatchObject({ code: 3 });
});

test.each([
  ["kill -9 $$", { code: 137, signal: "SIGKILL" }],
  ["exit 255", { code: 255 }],
])("the exit of `%s` tells its code and signal", async (script, status) => {
  const client = await connect(await person(), sh(script));
  expect(await client.message("exit")).toEqual({ type: "exit", ...status, offset: 0 });
});

test("the image brings git, curl, vim and tmux, and processes start in /workspace", async () => {
  const script = "pwd; for tool in git curl vim tmux; do command -v $tool >/dev/null && echo $tool; done";
  const client = await connect(await person(), sh(script));
  await client.message("exit");
  expect(client.text()).toBe("/workspace\ngit\ncurl\nvim\ntmux\n");
});

test("vim draws, writes a file and gives its exit code", async () => {
  const who = await person();
  const client = await connect(who, { cmd: "vim", arg: ["-u", "NONE", "/tmp/note"], tty: 1, cols: 80, rows: 24 });
  await client.output("~");
  client.type("ihello from vim\x1b:wq\r");
  expect((await client.end()).exit).toMatchObject({ code: 0 });
  const reader = await connect(who, { session: fresh("s"), cmd: "cat", arg: ["/tmp/note"] });
  expect(await reader.output("\n")).toBe("hello from vim\n");
});

test("tmux runs, with a shell inside that knows its size", async () => {
  const client = await connect(await person(), { cmd: "tmux", arg: ["-f", "/dev/null"], tty: 1, cols: 100, rows: 30 });
  await client.output("[0]");
  client.type("stty size; exit\r");
  await client.output("29 100");
  expect((await client.end()).exit).toMatchObject({ code: 0 });
});

test("a command or directory that is not there is told before anything runs", async () => {
  const who = await person();
  const missing = await connect(who, { cmd: "no-such-command" });
  expect(await missing.message("bye")).toMatchObject({ code: 4422, reason: expect.stringContaining("cmd_not_found") });
  const astray = connect(who, { cmd: "ls", cwd: "/no/such" }, { protocols: [] });
  await expect(astray).rejects.toThrow(HttpRefusal);
  await expect(astray).rejects.toMatchObject({ status: 422 });
});

test("a session is listed with what it runs, and ended through the API", async () => {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("echo ready; sleep 600") });
  await client.output("ready");
  const path = `/api/sandboxes/default/sessions/${session}`;
  expect(await (await api(who, path)).json()).toMatchObject({ session, state: "running", clients: 1, cmd: "sh" });
  expect((await api(who, path, { method: "DELETE" })).status).toBe(204);
  expect(await client.message("exit")).toMatchObject({ code: 129, signal: "SIGHUP" });
  await until("the end of the listing", async () => (await api(who, path)).status === 404);
});
