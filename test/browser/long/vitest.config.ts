// The long browser tests: files that `npm test` does not run.
import { mergeConfig } from "vitest/config";
import usual from "../vitest.config.ts";

const long = mergeConfig(usual, { test: { testTimeout: 3_600_000 } });
long.test.include = ["long/*.test.ts"];
export default long;
