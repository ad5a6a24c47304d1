// A module of the Worker's or the bridge's own code, by a name that is made up here: their types are for other platforms than these
// tests'.

import { fileURLToPath } from "node:url";

/** @param file Below the root of the tree. */
export async function sourceOf<Module>(file: string): Promise<Module> {
  const path = fileURLToPath(new URL(`../../../../${file}`, import.meta.url));
  return (await import(/* @vite-ignore */ path)) as Module;
}
