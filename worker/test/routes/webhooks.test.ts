// Webhooks, without a system: where one may lead, and what becomes of a delivery.
import { expect, test } from "vitest";
import { webhookAddressFault } from "../../src/webhooks/address.ts";
import {
  type Delivery,
  fateOf,
  MAX_ATTEMPTS,
  MAX_DELIVERIES,
  nextDueMs,
  signature,
  toDrop,
} from "../../src/webhooks/attention-webhook.ts";

test("a webhook leads out into the public network by HTTPS, and nowhere else", () => {
  for (const url of ["https://hooks.example.com/x?y", "https://example.com:8443/", "https://EXAMPLE.com./"]) {
    expect([url, webhookAddressFault(url, false)]).toEqual([url, undefined]);
  }
  const refused = [
    ...[
      "http://example.com/",
      "ftp://example.com",
      "https://example.com:22/",
      "https://example.com:8080/",
      "no url",
      "",
    ],
    ...[
      "https://127.0.0.1/",
      "https://10.1.2.3/",
      "https://0x7f.1/",
      "https://2130706433/",
      "https://169.254.169.254/",
    ],
    ...[
      "https://8.8.8.8/",
      "https://[::1]/",
      "https://[fe80::1]/",
      "https://[::ffff:10.0.0.1]/",
      "https://[2001:db8::1]/",
    ],
    ...["https://localhost/", "https://x.localhost/", "https://LOCALHOST./", "https://metadata.google.internal/"],
    ...[
      "https://printer.local/",
      "https://router.lan/",
      "https://intranet/",
      "https://metadata/",
      "https://a.home.arpa/",
    ],
    ...[
      "https://127.0.0.1.nip.io/",
      "https://10-0-0-1.sslip.io/",
      "https://localtest.me/",
      "https://user:x@example.com/",
    ],
    `https://example.com/${"x".repeat(2_100)}`,
  ];
  for (const url of refused) expect([url, webhookAddressFault(url, false)]).toEqual([url, expect.any(String)]);
});

test("the setting for tests permits this machine alone, by HTTP too", () => {
  for (const url of ["http://127.0.0.1:1234/", "http://localhost:1/", "https://[::1]:9/"]) {
    expect([url, webhookAddressFault(url, true)]).toEqual([url, undefined]);
  }
  for (const url of ["http://10.0.0.1/", "http://127.0.0.2/", "https://169.254.169.254/", "ftp://localhost/"]) {
    expect([url, webhookAddressFault(url, true)]).toEqual([url, expect.any(String)]);
  }
});

const fresh = (n: number): Delivery => ({ id: `${n}`, body: "{}", madeAtMs: n, attempts: 0, dueMs: n });

test("a delivery is tried again with longer and longer pauses, ten times, unless its receiver says no", () => {
  for (const status of [200, 204, 299]) expect(fateOf(fresh(0), { status }, 0, 0)).toEqual({ kind: "delivered" });
  for (const status of [301, 307, 400, 401, 404, 410]) expect(fateOf(fresh(0), { status }, 0, 0).kind).toBe("given_up");
  for (const status of [undefined, 408, 425, 429, 500, 503]) {
    const pauses: number[] = [];
    let [delivery, nowMs, tries] = [fresh(0), 0, 0];
    for (;;) {
      tries += 1;
      const fate = fateOf(delivery, { status }, nowMs, 1);
      if (fate.kind !== "again") break;
      pauses.push(fate.delivery.dueMs - nowMs);
      ({ delivery } = fate);
      nowMs = delivery.dueMs;
    }
    expect(tries).toBe(MAX_ATTEMPTS);
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280].map((seconds) => seconds * 1000));
    expect(fateOf(fresh(0), { status }, 0, 0)).toMatchObject({ delivery: { dueMs: 2_500, attempts: 1 } });
  }
});

test("the queue has room for 256: beyond, the oldest is dropped", () => {
  const queued = Array.from({ length: MAX_DELIVERIES }, (_, n) => fresh(n));
  expect(toDrop(queued.slice(1))).toEqual([]);
  expect(toDrop([...queued].reverse()).map(({ id }) => id)).toEqual(["0"]);
  expect([nextDueMs(queued), nextDueMs([])]).toEqual([0, Number.POSITIVE_INFINITY]);
});

test("the signature is HMAC-SHA-256 over time and body", async () => {
  // Python: hmac.new(b"a secret of 16 and more", b'1700000000.{"a":1}', "sha256").hexdigest()
  const expected = "v1=ea990224c27f5516971b2efd6e644379b9d69931e3f82da480402eace96626e0";
  expect(await signature("a secret of 16 and more", 1_700_000_000, '{"a":1}')).toBe(expected);
});
