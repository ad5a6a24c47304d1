// Signals that the command line gets: whose they are, and how it ends by them.

import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cleanEnv, collect, startCli, until } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("a signal that would end us", () => {
  test("in an outage ends this program within 5 s", async () => {
    const child = startCli([server.url, "--session", "t", "--", "sh", "-c", "echo ready; sleep 60"]);
    const result = collect(child);
    child.stdout?.once("data", () => {
      server.refusal = { status: 503, body: "" };
      server.cut();
    });
    // On a busy machine it has said before what it waits for: by such a word the signal could still reach the process.
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      const isKnown = said.includes("connection lost");
      said += chunk;
      if (!isKnown && said.includes("connection lost")) child.kill("SIGTERM");
    });
    expect((await result).signal).toBe("SIGTERM");
  });

  test("is not passed on to a process that was not started for us", async () => {
    const driver = startCli([server.url, "--session", "t", "--", "sh", "-c", "echo ready; cat"]);
    const driven = collect(driver);
    await until(
      () => server.hosts.get("t")?.session.log.endOffset,
      () => "not ready",
    );
    const other = startCli([server.url, "--session", "t"]);
    const looked = collect(other);
    other.stdout?.once("data", () => other.kill("SIGTERM"));
    const again = `sbx-stdio ${server.url} --sandbox default --session t`;
    expect(await looked).toMatchObject({
      signal: "SIGTERM",
      stderr: `sbx-stdio: ended by SIGTERM; attach again with: ${again}\n`,
    });
    const quiet = startCli([server.url, "--session", "t", "-q"]);
    const ended = collect(quiet);
    quiet.stdout?.once("data", () => quiet.kill("SIGHUP"));
    expect(await ended).toMatchObject({ signal: "SIGHUP", stderr: "" });
    expect(server.host("t").asked.filter((what) => what.startsWith("SIG"))).toEqual([]);
    driver.stdin?.end();
    expect((await driven).code).toBe(0);
  });

  test("SIGHUP is ignored where whoever started us said so, and not passed on", async () => {
    const env = cleanEnv({ SBX_SIGIGN: "0000000000000001" });
    const child = startCli([server.url, "--session", "t", "--", "sh", "-c", "echo ready; cat"], { env });
    const result = collect(child);
    child.stdout?.once("data", () => {
      child.kill("SIGHUP");
      child.stdin?.write("on\n");
      // That went there and back: whoever hears a signal has heard it.
      child.stdout?.once("data", () => child.stdin?.end("and on\n"));
    });
    expect(await result).toMatchObject({ code: 0, signal: null, stdout: "ready\non\nand on\n" });
    expect(server.host("t").asked).not.toContain("SIGHUP");
  });
});

describe("signals", () => {
  async function started(...words: string[]) {
    const child = startCli([server.url, ...words]);
    const result = collect(child);
    // Before it is attached a signal is for itself.
    await once(child.stdout ?? child, "data");
    return { child, result };
  }

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"] as const) {
    test(`${signal} goes to the process, and its end is waited for`, async () => {
      const name = signal.slice(3);
      const { child, result } = await started("--", "bash", "-c", `trap 'echo got; exit 9' ${name}; echo; read`);
      child.kill(signal);
      expect(await result).toEqual({ code: 9, signal: null, stdout: "\ngot\n", stderr: "" });
      expect(server.host().asked).toEqual([signal]);
    });
  }

  test("a second ^C ends the command line as ^C does, and kills a session of our own", async () => {
    const { child, result } = await started("--", "sh", "-c", "trap '' INT; echo; sleep 60");
    child.kill("SIGINT");
    await until(
      () => server.host().asked[0],
      () => "no signal came",
    );
    child.kill("SIGINT");
    expect(await result).toMatchObject({ code: null, signal: "SIGINT" });
    await until(
      () => server.host().session.exit,
      () => "the process lives",
    );
    // Whether it is seen to leave depends on which is faster, its close or the process's end.
    expect(server.host().asked.filter((what) => what !== "left")).toEqual(["SIGINT", "kill"]);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`${signal} ends a viewer itself at once, and a driver without the keyboard`, async () => {
      const { child, result } = await started(
        "--session",
        "build",
        "--mode",
        "exclusive",
        "--",
        "sh",
        "-c",
        "echo; read x",
      );
      for (const role of ["viewer", "driver"]) {
        const other = startCli([server.url, "--session", "build", "--role", role]);
        const ended = collect(other);
        await once(other.stdout ?? other, "readable");
        other.kill(signal);
        const words = `${server.url} --sandbox default --session build${role === "viewer" ? " --role viewer" : ""}`;
        const stderr = `sbx-stdio: ended by SIGTERM; attach again with: sbx-stdio ${words}\n`;
        expect(await ended).toEqual({ code: null, signal, stdout: "\n", stderr: signal === "SIGINT" ? "" : stderr });
      }
      expect(server.host().asked.filter((what) => what !== "left")).toEqual([]);
      child.stdin?.end("\n");
      expect((await result).code).toBe(0);
    });
  }

  test("a signal that comes while the connection is down is passed on when it is back", async () => {
    const { child, result } = await started("--", "bash", "-c", "trap 'exit 9' TERM; echo; read");
    server.refusal = { status: 503, body: "" };
    server.cut();
    await once(child.stderr ?? child, "data");
    child.kill("SIGTERM");
    server.refusal = undefined;
    expect((await result).code).toBe(9);
  });

  test("before there is a session, the signal is the command line's own", async () => {
    server.refusal = { status: 503, body: "" };
    const child = startCli([server.url, "--verbose", "--", "true"]);
    const result = collect(child);
    await once(child.stderr ?? child, "data");
    child.kill("SIGINT");
    expect(await result).toMatchObject({ code: null, signal: "SIGINT" });
  });
});
