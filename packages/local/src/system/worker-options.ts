// What wrangler.toml says of the Worker, as Miniflare takes it: node worker-options.ts FILE, where it is written as JSON. Made once beside a
// bundle, since wrangler takes as long to load as all of a start.
import { writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { ROOT } from "../base/paths.ts";

const [file = ""] = process.argv.slice(2);
const config = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
// A variable, since the option is missing from wrangler's types. Without a file of its own `.env` files would count.
const chosen = { envFiles: [devNull], overrides: { enableContainers: false } };
const { workerOptions } = unstable_getMiniflareWorkerOptions(config, undefined, chosen);
// Without `modulesRules`: the bundle is one module, and Miniflare takes no rules for that.
const { modulesRules: _, ...options } = workerOptions;
writeFileSync(file, JSON.stringify({ ...options, name: config.name }));
