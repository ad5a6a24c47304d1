// Builds the page once, for all files of these tests.
import type { TestProject } from "vitest/node";
import { buildPage } from "./browser.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The directory of the built page. */
    readonly dist: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { dist, remove } = await buildPage();
  project.provide("dist", dist);
  return remove;
}
