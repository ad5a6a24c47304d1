import { expect, test } from "vitest";
import { reachOf } from "../src/base/reach.ts";

const NOWHERE = { addresses: ["192.0.2.7", "198.51.100.1"], certified: [] };
const WISH = {
  port: 8787,
  bind: "localhost",
};

test("by default only this machine reaches it", () => {
  expect(reachOf(WISH, NOWHERE)).toEqual({
    address: "127.0.0.1:8787",
    origin: "http://localhost:8787",
    hosts: ["localhost:8787", "127.0.0.1:8787"],
    isPlain: false,
  });
});

test.each(["*", "0.0.0.0", "::", "192.0.2.7", "some.host"])(
  "beyond loopback, at %s, it starts only with TLS, a proxy or --insecure",
  (bind) => {
    expect(() => reachOf({ ...WISH, bind }, NOWHERE)).toThrow("Give --tls-cert and --tls-key");
    expect(reachOf({ ...WISH, bind, insecure: true }, NOWHERE).isPlain).toBe(true);
    const certified = { ...NOWHERE, certified: ["*.example.test", "host.example.test"] };
    expect(reachOf({ ...WISH, bind, tlsCert: "file" }, certified)).toMatchObject({
      origin: "https://host.example.test:8787",
      isPlain: false,
    });
  },
);

test("it answers to all names of its certificate, and people get one that leads here", () => {
  const certified = ["localhost", "host.test", "*.host.test", "127.0.0.1"];
  const wish = { ...WISH, tlsCert: "file" };
  const { origin, hosts } = reachOf({ ...wish, bind: "*" }, { addresses: ["192.0.2.7"], certified });
  expect([origin, [...hosts].sort()]).toEqual([
    "https://host.test:8787",
    ["127.0.0.1:8787", "192.0.2.7:8787", "host.test:8787", "localhost:8787"],
  ]);
  expect(reachOf(wish, { addresses: [], certified }).origin).toBe("https://localhost:8787");
});

test("at any address it answers to each of the machine's own", () => {
  const { address, origin, hosts } = reachOf({ ...WISH, bind: "*", insecure: true }, NOWHERE);
  expect(address).toBe("*:8787");
  expect(origin).toBe("http://192.0.2.7:8787");
  expect(hosts).toEqual(["192.0.2.7:8787", "localhost:8787", "127.0.0.1:8787", "198.51.100.1:8787"]);
  expect(reachOf({ ...WISH, bind: "::1" }, NOWHERE).hosts).toContain("[::1]:8787");
});

test("behind a proxy people use the proxy's https address, which must be given", () => {
  const trustProxy = ["127.0.0.1"];
  expect(() => reachOf({ ...WISH, trustProxy }, NOWHERE)).toThrow("--trust-proxy needs --origin");
  const named = { ...WISH, trustProxy: ["a.proxy"], origin: "https://host.test" };
  expect(() => reachOf(named, NOWHERE)).toThrow('IP address as it comes here, not "a.proxy"');
  expect(() => reachOf({ ...WISH, trustProxy, origin: "http://host.test" }, NOWHERE)).toThrow("is not https");
  expect(reachOf({ ...WISH, trustProxy, origin: "https://host.test/" }, NOWHERE)).toMatchObject({
    origin: "https://host.test",
    hosts: ["host.test", "localhost:8787", "127.0.0.1:8787"],
  });
});

test.each(["host.test", "ftp://host.test", "https://host.test/path", "https://user@host.test"])(
  "an origin such as %s is refused",
  (origin) => {
    expect(() => reachOf({ ...WISH, origin }, NOWHERE)).toThrow("--origin is https://HOST[:PORT] with no path");
  },
);
