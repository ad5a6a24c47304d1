// Keeps the page's own static files, and nothing else, so that it opens without a network and can name the fault. A page from
// the network is always preferred: a person who is online never sees an old one.

import { CACHE, filesOf, handlingOf, PAGE, staleFiles } from "./app/shell-cache.ts";

/** The used part of a service worker's surroundings: the types of a page's are another set. */
type Lasting = Event & { waitUntil(promise: Promise<unknown>): void };
type Fetching = Lasting & { readonly request: Request; respondWith(response: Promise<Response>): void };
type WorkerScope = {
  readonly location: Location;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: Lasting) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
};

// The browser runs this file as a service worker, whatever the types of a page say.
const scope = globalThis as unknown as WorkerScope;

/** Fetches the page anew, without query or cookie, and the files that it names. */
async function keepShell(): Promise<void> {
  const response = await fetch(PAGE, { credentials: "omit", cache: "no-cache" });
  const isPage = response.ok && !response.redirected && response.headers.get("Content-Type")?.startsWith("text/html");
  if (!isPage) return;
  const files = filesOf(await response.clone().text());
  const cache = await caches.open(CACHE);
  const kept = (await cache.keys()).map(({ url }) => new URL(url).pathname);
  // Files first: a kept page never names a missing file.
  await cache.addAll(
    files.filter((path) => !kept.includes(path)).map((path) => new Request(path, { credentials: "omit" })),
  );
  await cache.put(PAGE, response);
  for (const path of staleFiles(kept, files)) await cache.delete(path);
}

async function fromNetwork(event: Fetching): Promise<Response> {
  try {
    const response = await fetch(event.request);
    // Failing is no harm: the kept files stay.
    if (response.ok) event.waitUntil(keepShell().catch(() => undefined));
    return response;
  } catch (error) {
    const kept = await (await caches.open(CACHE)).match(PAGE);
    if (kept === undefined) throw error;
    return kept;
  }
}

async function fromCache(request: Request): Promise<Response> {
  return (await (await caches.open(CACHE)).match(request)) ?? fetch(request);
}

scope.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => scope.skipWaiting()));
});

scope.addEventListener("activate", (event) => {
  const forgetOthers = async () => {
    for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
    await scope.clients.claim();
  };
  event.waitUntil(forgetOthers());
});

scope.addEventListener("fetch", (event) => {
  const handling = handlingOf(event.request, scope.location.origin);
  if (handling === "page") event.respondWith(fromNetwork(event));
  else if (handling === "file") event.respondWith(fromCache(event.request));
});
