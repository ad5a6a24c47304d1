// Input that nobody meant, for whoever reads messages, frames or HTTP: nearly right, or not at all.
import fc from "fast-check";

const KIB = 1024;
const MIB = 1024 * KIB;

const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -1, 1, 80, 2 ** 31, 2 ** 32, 2 ** 53, 1e308, 0.5),
);
const value = fc.oneof(
  { weight: 4, arbitrary: number },
  { weight: 2, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, [], {}, "SIGWINCH", "SIGCONT", "left", "vanished") },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
export const OUTER_TYPES = "resize signal eof ack ping auth request_stdin release_stdin grant_stdin force_take".split(
  " ",
);
export const INNER_TYPES = "attach detach ack eof signal resize stdin_holder ping".split(" ");
const OTHER_TYPES = "hello bye exit gap status __proto__ constructor toString".split(" ");

/** Messages that are nearly right: their types and fields exist, their values may be anything. */
function nearly(types: readonly string[]): fc.Arbitrary<string> {
  const fields = ["cols", "rows", "signal", "offset", "token", "to", "client", "slot", "name", "role", "how", "window"];
  const more = ["acked", "admin", "delivery", "acknowledges", "id", "stdin", "__proto__"];
  const message = fc.record(
    { type: fc.constantFrom(...types), ...Object.fromEntries([...fields, ...more].map((field) => [field, value])) },
    { requiredKeys: ["type"] },
  );
  return message.map((one) => JSON.stringify(one));
}

const text = (types: readonly string[]) =>
  fc.oneof(
    { weight: 6, arbitrary: nearly([...types, ...OTHER_TYPES]) },
    { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
    { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "[".repeat(16_000),
        '{"type":'.repeat(1_000),
        "",
        "\0",
        "9".repeat(1_000),
        `"${"x".repeat(20_000)}"`,
      ),
    },
  );
const binary = fc.oneof(
  { weight: 8, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  // A frame of the inner hop: type, slot, offset, bytes.
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(3), fc.nat(100), fc.uint8Array({ maxLength: 40 }))
      .map(([slot, offset, bytes]) => Uint8Array.of(0x10, 0, 0, 0, slot, 0, 0, 0, 0, 0, 0, 0, offset, ...bytes)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(64 * KIB, 64 * KIB + 1, MIB, MIB + 1).map((length) => new Uint8Array(length)),
  },
);

export type Action =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array };

/** `FUZZ_FRAMES=N` sends up to so many, evenly spread: an attach costs far more than a frame. */
const deep = Number(process.env.FUZZ_FRAMES ?? 0);

export const actions = (types: readonly string[]) =>
  fc.array(
    fc.oneof(
      text(types).map((said): Action => ({ kind: "text", text: said })),
      binary.map((bytes): Action => ({ kind: "binary", bytes })),
    ),
    deep > 0 ? { maxLength: deep, size: "max" } : { maxLength: 25 },
  );
export const ending = fc.constantFrom("drop", "leave", "4000", "wait");

/** Bytes where HTTP, or a WebSocket, is expected. */
export const rawBytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.string({ maxLength: 200 }).map((line) => Buffer.from(`GET /attach?${line} HTTP/1.1\r\nHost: ${line}\r\n\r\n`)),
  fc
    .tuple(fc.constantFrom("stdio.v1", "stdio.inner.v1", "x"), fc.uint8Array({ maxLength: 400 }))
    .map(([protocol, frames]) =>
      Buffer.concat([
        Buffer.from(
          "GET /attach?cmd=cat&keep=0 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
            `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n` +
            "Authorization: Bearer TOKEN\r\n\r\n",
        ),
        frames,
      ]),
    ),
);
