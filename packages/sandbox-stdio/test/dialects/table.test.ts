// The routing table: which dialect a client gets, by its path and the subprotocols that it offers.

import { describe, expect, test } from "vitest";
import { chooseRoute, DIALECT_ROUTES, dialectNamed } from "../../src/index.ts";

const chosen = (path: string, offered: string[]) =>
  chooseRoute(
    DIALECT_ROUTES.filter((route) => route.path === path),
    offered,
  )?.dialect.name;

describe("a client gets", () => {
  test.each<[path: string, offered: string[], dialect: string | undefined]>([
    ["/attach", ["stdio.v1"], "stdio"],
    ["/attach", ["stdio.v2", "stdio.v1"], "stdio"],
    ["/attach", [], "plain"],
    ["/attach", ["tty"], undefined],
    ["/ws/terminal", [], "addon"],
    ["/ws/terminal", ["stdio.v1"], undefined],
    ["/v1/sandboxes/:id/exec/pty", [], "pty"],
    ["/v1/sandboxes/:id/exec/pty", ["pds-pty"], "pty"],
    ["/v1/sandboxes/:id/exec/pty/shared", ["pds-pty"], "pty-shared"],
    ["/v1/sandboxes/:id/exec/pty/shared", ["stdio.v1"], undefined],
    ["/sandbox/terminal", [], "json"],
    ["/sandbox/terminal", ["stdio.v1"], undefined],
  ])("at %s, offering %j: %s", (path, offered, dialect) => {
    expect(chosen(path, offered)).toBe(dialect);
  });
});

test("every row's dialect is found by its name, and no name is used twice", () => {
  const dialects = new Set(DIALECT_ROUTES.map((route) => route.dialect));
  expect(new Set([...dialects].map((dialect) => dialect.name)).size).toBe(dialects.size);
  for (const dialect of dialects) expect(dialectNamed(dialect.name)).toBe(dialect);
});

test("a name that no row has is our mistake", () => {
  expect(() => dialectNamed("telnet")).toThrow('Cannot speak "telnet"');
});
