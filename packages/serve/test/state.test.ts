import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openState } from "../src/base/state.ts";
import { temporaryDirectory } from "./temporary.ts";

test("a folder that another user could replace is refused, however far above; where only owners move entries it is not", () => {
  const above = temporaryDirectory();
  const state = join(above, "one/two/state");
  mkdirSync(join(above, "one/two"), { recursive: true });
  const open = () => openState({ port: 1, state });
  expect(open().dir).toBe(state);
  chmodSync(join(above, "one"), 0o777);
  expect(open).toThrow(`Cannot use ${state}: another user, who may write in ${join(above, "one")}, could replace it`);
  chmodSync(join(above, "one"), 0o1777);
  expect(open().dir).toBe(state);
});
