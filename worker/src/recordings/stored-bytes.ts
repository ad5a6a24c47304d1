// A segment's bytes as they are stored: compressed, with their hash, and back. What is read may be anything.

import { hash } from "node:crypto";
import { decodeSegment, encodeSegment, MAX_STORED_SEGMENT, type Segment } from "sandbox-stdio/recording";

export type Packed = { readonly bytes: Uint8Array<ArrayBuffer>; readonly sha256: string };

export async function packSegment(segment: Segment): Promise<Packed> {
  const encoded = new Blob([encodeSegment(segment)]).stream();
  const packed = encoded.pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  return { bytes, sha256: hash("sha256", bytes) };
}

/** @returns undefined where they are not what was stored. */
export async function unpackSegment(bytes: Uint8Array<ArrayBuffer>, sha256: string): Promise<Segment | undefined> {
  if (hash("sha256", bytes) !== sha256) return undefined;
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))) {
      parts.push(part);
      length += part.length;
      if (length > MAX_STORED_SEGMENT) return undefined;
    }
  } catch {
    return undefined; // Not gzip, or cut.
  }
  const encoded = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    encoded.set(part, at);
    at += part.length;
  }
  return decodeSegment(encoded);
}
