// Finds paths and sandbox addresses in a line of output. Pure.

import { defined } from "sandbox-stdio/core";

export type TextLink =
  | { readonly kind: "path"; readonly path: string; readonly line?: number; readonly column?: number }
  | { readonly kind: "local"; readonly local: LocalAddress };

export type Found = { readonly start: number; readonly end: number; readonly link: TextLink };

/** A server in the sandbox, as a program there prints its address. */
export type LocalAddress = { readonly port: number; readonly path: string };

/** Limit of a searched line. */
const MAX_LINE = 2_000;
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"]);
/** The host must not end another name or follow a scheme, whose links the addon finds. */
const LOCAL = /(?<![\w.:/@-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d{1,5}(?![\d.])(?:\/[^\s"'<>`|\\^{}]*)?/g;
/** With a scheme: `connecting to localhost:5432` names a server that no browser can open. */
const SERVED = /\bhttps?:\/\/[^\s"'<>`|\\^{}]+/g;
/** A path contains a slash or is followed by a line number, as compilers and tests print it. */
const PATH = /(?<![\w.:/@~-])(?:~|\.{1,2})?(?:\/?[\w.@+-]+\/)*\/?[\w.@+-]+(?::(\d{1,7})(?::(\d{1,7}))?)?(?![\w/])/g;
const TRAILING = /[.,;:!?)\]}'"]+$/;

/** The links of a line, from left to right without overlaps. */
export function findTextLinks(line: string): readonly Found[] {
  const text = line.slice(0, MAX_LINE);
  const local = findLocal(text);
  const taken = (start: number, end: number) =>
    [...local, ...addresses(text)].some((other) => start < other.end && other.start < end);
  const paths = findPaths(text).filter(({ start, end }) => !taken(start, end));
  return [...local, ...paths].sort((one, other) => one.start - other.start);
}

function findLocal(text: string): Found[] {
  return [...text.matchAll(LOCAL)].flatMap(({ 0: whole, index }) => {
    const trimmed = whole.replace(TRAILING, "");
    const local = readLocal(`http://${trimmed}`);
    return local === undefined ? [] : [{ start: index, end: index + trimmed.length, link: { kind: "local", local } }];
  });
}

/** The servers of the sandbox whose addresses are in this text. */
export function findServers(text: string): readonly LocalAddress[] {
  return [...text.matchAll(SERVED)].flatMap(({ 0: whole }) => {
    const local = readLocal(whole.replace(TRAILING, ""));
    return local === undefined ? [] : [local];
  });
}

function findPaths(text: string): Found[] {
  return [...text.matchAll(PATH)].flatMap(({ 0: whole, 1: line, 2: column, index }) => {
    const bare = line === undefined ? whole.replace(TRAILING, "") : whole;
    const path = line === undefined ? bare : bare.slice(0, bare.indexOf(":"));
    if (!isPath(path, line !== undefined)) return [];
    const position = defined({
      line: line ? Number(line) : undefined,
      column: column ? Number(column) : undefined,
    });
    return [{ start: index, end: index + bare.length, link: { kind: "path", path, ...position } }];
  });
}

/** A relative path has a dot or a line number: "and/or" and "1/2" are none. */
function isPath(path: string, hasLine: boolean): boolean {
  if (!/[\p{L}\d]/u.test(path)) return false;
  if (/^(?:\/|~\/|\.{1,2}\/)/.test(path)) return true;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const hasExtension = /[\w+-]\.[A-Za-z]\w{0,9}$/.test(name);
  return path.includes("/") ? hasExtension : hasLine && hasExtension;
}

/** Ranges of URLs, in which no path begins. */
function addresses(text: string): { start: number; end: number }[] {
  return [...text.matchAll(/\b[a-z][a-z\d+.-]*:\/\/\S+/gi)].map(({ 0: whole, index }) => ({
    start: index,
    end: index + whole.length,
  }));
}

/** @returns The sandbox server that an http URL of a loopback host means; undefined for other URLs. */
export function readLocal(uri: string): LocalAddress | undefined {
  const url = URL.parse(uri);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  if (!LOCAL_HOSTS.has(url.hostname) || url.username !== "" || url.password !== "") return undefined;
  const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  return port === 0 ? undefined : { port, path: `${url.pathname}${url.search}${url.hash}` };
}

/**
 * @param template `https://{port}--{sandbox}.preview.example`, or a path that redirects to another origin, such as
 *   `/preview/{sandbox}/{port}`.
 * @returns The preview's address; undefined without a template for another origin than the page's.
 */
export function previewAddress(
  local: LocalAddress,
  sandbox: string,
  template: string | undefined,
  pageOrigin: string,
): string | undefined {
  if (template === undefined || !template.includes("{port}")) return undefined;
  const isPath = /^\/[^/\\]/.test(template);
  const filled = template.replaceAll("{port}", String(local.port)).replaceAll("{sandbox}", encodeURIComponent(sandbox));
  const base = URL.parse(filled, isPath ? pageOrigin : undefined);
  if (base === null || base.origin === "null") return undefined;
  // On the page's origin a sandbox program could act as the person; a path only redirects.
  if (!isPath && base.origin === pageOrigin) return undefined;
  const isSafe = base.protocol === "https:" || base.hostname === "localhost" || base.hostname.endsWith(".localhost");
  if (!isPath && !isSafe) return undefined;
  // "//other.example" must not become a host.
  const rest = local.path.replace(/^[/\\]+/, "");
  return `${base.origin}${isPath ? base.pathname.replace(/\/$/, "") : ""}/${rest}`;
}
