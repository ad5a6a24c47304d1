// What the tests in workerd need outside of it: the test issuer. Runs in Node, once for all files.
import type { TestProject } from "vitest/node";
import { startTestIssuer } from "./issuer.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const issuer = await startTestIssuer();
  project.provide("issuerOrigin", issuer.origin);
  project.provide("issuerKeys", issuer.keys);
  return () => issuer.close();
}
