// Finds unmarked links in a line of output: paths, and addresses of a server in the sandbox. Pure.

export type TextLink =
  | { readonly kind: "path"; readonly path: string; readonly line?: number; readonly column?: number }
  | { readonly kind: "local"; readonly local: LocalAddress };

export type Found = { readonly start: number; readonly end: number; readonly link: TextLink };

/** A server inside the sandbox, as a program there prints its address. */
export type LocalAddress = { readonly port: number; readonly path: string };

/** Longer lines are read to here: a program's output must not cost more. */
const MAX_LINE = 2_000;
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"]);
/** The host must not be the end of another name, nor the scheme's, whose links the addon finds. */
const LOCAL = /(?<![\w.:/@-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d{1,5}(?![\d.])(?:\/[^\s"'<>`|\\^{}]*)?/g;
/** A path has a slash in it, or a file's line behind it; compilers and tests print both. */
const PATH = /(?<![\w.:/@~-])(?:~|\.{1,2})?(?:\/?[\w.@+-]+\/)*\/?[\w.@+-]+(?::(\d{1,7})(?::(\d{1,7}))?)?(?![\w/])/g;
const TRAILING = /[.,;:!?)\]}'"]+$/;

/** Finds the links of one line of text, from left to right, none over another. */
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

function findPaths(text: string): Found[] {
  return [...text.matchAll(PATH)].flatMap(({ 0: whole, 1: line, 2: column, index }) => {
    const bare = line === undefined ? whole.replace(TRAILING, "") : whole;
    const path = line === undefined ? bare : bare.slice(0, bare.indexOf(":"));
    if (!isPath(path, line !== undefined)) return [];
    const place = { ...(line ? { line: Number(line) } : {}), ...(column ? { column: Number(column) } : {}) };
    return [{ start: index, end: index + bare.length, link: { kind: "path", path, ...place } }];
  });
}

/** "and/or" and "1/2" are no paths: a relative one has a dot somewhere, or a line behind it. */
function isPath(path: string, hasLine: boolean): boolean {
  if (!/[\p{L}\d]/u.test(path)) return false;
  if (/^(?:\/|~\/|\.{1,2}\/)/.test(path)) return true;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const hasExtension = /[\w+-]\.[A-Za-z]\w{0,9}$/.test(name);
  return path.includes("/") ? hasExtension : hasLine && hasExtension;
}

/** Where addresses with a scheme stand: no path begins inside of them. */
function addresses(text: string): { start: number; end: number }[] {
  return [...text.matchAll(/\b[a-z][a-z\d+.-]*:\/\/\S+/gi)].map(({ 0: whole, index }) => ({
    start: index,
    end: index + whole.length,
  }));
}

/** @returns The server in the sandbox that an http address of a loopback host means; undefined for all others. */
export function readLocal(uri: string): LocalAddress | undefined {
  const url = URL.parse(uri);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  if (!LOCAL_HOSTS.has(url.hostname) || url.username !== "" || url.password !== "") return undefined;
  const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  return port === 0 ? undefined : { port, path: `${url.pathname}${url.search}${url.hash}` };
}

/**
 * The address of a preview of that server.
 * @param template The server's template: `https://{port}--{sandbox}.preview.example`, or a path of the page's own server that leads on
 * to another origin, as `/preview/{sandbox}/{port}`; undefined: there are none.
 * @returns undefined where the template is none whose origin is another than the page's.
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
  // In the page's own origin a program of the sandbox would act as the person: such a path only leads on.
  if (!isPath && base.origin === pageOrigin) return undefined;
  const isSafe = base.protocol === "https:" || base.hostname === "localhost" || base.hostname.endsWith(".localhost");
  if (!isPath && !isSafe) return undefined;
  // The path is only ever a path: "//other.example" must not become a host.
  const rest = local.path.replace(/^[/\\]+/, "");
  return `${base.origin}${isPath ? base.pathname.replace(/\/$/, "") : ""}/${rest}`;
}
