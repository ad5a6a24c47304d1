// Files and folders in and out: tar here, tar there, and the lossless pipes between them.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { CopyCommand, CopyEnd } from "./cli-command.ts";
import { bytesOf, listFolder, missing, parseListing } from "./copy-listing.ts";
import {
  endInput,
  exitOf,
  failureOf,
  LACK,
  MAKE_FOLDER,
  type Remote,
  remoteOf,
  sayWhat,
  textOf,
  untilSignal,
} from "./copy-process.ts";
import { CopyProgress } from "./copy-progress.ts";
import { streamIn, streamOut } from "./copy-stream.ts";
import type { Environment } from "./logins.ts";
import { CliError, EXIT, exitWith, type Outcome, usage } from "./outcome.ts";
import { aside } from "./print.ts";

/** What of one folder is copied, and where. */
type Part = {
  readonly folder: string;
  readonly names: readonly string[];
  readonly to: string;
  readonly isResumed: boolean;
  /** For tar: p, or nothing. */
  readonly modes: "p" | "";
  /** What was asked for, for a person. */
  readonly what: string;
};

const wordOf = ({ isRemote, path: where }: CopyEnd) => (isRemote ? `:${where}` : where);

/**
 * As `cp -r`: into TO where that is a folder or ends in a slash, else FROM gets TO's name, once it is whole: until then it is in
 * a folder beside it, where a copy that resumes finds it. Several go into TO.
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
    if (!fs.existsSync(one)) throw new CliError(`cannot copy ${one}: there is no such file`);
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
      throw new CliError(`cannot copy into ${to.path}: it is no folder`);
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
      const part: Part = { folder, names, to: target, isResumed, modes: keepsModes ? "p" : "", what };
      const outcome = await (isOut ? copyOut(part, remote) : copyIn(part, remote));
      if (outcome.kind !== "exit" || outcome.code !== EXIT.ok) return outcome;
    }
    return exitWith(EXIT.ok);
  };
  const saidWork = () => work().catch(saying);
  return untilSignal(saidWork, "stopped: the same words with --resume copy what is missing");
}

/** What the file system refuses here is no fault of this program. */
function saying(error: unknown): never {
  if (error instanceof Error && "syscall" in error) throw new CliError(`cannot copy: ${error.message}`);
  throw error;
}

type Location = { readonly folder: string; readonly name: string };

function placeHere(one: string): Location {
  const source = path.resolve(one);
  return { folder: path.dirname(source), name: path.basename(source) };
}

/** With a dot before it: `cd` reads `-` and CDPATH where there is none. */
function placeThere(one: string): Location {
  const folder = path.posix.dirname(one);
  return { folder: folder.startsWith("/") ? folder : `./${folder}`, name: path.posix.basename(one) || "." };
}

/** The names by folder. @throws {CliError} Where two have one name: the second would take the first one's place. */
function grouped(places: readonly Location[]): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { folder, name } of places) {
    if (seen.has(name)) throw usage(`two of these are called ${name}: copy them one by one`);
    seen.add(name);
    folders.set(folder, [...(folders.get(folder) ?? []), name]);
  }
  return folders;
}

// ---- In ----------------------------------------------------------------------------------------------------------

/** `$t` is where it goes, `$d` where it lands; the words that are left are the names. */
const LAND = `t=$1
shift
case $t in /*) ;; *) t=$PWD/$t ;; esac
if [ -d "$t" ] || [ "\${t%/}" != "$t" ]; then d=$t into=1; else d=$(dirname -- "$t")/.$(basename -- "$t").sbx-cp into=; fi
${MAKE_FOLDER}e=$(cd -- "$d" 2>&1) || refused "\${e##*cd: }"
cd -- "$d" || exit
`;
/** GNU's find, as the tar that packs by names has to be GNU's. */
const LIST = `for n; do [ ! -e "./$n" ] || find "./$n" -type f -printf '%s %T@ %p\\0' || exit; done`;
const unpack = (modes: string) => `tar x${modes}f - || exit
[ -n "$into" ] || { mv -- "./$1" "$t" && rmdir -- "$d"; }`;

async function copyIn({ folder, names: all, to, isResumed, modes, what }: Part, remote: Remote): Promise<Outcome> {
  const here = new Map(all.flatMap((name) => [...listFolder(folder, name)]));
  const there = isResumed ? parseListing(await textOf(remote(LAND + LIST, [to, ...all]))) : undefined;
  const names = there === undefined ? undefined : missing(here, there);
  const how: SpawnOptions = { cwd: folder, stdio: ["pipe", "pipe", "inherit"] };
  const tar = spawn("tar", ["cf", "-", ...packed(all, names)], how);
  give(tar, names);
  const far = remote(LAND + unpack(modes), [to, ...all], { hasInput: true });
  const progress = new CopyProgress(bytesOf(here, names));
  if (tar.stdout !== null && far.stdin !== null) tar.stdout.pipe(far.stdin, { end: false });
  tar.stdout?.on("data", (bytes: Buffer) => progress.add(bytes.length));
  far.stdout?.resume();
  far.stdin?.on("error", () => undefined); // Its end tells why.
  // A copy or a tar that is killed ends this input too, maybe between two files: the far tar would take it for the whole.
  tar.once("close", (code: number | null, signal) => {
    if (signal !== null) aside(`tar was ended here by ${signal}, with a part of it packed`);
    if (code === null || code < 0) far.kill();
    else endInput(far);
  });
  return outcomeOf(far, exitOf(tar), progress, what);
}

