// The offline shell: what the service worker answers, and what it keeps.

import { expect, test } from "vitest";
import { filesOf, handlingOf, PAGE, staleFiles } from "../../src/app/shell-cache.ts";

const ORIGIN = "https://sbx.example";
const handling = (path: string, mode = "cors", method = "GET") =>
  handlingOf({ method, url: new URL(path, ORIGIN).href, mode }, ORIGIN);

test("answers for the page and its static files alone: no API, login, or socket is ever its affair", () => {
  expect([handling("/", "navigate"), handling("/?sandbox=dev&session=main", "navigate")]).toEqual(["page", "page"]);
  for (const path of ["/assets/index-abc_1.js", "/assets/index-x.css", "/icon.svg", "/manifest.webmanifest"]) {
    expect([path, handling(path)]).toEqual([path, "file"]);
  }
  const others = [
    "/api/me",
    "/api/layout",
    "/api/preferences",
    "/api/sandboxes/dev/sessions",
    "/attach",
    "/healthz",
    "/",
    "/assets/../api/me",
  ];
  for (const path of others) expect([path, handling(path)]).toEqual([path, "none"]);
  for (const path of ["/login?return_to=/", "/callback?code=x", "/terminal/dev", "/no/such"]) {
    expect([path, handling(path, "navigate")]).toEqual([path, "none"]);
  }
  expect(handling("/", "navigate", "POST")).toBe("none");
  expect(handling("https://elsewhere.example/assets/x.js")).toBe("none");
});

test("keeps what the page names, and forgets what it names no more", () => {
  const html =
    '<link rel="stylesheet" href="/assets/index-2.css"><script type="module" src="/assets/index-2.js"></script>';
  const files = filesOf(html);
  expect(files.filter((path) => path.startsWith("/assets/"))).toEqual(["/assets/index-2.css", "/assets/index-2.js"]);
  expect(staleFiles([PAGE, "/assets/index-1.js", "/assets/index-2.js", "/icon.svg"], files)).toEqual([
    "/assets/index-1.js",
  ]);
});
