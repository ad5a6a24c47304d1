// `cp` with `-`: one file's bytes to standard output, or standard input's into a file.

import { endInput, exitOf, failureOf, type OnStop, type Remote } from "./copy-process.ts";
import { EXIT, exitWith, type Outcome } from "./outcome.ts";
import { standardInput } from "./stdin.ts";

const PRINT = `case $1 in /*) f=$1 ;; *) f=./$1 ;; esac
if [ -d "$f" ]; then
  printf 'sbx-stdio: %s is a folder in the sandbox: - takes the bytes of a file\\n' "$1" >&2
  exit 255
fi
if [ ! -e "$f" ]; then
  printf 'sbx-stdio: no such file in the sandbox: %s\\n' "$1" >&2
  exit 255
fi
exec cat "$f"`;

export async function streamOut(from: string, remote: Remote, onStop: OnStop): Promise<Outcome> {
  const far = remote(PRINT, [from], { isPrinted: true });
  onStop((signal) => far.kill(signal));
  return ended(await exitOf(far));
}

/** The name is the file's once it is whole. */
const KEEP = `case $1 in /*) f=$1 ;; *) f=./$1 ;; esac
if [ -d "$f" ] || [ "\${f%/}" != "$f" ]; then
  printf 'sbx-stdio: %s is a folder: say the name that what comes from - is to have there\\n' "$1" >&2
  exit 255
fi
d=$(dirname -- "$f") && mkdir -p -- "$d" || exit
n=$d/.$(basename -- "$f").sbx-cp
cat > "$n" && mv -- "$n" "$f"`;

export async function streamIn(to: string, remote: Remote, onStop: OnStop): Promise<Outcome> {
  const far = remote(KEEP, [to], { hasInput: true });
  onStop((signal) => far.kill(signal));
  const input = standardInput();
  far.stdin?.on("error", () => undefined); // Its end tells why.
  far.stdout?.resume();
  input.once("end", () => endInput(far));
  if (far.stdin !== null) input.pipe(far.stdin, { end: false });
  const outcome = ended(await exitOf(far));
  input.destroy();
  return outcome;
}

const ended = (code: number) => exitWith(code === EXIT.ok ? EXIT.ok : failureOf(code));
