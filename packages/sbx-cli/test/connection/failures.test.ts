// Why a run failed: one line, and 255.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cleanEnv, collect, runCli, startCli, until } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";
import { startServer, type TestServer, TOKEN } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("why it failed is one line, and the code is 255", () => {
  const line = (text: string) => ({ code: 255, signal: null, stdout: "", stderr: `sbx-stdio: ${text}\n` });

  test("no token", async () => {
    const env = cleanEnv({ SBX_TOKEN: "" });
    const text = `no access token; log in with \`sbx-stdio login ${server.url}\`, or set SBX_TOKEN or --token`;
    expect(await runHere([server.url, "--", "true"], "", env)).toEqual(line(text));
    expect(server.queries).toEqual([]);
  });

  test("a token that is refused", async () => {
    const text = `the token is not one of ours (log in again with \`sbx-stdio login ${server.url}\`, or set a new SBX_TOKEN)`;
    expect(await runCli([server.url, "--token", "bad", "--", "true"])).toEqual(line(text));
  });

  test("a token that no request can carry", async () => {
    for (const args of [
      [server.url, "--token", "two\nlines", "--", "true"],
      ["sessions", server.url, "--token", "tök"],
    ]) {
      expect(await runHere(args)).toEqual(line("the access token contains invalid characters"));
    }
    expect(server.queries).toEqual([]);
  });

  test("the token comes from the option, else SBX_TOKEN, else DO_TOKEN", async () => {
    const codes: (number | null)[] = [];
    for (const [flag, sbx, other] of [
      [TOKEN, "bad", "bad"],
      ["", TOKEN, "bad"],
      ["", "", TOKEN],
      ["bad", TOKEN, TOKEN],
    ] as const) {
      const flags = flag === "" ? [] : ["--token", flag];
      const env = cleanEnv({ SBX_TOKEN: sbx, DO_TOKEN: other });
      codes.push((await runHere([server.url, ...flags, "--", "true"], "", env)).code);
    }
    expect(codes).toEqual([0, 0, 0, 255]);
  });

  test("an address where nobody listens is told in the same words by every verb", async () => {
    // Not one of the ports that a browser would not ask, and none that another test may be given.
    const url = "http://127.0.0.1:2";
    for (const words of [
      [url, "--", "true"],
      ["run", url, "--", "true"],
      ["ls", url],
    ]) {
      expect(await runHere(words)).toEqual(line("cannot connect to 127.0.0.1:2: connection refused"));
    }
  });

  const refusals: [number, string, Record<string, string>, string][] = [
    [403, '{"error":"forbidden","message":"not your sandbox"}', {}, "not your sandbox"],
    [
      404,
      "<html>no such page</html>",
      {},
      "no sbx-stdio API at URL (the server answered HTTP 404 Refused): check host, port and path, or run `sbx-stdio doctor URL`",
    ],
    [
      422,
      '{"error":"cmd_not_found","message":"cmd_not_found: nope\\u001b[2J\\nx"}',
      {},
      "nope [2J x: command not found (run without a shell; for a command line use bash -c 'LINE', or run --command 'LINE')",
    ],
    [503, '{"error":"unavailable","message":"come back later"}', {}, "come back later"],
    [301, "", { location: "https://other.example/" }, "redirected (HTTP 301 Refused): https://other.example/"],
  ];
  for (const [status, body, headers, text] of refusals) {
    test(`HTTP ${status}`, async () => {
      server.refusal = { status, body, headers };
      expect(await runHere([server.url, "--", "true"])).toEqual({
        ...line(text.replaceAll("URL", server.url)),
        // As a shell says of a command that it can't find.
        code: text.includes(": command not found") ? 127 : 255,
      });
    });
  }

  test("a refusal after the upgrade", async () => {
    server.onConnection = (connection) => connection.bye(4422, "cmd_not_found: nope", "never");
    expect(await runHere([server.url, "--", "nope"])).toEqual({ ...line("nope: command not found"), code: 127 });
    server.onConnection = (connection) =>
      connection.bye(4422, "cmd_not_executable: Cannot execute /etc: is a directory", "never");
    expect(await runHere([server.url, "--", "/etc"])).toEqual({ ...line("/etc: is a directory"), code: 126 });
  });

  test("a directory that can't be entered: its words alone", async () => {
    const reason = "bad_cwd: Cannot enter /nonexistent: no such file or directory";
    const told = line("Cannot enter /nonexistent: no such file or directory");
    server.onConnection = (connection) => connection.bye(4422, reason, "never");
    expect(await runHere([server.url, "--cwd", "/nonexistent", "--", "pwd"])).toEqual(told);
    server.refusal = { status: 422, body: JSON.stringify({ error: "bad_cwd", message: reason }) };
    expect(await runHere([server.url, "--cwd", "/nonexistent", "--", "pwd"])).toEqual(told);
  });

  test("a server that does not come back is given up, with a line that says so", async () => {
    const child = startCli([
      server.url,
      "--session",
      "build",
      "--give-up",
      "2",
      "--",
      "sh",
      "-c",
      "echo ready; sleep 60",
    ]);
    const result = collect(child);
    child.stdout?.once("data", () => {
      server.refusal = { status: 503, body: "" };
      server.cut();
    });
    const { code, stdout, stderr } = await result;
    expect([code, stdout]).toEqual([255, "ready\n"]);
    expect(stderr).toMatch(/\nsbx-stdio: gave up after \d+ s: .*503.*; session build may still be running\n$/);
  });

  test("a session that is cut off for good says that it may still run", async () => {
    const child = startCli([server.url, "--session", "build", "--", "sleep", "60"]);
    const result = collect(child);
    await until(
      () => server.hosts.get("build"),
      () => "no session",
    );
    server.onConnection = (connection) => connection.bye(4403, "you were removed", "never");
    server.cut();
    const { code, stderr } = await result;
    expect(code).toBe(255);
    expect(stderr).toMatch(/^sbx-stdio: connection lost \(.+\), reconnecting…\n/);
    expect(stderr).toMatch(/\nsbx-stdio: you were removed; session build may still be running\n$/);
  });

  test("a session whose process is lost is not said to run", async () => {
    const child = startCli([server.url, "--session", "build", "--", "sleep", "60"]);
    const result = collect(child);
    await until(
      () => server.hosts.get("build"),
      () => "no session",
    );
    server.host().kill("SIGKILL");
    server.hosts.clear();
    server.cut();
    expect((await result).stderr).toMatch(/\nsbx-stdio: process lost\n$/);
  });

  test("a ticket that does not count any more: its bearer is told whom to ask", async () => {
    server.onConnection = (connection) => connection.bye(4401, "the ticket was revoked", "never");
    server.isOpen = true;
    const env = cleanEnv({ SBX_TOKEN: "" });
    expect(await runHere([`${server.url}/?session=build&role=viewer#ticket=s.x`], "", env)).toEqual(
      line("the ticket was revoked (ask for a new share link)"),
    );
  });
});
