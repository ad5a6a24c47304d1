// Reads what a client sent on a recorded connection: to look for what should not be in it.

export interface RecordedRequest {
  readonly head: string;
  /** Of the WebSocket that it opened: the payloads of all whole frames, unmasked. */
  readonly payloads: readonly Buffer[];
}

/** A client's frame begins with a bit for its end or with no letter; requests begin with their method. */
const METHOD = /^(?:GET|DELETE) /;

/** All requests of one connection, none with a body: a runtime keeps it for the next, also after an upgrade that was refused. */
export function readRecorded(bytes: Buffer): RecordedRequest[] {
  const requests: RecordedRequest[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end < 0) return [...requests, { head: bytes.toString("latin1", at), payloads: [] }];
    const head = bytes.toString("latin1", at, end);
    at = end + 4;
    const isNext = METHOD.test(bytes.toString("latin1", at, at + 8));
    requests.push({ head, payloads: isNext ? [] : payloadsOf(bytes.subarray(at)) });
    if (!isNext) break;
  }
  return requests;
}

/** The queries of all attaches. */
export function attachesOf(requests: readonly RecordedRequest[]): URLSearchParams[] {
  return requests.filter(({ head }) => head.startsWith("GET /attach?")).map(({ head }) => queryOf(head));
}

export function queryOf(head: string): URLSearchParams {
  return new URLSearchParams(/\?(\S+) /.exec(head)?.[1]);
}

function payloadsOf(bytes: Buffer): Buffer[] {
  const payloads: Buffer[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
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
  return payloads;
}
