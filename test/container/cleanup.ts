// After each file of tests: no container stays. Every tenant of a test has one, and they sleep only after ten minutes.
import { afterAll } from "vitest";
import { system } from "../e2e/support/system/system.ts";

afterAll(async () => {
  const response = await fetch(`${system.controlUrl}/remove-containers`, { method: "POST" });
  if (!response.ok) throw new Error(`Cannot remove the containers: ${await response.text()}`);
});
