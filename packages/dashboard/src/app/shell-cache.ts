// Which requests the service worker answers, and which files it caches: only the page's own, no API, login or credential. Pure.

/** Name of the cache. Count it up when an icon or the manifest changes, since their names do not. */
export const CACHE = "sbx-shell-1";

/** The page without its query, which is kept nowhere. */
export const PAGE = "/";

/** Besides the files that the page names. */
const STATIC = ["/icon.svg", "/icon-192.png", "/icon-512.png", "/icon-maskable-512.png", "/manifest.webmanifest"];

export type Handling =
  /** Network first, else the cached page. */
  | "page"
  /** Cache first: the name changes with the content. */
  | "file"
  /** Not handled by the worker. */
  | "none";

/** Requests that the browser sends without asking the worker: one that waits for the worker is lost if the page crashes. */
export const PAST_THE_WORKER = { condition: { urlPattern: { pathname: "/api/*" } }, source: "network" } as const;

export type ShellRequest = { readonly method: string; readonly url: string; readonly mode: string };

export function handlingOf({ method, url, mode }: ShellRequest, origin: string): Handling {
  const { origin: of, pathname } = new URL(url);
  if (method !== "GET" || of !== origin) return "none";
  if (mode === "navigate") return pathname === PAGE ? "page" : "none";
  return isHashed(pathname) || STATIC.includes(pathname) ? "file" : "none";
}

/** The files that the page's HTML needs. */
export function filesOf(html: string): string[] {
  const named = [...html.matchAll(/(?:src|href)="(\/assets\/[\w.-]+)"/g)].map(([, path = ""]) => path);
  return [...new Set([...named, ...STATIC])];
}

/** Cached files that the current page no longer names. */
export function staleFiles(kept: readonly string[], needed: readonly string[]): string[] {
  return kept.filter((path) => path !== PAGE && !needed.includes(path));
}

function isHashed(pathname: string): boolean {
  return /^\/assets\/[\w.-]+$/.test(pathname);
}
