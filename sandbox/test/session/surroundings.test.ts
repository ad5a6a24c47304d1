// The environment of a process that the bridge starts.

import { parseOrder } from "sandbox-stdio/programs";
import { expect, test } from "vitest";
import { readSettings } from "../../src/base/settings.ts";
import { environmentOf } from "../../src/session/surroundings.ts";

test("P1: each variable reaches the process, whatever its name", () => {
  const read = readSettings({ HOST: "127.0.0.1", PORT: "0" }, "a secret of this test only");
  if (!read.ok) throw new Error(read.problem);
  const env = [
    ["__proto__", "a"],
    ["constructor", "b"],
    ["TERM", "dumb"],
  ];
  const wish = { cmd: "env", args: [], env, tty: false, mode: "collaborative", keep: 60 };
  const order = parseOrder(
    JSON.stringify({ label: "box", session: "s", ...wish, keepExited: 0, stdin: "", isStdinEnded: true }),
  );
  if ("detail" in order) throw new Error(order.detail);
  const given = Object.entries(environmentOf(read.settings, "/home/box", order.process));
  expect(given).toEqual(expect.arrayContaining(env));
});
