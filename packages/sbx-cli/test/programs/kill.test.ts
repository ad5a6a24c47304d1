// `sessions` and `kill`, against a server with processes.

import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collect, runCli, startCli } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("sessions and kill", () => {
  test("a table for people, JSON for programs", async () => {
    const child = startCli([
      server.url,
      "--sandbox",
      "dev",
      "--session",
      "build",
      "--",
      "sh",
      "-c",
      "echo hi; sleep 60",
    ]);
    await once(child.stdout ?? child, "data");
    const { stdout } = await runCli(["sessions", server.url, "--sandbox", "dev"]);
    expect(stdout.split("\n").map((row) => row.replace(/ \d+s /, " AGE ").split(/ {2,}/))).toEqual([
      ["SESSION", "STATE", "KIND", "WHO", "OUTPUT", "LAST", "AGE", "COMMAND"],
      ["build", "running", "pipes", "1", "3", "AGE", "sh -c 'echo hi; sleep 60'"],
      [""],
    ]);
    const json = await runHere(["sessions", server.url, "--sandbox", "dev", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      sessions: [{ session: "build", cmd: ["sh", "-c", "echo hi; sleep 60"] }],
    });
    const gone = collect(child);
    expect(await runCli(["kill", server.url, "--sandbox", "dev", "--session", "build"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "sbx-stdio: session build in sandbox dev has ended\n",
    });
    expect((await gone).code).toBe(137);
    server.said = {};
    const told = await runHere(["kill", server.url, "--sandbox", "dev", "--session", "build", "--json"]);
    expect([JSON.parse(told.stdout), told.stderr]).toEqual([{ sandbox: "dev", session: "build" }, ""]);
  });

  test("several are ended, each is told, also one that had ended before; one that is not there fails the rest not", async () => {
    await runCli([server.url, "--session", "over", "--", "true"]);
    const child = startCli([server.url, "--session", "build", "--", "sh", "-c", "echo hi; sleep 60"]);
    await once(child.stdout ?? child, "data");
    const gone = collect(child);
    expect(await runHere(["kill", server.url, "over", "none", "build"])).toMatchObject({
      code: 255,
      stdout: "",
      stderr: [
        "sbx-stdio: session over in sandbox default had already ended; its log is deleted\n",
        'sbx-stdio: no session "none"\n',
        "sbx-stdio: session build in sandbox default has ended\n",
      ].join(""),
    });
    await gone;
  });

  test("a reader that has gone is no fault", async () => {
    const child = startCli(["sessions", server.url]);
    child.stdout?.destroy();
    expect(await collect(child)).toEqual({ code: 141, signal: null, stdout: "", stderr: "" });
  });

  test("a session that is not there, and a server that is not", async () => {
    const missing = await runHere(["kill", server.url, "--session", "none"]);
    expect(missing).toMatchObject({ code: 255, stderr: 'sbx-stdio: no session "none"\n' });
    const dead = await runHere(["sessions", "http://127.0.0.1:1"]);
    expect(dead.stderr).toMatch(/^sbx-stdio: cannot connect to 127.0.0.1:1: .+\n$/);
  });
});
