// `npm run docs`: writes the generated pages.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { GENERATED } from "./pages/generated-pages.ts";

for (const [file, text] of Object.entries(GENERATED)) {
  writeFileSync(join(ROOT, file), text());
  console.log(`Wrote ${file}`);
}
