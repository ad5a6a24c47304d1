// Port choice against real listeners.
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { anyFreePort, chosenPort, isPortFree, nextFreePort, PortError } from "../src/base/ports.ts";
import { claimPort } from "../src/system/claim.ts";

/** Listens on `host` until the test ends. */
async function occupy(host: string, port = 0): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port");
  return address.port;
}

// No more in all than a process has for itself: beyond them, another test's server may be about to listen.
test("any free port is free, never the same, and none that systems hand out by default", async () => {
  const ports = new Set<number>();
  for (let i = 0; i < 4; i++) {
    const port = await anyFreePort();
    expect(await isPortFree(port)).toBe(true);
    ports.add(port);
  }
  expect(ports.size).toBe(4);
  expect([Math.min(...ports) >= 10_000, Math.max(...ports) < 16_000]).toEqual([true, true]);
});

test("any free port is not one that somebody listens on", async () => {
  const taken = (await anyFreePort()) + 1;
  await occupy("127.0.0.1", taken);
  expect(await anyFreePort()).not.toBe(taken);
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
const hosts = ["127.0.0.1", "0.0.0.0", ...(hasIpv6 ? ["::1", "::"] : [])];

test.each(hosts)("a port that somebody listens on at %s is in use", async (host) => {
  expect(await isPortFree(await occupy(host))).toBe(false);
});

test("the next free port skips the ones in use", async () => {
  const port = await occupy("127.0.0.1");
  expect(await nextFreePort(port)).toBeGreaterThan(port);
});

test("of two runs that choose at the same time, before anything listens, each has ports of its own", async () => {
  const first = await anyFreePort();
  const chosen = await Promise.all([1, 2, 3].map(() => nextFreePort(first, claimPort)));
  expect(new Set(chosen).size).toBe(3);
});

test("PORT set to a port in use is an error in one line that names it", async () => {
  const port = await occupy("127.0.0.1");
  const choice = chosenPort(String(port), 8787);
  await expect(choice).rejects.toThrow(PortError);
  await expect(choice).rejects.toThrow(
    `Cannot use PORT=${port}: it is in use. Choose another, or leave PORT out for the next free one`,
  );
});

test("PORT set to a free port is that port; without it the default or the next free one is taken", async () => {
  const port = await anyFreePort();
  expect(await chosenPort(String(port), 1)).toBe(port);
  const taken = await occupy("127.0.0.1");
  expect(await chosenPort(undefined, taken)).toBeGreaterThan(taken);
  expect(await chosenPort("", taken)).toBeGreaterThan(taken);
});

test.each(["0", "65536", "80.5"])("PORT=%s is refused as no port", async (setting) => {
  await expect(chosenPort(setting, 8787)).rejects.toThrow("a port is a whole number from 1 to 65535");
});
