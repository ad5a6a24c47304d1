// Archives as their maker wants them: members of any kind and name, also those that no tar would make.
import { type TarEntry, tarEnd, tarHeader, tarPadding } from "sandbox-stdio/core";

const FILE = { kind: "file", mode: 0o644, modifiedAt: 1 } as const;

/** @param type The character of its kind, if it is none that the writer has. */
export type Member = Partial<TarEntry> & { readonly name: string; readonly type?: string; readonly content?: string };

export function archive(...members: readonly Member[]): Buffer<ArrayBuffer> {
  const blocks = members.flatMap(({ type, content = "", ...entry }) => {
    const header = Buffer.from(tarHeader({ kind: "file", mode: 0o644, modifiedAt: 1, ...entry, size: content.length }));
    if (type !== undefined) retype(header, type);
    return [header, Buffer.from(content, "latin1"), tarPadding(content.length)];
  });
  return Buffer.concat([...blocks, tarEnd()]);
}

function retype(header: Buffer, type: string): Buffer {
  header[156] = type.charCodeAt(0);
  header.write("        ", 148, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

/** GNU's sparse file of such a size, with `x` in these pieces of it. */
export function sparse(
  name: string,
  size: number,
  pieces: readonly (readonly [offset: number, bytes: number])[],
): Buffer {
  const content = "x".repeat(pieces.reduce((sum, [, bytes]) => sum + bytes, 0));
  const header = Buffer.from(tarHeader({ ...FILE, name, size: content.length }));
  const put = (value: number, at: number) => header.write(`${value.toString(8).padStart(11, "0")}\0`, at, "latin1");
  for (const [i, [offset, bytes]] of pieces.entries()) {
    put(offset, 386 + i * 24);
    put(bytes, 398 + i * 24);
  }
  put(size, 483);
  return Buffer.concat([retype(header, "S"), Buffer.from(content), tarPadding(content.length), tarEnd()]);
}

/** A file of one byte of which a record of pax says something else. */
export function pax(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  const record = `${rest.length + String(rest.length + 2).length}${rest}`;
  return archive({ name: "PaxHeader", type: "x", content: record }, { name: "lie", content: "x" });
}
