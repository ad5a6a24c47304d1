// The options that a container is started with, under either scheduling policy.

import type { SandboxEnv } from "../bridge-inside.ts";

const SIZES = ["lite", "standard-1", "standard-2", "standard-3", "standard-4"] as const;
const DEFAULT_SIZE = "standard-1";

/** @param hasInternet Whether the container reaches the internet by itself. */
export function startOptions(
  container: Container,
  { CONTAINER_SIZE }: Pick<SandboxEnv, "CONTAINER_SIZE">,
  env: Record<string, string>,
  hasInternet: boolean,
): ContainerStartupOptions {
  const common = { env, enableInternet: hasInternet };
  const [image] = Object.values(container.images ?? {});
  // Under the default policy image and size are of the application, and the platform takes none; the type knows only the other.
  if (image === undefined) return common as unknown as ContainerStartupOptions;
  return { ...common, image, instance: SIZES.find((size) => size === CONTAINER_SIZE) ?? DEFAULT_SIZE };
}
