// Reads the WebSocket frames that a client sent on a recorded connection: to look for what should not be in them.

/** The head of the connection's first request, and the payloads of all whole frames after it, unmasked. */
export function readRecorded(bytes: Buffer): { head: string; payloads: Buffer[] } {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return { head: bytes.toString("latin1"), payloads: [] };
  const head = bytes.toString("latin1", 0, end);
  if (!/^upgrade: websocket$/im.test(head)) return { head: bytes.toString("latin1"), payloads: [] };
  const payloads: Buffer[] = [];
  for (let at = end + 4; at + 2 <= bytes.length; ) {
    const isMasked = ((bytes[at + 1] ?? 0) & 0x80) !== 0;
    let length = (bytes[at + 1] ?? 0) & 0x7f;
    at += 2;
    if (length === 126) {
      length = bytes.readUInt16BE(at);
      at += 2;
    } else if (length === 127) {
      length = Number(bytes.readBigUInt64BE(at));
      at += 8;
    }
    const mask = isMasked ? bytes.subarray(at, at + 4) : Buffer.alloc(4);
    at += isMasked ? 4 : 0;
    if (at + length > bytes.length) break;
    payloads.push(Buffer.from(bytes.subarray(at, at + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0))));
    at += length;
  }
  return { head, payloads };
}
