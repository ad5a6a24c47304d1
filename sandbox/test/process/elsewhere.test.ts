// Programs behind a command, as `serve --exec` runs them: a real ssh and sshd, without a port, and a stand-in for docker whose programs
// are no children of its client.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  HEADERS,
  isRoot,
  NOBODY,
  order,
  run,
  SECRET,
  startBridgeProcess,
  temporary,
  testBridge,
} from "../support/bridge.ts";
import { PlainClient } from "../support/clients.ts";

/** ssh to this machine, as words. */
function sshWords(): readonly string[] {
  const at = temporary();
  for (const name of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(at, name)]);
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const key = (name: string) => join(at, name);
  const server = `HostKey ${key("host")}\nAuthorizedKeysFile ${key("user.pub")}\nStrictModes no\nUsePAM no\nPidFile none\n`;
  writeFileSync(join(at, "sshd"), `${server}PermitRootLogin yes\n`);
  const client = `Host home\n  ProxyCommand /usr/sbin/sshd -i -f ${join(at, "sshd")}\n  IdentityFile ${key("user")}
  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n`;
  writeFileSync(join(at, "ssh"), client, { mode: 0o600 });
  return ["ssh", "-F", join(at, "ssh"), "NAME"];
}

const DOCKER = `#!/bin/sh
echo "$@" >>"$0.asked"
shift
while case $1 in -*) true ;; *) false ;; esac; do shift; done
if [ "$1" != home ]; then echo "No such container: $1" >&2; exit 1; fi
shift
exec setsid -w "$@"
`;

function dockerWords(): readonly [file: string, words: readonly string[]] {
  const file = join(temporary(), "docker");
  writeFileSync(file, DOCKER);
  chmodSync(file, 0o755);
  return [file, [file, "exec", "-i", "NAME"]];
}

const bridgeBehind = (words: readonly string[]): string => testBridge({ STDIO_EXEC: JSON.stringify(words) }).url;
const asked = (tty: boolean, more = {}) => ({ label: "home", tty: tty ? "1" : "0", ...more });

function attach(url: string, words: readonly string[], more: Readonly<Record<string, string>>): Promise<PlainClient> {
  const query = new URLSearchParams({ cmd: words[0] ?? "", ...more });
  for (const word of words.slice(1)) query.append("arg", word);
  return PlainClient.attach(url, SECRET, query);
}

const isRunning = (pid: string): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
const ended = (pid: string) => expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
const pidIn = (text: string): string => /pid (\d+)/.exec(text)?.[1] ?? "";

test("behind ssh a terminal has its size and its exit code, and every key arrives", async () => {
  const url = bridgeBehind(sshWords());
  const script =
    "stty size; trap 'stty size; exit 7' WINCH; echo ready; read line; echo got $line; while read line; do :; done";
  const client = await attach(url, ["sh", "-c", script], asked(true, { cols: "132", rows: "40", session: "a" }));
  await client.until(() => client.output.includes("ready"));
  expect(client.output).toContain("40 132\r\n");
  // What ssh would take for its own command.
  client.type("\r~.\r");
  await client.until(() => client.output.includes("got"));
  client.say({ type: "resize", cols: 100, rows: 30 });
  client.type("\r");
  await client.until(() => client.exit !== undefined);
  expect([client.output.includes("30 100"), client.exit]).toEqual([true, expect.objectContaining({ code: 7 })]);
});

test("behind ssh, words stay words, streams stay apart and bytes stay bytes", async () => {
  const url = bridgeBehind(sshWords());
  const words = ["a b", "$(id)", "'; id; '", "\\", "*", "", 'q"q', "-n", "x=1"];
  const said = await run(url, ["printf", "<%s>", ...words], asked(false));
  expect(said).toBe(words.map((word) => `<${word}>`).join(""));
  expect(await run(url, ["sh", "-c", 'echo "$A"; pwd'], asked(false, { env: "A=x'y $z", cwd: "/usr" }))).toBe(
    "x'y $z\n/usr\n",
  );
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  const sum = execFileSync("sha256sum", { input: bytes, encoding: "utf8" }).slice(0, 64);
  const ordered = await order(url, "sum", "sha256sum", [], { label: "home", stdin: bytes.toString("base64") });
  expect(ordered.status).toBe(201);
  const client = await PlainClient.attach(url, SECRET, { session: "sum", label: "home", tty: "0" });
  await client.until(() => client.exit !== undefined);
  expect([client.output.slice(0, 64), client.exit]).toEqual([sum, expect.objectContaining({ code: 0 })]);
});

test.each([
  ["ssh", () => sshWords(), "trap '' HUP TERM"],
  ["docker", () => dockerWords()[1], "true"],
] as const)("behind %s a signal reaches the program, and all of it ends with its session", async (_, words, begin) => {
  const url = bridgeBehind(words());
  const script = `trap 'echo told; exit 3' USR1; ${begin}; sleep 1000 & echo pid $!; while :; do sleep 0.05; done`;
  const first = await attach(url, ["sh", "-c", script], asked(false, { session: "a" }));
  await first.until(() => first.output.includes("pid"));
  first.say({ type: "signal", signal: "SIGUSR1" });
  await first.until(() => first.exit !== undefined);
  expect([first.output.includes("told"), first.exit]).toEqual([true, expect.objectContaining({ code: 3 })]);

  const second = await attach(url, ["sh", "-c", `echo pid $$; ${script}`], asked(false, { session: "b" }));
  await second.until(() => second.output.split("pid").length === 3);
  const pids = [pidIn(second.output), pidIn(second.output.replace(/pid/, ""))];
  expect(pids.map(isRunning)).toEqual([true, true]);
  expect((await fetch(`${url}/sessions/b?sandbox=default`, { method: "DELETE", headers: HEADERS })).status).toBe(200);
  for (const pid of pids) await ended(pid);
});

