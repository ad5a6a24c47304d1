// Files and folders in and out: tar here, tar there, and the lossless pipes between them.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Writable } from "node:stream";
import type { CopyCommand } from "./cli-command.ts";
import { bytesOf, listFolder, missing, parseListing } from "./copy-listing.ts";
import { CopyProgress } from "./copy-progress.ts";
import type { Environment } from "./logins.ts";
import { CliError, EXIT, exitWith, type Outcome } from "./outcome.ts";
import { CONFIRMED_BY } from "./stdin.ts";

/** Codes above it are a signal's, and 128. */
const SIGNALLED = 128;

/** Starts this program again, with a script as its command: so a copy survives cuts as every pipeline does. */
type Remote = (script: string, args: readonly string[], hasInput: boolean) => ChildProcess;

/**
 * As `cp -r`: into TO where that is a folder or ends in a slash, else FROM gets TO's name, once it is whole: until then it is in
 * a folder beside it, where a copy that resumes finds it.
 */
export async function copy(command: CopyCommand, env: Environment): Promise<Outcome> {
  const { endpoint, sandbox, token, tokenCommand, tokenCommandFrom } = command;
  // An address of the folder's file is found there again: typed, it would be shown credentials that are not for it.
  const words = [...(endpoint.isFound === true ? [] : [endpoint.httpBase]), "--sandbox", sandbox, "--no-tty"];
  const isSaid = tokenCommandFrom === "--token-command" || tokenCommandFrom === "--context";
  if (token === undefined && tokenCommand !== undefined && isSaid) words.push("--token-command", tokenCommand);
  // Other users of this machine see arguments, and not the environment.
  const childEnv = { ...env, ...(token === undefined ? {} : { SBX_TOKEN: token, SBX_TOKEN_ORIGIN: endpoint.origin }) };
  const remote: Remote = (script, args, hasInput) =>
    spawn(process.execPath, [...ownWords(), ...words, "--", "sh", "-c", script, "sh", ...args], {
      env: { ...childEnv, ...(hasInput ? { [CONFIRMED_BY]: "3" } : {}) },
      stdio: hasInput ? ["pipe", "pipe", "inherit", "pipe"] : ["ignore", "pipe", "inherit"],
    });
  return command.from.isRemote ? copyOut(command, remote) : copyIn(command, remote);
}

// ---- In ----------------------------------------------------------------------------------------------------------

/** `$t` is where it goes, `$d` where it lands, `$n` its name. */
const LAND = `t=$1 n=$2
case $t in /*) ;; *) t=$PWD/$t ;; esac
if [ -d "$t" ] || [ "\${t%/}" != "$t" ]; then d=$t into=1; else d=$(dirname -- "$t")/.$(basename -- "$t").sbx-cp into=; fi
mkdir -p -- "$d" && cd -- "$d" || exit
`;
/** GNU's find, as the tar that packs by names has to be GNU's. */
const LIST = `[ ! -e "./$n" ] || find "./$n" -type f -printf '%s %T@ %p\\0'`;
const UNPACK = `tar xf - || exit
[ -n "$into" ] || { mv -- "./$n" "$t" && rmdir -- "$d"; }`;

async function copyIn({ from, to, isResumed }: CopyCommand, remote: Remote): Promise<Outcome> {
  const source = path.resolve(from.path);
  const [folder, name] = [path.dirname(source), path.basename(source)];
  if (!fs.existsSync(source)) throw new CliError(`cannot copy ${from.path}: there is no such file`);
  const here = listFolder(folder, name);
  const there = isResumed ? parseListing(await textOf(remote(LAND + LIST, [to.path, name], false))) : undefined;
  const names = there === undefined ? undefined : missing(here, there);
  const how: SpawnOptions = { cwd: folder, stdio: ["pipe", "pipe", "inherit"] };
  const tar = spawn("tar", ["cf", "-", ...packed(name, names)], how);
  give(tar, names);
  const far = remote(LAND + UNPACK, [to.path, name], true);
  const progress = new CopyProgress(bytesOf(here, names));
  if (tar.stdout !== null && far.stdin !== null) tar.stdout.pipe(far.stdin, { end: false });
  tar.stdout?.on("data", (bytes: Buffer) => progress.add(bytes.length));
  far.stdout?.resume();
  far.stdin?.on("error", () => undefined); // Its end tells why.
  // A copy that is killed ends this input too, maybe between two files: the far tar would take it for the whole.
  tar.once("close", () => endInput(far));
  return outcomeOf(far, exitOf(tar), progress);
}

// ---- Out ---------------------------------------------------------------------------------------------------------

const SOURCE = `if [ ! -e "$1" ] && [ ! -L "$1" ]; then
  printf 'sbx-stdio: no such file in the sandbox: %s\\n' "$1" >&2
  exit 255
fi
cd -- "$(dirname -- "$1")" || exit
n=$(basename -- "$1")
`;
/** GNU's tar reads a backslash in a name as the beginning of an escape, unless it is told not to. */
const PACK = String.raw`case $n in *\\*) q=--no-unquote ;; *) q= ;; esac
exec tar $q -c -f - "./$n"`;
const PACK_SOME = "exec tar cf - --no-recursion --null -T -";
const LIST_ALL = `find "./$n" -type f -printf '%s %T@ %p\\0' -o -printf '0 -1 %p\\0'`;

