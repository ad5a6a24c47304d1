// What a deployment counts as its limits, with wrangler.toml as it is.
import { join } from "node:path";
import { expect, test } from "vitest";
import { unstable_readConfig } from "wrangler";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { readLimits } from "../../worker/src/limits/limits.ts";

test("the limits of wrangler.toml are those of docs/settings.md: where nothing is set, the same hold", () => {
  const { vars } = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
  const { attaches, ...shipped } = readLimits(vars);
  expect(attaches).toEqual({ perMinute: 60, burst: 180 });
  const { attaches: _, ...usual } = readLimits({});
  expect(shipped).toEqual(usual);
});
