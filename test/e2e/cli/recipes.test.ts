// The recipes of the command line's README, by the real programs, while their connections are cut on both hops: trees and sums are equal.
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BIN, ROOT } from "../../../packages/local/src/base/paths.ts";
import { CLI, cliEnv, exitCode, startCli } from "../support/clients/cli.ts";
import { makeTree, treeOf } from "../support/generators/trees.ts";
import { edit } from "../support/servers/language-server.ts";
import { whileCut } from "../support/system/cutting.ts";
import { type Person, person, system } from "../support/system/system.ts";
import { MOVING_MS, within } from "../support/system/wait.ts";

const scratch = mkdtempSync(join(system.dir, "recipes-"));
const RESUMED = /resumed after [\d.]+ s, nothing lost/;

let who: Person;
beforeAll(async () => {
  who = await person();
});

/** Runs a program here, with the command line's environment; its standard error tells of the cuts. */
async function local(program: string, ...words: string[]) {
  return promisify(execFile)(program, words, { env: cliEnv(who), cwd: scratch });
}

describe("through ssh-proxy, with OpenSSH's own server in the sandbox", () => {
  const config = join(scratch, "ssh_config");

  beforeAll(() => {
    for (const name of ["host", "user"]) {
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(scratch, name)]);
    }
    const server = join(scratch, "sshd_config");
    // OpenSSH's server looks for it where root starts it.
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
    writeFileSync(
      server,
      `HostKey ${join(scratch, "host")}
AuthorizedKeysFile ${join(scratch, "user.pub")}
StrictModes no
UsePAM no
PermitRootLogin yes
PidFile none
Subsystem sftp internal-sftp
`,
    );
    // The entry that `ssh-config` prints, for our build and with a server that takes our key.
    const words = [CLI, "ssh-config", system.relayOrigin, "--host", "sandbox"];
    const entry = execFileSync(process.execPath, words, { encoding: "utf8", env: cliEnv(who) });
    const proxied = entry.replace(/ProxyCommand sbx-stdio (.*)/, (_, rest) => {
      return `ProxyCommand ${process.execPath} ${CLI} ${rest} -- /usr/sbin/sshd -i -f ${server}`;
    });
    expect(proxied).not.toBe(entry);
    const own = `  User ${userInfo().username}\n  IdentityFile ${join(scratch, "user")}\n  IdentitiesOnly yes\n`;
    writeFileSync(config, proxied + own);
    chmodSync(config, 0o600);
  });

  test("rsync copies a tree in and out", { timeout: MOVING_MS }, async () => {
    const [here, there, back] = ["rsync-here", "rsync-there", "rsync-back"].map((name) => join(scratch, name));
    makeTree(here ?? "", 1);
    const rsync = (from: string, to: string) => local("rsync", "-a", "-e", `ssh -F ${config}`, `${from}/`, to);
    const first = await whileCut(who, rsync(here ?? "", `sandbox:${there}`));
    expect(treeOf(there ?? "")).toEqual(treeOf(here ?? ""));
    expect(first.result.stderr).toMatch(RESUMED);
    await whileCut(who, rsync(`sandbox:${there}`, back ?? ""));
    expect(treeOf(back ?? "")).toEqual(treeOf(here ?? ""));
  });

  test("ssh runs a command, and its code is the command's", async () => {
    const ssh = local("ssh", "-F", config, "sandbox", "echo out; echo err >&2; exit 7");
    await expect(ssh).rejects.toMatchObject({ code: 7, stdout: "out\n", stderr: expect.stringContaining("err\n") });
  });
});

