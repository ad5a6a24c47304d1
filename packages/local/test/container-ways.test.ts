// wrangler.toml for each way to containers, as the container tests and docs/operations.md make it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unstable_readConfig } from "wrangler";
import { writePrivateFile } from "../src/base/files.ts";
import { ROOT } from "../src/base/paths.ts";
import { CONTAINER_WAYS, configOf, DURABLE_OBJECT_BLOCK, ENTRIES } from "../src/build/container-ways.ts";
import { temporaryDirectory } from "./temporary.ts";

const text = readFileSync(join(ROOT, "wrangler.toml"), "utf8");

test.each(CONTAINER_WAYS)("wrangler takes the configuration of the way %s, and finds its files", (way) => {
  const path = join(temporaryDirectory(), "wrangler.toml");
  writePrivateFile(path, configOf(text, { root: ROOT, way }));
  const config = unstable_readConfig({ config: path });
  expect(config.main).toBe(join(ROOT, ENTRIES[way]));
  const [container] = config.containers ?? [];
  const images = container?.images?.sandbox;
  const dockerfile = images !== undefined && "dockerfile" in images ? images.dockerfile : container?.image;
  expect(dockerfile).toBe(join(ROOT, "sandbox/Dockerfile"));
  expect(container?.scheduling_policy).toBe(way === "durable_object" ? "durable_object" : undefined);
});

test("a move from one way to another leaves the objects' classes and names as they are", () => {
  const [sdk, ...others] = CONTAINER_WAYS.map((way) => {
    const path = join(temporaryDirectory(), "wrangler.toml");
    writePrivateFile(path, configOf(text, { root: ROOT, way }));
    const { durable_objects, migrations, name } = unstable_readConfig({ config: path });
    return { durable_objects, migrations, name };
  });
  for (const other of others) expect(other).toEqual(sdk);
});

test("docs/operations.md shows the container's block of the durable_object policy", () => {
  expect(readFileSync(join(ROOT, "docs/operations.md"), "utf8")).toContain(DURABLE_OBJECT_BLOCK);
});
