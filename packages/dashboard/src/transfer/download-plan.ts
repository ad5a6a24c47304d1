// Downloads: the request that `sbx-download` prints, the command that sends a file, and its header. Pure.

import { latin1 } from "sandbox-stdio/core";
import { pipesAddress } from "../connection/pipes-address.ts";

/** Limit of what the browser keeps until the download is complete. */
export const MAX_DOWNLOAD_BYTES = 1024 ** 3;

/** Limit of pending requests; more are ignored. */
export const MAX_REQUESTS = 16;

const MAX_PATH_BYTES = 4096;
const MAX_SHOWN = 200;

/** Parses the OSC 633 of `sbx-download` (`P;SbxDownload=BASE64`). @returns The path; undefined if it is none. */
export function readDownloadRequest(text: string): string | undefined {
  const coded = /^P;SbxDownload=([A-Za-z\d+/]+={0,2})$/.exec(text)?.[1];
  if (coded === undefined || coded.length > MAX_PATH_BYTES * 2) return undefined;
  try {
    const bytes = Uint8Array.from(atob(coded), (unit) => unit.charCodeAt(0));
    const path = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return path.startsWith("/") && bytes.length <= MAX_PATH_BYTES && !path.includes("\0") ? path : undefined;
  } catch {
    // Not base64, or not UTF-8.
    return undefined;
  }
}

/** Sends a header line, then the file, or a folder's content as an archive. */
export const SEND = `p=$1
case $p in "~/"*) p=$HOME/\${p#??} ;; esac
if [ -d "$p" ]; then
  p=$(cd -- "$p" && pwd -P) || exit
  printf 'folder\\n'
  exec tar cf - -C "$p" .
fi
[ -f "$p" ] || { echo "no such file" >&2; exit 1; }
n=$(wc -c <"$p") || exit
printf 'file %d\\n' "$n"
exec head -c "$n" -- "$p"`;

/** The address of the sending session. @param cwd The shell's directory if known: relative paths begin there. */
export function sendAddress(wsUrl: string, base: string, path: string, cwd: string | undefined): string {
  return pipesAddress(wsUrl, base, [SEND, "sbx-download", path], cwd);
}

export type Header = { readonly kind: "folder" } | { readonly kind: "file"; readonly size: number };

/** Parses the header line. */
export function readHeader(line: string): Header | undefined {
  if (line === "folder") return { kind: "folder" };
  const size = /^file (\d{1,15})$/.exec(line)?.[1];
  return size === undefined ? undefined : { kind: "file", size: Number(size) };
}

/** The suggested file name. */
export function savedName(path: string, { kind }: Header): string {
  const name = path.replace(/\/+$/, "").replace(/^.*\//s, "").replace(/\p{C}/gu, "");
  const known = name === "" || name === "." || name === ".." || name === "~" ? "download" : name;
  return kind === "folder" ? `${known}.tar` : known;
}

/** The top folder of an archive, as latin1 bytes. `\\` and `:` have meanings on some systems. */
export function folderOf(path: string): string {
  const name = savedName(path, { kind: "folder" }).slice(0, -".tar".length);
  return latin1(new TextEncoder().encode(name.replace(/[\\:]/g, "_")));
}

/** @param name As latin1 bytes. */
export function shownName(name: string): string {
  const bytes = Uint8Array.from(name, (unit) => unit.charCodeAt(0));
  return new TextDecoder().decode(bytes).replace(/\p{C}/gu, "\ufffd").slice(0, MAX_SHOWN);
}
