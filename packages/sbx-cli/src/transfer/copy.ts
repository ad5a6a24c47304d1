// Files and folders in and out: which way, what of which folder, and where to.

import fs from "node:fs";
import path from "node:path";
import type { CopyCommand, CopyEnd } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { CliError, EXIT, exitWith, type Outcome, usage } from "../base/outcome.ts";
import { copyIn } from "./copy-in.ts";
import { CHECK, copyOut } from "./copy-out.ts";
import { exitOf, failureOf, type Part, remoteOf, untilSignal } from "./copy-process.ts";
import { streamIn, streamOut } from "./copy-stream.ts";

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
      const part: Part = { folder, names, to: target, isResumed, keepsModes: keepsModes === true, what };
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
  const name = path.posix.basename(one);
  // What is above has a name that nobody here knows: what is in it is copied.
  const [folder, known] = name === ".." ? [one, "."] : [path.posix.dirname(one), name || "."];
  return { folder: folder.startsWith("/") ? folder : `./${folder}`, name: known };
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
