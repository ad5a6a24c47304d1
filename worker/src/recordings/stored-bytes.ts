// A segment's bytes as they are stored: compressed, with their hash, and back. What is read may be anything, and is nothing then.

import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { decodeSegment, encodeSegment, type Segment } from "sandbox-stdio/recording";

export type Packed = { readonly bytes: Uint8Array<ArrayBuffer>; readonly sha256: string };

export async function packSegment(segment: Segment): Promise<Packed> {
  // The fastest: a flood is compressed in the turns of its session's object.
  const bytes = new Uint8Array(gzipSync(encodeSegment(segment), { level: 1 }));
  return { bytes, sha256: hash("sha256", bytes) };
}

/** @returns undefined where they are not what was stored. */
export async function unpackSegment(bytes: Uint8Array<ArrayBuffer>, sha256: string): Promise<Segment | undefined> {
  if (hash("sha256", bytes) !== sha256) return undefined;
  return decodeSegment(await through(bytes, new DecompressionStream("gzip")));
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: DecompressionStream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
