// `npm run cost`: writes the block "cost" of docs/operations.md from the published prices and docs/cost-inputs.json. `-- --measure` counts these inputs anew
// on a local system, for which the page need not be built; it takes two minutes.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { withTable } from "../packages/bench/src/base/table-file.ts";
import { ROOT } from "../packages/local/src/base/paths.ts";
import type { Inputs } from "./cost/model.ts";
import { costBlock } from "./cost/page.ts";

const INPUTS = join(ROOT, "docs/cost-inputs.json");
const PAGE = join(ROOT, "docs/operations.md");

const { measure } = new Command("npm run cost --")
  .description("Writes the costs in docs/operations.md")
  .option("--measure", "count the inputs anew")
  .allowExcessArguments(false)
  .parse()
  .opts<{ measure?: boolean }>();

if (measure === true) {
  const counted = await (await import("./cost/measure.ts")).measure();
  writeFileSync(INPUTS, `${JSON.stringify(counted, null, 2)}\n`);
}
const inputs = JSON.parse(readFileSync(INPUTS, "utf8")) as Inputs;
writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), costBlock(inputs), "cost"));
console.log(`Wrote ${PAGE}`);
