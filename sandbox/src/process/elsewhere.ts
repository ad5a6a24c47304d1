// A program in another place, behind a command such as `docker exec -i NAME` or `ssh HOST`: how it is started there, and how signals
// reach it. Words are never put together to shell text, but for ssh, which does so itself.

import { basename } from "node:path";
import type { Start } from "../base/child-user.ts";
import { log } from "../base/log.ts";

/** Stands for the sandbox's name. */
const NAME = "NAME";
/** In the environment of all that is started there: by it a signal finds them. */
const MARK = "STDIO_ELSEWHERE";
const SIGNAL_MS = 20_000;

/** Enters $1, and becomes the program, or a shell. The terminal has $2 rows and $3 columns: docker says so only later. */
const BEGIN = `if [ -n "$1" ]; then cd -- "$1" || exit 126; fi
if [ -t 0 ] && [ "$(stty size 2>/dev/null)" = '0 0' ]; then stty rows "$2" cols "$3"; fi
shift 3
if [ $# -gt 0 ]; then exec "$@"; fi
if command -v bash >/dev/null; then exec bash; fi
exec sh`;

/** Sends the signal $2 to all with the mark $1. SIGKILL twice: some may have been forked meanwhile. */
const SIGNAL = `rounds=1; [ "$2" = KILL ] && rounds='1 2'
for round in $rounds; do
  for place in /proc/[0-9]*; do
    if tr '\\0' '\\n' 2>/dev/null <"$place/environ" | grep -qx "$1"; then kill -s "$2" "\${place#/proc/}" 2>/dev/null; fi
  done
done
true`;

/** A terminal there. Without these options the clients take some keys for their own commands. */
const TERMINALS: Readonly<Record<string, readonly string[]>> = {
  ssh: ["-tt", "-e", "none"],
  docker: ["-t", "--detach-keys=ctrl-^,ctrl-^,ctrl-^,ctrl-^"],
  podman: ["-t", "--detach-keys="],
  kubectl: ["-t"],
  nerdctl: ["-t"],
};

export type ElsewhereWish = {
  /** Empty: a shell that is there. */
  readonly words: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string | undefined;
  readonly tty: boolean;
  readonly size: { readonly cols: number; readonly rows: number };
};

/** One program there. */
export class Elsewhere {
  readonly #command: readonly string[];
  readonly #mark = `${MARK}=${crypto.randomUUID()}`;
  readonly #wish: ElsewhereWish;

  /** @param command As the server was given it. */
  constructor(command: readonly string[], sandbox: string, wish: ElsewhereWish) {
    this.#command = command.map((word) => (word === NAME ? sandbox : word));
    this.#wish = wish;
  }

  /** The words that start it, from here. */
  get argv(): readonly string[] {
    const { words, env, cwd = "", tty, size } = this.#wish;
    const variables = [...env.map(([name, value]) => `${name}=${value}`), this.#mark];
    return this.#there(
      ["env", ...variables, "sh", "-c", BEGIN, "sh", cwd, `${size.rows}`, `${size.cols}`, ...words],
      tty,
    );
  }

  /** The words that signal it and all that it has started. @param name Such as `SIGTERM`. */
  signalWords(name: string): readonly string[] {
    return this.#there(["sh", "-c", SIGNAL, "sh", this.#mark, name.replace(/^SIG/, "")], false);
  }

  #there(words: readonly string[], tty: boolean): readonly string[] {
    const [program = "", ...rest] = this.#command;
    const client = basename(program);
    const options = tty ? (TERMINALS[client] ?? []) : [];
    // ssh joins its words, and the shell there takes them apart.
    if (client === "ssh") return [program, ...options, ...rest, words.map(quoted).join(" ")];
    const at = rest.indexOf("exec") + 1;
    return [program, ...rest.slice(0, at), ...options, ...rest.slice(at), ...words];
  }
}

/** Sends a signal, by its words as they are started here. */
export function send({ path, argv, env, cwd }: Start): void {
  const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
  const failed = (why: unknown) => log.warn(`a signal did not reach a program behind ${path}: ${why}`);
  try {
    const sent = Bun.spawn([path, ...argv.slice(1)], { ...quiet, env, cwd, timeout: SIGNAL_MS });
    void sent.exited.then((code) => code !== 0 && failed(`exit code ${code}`));
  } catch (error) {
    failed(error);
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
