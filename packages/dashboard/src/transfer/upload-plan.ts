// How files come into the sandbox: which may, under which names, by which command, and the text typed at the cursor then. Pure.

import { latin1, type TarEntry } from "sandbox-stdio/core";
import { pipesAddress } from "../connection/pipes-address.ts";

/** A file to upload: its path below the target, with slashes between folders. */
export type Offered = { readonly path: string; readonly size: number; readonly isFolder: boolean };

/** The folder of the archive that holds all of them: what is beside it is ours, whatever their names are. */
const FILES = "files";

/** What the archive says of it. */
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

/** Whether a path leads nowhere but below. */
function isBelow(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
}

/** The last entry of the archive: without it, it was cut short, and nothing of it is kept. */
export const WHOLE: TarEntry = { name: "upload-is-whole", kind: "file", size: 0, mode: 0o644, modifiedAt: 0 };

/**
 * Unpacks its standard input beside the files there, and moves it there once it is whole. A name that is taken gets a
 * number before it; nothing is written over. Says each path, ended by a NUL.
 */
export const RECEIVE = `d=$(mktemp -d ./.sbx-upload.XXXXXX) || exit
trap 'trap "" HUP INT TERM; cd "$h"; rm -rf -- "$d"' EXIT
h=$PWD
trap 'exit 1' HUP INT TERM
tar xf - -C "$d" && [ -e "$d/${WHOLE.name}" ] || exit 1
cd "$d/${FILES}" || exit
for n in * .[!.]* ..?*; do
  [ -e "$n" ] || [ -L "$n" ] || continue
  t=$n i=1
  while [ -e "$h/$t" ] || [ -L "$h/$t" ]; do i=$((i+1)) t=$i-$n; done
  mv -- "$n" "$h/$t" && printf '%s\\0' "$h/$t" || exit
done`;

/** The address of the session that receives it. @param cwd Where the shell is, as far as it has said. */
export function receiveAddress(wsUrl: string, base: string, cwd: string | undefined): string {
  return pipesAddress(wsUrl, base, [RECEIVE], cwd);
}

/** The paths that {@link RECEIVE} has said. */
export function pathsOf(said: string): readonly string[] {
  return said.split("\0").filter((path) => path !== "");
}

/** Paths as words of a shell, with a blank after them. Control characters would be keys: such a path is left out. */
export function typedPaths(paths: readonly string[]): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these would be keys
  const typable = paths.filter((path) => !/[\x00-\x1f\x7f-\x9f]/.test(path));
  return typable.map((path) => `${quoted(path)} `).join("");
}

function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Reads the text of an OSC 633 that says where a shell is (`P;Cwd=…`, escaped as VS Code does). */
export function readWorkingDirectory(text: string): string | undefined {
  const escaped = /^P;Cwd=(.*)$/s.exec(text)?.[1];
  if (escaped === undefined) return undefined;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [, plain, hex] of escaped.matchAll(/([^\\]+)|\\x([\da-fA-F]{2})|\\\\|\\/g)) {
    bytes.push(
      ...(plain !== undefined ? encoder.encode(plain) : hex !== undefined ? [Number.parseInt(hex, 16)] : [0x5c]),
    );
  }
  const path = new TextDecoder().decode(Uint8Array.from(bytes));
  return path.startsWith("/") && path.length <= 4096 && !path.includes("\0") ? path : undefined;
}
