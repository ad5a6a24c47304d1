// wrangler.toml for each way to containers, made from the one in use. Pure: text in, text out.

/** `native`: without the Sandbox SDK. `durable_object`: that, under the scheduling policy of this name. */
export type ContainerWay = "sdk" | "native" | "durable_object";
export const CONTAINER_WAYS: readonly ContainerWay[] = ["sdk", "native", "durable_object"];

/** `main` of each, from the top. */
export const ENTRIES: Readonly<Record<ContainerWay, string>> = {
  sdk: "worker/src/index.ts",
  native: "worker/src/index-native.ts",
  durable_object: "worker/src/index-native.ts",
};

/** The block that docs/operations.md puts in the place of the container's. */
export const DURABLE_OBJECT_BLOCK = `[[containers]]
class_name = "Sandbox"
scheduling_policy = "durable_object"

[containers.images.sandbox]
dockerfile = "./sandbox/Dockerfile"
build_context = "./sandbox"
`;

const MAIN = /^main = .*$/m;
const CONTAINERS = /^\[\[containers\]\]\n(?:[^[\n].*\n)*/m;
const DOCKERFILE = '"./sandbox/Dockerfile"';

export interface ConfigWish {
  /** Where the paths start from: they are made absolute, for a file elsewhere. */
  readonly root: string;
  readonly way: ContainerWay;
  /** Another Dockerfile, with an absolute path. */
  readonly dockerfile?: string | undefined;
}

/** @param text wrangler.toml. @throws {Error} If it has no `main`, or no container. */
export function configOf(text: string, { root, way, dockerfile }: ConfigWish): string {
  if (!MAIN.test(text) || !CONTAINERS.test(text)) throw new Error("wrangler.toml has no main, or no [[containers]]");
  const config = text.replace(MAIN, `main = "${ENTRIES[way]}"`);
  const scheduled = way === "durable_object" ? config.replace(CONTAINERS, DURABLE_OBJECT_BLOCK) : config;
  const image = dockerfile === undefined ? scheduled : scheduled.replace(DOCKERFILE, `"${dockerfile}"`);
  return image.replace(
    /"(?:\.\/)?((?:worker|packages|sandbox)(?:\/[^"]*)?)"/g,
    (_, path: string) => `"${root}/${path}"`,
  );
}