// ---- Out ---------------------------------------------------------------------------------------------------------

/** Before anything of several folders is copied. */
const CHECK = `${LACK}lacks=
for n; do
  case $n in /*) f=$n ;; *) f=./$n ;; esac
  [ -e "$f" ] || [ -L "$f" ] || { lack "$n"; lacks=1; }
done
[ -z "$lacks" ] || exit 255`;
const SOURCE = `${LACK}d=$1 lacks=
shift
case $d in ./.) p= ;; ./*) p=\${d#./}/ ;; */) p=$d ;; *) p=$d/ ;; esac
for n; do
  [ -e "$d/$n" ] || [ -L "$d/$n" ] || { lack "$p$n"; lacks=1; }
done
[ -z "$lacks" ] || exit 255
cd -- "$d" || exit
`;
/** GNU's tar reads a backslash in a name as the beginning of an escape, unless it is told not to. */
const PACK = String.raw`case $* in *\\*) q=--no-unquote ;; *) q= ;; esac
for n; do shift; set -- "$@" "./$n"; done
exec tar $q -c -f - "$@"`;
const PACK_SOME = "exec tar cf - --no-recursion --null -T -";
const LIST_ALL = `for n; do find "./$n" -type f -printf '%s %T@ %p\\0' -o -printf '0 -1 %p\\0' || exit; done`;

async function copyOut({ folder, names: all, to, isResumed, modes, what }: Part, remote: Remote): Promise<Outcome> {
  const [name = "."] = all;
  const isWhole = all.includes(".");
  const target = path.resolve(to);
  const isInto = isWhole || to.endsWith("/") || fs.statSync(target, { throwIfNoEntry: false })?.isDirectory();
  const landing = isInto ? target : path.join(path.dirname(target), `.${path.basename(target)}.sbx-cp`);
  const there = isResumed ? parseListing(await textOf(remote(SOURCE + LIST_ALL, [folder, ...all]))) : undefined;
  const had = () => new Map(all.flatMap((one) => [...listFolder(landing, one)]));
  const names = there === undefined ? undefined : missing(there, had());
  const outcome = names?.length === 0 ? exitWith(EXIT.ok) : await bring();
  if (!isInto && outcome.kind === "exit" && outcome.code === EXIT.ok) {
    fs.renameSync(path.join(landing, name), target);
    fs.rmdirSync(landing);
  }
  return outcome;

  function bring(): Promise<Outcome> {
    const hasInput = names !== undefined;
    const far = remote(SOURCE + (hasInput ? PACK_SOME : PACK), [folder, ...all], { hasInput });
    give(far, names);
    const progress = new CopyProgress(there && bytesOf(there, names));
    // Whatever the sandbox packs: no file beside those that were asked for, such as .bashrc.
    const asked = all.filter((one) => names?.some((each) => `${each}/`.startsWith(`./${one}/`)) ?? true);
    const only = isWhole ? [] : membersOf(asked);
    const near = unpackFrom(far, () => {
      fs.mkdirSync(landing, { recursive: true });
      const how: SpawnOptions = { cwd: landing, stdio: ["pipe", "inherit", "inherit"] };
      return spawn("tar", [`x${modes}f`, "-", "--no-same-owner", ...only], how);
    });
    far.stdout?.on("data", (bytes: Buffer) => progress.add(bytes.length));
    return outcomeOf(far, near, progress, what);
  }
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
function packed(all: readonly string[], names: readonly string[] | undefined): readonly string[] {
  return names === undefined ? membersOf(all) : ["--no-recursion", "--null", "-T", "-"];
}

/** Files and folders as words of tar's: see PACK. */
function membersOf(names: readonly string[]): readonly string[] {
  const paths = names.map((name) => `./${name}`);
  return paths.some((one) => one.includes("\\")) ? ["--no-unquote", ...paths] : paths;
}

function give(tar: ChildProcess, names: readonly string[] | undefined): void {
  tar.stdin?.on("error", () => undefined); // Its end tells why.
  if (names === undefined && tar.spawnargs[0] !== "tar") return;
  tar.stdin?.write((names ?? []).map((one) => `${one}\0`).join(""));
  endInput(tar);
}

/** @param far The one of the two that is in the sandbox: its code counts first. */
async function outcomeOf(
  far: ChildProcess,
  near: Promise<number>,
  progress: CopyProgress,
  what: string,
): Promise<Outcome> {
  const [farCode, nearCode] = await Promise.all([exitOf(far), near]);
  progress.end();
  sayWhat(farCode, what, "tar in the sandbox");
  if (farCode !== EXIT.ok) return exitWith(failureOf(farCode));
  sayWhat(nearCode, what, "tar here");
  return exitWith(nearCode === EXIT.ok ? EXIT.ok : EXIT.failed);
}
