// Other terminals over a network, where this machine has or can make them: node-pty behind ws, and OpenSSH. Neither is
// a dependency of the project: node-pty is compiled into a directory of its own, sshd is Debian's.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { anyFreePort } from "../../../local/src/base/ports.ts";

export type Server = {
  readonly url: string;
  readonly process: ChildProcess;
};

/** Where node-pty and ws are installed. @throws {Error} Where they can't be: no compiler, no registry. */
export function installNodePty(): string {
  const dir = join(tmpdir(), "bench-node-pty");
  if (!existsSync(join(dir, "node_modules/node-pty/build/Release/pty.node"))) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "package.json"), '{"private":true}');
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "node-pty@1.1.0", "ws@8.23.0"], {
      cwd: dir,
      stdio: "ignore",
    });
  }
  return dir;
}

let ttyd: string | undefined;

/** Where ttyd is: it is no package of Debian's stable release, nor of npm, so its measurements need to be told. */
export function useTtyd(path: string): void {
  ttyd = path;
}

/** @throws {Error} If nobody has said where it is, or it does not start. */
export async function startTtyd(): Promise<Server> {
  if (ttyd === undefined) throw new Error("no --ttyd PATH was given");
  const port = await anyFreePort();
  // The words of a command come in the address, and `env` runs them.
  const args = ["--writable", "--url-arg", "--interface", "127.0.0.1", "--port", String(port), "env"];
  const child = spawn(ttyd, args, { env: { ...process.env, TERM: "xterm-256color" }, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${ttyd} ended with ${child.exitCode}`);
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return { url, process: child };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${ttyd} does not answer`);
}

/** @throws {Error} Without mosh, which is Debian's, and `script`. A server is started for each of its terminals. */
export function findMosh(): void {
  for (const program of ["mosh-server", "mosh-client", "script"]) {
    if (spawnSync(program, ["--version"], { stdio: "ignore" }).error) throw new Error(`no ${program}`);
  }
}

export type Ssh = { readonly server: Server; readonly args: readonly string[] };

/** A server of its own on loopback, with keys of its own. @throws {Error} Without sshd and the right to start it. */
export async function startSsh(): Promise<Ssh> {
  if (!existsSync("/usr/sbin/sshd")) {
    if (userInfo().uid !== 0) throw new Error("no /usr/sbin/sshd");
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    execFileSync("apt-get", ["install", "-qq", "-y", "openssh-server"], { env, stdio: "ignore" });
  }
  const dir = mkdtempSync(join(tmpdir(), "bench-ssh-"));
  for (const key of ["host", "client"]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, key)]);
  }
  execFileSync("cp", [join(dir, "client.pub"), join(dir, "authorized")]);
  mkdirSync("/run/sshd", { recursive: true });
  const port = await anyFreePort();
  const settings = {
    Port: port,
    ListenAddress: "127.0.0.1",
    HostKey: join(dir, "host"),
    AuthorizedKeysFile: join(dir, "authorized"),
    StrictModes: "no",
    UsePAM: "no",
    PermitRootLogin: "yes",
    PidFile: join(dir, "pid"),
    PrintMotd: "no",
    MaxStartups: "200",
    MaxSessions: "200",
  };
  const file = join(dir, "config");
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(""),
  );
  const daemon = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", file], { stdio: "ignore" });
  const args = [
    ...["-tt", "-q", "-p", String(port), "-i", join(dir, "client"), "-o", "StrictHostKeyChecking=no"],
    ...["-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "-F", "none", `${userInfo().username}@127.0.0.1`],
  ];
  for (let attempt = 0; ; attempt += 1) {
    try {
      execFileSync("ssh", [...args, "true"], { stdio: "ignore" });
      return { server: { url: `ssh://127.0.0.1:${port}`, process: daemon }, args };
    } catch (error) {
      // The server is not listening yet.
      if (attempt === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
