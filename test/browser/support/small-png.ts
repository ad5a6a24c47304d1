// A screenshot with at most 256 colours, which takes a fraction of the bytes: the pictures are part of the repository. Pure.
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const MAX_COLOURS = 256;

/** @param png As the browser makes it: eight bits a channel, without interlacing, all of it opaque. */
export function withFewColours(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const byFrequency = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = byFrequency.slice(0, MAX_COLOURS);
  const indexOf = new Map(byFrequency.map((colour, i) => [colour, i < MAX_COLOURS ? i : nearest(colour, palette)]));

  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows[y * (width + 1) + 1 + x] = indexOf.get(pixels[y * width + x] ?? 0) ?? 0;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(palette.flatMap(channelsOf))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const channelsOf = (colour: number) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];

function nearest(colour: number, palette: readonly number[]): number {
  const wanted = channelsOf(colour);
  const distances = palette.map((each) =>
    channelsOf(each).reduce((sum, channel, i) => sum + (channel - (wanted[i] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

function crc32(bytes: Buffer): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** @returns Each pixel as 0xRRGGBB. */
function decode(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  const parts: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const [width, height, type] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25]];
  if (png[24] !== 8 || (type !== 2 && type !== 6) || png[28] !== 0) throw new Error("Cannot read this kind of PNG");
  const depth = type === 2 ? 3 : 4;
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * depth;
  const lines = new Uint8Array(stride * height);
  const pixels = new Uint32Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x >= depth ? (lines[at - depth] ?? 0) : 0;
      const up = y > 0 ? (lines[at - stride] ?? 0) : 0;
      const corner = x >= depth && y > 0 ? (lines[at - stride - depth] ?? 0) : 0;
      lines[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  for (let i = 0; i < pixels.length; i += 1) {
    pixels[i] = ((lines[i * depth] ?? 0) << 16) | ((lines[i * depth + 1] ?? 0) << 8) | (lines[i * depth + 2] ?? 0);
  }
  return { width, height, pixels };
}

/** The five filters of PNG. */
function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((each) => Math.abs(left + up - corner - each));
  if (toLeft === undefined || toUp === undefined || toCorner === undefined) return 0;
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
}
