// Which hosts a sandbox may reach: the setting's words.
import { expect, test } from "vitest";
import { isAllowedHost, readEgress } from "../../src/sandbox/egress.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["none", []],
  ["registry.npmjs.org, *.GitHub.com", ["registry.npmjs.org", "*.github.com"]],
])("EGRESS_ALLOW %j allows %j", (value, hosts) => {
  expect(readEgress(value === undefined ? {} : { EGRESS_ALLOW: value })).toEqual(hosts);
});

test.each(["https://example.com", "example.com:443", "example.com/path", "a b", "none,example.com/", "-a"])(
  "EGRESS_ALLOW %j is refused: taken for no list, it would open everything",
  (value) => {
    expect(() => readEgress({ EGRESS_ALLOW: value })).toThrow("EGRESS_ALLOW");
  },
);

test.each([
  ["example.com", ["example.com"], true],
  ["EXAMPLE.com.", ["example.com"], true],
  ["www.example.com", ["example.com"], false],
  ["example.com.evil.org", ["example.com", "*.com"], false],
  ["a.example.com", ["*.example.com"], true],
  ["example.com", ["*.example.com"], false],
  ["registry.npmjs.org", ["reg*npm*.org"], true],
  ["aba", ["ab*ba"], false],
  ["abba", ["ab*ba"], true],
  ["anything", ["*"], true],
  ["anything", [], false],
])("%s against %j is allowed: %s", (host, patterns, isAllowed) => {
  expect(isAllowedHost(host, patterns)).toBe(isAllowed);
});
