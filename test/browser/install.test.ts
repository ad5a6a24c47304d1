// The page as something to install: its manifest, and the shell that opens without a network and holds nothing else.
import { expect, test } from "vitest";
import { system } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

/** The paths of everything that the page's origin has in a cache. */
const cached = (tab: Tab) =>
  tab.page.evaluate(async () => {
    const paths: string[] = [];
    for (const name of await caches.keys()) {
      for (const { url } of await (await caches.open(name)).keys())
        paths.push(new URL(url).pathname + new URL(url).search);
    }
    return paths.sort();
  });

test("the manifest names the page and icons that are there, of the types and sizes that it says", async () => {
  const profile = await browser.profile();
  const answer = await profile.request.get(`${system.origin}/manifest.webmanifest`);
  expect(answer.headers()["content-type"]).toContain("application/manifest+json");
  const manifest = (await answer.json()) as {
    start_url: string;
    display: string;
    icons: { src: string; type: string }[];
  };
  expect(manifest).toMatchObject({ start_url: "/", scope: "/", display: "standalone" });
  for (const { src, type } of manifest.icons) {
    const icon = await profile.request.get(system.origin + src);
    expect([src, icon.status(), icon.headers()["content-type"]]).toEqual([src, 200, type]);
  }
});

test("without a network the page opens and says so; with it, it goes on by itself; no answer of the API is ever kept", async () => {
  const { tab } = await browser.sameShell({ serviceWorkers: "allow" });
  await tab.page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => cached(tab)).toContain("/");
  await tab.run("echo used $((40 + 2))");
  await tab.shows("used 42");
  await tab.page.reload();
  await tab.state("attached");
  for (const path of await cached(tab))
    expect(path).toMatch(/^\/($|assets\/[\w.-]+$|icon[\w-]*\.(svg|png)$|manifest\.webmanifest$)/);

  const profile = tab.page.context();
  browser.link.cut();
  await tab.page.reload();
  await tab.page.getByRole("heading", { name: "Cannot reach the server" }).waitFor();
  await profile.setOffline(true);
  await tab.page.getByRole("heading", { name: "Offline" }).waitFor();
  await tab.page.getByText("This browser stores only the page").waitFor();
  browser.link.mend();
  await profile.setOffline(false);
  await tab.state("attached");
  await tab.shows("used 42");
  // What could not be reached is what this test is about.
  expect(tab.problems.filter((problem) => !problem.includes("net::ERR_"))).toEqual([]);
  tab.problems.length = 0;
});

test("a push shows a notice that names the session alone, and leads to it", async () => {
  const { tab } = await browser.sameShell({ serviceWorkers: "allow" });
  const context = tab.page.context();
  await tab.page.evaluate(() => navigator.serviceWorker.ready);
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  // No push service is on this machine, and a browser without a window shows no notices: both ends are the test's.
  const shown = await worker.evaluate(
    (pushed) => {
      const seen: unknown[] = [];
      const scope = globalThis as unknown as { registration: object };
      Object.assign(scope.registration, {
        showNotification: (title: string, { body, data }: NotificationOptions) => seen.push([title, body, data]),
      });
      const event = Object.assign(new Event("push"), { data: { json: () => pushed }, waitUntil: () => undefined });
      dispatchEvent(event);
      return seen;
    },
    { sandbox: "dev", session: "build", reason: "not this" },
  );
  const body = "A program waits for a person at the keyboard";
  expect(shown).toEqual([["build asks for you", body, "/?sandbox=dev&session=build"]]);
});
