// Which requests the service worker answers, and which files are the page's shell. Other answers never reach a cache:
// no API, no login, no credential. Pure.

/** Where the shell's files are kept. To be counted up when an icon or the manifest changes: their names do not. */
export const CACHE = "sbx-shell-1";

/** The page, whatever its query: the query belongs to the browser's tab, and is kept nowhere. */
export const PAGE = "/";

/** Beside the files that the page itself names. */
const STATIC = ["/icon.svg", "/icon-192.png", "/icon-512.png", "/icon-maskable-512.png", "/manifest.webmanifest"];

export type Handling =
  /** From the network, else the kept page. */
  | "page"
  /** Its name changes with its content: from the cache, else the network. */
  | "file"
  /** Not the worker's affair. */
  | "none";

export type ShellRequest = { readonly method: string; readonly url: string; readonly mode: string };

export function handlingOf({ method, url, mode }: ShellRequest, origin: string): Handling {
  const { origin: of, pathname } = new URL(url);
  if (method !== "GET" || of !== origin) return "none";
  if (mode === "navigate") return pathname === PAGE ? "page" : "none";
  return isHashed(pathname) || STATIC.includes(pathname) ? "file" : "none";
}

/** The files that a page's HTML needs. */
export function filesOf(html: string): string[] {
  const named = [...html.matchAll(/(?:src|href)="(\/assets\/[\w.-]+)"/g)].map(([, path = ""]) => path);
  return [...new Set([...named, ...STATIC])];
}

/** Kept files that the page of now names no more. */
export function staleFiles(kept: readonly string[], needed: readonly string[]): string[] {
  return kept.filter((path) => path !== PAGE && !needed.includes(path));
}

function isHashed(pathname: string): boolean {
  return /^\/assets\/[\w.-]+$/.test(pathname);
}
