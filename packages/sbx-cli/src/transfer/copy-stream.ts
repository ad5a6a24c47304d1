// `cp` with `-`: one file to standard output, or standard input to a file.

import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { standardInput } from "../base/stdin.ts";
import {
  endInput,
  exitOf,
  failureOf,
  MAKE_FOLDER,
  type OnStop,
  REPORT_MISSING,
  type Remote,
  reportFailure,
} from "./copy-process.ts";

const PRINT = `${REPORT_MISSING}case $1 in /*) f=$1 ;; *) f=./$1 ;; esac
if [ -d "$f" ]; then
  printf 'sbx-stdio: %s is a folder in the sandbox; - needs a file\\n' "$1" >&2
  exit 255
fi
if [ ! -e "$f" ]; then
  lack "$1"
  exit 255
fi
exec cat "$f"`;

export async function streamOut(from: string, remote: Remote, onStop: OnStop): Promise<Outcome> {
  const far = remote(PRINT, [from], { isPrinted: true });
  onStop((signal) => far.kill(signal));
  return ended(await exitOf(far), `:${from} to -`);
}

/**
 * Writes to a hidden file that gets its name when complete. Like `cp`, symlinks are followed and an existing file is written into; a
 * device or pipe is written directly.
 */
const KEEP = `case $1 in /*) f=$1 ;; *) f=./$1 ;; esac
if [ -d "$f" ] || [ "\${f%/}" != "$f" ]; then
  printf 'sbx-stdio: %s is a folder; give the name of the file to write\\n' "$1" >&2
  exit 255
fi
if [ -L "$f" ]; then f=$(readlink -f -- "$f" && echo .) || exit; f=\${f%??}; fi
[ ! -e "$f" ] || [ -f "$f" ] || exec cat > "$f"
t=$1 d=\${f%/*}/
${MAKE_FOLDER}if [ -f "$f" ] && [ ! -w "$d" ]; then n=$(mktemp)
else n=$(mktemp -- "$d.$(basename -- "$f" | cut -b 1-200).sbx-cp-XXXXXXXX"); fi || exit
trap 'trap "" HUP INT TERM; rm -f -- "$n"' EXIT
trap 'exit 143' HUP INT TERM
cat > "$n" || exit
if [ -f "$f" ]; then cp -- "$n" "$f"
else chmod "$(printf %o $((0666 & ~$(umask))))" "$n" && mv -f -- "$n" "$f"; fi`;

export async function streamIn(to: string, remote: Remote, onStop: OnStop, input = standardInput()): Promise<Outcome> {
  const far = remote(KEEP, [to], { hasInput: true });
  onStop((signal) => far.kill(signal));
  far.stdin?.on("error", () => undefined); // Its exit code tells why.
  far.stdout?.resume();
  input.once("end", () => endInput(far));
  let fault: Error | undefined;
  input.once("error", (error: Error) => {
    fault = error;
    far.kill();
  });
  if (far.stdin !== null) input.pipe(far.stdin, { end: false });
  const outcome = ended(await exitOf(far), `- to :${to}`);
  input.destroy();
  if (fault !== undefined) throw new CliError(`cannot read standard input: ${fault.message}`);
  return outcome;
}

function ended(code: number, what: string): Outcome {
  reportFailure(code, what, "the command in the sandbox");
  return exitWith(code === EXIT.ok ? EXIT.ok : failureOf(code));
}
