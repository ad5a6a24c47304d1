// `cp`: chooses the direction, and which files of which folder go where.

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
