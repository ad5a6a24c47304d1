// Writes a tar archive, entry by entry, that GNU's and busybox's tar unpack. Pure.

const BLOCK = 512;
const encoder = new TextEncoder();

export type TarEntry = {
  readonly path: string;
  readonly size: number;
  readonly modifiedAtMs: number;
  readonly isFolder: boolean;
};

/** The header before an entry's bytes. A path of more than 100 bytes gets a record of its own (pax). */
export function tarHeader(entry: TarEntry): Uint8Array {
  const path = entry.isFolder && !entry.path.endsWith("/") ? `${entry.path}/` : entry.path;
  const name = encoder.encode(path);
  const header = block({ ...entry, name: name.subarray(0, 100), type: entry.isFolder ? "5" : "0" });
  if (name.length <= 100) return header;
  const record = paxRecord("path", path);
  const pax = {
    size: record.length,
    modifiedAtMs: entry.modifiedAtMs,
    isFolder: false,
    name: encoder.encode("./PaxHeader"),
  };
  return joined([block({ ...pax, type: "x" }), record, tarPadding(record.length), header]);
}

/** The padding after an entry's bytes. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The end of the archive, after the last entry. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * BLOCK);
}

type Block = {
  readonly name: Uint8Array;
  readonly size: number;
  readonly modifiedAtMs: number;
  readonly isFolder: boolean;
  readonly type: string;
};

function block({ name, size, modifiedAtMs, isFolder, type }: Block): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => header.set(encoder.encode(text), at);
  header.set(name);
  put(isFolder ? "0000755\0" : "0000644\0", 100);
  put("0000000\0".repeat(2), 108);
  put(`${octal(isFolder ? 0 : size, 11)}\0`, 124);
  put(`${octal(Math.max(0, Math.floor(modifiedAtMs / 1000)), 11)}\0`, 136);
  put(" ".repeat(8), 148);
  put(type, 156);
  put("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)}\0 `, 148);
  return header;
}

function octal(number: number, digits: number): string {
  return number.toString(8).padStart(digits, "0");
}

/** Its length counts itself. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = encoder.encode(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return joined([encoder.encode(String(length)), rest]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
