// Writes a tar archive that GNU's, busybox's and BSD's tar can unpack. Names are bytes, one per character. Pure.

import { fromLatin1 } from "../text/latin1.ts";
import { joined } from "../text/utf8-text.ts";
import { TAR_BLOCK } from "./tar-reader.ts";

/** Largest number in eleven octal digits. */
const MAX_NUMBER = 8 ** 11 - 1;
const MAX_NAME = 100;

const TYPES = { file: "0", "hard link": "1", link: "2", folder: "5" } as const;

export type TarEntry = {
  readonly name: string;
  readonly kind: keyof typeof TYPES;
  /** Target of a link or hard link. */
  readonly target?: string;
  /** Size of a file; its bytes and {@link tarPadding} follow the header. */
  readonly size: number;
  readonly mode: number;
  /** Seconds since 1970. */
  readonly modifiedAt: number;
};

/** The header before an entry's bytes, preceded by pax records for values that do not fit. */
export function tarHeader(entry: TarEntry): Uint8Array {
  const { kind, target = "" } = entry;
  const name = kind === "folder" && !entry.name.endsWith("/") ? `${entry.name}/` : entry.name;
  const size = kind === "file" ? entry.size : 0;
  const records = [
    ...(name.length > MAX_NAME ? [paxRecord("path", name)] : []),
    ...(target.length > MAX_NAME ? [paxRecord("linkpath", target)] : []),
    ...(size > MAX_NUMBER ? [paxRecord("size", String(size))] : []),
  ].join("");
  const header = block({ ...entry, name, target, size }, TYPES[kind]);
  if (records === "") return header;
  const pax = { ...entry, name: "./PaxHeader", target: "", size: records.length, mode: 0o644 };
  return joined([block(pax, "x"), fromLatin1(records), tarPadding(records.length), header]);
}

/** The padding after an entry's bytes. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** The end of the archive, after the last entry. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * TAR_BLOCK);
}

function block(
  { name, target = "", size, mode, modifiedAt }: TarEntry | Omit<TarEntry, "kind">,
  type: string,
): Uint8Array {
  const header = new Uint8Array(TAR_BLOCK);
  const put = (text: string, at: number) => header.set(fromLatin1(text), at);
  put(name.slice(0, MAX_NAME), 0);
  put(`${octal(mode, 7)}\0`, 100);
  put("0000000\0".repeat(2), 108);
  put(`${octal(size, 11)}\0`, 124);
  put(`${octal(Math.max(0, Math.floor(modifiedAt)), 11)}\0`, 136);
  put(" ".repeat(8), 148);
  put(type, 156);
  put(target.slice(0, MAX_NAME), 157);
  put("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)}\0 `, 148);
  return header;
}

function octal(number: number, digits: number): string {
  return Math.min(number, MAX_NUMBER).toString(8).padStart(digits, "0");
}

/** The length includes itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return `${length}${rest}`;
}