test("docker gets a terminal for a terminal alone, and the sandbox's name as one word", async () => {
  const [file, words] = dockerWords();
  const url = bridgeBehind(words);
  expect(await run(url, ["echo", "hello"], asked(true))).toBe("hello\r\n");
  expect(await run(url, ["echo", "hello"], asked(false))).toBe("hello\n");
  const client = await attach(url, ["true"], { label: "other", tty: "0" });
  await client.until(() => client.exit !== undefined);
  expect([client.output, client.exit]).toEqual(["No such container: other\n", expect.objectContaining({ code: 1 })]);
  const lines = readFileSync(`${file}.asked`, "utf8");
  expect(lines).toMatch(/^exec -t --detach-keys=\S+ -i home env TERM=xterm-256color STDIO_ELSEWHERE=\S+ sh -c/m);
  expect(lines).toMatch(/^exec -i home env STDIO_ELSEWHERE=/m);
});

test("without a command there is the shell of the place; a command that it lacks is 127", async () => {
  const url = bridgeBehind(dockerWords()[1]);
  const client = await PlainClient.attach(url, SECRET, { label: "home", tty: "0" });
  client.type("echo $0\nexit 5\n");
  await client.until(() => client.exit !== undefined);
  expect([client.output, client.exit]).toEqual(["bash\n", expect.objectContaining({ code: 5 })]);
  const missing = await attach(url, ["nosuch-program"], asked(false));
  await missing.until(() => missing.exit !== undefined);
  expect(missing.exit).toMatchObject({ code: 127 });
});

/** Only root may start a process as another user. For other users this test doesn't exist, as skipped tests fail. */
const testAsRoot = isRoot ? test : () => undefined;

testAsRoot(
  "a sandbox runs as its user of the machine, in that user's cgroup, with nothing of root's but the mark; one of none is refused",
  async () => {
    const at = temporary();
    const file = join(at, "accounts.json");
    writeFileSync(file, JSON.stringify({ alice: { role: "driver", as: "nobody" }, bob: { role: "driver" } }), {
      mode: 0o600,
    });
    const logins = { file, cgroup: join(at, "cgroup"), limits: { "pids.max": "50" } };
    const env = { STDIO_LOGINS: JSON.stringify(logins), OF_ROOT: "secret", SBX_RUN_ID: "mark" };
    const { url } = await startBridgeProcess({ env });
    // As the Worker names a sandbox of hers.
    const keyOf = (tenant: string) =>
      createHash("sha256")
        .update(JSON.stringify(["serve", "org_id", tenant, "home"]))
        .digest("hex")
        .slice(0, 60);
    const alices = { label: "home", sandbox: keyOf("user.nobody"), tty: "0" };
    const said = await run(
      url,
      ["sh", "-c", "id -u; id -G; pwd; echo $USER $SHELL $OF_ROOT $SBX_RUN_ID; id -un; echo pid $$; cat $0"],
      alices,
    );
    expect(said).toMatch(/^65534\n65534\n\/\nnobody \/usr\/sbin\/nologin mark\nnobody\npid \d+\n/);
    const folder = join(at, "cgroup", `user-${NOBODY}`);
    expect(readFileSync(join(folder, "pids.max"), "utf8")).toBe("50");
    expect(readFileSync(join(folder, "cgroup.procs"), "utf8")).toBe(`${pidIn(said)}\n`);
    const read = await run(url, ["sh", "-c", `cat ${file}; cat /proc/$PPID/environ`], alices);
    expect(read.match(/Permission denied/g)?.length).toBe(2);
    expect(await run(url, ["id", "-u"], { ...alices, sandbox: keyOf("serve") })).toBe("0\n");
    for (const tenant of ["user.daemon", "user.undefined", "bob", "user.root"]) {
      expect(await run(url, ["id", "-u"], { ...alices, sandbox: keyOf(tenant) })).toBe("");
    }
  },
);

test("nothing of this machine stands for what is there: no ports, files, archives and tmux", async () => {
  const url = bridgeBehind(dockerWords()[1]);
  const statuses = await Promise.all(
    ["/files", "/archive", "/preview?port=80&path=/", "/workspace"].map(async (path) => {
      return (await fetch(url + path, { method: "POST", headers: HEADERS })).status;
    }),
  );
  expect(statuses).toEqual([422, 422, 422, 422]);
  const port = new URL(url).port;
  for (const more of [
    { tcp: port, tty: "0" },
    { panes: "1", tty: "1" },
  ]) {
    await expect(PlainClient.attach(url, SECRET, { label: "home", ...more })).rejects.toThrow("refused");
  }
});