async function copyOut({ from, to, isResumed }: CopyCommand, remote: Remote): Promise<Outcome> {
  const name = path.posix.basename(from.path) || ".";
  const target = path.resolve(to.path);
  const isInto = name === "." || to.path.endsWith("/") || fs.statSync(target, { throwIfNoEntry: false })?.isDirectory();
  const landing = isInto ? target : path.join(path.dirname(target), `.${path.basename(target)}.sbx-cp`);
  const there = isResumed ? parseListing(await textOf(remote(SOURCE + LIST_ALL, [from.path], false))) : undefined;
  const names = there === undefined ? undefined : missing(there, listFolder(landing, name));
  const far = remote(SOURCE + (names === undefined ? PACK : PACK_SOME), [from.path], names !== undefined);
  give(far, names);
  const progress = new CopyProgress(there && bytesOf(there, names));
  // Whatever the sandbox packs: no file beside the one that was asked for, such as .bashrc.
  const only = name === "." ? [] : memberOf(name);
  const near = unpackFrom(far, () => {
    fs.mkdirSync(landing, { recursive: true });
    const how: SpawnOptions = { cwd: landing, stdio: ["pipe", "inherit", "inherit"] };
    return spawn("tar", ["xf", "-", "--no-same-owner", ...only], how);
  });
  far.stdout?.on("data", (bytes: Buffer) => progress.add(bytes.length));
  const outcome = await outcomeOf(far, near, progress);
  if (!isInto && outcome.kind === "exit" && outcome.code === EXIT.ok) {
    fs.renameSync(path.join(landing, name), target);
    fs.rmdirSync(landing);
  }
  return outcome;
}

/** Starts the near tar with the first byte: where none comes, nothing is written here. @returns Its exit code. */
function unpackFrom(far: ChildProcess, start: () => ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let isStarted = false;
    far.stdout?.once("data", (first: Buffer) => {
      isStarted = true;
      try {
        const tar = start();
        exitOf(tar).then(resolve, reject);
        tar.stdin?.on("error", () => undefined); // Its end tells why.
        tar.stdin?.write(first);
        if (tar.stdin !== null) far.stdout?.pipe(tar.stdin);
      } catch (error) {
        reject(error);
      }
    });
    far.once("close", () => {
      if (!isStarted) resolve(EXIT.failed);
    });
  });
}

// ---- Both --------------------------------------------------------------------------------------------------------

/** Words for a tar that packs it all, or the files that its standard input names. */
function packed(name: string, names: readonly string[] | undefined): readonly string[] {
  return names === undefined ? memberOf(name) : ["--no-recursion", "--null", "-T", "-"];
}

/** A file or folder as a word of tar's: see PACK. */
const memberOf = (name: string): readonly string[] => [...(name.includes("\\") ? ["--no-unquote"] : []), `./${name}`];

function give(tar: ChildProcess, names: readonly string[] | undefined): void {
  tar.stdin?.on("error", () => undefined); // Its end tells why.
  if (names === undefined && tar.spawnargs[0] !== "tar") return;
  tar.stdin?.write((names ?? []).map((one) => `${one}\0`).join(""));
  endInput(tar);
}

/** Ends an input that is whole, and says so where that is asked for. */
function endInput({ stdin, stdio }: ChildProcess): void {
  const confirmed = stdio[3];
  if (!(confirmed instanceof Writable)) {
    stdin?.end();
    return;
  }
  confirmed.on("error", () => undefined); // It has ended: its end tells why.
  confirmed.end(".", () => stdin?.end());
}

/** The code where one of the two has failed: tar's own would be another thing's, 2 wrong usage. A signal's stays. */
const failureOf = (code: number) => (code > SIGNALLED ? code : EXIT.failed);

/** @param far The one of the two that is in the sandbox: its code counts first. */
async function outcomeOf(far: ChildProcess, near: Promise<number>, progress: CopyProgress): Promise<Outcome> {
  const [farCode, nearCode] = await Promise.all([exitOf(far), near]);
  progress.end();
  if (farCode !== EXIT.ok) return exitWith(failureOf(farCode));
  return exitWith(nearCode === EXIT.ok ? EXIT.ok : EXIT.failed);
}

/** The child's output. @throws {CliError} If it fails: it has said why. */
async function textOf(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await exitOf(child);
  if (code !== EXIT.ok) throw new CliError("cannot find out what has been copied already", failureOf(code));
  return Buffer.concat(chunks).toString("utf8");
}

/** How this program is started again: a compiled one is its own runtime, others get the same options (bin/sbx-stdio.js). */
function ownWords(): string[] {
  const script = process.argv[1];
  return script === undefined || script.startsWith("/$bunfs/") ? [] : [...process.execArgv, script];
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new CliError(`cannot copy: ${error.message}`)));
    child.once("close", (code) => resolve(code ?? EXIT.failed));
  });
}
