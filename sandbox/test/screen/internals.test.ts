// The members of the emulator that its API does not offer: each is read, and none may be missing.

import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { coreOf, LINE_PATHS, PATHS } from "../../src/screen/internals.ts";

const open = () => new Terminal({ cols: 4, rows: 2, allowProposedApi: true, logLevel: "off" });

/** The object that has the last member of the path. */
function ownerOf(from: unknown, path: string): { owner: object; name: string } {
  const names = path.split(".");
  const name = names.pop() ?? "";
  const owner = names.reduce((at: unknown, one) => Reflect.get(Object(at), one), from);
  return { owner: Object(owner), name };
}

/** A stand-in for an object in which one member is missing. */
const without = (owner: object, name: string): object =>
  new Proxy(owner, { has: (_, key) => key !== name && Reflect.has(owner, key) });

test.each([...PATHS])("a terminal without %s is refused at once", (path) => {
  const terminal = open();
  expect(coreOf(terminal)).toBeDefined();
  const names = path.split(".");
  const name = names.pop() ?? "";
  const { owner, name: last } = ownerOf(terminal, ["_core", ...names].join("."));
  const member: unknown = Reflect.get(owner, last);
  Object.defineProperty(owner, last, { value: without(Object(member), name), configurable: true });
  expect(() => coreOf(terminal)).toThrow("Cannot read the screen: need @xterm/headless 6.1.0-beta.303");
  terminal.dispose();
});

test.each([...LINE_PATHS])("a terminal whose lines have no %s is refused at once", (name) => {
  const terminal = open();
  const { lines } = coreOf(terminal).buffers.normal;
  const line = lines.get(0);
  Object.defineProperty(lines, "get", { value: () => without(Object(line), name) });
  expect(() => coreOf(terminal)).toThrow("Cannot read the screen");
});
