// What a run ends with: the process's own code.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("the exit code is the process's", () => {
  const table: [string, number][] = [
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -9 $$", 137],
    ["kill -TERM $$", 143],
  ];
  for (const [script, code] of table) {
    test(`${script} ends with ${code}`, async () => {
      expect(await runCli([server.url, "--", "sh", "-c", script])).toEqual({
        code,
        signal: null,
        stdout: "",
        stderr: "",
      });
    });
  }
});
