// What wrangler.toml says of the Worker, as JSON for workerd-config.ts: node worker-options.ts FILE. Made once beside a bundle, since
// wrangler takes as long to load as all of a start.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { ROOT } from "../base/paths.ts";
import type { WorkerOptions } from "./workerd-config.ts";

const [file = ""] = process.argv.slice(2);
const config = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
const { name = "", compatibility_date: compatibilityDate = "", compatibility_flags: compatibilityFlags } = config;
const bindings = Object.fromEntries(Object.entries(config.vars).map(([key, value]) => [key, String(value)]));
const durableObjects = Object.fromEntries(
  config.durable_objects.bindings.map((binding: { name: string; class_name: string }) => [
    binding.name,
    { className: binding.class_name },
  ]),
);
const options: WorkerOptions = { name, compatibilityDate, compatibilityFlags, bindings, durableObjects };
writeFileSync(file, JSON.stringify(options));
