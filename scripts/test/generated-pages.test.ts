// The generated pages are what the code says now.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { GENERATED } from "../pages/generated-pages.ts";

test.each(Object.entries(GENERATED))("%s is what `npm run docs` writes", (file, text) => {
  expect(readFileSync(join(ROOT, file), "utf8")).toBe(text());
});
