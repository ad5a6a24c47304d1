// `cp`: chooses the direction, and which files of which folder go where.

import fs from "node:fs";
import path from "node:path";
import type { CopyCommand, CopyEnd } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { CliError, EXIT, exitWith, type Outcome, usage } from "../base/outcome.ts";
import { standardInput } from "../base/stdin.ts";
import { copyIn } from "./copy-in.ts";
import { CHECK, copyOut } from "./copy-out.ts";
import {
  endInput,
  exitOf,
  failureOf,
  MAKE_FOLDER,
  type OnStop,
  type Part,
  REPORT_MISSING,
  type Remote,
  remoteOf,
  reportFailure,
  untilSignal,
} from "./copy-process.ts";

const wordOf = ({ isRemote, path: where }: CopyEnd) => (isRemote ? `:${where}` : where);

/**
 * Like `cp -r`: into TO if that is a folder or ends with a slash, else FROM gets TO's name when complete. Several files go into TO.
 */
export async function copy(command: CopyCommand, env: Environment): Promise<Outcome> {
  const { from, to, isResumed, keepsModes } = command;
  const remote = remoteOf(command, env);
  const [first] = from;
  if (to.isStream === true) return untilSignal((stop) => streamOut(first?.path ?? "", remote, stop));
  if (first?.isStream === true) return untilSignal((stop) => streamIn(to.path, remote, stop));
  const isOut = first?.isRemote === true;
  const paths = from.map((end) => end.path);
  for (const one of isOut ? [] : paths) {
    if (!fs.existsSync(one)) throw new CliError(`cannot copy ${one}: no such file`);
  }
  const target = paths.length > 1 && !to.path.endsWith("/") ? `${to.path}/` : to.path;
  const folders = grouped(isOut ? paths.map(placeThere) : paths.map(placeHere));
  const what = `${from.map(wordOf).join(" ")} to ${wordOf(to)}`;
  const work = async () => {
    if (
      isOut &&
      target.endsWith("/") &&
      fs.statSync(path.resolve(target), { throwIfNoEntry: false })?.isDirectory() === false
    ) {
      throw new CliError(`cannot copy into ${to.path}: not a folder`);
    }
    if (isOut && folders.size > 1) {
      const code = await exitOf(
        remote(
          CHECK,
          paths.map((one) => one.replace(/(.)\/+$/, "$1")),
        ),
      );
      if (code !== EXIT.ok) return exitWith(failureOf(code));
    }
    for (const [folder, names] of folders) {
      const part: Part = { folder, names, to: target, isResumed, keepsModes: keepsModes === true, what };
      const outcome = await (isOut ? copyOut(part, remote) : copyIn(part, remote));
      if (outcome.kind !== "exit" || outcome.code !== EXIT.ok) return outcome;
    }
    return exitWith(EXIT.ok);
  };
  const reportedWork = () => work().catch(withMessage);
  return untilSignal(reportedWork, "interrupted: repeat the command with --resume to copy the rest");
}

/** Errors of the file system are not faults of this program. */
function withMessage(error: unknown): never {
  if (error instanceof Error && "syscall" in error) throw new CliError(`cannot copy: ${error.message}`);
  throw error;
}

type Location = { readonly folder: string; readonly name: string };

function placeHere(one: string): Location {
  const source = path.resolve(one);
  return { folder: path.dirname(source), name: path.basename(source) };
}

/** With a leading dot: without one `cd` interprets `-` and CDPATH. */
function placeThere(one: string): Location {
  const name = path.posix.basename(one);
  // The name behind `..` is unknown here: copy its content.
  const [folder, known] = name === ".." ? [one, "."] : [path.posix.dirname(one), name || "."];
  return { folder: folder.startsWith("/") ? folder : `./${folder}`, name: known };
}

/** Groups names by folder. @throws {CliError} If two have the same name and would overwrite each other. */
function grouped(places: readonly Location[]): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { folder, name } of places) {
    if (seen.has(name)) throw usage(`two sources are named ${name}; copy them one by one`);
    seen.add(name);
    folders.set(folder, [...(folders.get(folder) ?? []), name]);
  }
  return folders;
}

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

/** `cp` with `-`: one file to standard output, or standard input to a file. */
async function streamOut(from: string, remote: Remote, onStop: OnStop): Promise<Outcome> {
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
