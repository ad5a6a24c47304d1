// Out of a sandbox: tar there, and here a reader of our own, since the sandbox may send anything.

import type { ChildProcess } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { TarFault, TarReader } from "sandbox-stdio/core";
import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { Landing } from "./copy-landing.ts";
import { LeftOut } from "./copy-left-out.ts";
import { bytesOf, missing, parseListing } from "./copy-listing.ts";
import { pathOf } from "./copy-path.ts";
import { exitOf, failureOf, giveNames, LACK, type Part, type Remote, sayWhat, textOf } from "./copy-process.ts";
import { CopyProgress } from "./copy-progress.ts";
import { Unpacking } from "./copy-unpack.ts";

/** Before anything of several folders is copied. */
export const CHECK = `${LACK}lacks=
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
/** GNU's tar leaves out what holes a file has. It reads a backslash in a name as the beginning of an escape, unless it is told not to. */
const TAR = "case $(tar --version 2> /dev/null) in *GNU*) g='-S --format=gnu' ;; *) g= ;; esac\n";
const PACK = String.raw`case $* in *\\*) g="$g --no-unquote" ;; esac
for n; do shift; set -- "$@" "./$n"; done
exec tar $g -c -f - "$@"`;
const PACK_SOME = "exec tar $g -c -f - --no-recursion --null -T -";
const LIST_ALL = `for n; do find "./$n" -type f -printf '%s %T@ %p\\0' -o -printf '0 -1 %p\\0' || exit; done`;

export async function copyOut(part: Part, remote: Remote): Promise<Outcome> {
  const { folder, names: all, to, isResumed, keepsModes, what } = part;
  const isInto = all.includes(".") || to.endsWith("/") || isFolder(path.resolve(to));
  const leftOut = new LeftOut();
  const landing = new Landing({ to, names: all, isInto, isResumed, keepsModes, leftOut });
  const there = isResumed ? parseListing(await textOf(remote(SOURCE + LIST_ALL, [folder, ...all]))) : undefined;
  const names = there === undefined ? undefined : missing(there, landing.had());
  try {
    const { code, isWhole } = names?.length === 0 ? { code: EXIT.ok, isWhole: true } : await bring(names);
    if (isWhole) await landing.land();
    leftOut.end();
    return exitWith(code === EXIT.ok && leftOut.isAny ? EXIT.failed : code);
  } finally {
    landing.close();
  }

  /** @returns The code of what has packed it; a whole archive may lack a file that could not be read. */
  async function bring(some: readonly string[] | undefined): Promise<{ code: number; isWhole: boolean }> {
    const hasInput = some !== undefined;
    const far = remote(SOURCE + TAR + (hasInput ? PACK_SOME : PACK), [folder, ...all], { hasInput });
    giveNames(far, some);
    const progress = new CopyProgress(there && bytesOf(there, some));
    const over = exitOf(far);
    const arrived = await receive(far, progress).catch((error: unknown) => {
      far.kill();
      throw error;
    });
    const code = await over;
    progress.end();
    sayWhat(code, what, "tar in the sandbox");
    if (arrived === undefined && code === EXIT.ok) throw new CliError(`cannot copy ${what}: the archive breaks off`);
    for (const name of asked(some))
      if (arrived?.has(pathOf(name)) === false) leftOut.add(pathOf(name), "it has not come");
    return { code: code === EXIT.ok ? code : failureOf(code), isWhole: arrived !== undefined };
  }

  function asked(some: readonly string[] | undefined): readonly string[] {
    const isSent = (name: string) => some?.some((each) => `${each}/`.startsWith(`./${pathOf(name)}/`)) ?? true;
    return all.includes(".") ? [] : all.filter(isSent);
  }

  /** @returns Which of the names the archive held; undefined if it was not whole. */
  async function receive(far: ChildProcess, progress: CopyProgress): Promise<ReadonlySet<string> | undefined> {
    let unpacking: Unpacking | undefined;
    let reader: TarReader | undefined;
    try {
      // Nothing is made before the first byte: where none comes, nothing is here.
      for await (const chunk of far.stdout as AsyncIterable<Buffer>) {
        unpacking ??= new Unpacking({
          stage: landing.open(),
          asked: all.includes(".") ? undefined : all.map(pathOf),
          isRenamed: !isInto,
          keepsModes,
          leftOut,
        });
        reader ??= new TarReader(unpacking);
        reader.push(chunk);
        progress.add(chunk.length);
      }
    } catch (error) {
      if (error instanceof TarFault) throw new CliError(`cannot copy ${what}: ${error.message}`);
      throw error;
    } finally {
      unpacking?.close();
    }
    return reader?.isWhole === true ? unpacking?.seen : undefined;
  }
}

const isFolder = (at: string) => fs.statSync(at, { throwIfNoEntry: false })?.isDirectory() === true;
