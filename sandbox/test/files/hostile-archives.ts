// Archives as their maker wants them: members of any kind and name, also those that no tar would make.
import { type TarEntry, tarEnd, tarHeader, tarPadding } from "sandbox-stdio/core";

/** @param type The character of its kind, if it is none that the writer has. */
export type Member = Partial<TarEntry> & { readonly name: string; readonly type?: string; readonly content?: string };

export function archive(...members: readonly Member[]): Buffer<ArrayBuffer> {
  const blocks = members.flatMap(({ type, content = "", ...entry }) => {
    const header = Buffer.from(tarHeader({ kind: "file", mode: 0o644, modifiedAt: 1, ...entry, size: content.length }));
    if (type !== undefined) {
      header[156] = type.charCodeAt(0);
      header.write("        ", 148, "latin1");
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
    }
    return [header, Buffer.from(content, "latin1"), tarPadding(content.length)];
  });
  return Buffer.concat([...blocks, tarEnd()]);
}
