// Uploads: which files are allowed, the command that receives them, and the text typed afterwards. Pure.

import { latin1, type TarEntry } from "sandbox-stdio/core";
import { pipesAddress } from "../connection/pipes-address.ts";

/** A file or folder to upload, by its relative path. */
export type Offered = { readonly path: string; readonly size: number; readonly isFolder: boolean };

/** Folder of the archive for all uploaded files, so that no name clashes with our own members. */
const FILES = "files";

/** The archive's entry for a file or folder. */
export function entryOf({ path, size, modifiedAtMs, isFolder }: Offered & { readonly modifiedAtMs: number }): TarEntry {
  const kind = isFolder ? "folder" : "file";
  const name = latin1(new TextEncoder().encode(`${FILES}/${path}`));
  return { name, kind, size, mode: isFolder ? 0o755 : 0o644, modifiedAt: modifiedAtMs / 1000 };
}

export const UPLOAD_LIMITS = { files: 10_000, bytes: 1024 ** 3 } as const;

export type Plan =
  | { readonly kind: "ready"; readonly bytes: number; readonly files: number }
  | { readonly kind: "refused"; readonly why: "nothing" | "too-many" | "too-large" | "bad-name" };

export function planUpload(offered: readonly Offered[]): Plan {
  const files = offered.filter(({ isFolder }) => !isFolder).length;
  const bytes = offered.reduce((total, { size }) => total + size, 0);
  if (offered.length === 0) return { kind: "refused", why: "nothing" };
  if (offered.length > UPLOAD_LIMITS.files) return { kind: "refused", why: "too-many" };
  if (bytes > UPLOAD_LIMITS.bytes) return { kind: "refused", why: "too-large" };
  if (!offered.every(({ path }) => isBelow(path))) return { kind: "refused", why: "bad-name" };
  return { kind: "ready", bytes, files };
}

/** Whether a path stays below the target. */
function isBelow(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
}

/** The last entry of the archive: without it, it was cut short, and nothing of it is kept. */
export const WHOLE: TarEntry = { name: "upload-is-whole", kind: "file", size: 0, mode: 0o644, modifiedAt: 0 };

/**
 * Unpacks standard input into a hidden folder and moves the files out once complete. A taken name gets a number before its ending; nothing
 * is overwritten. Prints each name and its path, NUL-terminated.
 */
export const RECEIVE = `d=$(mktemp -d ./.sbx-upload.XXXXXX) || exit
trap 'trap "" HUP INT TERM; cd "$h"; rm -rf -- "$d"' EXIT
h=$PWD
trap 'exit 1' HUP INT TERM
tar xf - -C "$d" && [ -e "$d/${WHOLE.name}" ] || exit 1
cd "$d/${FILES}" || exit
for n in * .[!.]* ..?*; do
  [ -e "$n" ] || [ -L "$n" ] || continue
  b=$n t=$n i=1
  case $n in ?*.*) [ -d "$n" ] || b=\${n%.*} b=\${b%.tar} ;; esac
  while [ -e "$h/$t" ] || [ -L "$h/$t" ]; do i=$((i+1)) t=$b-$i\${n#"$b"}; done
  mv -- "$n" "$h/$t" && printf '%s\\0' "$n" "$h/$t" || exit
done`;

/** The address of the receiving session. @param cwd The shell's directory if known. */
export function receiveAddress(wsUrl: string, base: string, cwd: string | undefined): string {
  return pipesAddress(wsUrl, base, [RECEIVE], cwd);
}

/** What was uploaded, by its own name, and its path in the sandbox. */
export type Received = { readonly name: string; readonly path: string };

/** What {@link RECEIVE} printed. A path that is cut off is left out. */
export function receivedOf(output: string): readonly Received[] {
  const parts = output.split("\0").slice(0, -1);
  return parts.flatMap((path, index) => (index % 2 === 1 ? [{ name: parts[index - 1] ?? "", path }] : []));
}

/** Paths quoted for a shell, each followed by a space. Paths with control characters, which act as keys, are left out. */
export function typedPaths(paths: readonly string[]): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these would be keys
  const typable = paths.filter((path) => !/[\x00-\x1f\x7f-\x9f]/.test(path));
  return typable.map((path) => `${quoted(path)} `).join("");
}

function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** The speed of an upload is not known before. */
const MIN_TIMED_MS = 2_000;

/** Seconds until an upload is done, at its speed so far. @returns undefined while that is unknown. */
export function secondsLeft(sentBytes: number, totalBytes: number, sinceMs: number): number | undefined {
  if (sentBytes === 0 || sinceMs < MIN_TIMED_MS) return undefined;
  return ((totalBytes - sentBytes) / sentBytes) * (sinceMs / 1000);
}
