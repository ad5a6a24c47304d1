// Copies out of a sandbox: tar there, and our own reader here, since the sandbox may send anything.

import type { ChildProcess } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { TarFault, TarReader } from "sandbox-stdio/core";
import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { Landing } from "./copy-landing.ts";
import { SkippedFiles } from "./copy-left-out.ts";
import { bytesOf, missing, parseListing } from "./copy-listing.ts";
import { pathOf } from "./copy-path.ts";
import {
  exitOf,
  failureOf,
  giveNames,
  type Part,
  REPORT_MISSING,
  type Remote,
  reportFailure,
  textOf,
} from "./copy-process.ts";
import { CopyProgress } from "./copy-progress.ts";
import { Unpacking } from "./copy-unpack.ts";

/** Checks several folders before copying. */
export const CHECK = `${REPORT_MISSING}lacks=
for n; do
  case $n in /*) f=$n ;; *) f=./$n ;; esac
  [ -e "$f" ] || [ -L "$f" ] || { lack "$n"; lacks=1; }
done
[ -z "$lacks" ] || exit 255`;
const SOURCE = `${REPORT_MISSING}d=$1 lacks=
shift
case $d in ./.) p= ;; ./*) p=\${d#./}/ ;; */) p=$d ;; *) p=$d/ ;; esac
for n; do
  [ -e "$d/$n" ] || [ -L "$d/$n" ] || { lack "$p$n"; lacks=1; }
done
[ -z "$lacks" ] || exit 255
cd -- "$d" || exit
`;
/** GNU tar omits holes, and unescapes backslashes in names unless told otherwise. */
const TAR = "case $(tar --version 2> /dev/null) in *GNU*) g='-S --format=gnu' ;; *) g= ;; esac\n";
const PACK = String.raw`case $* in *\\*) g="$g --no-unquote" ;; esac
for n; do shift; set -- "$@" "./$n"; done
exec tar $g -c -f - "$@"`;
const PACK_SOME = "exec tar $g -c -f - --no-recursion --null -T -";
const LIST_ALL = `for n; do find "./$n" -type f -printf '%s %T@ %p\\0' -o -printf '0 -1 %p\\0' || exit; done`;

export async function copyOut(part: Part, remote: Remote): Promise<Outcome> {
  const { folder, names: all, to, isResumed, keepsModes, what } = part;
  const isInto = all.includes(".") || to.endsWith("/") || isFolder(path.resolve(to));
  const skipped = new SkippedFiles();
  const landing = new Landing({ to, names: all, isInto, isResumed, keepsModes, skipped });
  const there = isResumed ? parseListing(await textOf(remote(SOURCE + LIST_ALL, [folder, ...all]))) : undefined;
  const names = there === undefined ? undefined : missing(there, landing.had());
  try {
    const { code, isWhole } = names?.length === 0 ? { code: EXIT.ok, isWhole: true } : await bring(names);
    if (isWhole) await landing.land();
    skipped.end();
    return exitWith(code === EXIT.ok && skipped.isAny ? EXIT.failed : code);
  } finally {
    landing.close();
  }

  /** @returns The exit code of the packing; a complete archive may lack an unreadable file. */
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
    reportFailure(code, what, "tar in the sandbox");
    if (arrived === undefined && code === EXIT.ok) throw new CliError(`cannot copy ${what}: the archive is truncated`);
    for (const name of requested(some))
      if (arrived?.has(pathOf(name)) === false) skipped.add(pathOf(name), "not received");
    return { code: code === EXIT.ok ? code : failureOf(code), isWhole: arrived !== undefined };
  }

  function requested(some: readonly string[] | undefined): readonly string[] {
    const isSent = (name: string) => some?.some((each) => `${each}/`.startsWith(`./${pathOf(name)}/`)) ?? true;
    return all.includes(".") ? [] : all.filter(isSent);
  }

  /** @returns The received names; undefined if the archive was incomplete. */
  async function receive(far: ChildProcess, progress: CopyProgress): Promise<ReadonlySet<string> | undefined> {
    let unpacking: Unpacking | undefined;
    let reader: TarReader | undefined;
    try {
      // Create nothing before the first byte.
      for await (const chunk of far.stdout as AsyncIterable<Buffer>) {
        unpacking ??= new Unpacking({
          stage: landing.open(),
          requested: all.includes(".") ? undefined : all.map(pathOf),
          isRenamed: !isInto,
          keepsModes,
          skipped,
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
