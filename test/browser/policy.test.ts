// What the page may do, and what may be done with it: the headers that it comes with, tried in a browser.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { system } from "../e2e/support/system.ts";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();

test("the page comes with a policy without inline scripts, for no frame, and tells nobody where it was", async () => {
  const { headers } = await fetch(`${system.origin}/?sandbox=dev`);
  const policy = headers.get("Content-Security-Policy")?.split("; ") ?? [];
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy.filter((rule) => /unsafe-(eval|inline)/.test(rule))).toEqual(["style-src 'self' 'unsafe-inline'"]);
  expect(headers.get("Referrer-Policy")).toBe("no-referrer");
  expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
});

test("a script that gets into the page is not run, and what is opened from it learns nothing of its address", async () => {
  const { tab } = await browser.shell();
  const isRun = await tab.page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.owned = true";
    document.body.append(script);
    return "owned" in window;
  });
  expect(isRun).toBe(false);
  expect(tab.problems.splice(0)).toEqual([expect.stringContaining("Content Security Policy")]);

  const referrer = new Promise<string | undefined>((resolve) => {
    const elsewhere = createServer((request, response) => {
      resolve(request.headers.referer);
      response.end("elsewhere");
      elsewhere.close();
    });
    elsewhere.listen(0, "127.0.0.1", () => {
      const { port } = elsewhere.address() as AddressInfo;
      void tab.run(String.raw`clear; printf '\e]8;;http://127.0.0.1:${port}/\e\\link\e]8;;\e\\\n'`);
    });
  });
  await tab.shows("link");
  const box = await tab.page.locator(".xterm-screen").boundingBox();
  if (box === null) throw new Error("Cannot find the screen");
  await tab.page.mouse.move(box.x + 12, box.y + 8, { steps: 4 });
  await tab.page.locator(".xterm-cursor-pointer").waitFor();
  await tab.page.mouse.click(box.x + 12, box.y + 8);
  await tab.page.getByRole("dialog").getByRole("button", { name: "Open" }).click();
  expect(await referrer).toBeUndefined();
});

test("the page does not show in anybody's frame", async () => {
  const host = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(`<title>host</title><iframe src="${system.origin}/?sandbox=dev"></iframe>`);
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = host.address() as AddressInfo;
    const tab = await browser.open(await browser.profile(), `http://127.0.0.1:${port}/`);
    await expect.poll(() => tab.problems.splice(0)).toEqual([expect.stringContaining("frame-ancestors 'none'")]);
  } finally {
    host.close();
  }
});
