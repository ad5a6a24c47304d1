// Caches the page's own static files, so that it opens without a network and can explain that. A page from the network is always
// preferred, so nobody who is online sees an old one.

import { CACHE, filesOf, handlingOf, PAGE, PAST_THE_WORKER, staleFiles } from "./app/shell-cache.ts";
import { PUSH_TEXTS } from "./texts/push-texts.ts";

/** The used parts of a service worker's globals, whose types conflict with a page's. */
type Lasting = Event & { waitUntil(promise: Promise<unknown>): void };
/** `addRoutes`: not in every browser. */
type Installing = Lasting & { addRoutes?(routes: typeof PAST_THE_WORKER): Promise<void> };
type Pushed = Lasting & { readonly data: { json(): unknown } | null };
type Clicked = Lasting & { readonly notification: Notification };
type Fetching = Lasting & { readonly request: Request; respondWith(response: Promise<Response>): void };
type WorkerScope = {
  readonly location: Location;
  readonly clients: { claim(): Promise<void>; openWindow(url: string): Promise<unknown> };
  readonly registration: { showNotification(title: string, options: NotificationOptions): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install", listener: (event: Installing) => void): void;
  addEventListener(type: "activate", listener: (event: Lasting) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
  addEventListener(type: "push", listener: (event: Pushed) => void): void;
  addEventListener(type: "notificationclick", listener: (event: Clicked) => void): void;
};

// This file runs as a service worker, whatever the types of a page say.
const scope = globalThis as unknown as WorkerScope;

/** Fetches the page without query and cookie, and the files that it names. */
async function keepShell(): Promise<void> {
  const response = await fetch(PAGE, { credentials: "omit", cache: "no-cache" });
  const isPage = response.ok && !response.redirected && response.headers.get("Content-Type")?.startsWith("text/html");
  if (!isPage) return;
  const files = filesOf(await response.clone().text());
  const cache = await caches.open(CACHE);
  const kept = (await cache.keys()).map(({ url }) => new URL(url).pathname);
  // Files first: a cached page must not name a missing file.
  await cache.addAll(
    files.filter((path) => !kept.includes(path)).map((path) => new Request(path, { credentials: "omit" })),
  );
  await cache.put(PAGE, response);
  for (const path of staleFiles(kept, files)) await cache.delete(path);
}

async function fromNetwork(event: Fetching): Promise<Response> {
  try {
    const response = await fetch(event.request);
    // On failure the cached files stay.
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
  // A browser that refuses them asks the worker.
  event.addRoutes?.(PAST_THE_WORKER).catch(() => undefined);
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

// A program asks for a person: the text names the session alone.
scope.addEventListener("push", (event) => {
  const { session = "", sandbox = "" } = (event.data?.json() ?? {}) as Partial<Record<"session" | "sandbox", string>>;
  const data = `/?${new URLSearchParams({ sandbox, session })}`;
  const options = { body: PUSH_TEXTS.body, tag: data, data, icon: "/icon-192.png", requireInteraction: true };
  event.waitUntil(scope.registration.showNotification(PUSH_TEXTS.title(session), options));
});

scope.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(scope.clients.openWindow(String(event.notification.data)));
});