describe("through pipes", () => {
  test("tar goes in and out", { timeout: MOVING_MS }, async () => {
    const [here, there, back] = ["tar-here", "tar-there", "tar-back"].map((name) => join(scratch, name)) as [
      string,
      string,
      string,
    ];
    makeTree(here, 5, 16_000_000); // Less could be there before it is cut.
    for (const folder of [there, back]) mkdirSync(folder);
    const sbx = (words: string) => `"${process.execPath}" "${CLI}" ${system.relayOrigin} -- ${words}`;
    const into = await whileCut(who, local("sh", "-c", `tar cC "${here}" . | ${sbx(`tar xC "${there}"`)}`));
    expect(treeOf(there)).toEqual(treeOf(here));
    expect(into.result.stderr).toMatch(RESUMED);
    await whileCut(who, local("sh", "-c", `${sbx(`tar cC "${there}" .`)} | tar xC "${back}"`));
    expect(treeOf(back)).toEqual(treeOf(here));
  });

  test("git clones, pushes and fetches by ext::, without an ssh server", { timeout: MOVING_MS }, async () => {
    const [origin, one, other] = ["ext.git", "ext-one", "ext-other"].map((name) => join(scratch, name)) as [
      string,
      string,
      string,
    ];
    const git = (...words: string[]) => {
      const identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.ext.allow=always"];
      return local("git", ...identity, ...words);
    };
    const remote = `ext::${process.execPath} ${CLI} exec ${system.relayOrigin} -- %S ${origin}`;
    await git("init", "-q", "--bare", "-b", "main", origin);
    await git("init", "-q", "-b", "main", one);
    makeTree(join(one, "tree"), 9);
    await git("-C", one, "add", "-A");
    await git("-C", one, "commit", "-q", "-m", "all");
    const pushed = await whileCut(who, git("-C", one, "push", "-q", remote, "main"));
    expect(pushed.result.stderr).toMatch(RESUMED);
    await whileCut(who, git("clone", "-q", remote, other));
    expect(treeOf(other, [".git", "tree/empty"])).toEqual(treeOf(one, [".git", "tree/empty"]));
    makeTree(join(one, "more"), 10, 1_000_000);
    await git("-C", one, "add", "-A");
    await git("-C", one, "commit", "-q", "-m", "more");
    await whileCut(who, git("-C", one, "push", "-q", remote, "main"));
    await whileCut(who, git("-C", other, "fetch", "-q"));
    const head = async (folder: string, name: string) => (await git("-C", folder, "rev-parse", name)).stdout;
    expect(await head(other, "origin/main")).toBe(await head(one, "main"));
    await git("-C", other, "fsck", "--strict");
  });

  const clients: Client[] = [];
  afterAll(() => Promise.all(clients.map((client) => client.close())));

  test("the official MCP client talks to a server in the sandbox", { timeout: MOVING_MS }, async () => {
    const server = join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    const client = new Client({ name: "test", version: "1" });
    clients.push(client);
    const args = [CLI, "--quiet", system.relayOrigin, "--", process.execPath, server, "stdio"];
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args,
        env: cliEnv(who) as Record<string, string>,
        stderr: "ignore",
      }),
    );
    const echoed = async () => {
      const answers: unknown[] = [];
      for (let i = 0; i < 40; i += 1) {
        const { content } = await client.callTool({
          name: "echo",
          arguments: { message: `${i} ${"ü".repeat(20_000)}` },
        });
        answers.push((content as { text: string }[])[0]?.text);
      }
      return answers;
    };
    const { result, cuts } = await whileCut(who, echoed());
    expect(result).toEqual(Array.from({ length: 40 }, (_one, i) => `Echo: ${i} ${"ü".repeat(20_000)}`));
    expect(cuts).toBeGreaterThan(0);
  });

  test("a language server answers an editor's requests, and its exit code arrives", {
    timeout: MOVING_MS,
  }, async () => {
    // TypeScript's own compiler is one. It ends with 0 or 1, as it gets to its end: the shell beside it notes which.
    const told = join(scratch, "code");
    const script = `"${join(BIN, "tsc")}" --lsp --stdio; code=$?; echo $code > "${told}"; exit $code`;
    const file = join(scratch, "main.ts");
    writeFileSync(file, "");
    const text = Array.from({ length: 2_000 }, (_one, i) => `export const value${i} = ${i};`).join("\n");
    const lines = [0, 7, 1_999];
    const child = startCli(who, ["--quiet", "--", "sh", "-c", script], undefined, system.relayOrigin);
    const over = exitCode(child);
    const { result, cuts } = await whileCut(who, edit(child, `file://${file}`, text, lines));
    expect(result.symbols).toBe(2_000);
    for (const [i, line] of lines.entries()) expect(result.hovers[i]).toContain(`const value${line}: ${line}`);
    expect(cuts).toBeGreaterThan(0);
    child.stdin.end();
    const code = await within("the server's exit", over);
    expect(`${code}\n`).toBe(readFileSync(told, "utf8"));
  });
});
