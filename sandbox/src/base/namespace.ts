// A mount namespace in which one sandbox's folder is /workspace, on a machine with many sandboxes: how it is made, how a program is
// started in it, and where its paths are for the bridge, which is outside. Needs root; nothing of the machine is changed.

import { closeSync, mkdirSync, openSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Start } from "./child-user.ts";

/** Where clients of the sandbox API expect the sandbox's files. */
export const WORKSPACE = "/workspace";

const UNSHARE = "/usr/bin/unshare";
const NSENTER = "/usr/bin/nsenter";
const ENV = "/usr/bin/env";
const MAX_LINKS = 40;
/** Only for a script that hangs: it starts some 20 programs, and a busy machine makes many namespaces at once. */
const MAKE_PATIENCE_MS = 60_000;

/**
 * Builds a separate root from everything in the machine's root and the folder; $1 is where, $2 the folder. It waits for its end
 * of input: until then the bridge can open the namespace.
 */
const MAKE = `set -e
mount -t tmpfs -o mode=755 sandbox "$1"
cd /
for name in * .[!.]*; do
  if [ "$name" = workspace ]; then continue; fi
  if [ -L "$name" ]; then ln -s "$(readlink "$name")" "$1/$name"
  elif [ -d "$name" ]; then mkdir "$1/$name"; mount --rbind "/$name" "$1/$name"
  elif [ -f "$name" ]; then : >"$1/$name"; mount --bind "/$name" "$1/$name"; fi
done
mkdir "$1/workspace"
mount --bind "$2" "$1/workspace"
cd "$1"
pivot_root . .
umount -l .
echo made
read -r end || true`;

export class Namespace {
  readonly #fd: number;
  readonly #folder: string;

  private constructor(fd: number, folder: string) {
    this.#fd = fd;
    this.#folder = folder;
  }

  /** @param root An empty directory to mount on, in a private namespace. @returns Why there can be none, if so. */
  static async make(root: string, folder: string): Promise<Namespace | string> {
    if (process.getuid?.() !== 0) return "the bridge does not run as root";
    mkdirSync(root, { recursive: true, mode: 0o755 });
    const words = [UNSHARE, "--mount", "--propagation", "slave", "--", "/bin/sh", "-c", MAKE, "sh", root, folder];
    const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };
    const pipes = { stdin: "pipe", stdout: "pipe", stderr: "pipe" } as const;
    try {
      const maker = Bun.spawn(words, { ...pipes, env, cwd: "/", timeout: MAKE_PATIENCE_MS, killSignal: "SIGKILL" });
      const { value } = await maker.stdout.getReader().read();
      if (value === undefined) return (await new Response(maker.stderr).text()).trim() || "it could not be made";
      const fd = openSync(`/proc/${maker.pid}/ns/mnt`, "r");
      maker.stdin.end();
      return new Namespace(fd, folder);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** How a program is started in it. env(1) enters the directory, which may be nowhere else. */
  within({ path, argv, env, cwd }: Start): Start {
    const enter = [NSENTER, `--mount=/proc/${process.pid}/fd/${this.#fd}`, "--"];
    // env would take a path with an equals sign for a variable.
    const plain = path.includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", path] : [path];
    return { path: NSENTER, argv: [...enter, ENV, `--chdir=${cwd}`, "--", ...plain, ...argv.slice(1)], env, cwd: "/" };
  }

  /** Where a path of it is outside. Links are followed as they lead in it. */
  readonly outside = (path: string): string => {
    if (!`${path}/`.startsWith(`${WORKSPACE}/`)) return path;
    let at: string[] = [];
    const placed = () => (at[0] === "workspace" ? join(this.#folder, ...at.slice(1)) : `/${at.join("/")}`);
    const rest = path.split("/").filter((name) => name !== "");
    let links = 0;
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      if (name === "..") at.pop();
      if (name === "." || name === "..") continue;
      at.push(name);
      const target = links < MAX_LINKS ? linkOf(placed()) : undefined;
      if (target === undefined) continue;
      links += 1;
      if (target.startsWith("/")) at = [];
      else at.pop();
      rest.unshift(...target.split("/").filter((one) => one !== ""));
    }
    return placed();
  };

  /** The namespace itself goes with its last process. */
  close(): void {
    closeSync(this.#fd);
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // It is no link, or is not there.
  }
}
