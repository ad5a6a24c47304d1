// How a file comes out of the sandbox: the request that `sbx-download` prints, the command that sends it, and what that says first. Pure.

import { latin1 } from "sandbox-stdio/core";
import { pipesAddress } from "../connection/pipes-address.ts";

/** What is kept in the browser until it is whole. */
export const MAX_DOWNLOAD_BYTES = 1024 ** 3;

/** So many requests wait for an answer; a program that prints more is not heard. */
export const MAX_WISHES = 16;

const MAX_PATH_BYTES = 4096;
const MAX_SHOWN = 200;

/**
 * Reads the text of an OSC 633 with which `sbx-download` asks for a file (`P;SbxDownload=BASE64`).
 * @returns The path; undefined if it is none.
 */
export function readDownloadWish(text: string): string | undefined {
  const coded = /^P;SbxDownload=([A-Za-z\d+/]+={0,2})$/.exec(text)?.[1];
  if (coded === undefined || coded.length > MAX_PATH_BYTES * 2) return undefined;
  try {
    const bytes = Uint8Array.from(atob(coded), (unit) => unit.charCodeAt(0));
    const path = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return path.startsWith("/") && bytes.length <= MAX_PATH_BYTES && !path.includes("\0") ? path : undefined;
  } catch {
    // No base64, or no UTF-8.
    return undefined;
  }
}

/** Sends the file, or what is in the folder as an archive, that its first argument names, behind a line that says which. */
export const SEND = `p=$1
case $p in "~/"*) p=$HOME/\${p#??} ;; esac
if [ -d "$p" ]; then
  p=$(cd -- "$p" && pwd -P) || exit
  printf 'folder\\n'
  exec tar cf - -C "$p" .
fi
[ -f "$p" ] || { echo "there is no such file" >&2; exit 1; }
n=$(wc -c <"$p") || exit
printf 'file %d\\n' "$n"
exec head -c "$n" -- "$p"`;

/** The address of the session that sends it. @param cwd Where the shell is, as far as it has said: a relative path begins there. */
export function sendAddress(wsUrl: string, base: string, path: string, cwd: string | undefined): string {
  return pipesAddress(wsUrl, base, [SEND, "sbx-download", path], cwd);
}

export type Header = { readonly kind: "folder" } | { readonly kind: "file"; readonly size: number };

/** Reads the line before the bytes. */
export function readHeader(line: string): Header | undefined {
  if (line === "folder") return { kind: "folder" };
  const size = /^file (\d{1,15})$/.exec(line)?.[1];
  return size === undefined ? undefined : { kind: "file", size: Number(size) };
}

/** The name under which the browser offers to save it. */
export function savedName(path: string, { kind }: Header): string {
  const name = path.replace(/\/+$/, "").replace(/^.*\//s, "").replace(/\p{C}/gu, "");
  const known = name === "" || name === "." || name === ".." || name === "~" ? "download" : name;
  return kind === "folder" ? `${known}.tar` : known;
}

/** The folder that a saved archive of this path brings, of bytes, one a character. On some systems `\\` and `:` lead elsewhere. */
export function folderOf(path: string): string {
  const name = savedName(path, { kind: "folder" }).slice(0, -".tar".length);
  return latin1(new TextEncoder().encode(name.replace(/[\\:]/g, "_")));
}

/** @param name Of bytes, one a character. */
export function shownName(name: string): string {
  const bytes = Uint8Array.from(name, (unit) => unit.charCodeAt(0));
  return new TextDecoder().decode(bytes).replace(/\p{C}/gu, "\ufffd").slice(0, MAX_SHOWN);
}
