// Output that can no longer be written: a reader that has gone, a disk that is full.

import { closeSync, openSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collect, startCli, until } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("the reader goes away", () => {
  test("the code is 141, nothing is said, and a session of our own is killed", async () => {
    const child = startCli([server.url, "--", "sh", "-c", "while :; do echo y; done"]);
    const result = collect(child);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await result).toMatchObject({ code: 141, signal: null, stderr: "" });
    await until(
      () => server.host().session.exit,
      () => "the process lives",
    );
    expect(server.host().asked.filter((what) => what !== "left")).toEqual(["kill"]);
  });

  test("a session with a name is left as it is", async () => {
    const child = startCli([server.url, "--session", "build", "--", "sh", "-c", "while :; do echo y; done"]);
    const result = collect(child);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await result).toMatchObject({ code: 141, stderr: "" });
    await until(
      () => server.host().asked[0],
      () => "nobody left",
    );
    expect(server.host().asked).toEqual(["left"]);
    expect(server.host().session.exit).toBeUndefined();
  });
});

describe("the reader of run goes away", () => {
  test("a process of our own is ended; one with a name is named, and left", async () => {
    for (const words of [[], ["--session", "build"]]) {
      const child = startCli(["run", server.url, ...words, "--", "yes"]);
      const result = collect(child);
      child.stdout?.once("data", () => child.stdout?.destroy());
      const stderr = words.length === 0 ? "" : "sbx-stdio: the process is still running, in session build\n";
      expect(await result).toMatchObject({ code: 141, stderr });
    }
    expect([...server.hosts.keys()]).toEqual(["build"]);
  });
});

describe("a full disk", () => {
  async function runOnFull(...words: string[]) {
    const full = openSync("/dev/full", "w");
    const result = collect(startCli(words, { stdio: ["ignore", full, "pipe"] }));
    closeSync(full);
    return result;
  }
  const said = "sbx-stdio: cannot write the output: ENOSPC: no space left on device, write\n";

  test("output that could not be written is no success, also where the process has ended well", async () => {
    expect(await runOnFull(server.url, "--", "echo", "hi")).toMatchObject({ code: 255, stderr: said });
    expect(await runOnFull(server.url, "--", "sh", "-c", "echo hi; exit 7")).toMatchObject({ code: 255, stderr: said });
  });

  test("what a command answers is said not to be written", async () => {
    expect(await runOnFull("--help")).toMatchObject({ code: 255, stderr: said });
    expect(await runOnFull("sessions", server.url)).toMatchObject({ code: 255, stderr: said });
  });
});
