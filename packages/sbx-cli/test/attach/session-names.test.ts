// Sessions by name: one of our own, one that was there before, one whose process has ended.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collect, runCli, startCli, until } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("names", () => {
  test("a session that is not named gets a name of its own, and pipes are asked for in so many words", async () => {
    await runCli([server.url, "--", "true"]);
    await runCli([server.url, "--", "true"]);
    const [first, second] = server.queries.map((query) => query.get("session"));
    expect(first).toMatch(/^cli-[0-9a-v]{8}$/);
    expect(second).not.toBe(first);
    expect(server.queries.map((query) => query.get("tty"))).toEqual(["0", "0"]);
  });

  test("--verbose says the session's name and how it ended", async () => {
    const { stderr } = await runCli([server.url, "--session", "build", "--verbose", "--", "true"]);
    expect(stderr.split("\n")).toEqual([
      "sbx-stdio: session build",
      "sbx-stdio: attached to session build of sandbox default, pipes",
      "sbx-stdio: the process ended: code 0",
      "",
    ]);
  });
});

describe("what a session is like that was there before", () => {
  test("output that it holds no more is said to be gone, and is no failure of this run", async () => {
    const script = "head -c 3000000 /dev/zero; read x";
    const driver = startCli([server.url, "--session", "build", "--", "sh", "-c", script]);
    const driven = collect(driver);
    await until(
      () => server.hosts.get("build")?.session.log.endOffset === 3_000_000,
      () => "no output",
    );
    const { log } = server.host().session;
    const viewer = collect(startCli([server.url, "--session", "build", "--role", "viewer"]));
    await until(
      () => server.host().session.attachedCount === 2,
      () => "no viewer",
    );
    driver.stdin?.end("\n");
    const { code, stdout, stderr } = await viewer;
    expect({ code, length: stdout.length, stderr }).toEqual({
      code: 0,
      length: log.endOffset - log.startOffset,
      stderr: `sbx-stdio: the first ${log.startOffset} bytes of output are no longer available\n`,
    });
    await driven;
  });

  test("another command than its own is refused", async () => {
    const first = startCli([server.url, "--session", "build", "--", "sleep", "60"]);
    const ended = collect(first);
    await until(
      () => server.hosts.get("build"),
      () => "no session",
    );
    const { code, stderr } = await runCli([server.url, "--session", "build", "--", "true"]);
    expect({ code, stderr }).toEqual({
      code: 255,
      stderr: 'sbx-stdio: session "build" runs another command: choose another name, or give no command\n',
    });
    server.host().kill("SIGKILL");
    await ended;
  });
});

describe("a name whose process has ended", () => {
  test("starts anew with the new command and input; a viewer reads what is kept", async () => {
    const words = [server.url, "--session", "t", "--", "sh", "-c"];
    expect(await runCli([...words, "cat; exit 3"], "one")).toMatchObject({ code: 3, stdout: "one" });
    expect(await runCli([...words, "cat; exit 4"], "two")).toMatchObject({ code: 4, stdout: "two" });
    const viewer = await runCli([server.url, "--session", "t", "--role", "viewer"]);
    expect(viewer).toMatchObject({ code: 4, stdout: "two" });
  });

  test("a session whose name is our own says so, and none that has a name", async () => {
    await runCli([server.url, "--", "true"]);
    await runCli([server.url, "--session", "t", "--", "true"]);
    const said = server.queries.map((query) => [query.get("unnamed"), query.get("ended")]);
    expect(said).toEqual([
      ["1", "replace"],
      [null, "replace"],
    ]);
  });
});
