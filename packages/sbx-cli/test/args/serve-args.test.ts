// The words of `serve`.

import path from "node:path";
import { expect, test } from "vitest";
import { parseArgs } from "../../src/args/args.ts";

const command = (...words: string[]) => {
  const parsed = parseArgs(["serve", ...words], "1");
  return parsed.kind === "serve" ? parsed.command : parsed;
};

test("serve alone serves the current folder on loopback, to people who may do all", () => {
  const plain = { kind: "serve", port: 8787, bind: "localhost", dir: process.cwd(), limits: {} };
  expect(command()).toEqual({ ...plain, password: true });
});

test("an issuer, a command for all programs, and limits come as words", () => {
  const issuer = ["--issuer", "https://id.test", "--client-id", "serve", "--client-secret-file", "/s"];
  const limits = ["--cgroup", "/c", "--limit", "pids.max=500", "memory.max=2G", "--trust-proxy", "::1", "127.0.0.1"];
  expect(command(...issuer, "--exec", "docker exec  -i NAME", ...limits)).toMatchObject({
    ...{ issuer: "https://id.test", clientId: "serve", clientSecretFile: "/s" },
    exec: ["docker", "exec", "-i", "NAME"],
    cgroup: "/c",
    trustProxy: ["::1", "127.0.0.1"],
    limits: { "pids.max": "500", "memory.max": "2G" },
  });
});

test("what stands after -- is the program with its own options", () => {
  expect(command("--once", "--dir", "/srv", "--", "htop", "--port", "1")).toMatchObject({
    port: 8787,
    dir: "/srv",
    once: true,
    program: { cmd: "htop", args: ["--port", "1"] },
  });
  expect(() => command("--")).toThrow("serve -- needs a program behind it");
});

test("the other actions name the server by its port or folder", () => {
  expect(command("link", "--port", "9000")).toEqual({
    kind: "link",
    port: 9000,
    state: undefined,
    linkFile: undefined,
    name: undefined,
  });
  expect(command("link", "alice")).toMatchObject({ kind: "link", name: "alice" });
  expect(command("token", "--role", "viewer")).toMatchObject({ kind: "token", role: "viewer" });
  expect(command("token")).toMatchObject({ role: "admin" });
  expect(command("user", "eve", "--as", "nobody", "--no-password")).toMatchObject({ as: "nobody", hasPassword: false });
  expect(command("status", "--state", "/s")).toEqual({ kind: "status", port: 8787, state: "/s" });
  expect(command("stop", "--now")).toMatchObject({ kind: "stop", isNow: true });
  expect(command("user", "alice", "--role", "viewer")).toMatchObject({ kind: "user", name: "alice", role: "viewer" });
  expect(command("user", "alice", "--remove")).toMatchObject({ kind: "user", name: "alice", role: undefined });
});

test.each([
  [["--port", "0"], "--port is a number from 1 to 65535"],
  [["--port", "65536"], "--port is a number from 1 to 65535"],
  [["user"], "serve user needs a name"],
  [["status", "alice"], "serve status takes no name"],
  [["--client-id", "serve"], "--issuer and --client-id go together"],
  [["--client-secret-file", "/s"], "--issuer and --client-id go together"],
  [["--exec", "sh -c 'a b'"], "--exec is a program and its words"],
  [["--exec", " "], "--exec is a program and its words"],
  [["--cgroup", "/c", "--limit", "pids"], "--limit is FILE=VALUE"],
  [["--cgroup", "/c", "--limit", "../x.y=1"], "--limit is FILE=VALUE"],
  [["--limit", "pids.max=1"], "--limit needs --cgroup"],
  [["link", "--", "htop"], "serve link takes no program"],
  [["user", "alice", "--role", "root"], "Allowed choices are viewer, driver, admin"],
  [["start"], "Allowed choices are"],
])("%j is refused, and the message says why", (words, message) => {
  expect(() => command(...words)).toThrow(message);
});

test("--install takes the other words as they are, and no --install of the program's", () => {
  const { argv } = process;
  try {
    process.argv = ["/bin/node", "sbx-stdio.js", "serve", "--dir", "x", "--install", "--", "tool", "--install"];
    expect(command("--dir", "x", "--install", "--", "tool", "--install")).toEqual({
      kind: "install",
      port: 8787,
      state: undefined,
      dir: process.cwd(),
      command: ["/bin/node", path.resolve("sbx-stdio.js"), "serve", "--dir", "x", "--", "tool", "--install"],
    });
  } finally {
    process.argv = argv;
  }
});
