// Copies into a sandbox: a local tar, and a script there that unpacks beside the target and then moves complete files into place.

import { type SpawnOptions, spawn } from "node:child_process";
import { EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { notify } from "../base/print.ts";
import { bytesOf, listFolder, missing, parseListing } from "./copy-listing.ts";
import { pathOf } from "./copy-path.ts";
import {
  endInput,
  exitOf,
  failureOf,
  giveNames,
  MAKE_FOLDER,
  type Part,
  type Remote,
  reportFailure,
  textOf,
} from "./copy-process.ts";
import { CopyProgress } from "./copy-progress.ts";

/**
 * Shell variables: `$t` is the target, `$s` our staging folder beside it, where a resumed copy continues; the remaining words are
 * the names. For a device as target the staging folder is elsewhere.
 */
const LAND = `p=$1 r=$2 clear=$3 t=$4
shift 4
case $t in /*) ;; *) t=$PWD/$t ;; esac
if [ -d "$t" ] || [ "\${t%/}" != "$t" ]; then d=$t into=1 n=$1; else d=\${t%/*}/ into= n=\${t##*/}; fi
${MAKE_FOLDER}e=$(cd -- "$d" 2>&1) || refused "\${e##*cd: }"
[ -n "$into" ] || [ ! -L "$t" ] || [ -e "$t" ] || refused 'it is a link to nothing'
s=\${d%/}/.$(printf %.200s "$n").sbx-cp
ours() { [ -d "$s" ] && [ ! -L "$s" ] && [ -O "$s" ]; }
`;
/** Needs GNU find; the tar that packs by names is GNU's as well. Lists staged files, not those that they will replace. */
const LIST = `for f in \${into:+"$d"} "$s"; do
  [ "$f" != "$s" ] || ours || continue
  cd -- "$f" 2> /dev/null || continue
  for n; do [ ! -e "./$n" ] || find "./$n" -type f -printf '%s %T@ %p\\0' || exit; done
done`;
/**
 * Links that a killed copy has left there are removed: nothing is unpacked through one. Another user's folder is no such copy, and one that
 * took the place of ours just now is not entered. setuid and setgid: see KEPT_MODE.
 */
const UNPACK = `if [ -z "$into" ] && [ -e "$t" ] && { [ ! -f "$t" ] || [ ! -w "$d" ]; }; then
  s=$(mktemp -d) || exit
  trap 'trap "" HUP INT TERM; rm -rf -- "$s"' EXIT
  trap 'exit 143' HUP INT TERM
elif [ -n "$r" ] && ours; then
  find "$s" -type l -exec rm -f -- {} + || exit
else
  remove "$s" && mkdir -m 700 -- "$s" || exit
fi
e=$(cd -P -- "\${s%/*}/" && pwd -P && echo .) && cd -- "$s" || exit
e=\${e%??}
[ "$(pwd -P && echo .)" = "\${e%/}/\${s##*/}
." ] || refused 'something else took the place of the folder that it lands in first'
if [ -n "$p" ]; then tar xpof - ; else tar xof - --no-same-permissions; fi || exit
find . \\( -perm -4000 -o -perm -2000 \\) -exec chmod ug-s -- {} + || exit
`;
/** Skips staged files, below the current folder, that something else in the folder `$1` blocks. */
const CLEAR = `to=$1 e=0
shift
for n; do
  f=$to/$n why=
  if [ -L "$f" ] && [ ! -L "$n" ]; then why='a symlink is in the way'
  elif [ -L "$f" ] || [ ! -e "$f" ]; then :
  elif [ -d "$n" ] && [ ! -L "$n" ]; then [ -d "$f" ] || why='the destination is not a folder'
  elif [ -d "$f" ]; then why='a folder is in the way'
  elif [ ! -f "$f" ]; then why='the destination is not a file'; fi
  [ -n "$why" ] || continue
  printf 'sbx-stdio: skipped: %s: %s\\n' "\${n#./}" "$why" >&2
  rm -rf -- "$n"
  e=1
done
exit $e`;
/** Like `cp`: writes into existing files, and follows a symlink that the target names. A folder without write permission can't be moved. */
const PLACE = `case $(cp --help 2>&1) in *--preserve*) k=--preserve=timestamps\${p:+,mode} ;; *) k= ;; esac
left=
move() {
  if [ -d "$1" ] && [ ! -L "$1" ] && [ ! -w "$1" ]; then
    m=$(stat -c %a -- "$1") && chmod u+w -- "$1" && mv -- "$1" "$2" && chmod -- "$m" "$2"
  else mv -- "$1" "$2"; fi
}
write() {
  cp -- "$1" "$2" || return
  [ -f "$2" ] || return 0
  [ -z "$p" ] || chmod -- "$(stat -c %a -- "$1")" "$2"
  touch -r "$1" -- "$2" 2> /dev/null || :
}
for n; do
  [ -e "./$n" ] || [ -L "./$n" ] || continue
  if [ -n "$into" ]; then f=$d/$n; else f=$t; fi
  if [ ! -e "$f" ] && [ ! -L "$f" ]; then move "./$n" "$f"
  elif [ -n "$into" ]; then
    find "./$n" -depth -exec sh -c "$clear" sh "$d" {} + || left=1
    [ ! -e "./$n" ] && [ ! -L "./$n" ] || cp -rfP $k -- "./$n" "$d/"
  elif [ -L "./$n" ]; then rm -f -- "$f" && mv -- "./$n" "$f"
  elif [ -d "./$n" ]; then
    printf 'sbx-stdio: skipped: %s: the destination is not a folder\\n' "$n" >&2
    left=1
  else l=$(readlink -f -- "$f" && echo .) && write "./$n" "\${l%??}"; fi || refused 'the reason stands above'
done
cd / && remove "$s" || exit
[ -z "$left" ] || exit 255`;
const REMOVE = `remove() { rm -rf -- "$1" 2> /dev/null || { [ ! -L "$1" ] && chmod -R u+rwx -- "$1" && rm -rf -- "$1"; }; }
`;

export async function copyIn(part: Part, remote: Remote): Promise<Outcome> {
  const { folder, names: all, to, isResumed, keepsModes, what } = part;
  const here = new Map(all.flatMap((name) => [...listFolder(pathOf(folder), pathOf(name))]));
  const words = [keepsModes ? "p" : "", isResumed ? "r" : "", CLEAR, to, ...all];
  const there = isResumed ? parseListing(await textOf(remote(LAND + LIST, words))) : undefined;
  const names = there === undefined ? undefined : missing(here, there);
  const how: SpawnOptions = { cwd: folder, stdio: [names === undefined ? "ignore" : "pipe", "pipe", "inherit"] };
  // Only GNU tar knows -S, which matters for files with holes.
  const holes = [...here.values()].some(({ isSparse }) => isSparse) ? ["-S"] : [];
  const tar = spawn("tar", ["cf", "-", ...holes, ...packed(all, names)], how);
  giveNames(tar, names);
  const far = remote(REMOVE + LAND + UNPACK + PLACE, words, { hasInput: true });
  const progress = new CopyProgress(bytesOf(here, names));
  if (tar.stdout !== null && far.stdin !== null) tar.stdout.pipe(far.stdin, { end: false });
  tar.stdout?.on("data", (bytes: Buffer) => progress.add(bytes.length));
  far.stdout?.resume();
  far.stdin?.on("error", () => undefined); // Its exit code tells why.
  // A killed tar ends this input too, maybe between two files, which the far tar would take for the end.
  tar.once("close", (code: number | null, signal) => {
    if (signal !== null) notify(`the local tar was killed by ${signal}`);
    if (code === null || code < 0) far.kill();
    else endInput(far);
  });
  const [farCode, nearCode] = await Promise.all([exitOf(far), exitOf(tar)]);
  progress.end();
  reportFailure(farCode, what, "tar in the sandbox");
  if (farCode !== EXIT.ok) return exitWith(failureOf(farCode));
  reportFailure(nearCode, what, "tar here");
  return exitWith(nearCode === EXIT.ok ? EXIT.ok : EXIT.failed);
}

/** Arguments of a tar that packs everything, or the files named on standard input. GNU tar unescapes backslashes in names. */
function packed(all: readonly string[], names: readonly string[] | undefined): readonly string[] {
  if (names !== undefined) return ["--no-recursion", "--null", "-T", "-"];
  const paths = all.map((name) => `./${name}`);
  return paths.some((one) => one.includes("\\")) ? ["--no-unquote", ...paths] : paths;
}
