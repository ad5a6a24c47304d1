// The headers that the page comes with, asked for without a browser. What its policy keeps out is tried in origin.test.ts.
import { expect, test } from "vitest";
import { system } from "../e2e/support/system/system.ts";

test("the page comes with a policy without inline scripts, for no frame, and tells nobody where it was", async () => {
  const { headers } = await fetch(`${system.origin}/?sandbox=dev`);
  const policy = headers.get("Content-Security-Policy")?.split("; ") ?? [];
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy.filter((rule) => /'unsafe-(eval|inline)/.test(rule))).toEqual(["style-src 'self' 'unsafe-inline'"]);
  expect(headers.get("Referrer-Policy")).toBe("no-referrer");
  expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
});

test("files whose names change with their content are kept for good, and nothing else is", async () => {
  const page = await fetch(`${system.origin}/`);
  const files = [...(await page.text()).matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  expect(files.length).toBeGreaterThan(1);
  for (const path of files) {
    const { status, headers } = await fetch(system.origin + path);
    expect([path, status, headers.get("Cache-Control")]).toEqual([path, 200, "public, max-age=31536000, immutable"]);
  }
  expect(page.headers.get("Cache-Control") ?? "").not.toContain("immutable");
});

test("an address that is none is a page for a person, and JSON for a program", async () => {
  const of = (path: string, accept: string) => fetch(system.origin + path, { headers: { Accept: accept } });
  const page = await of("/nowhere", "text/html,*/*");
  expect([page.status, page.headers.get("Content-Type")]).toEqual([404, "text/html; charset=utf-8"]);
  const text = await page.text();
  expect([text.includes("There is no page at this address"), text.includes('href="/"')]).toEqual([true, true]);
  const json = await of("/nowhere", "application/json");
  expect([json.status, await json.json()]).toMatchObject([404, { error: "not_found" }]);
});
