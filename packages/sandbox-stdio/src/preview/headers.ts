// Filters the headers of a browser's request to a server in the sandbox, and of the response. Pure.

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** A server in the sandbox, as the browser sees it. */
export type PreviewEnds = {
  /** The origin that the browser uses. */
  readonly origin: string;
  readonly port: number;
  /** Our cookie that authorizes the browser; the server must not see or set it. */
  readonly cookie: string;
};

/** The bridge's route, and the prefix of each header that it forwards. */
export const PREVIEW_PATH = "/preview";
export const PREVIEW_PREFIX = "x-preview-";
/** The status of the sandboxed server; absent if the bridge itself responds. */
export const PREVIEW_STATUS = "x-preview-status";
/**
 * In a request's query: asks for a response with one extra leading byte; as a response header: confirms it. After a response
 * without a body on a new connection, workerd's client of a container port fails the next request on it.
 */
export const PREVIEW_LEAD = "stdio-lead";

/** Headers of one connection (RFC 9110 §7.6.1), or that are generated for the next. */
const OF_A_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade", "expect", "host", "http2-settings"],
]);
/** Generated for the next WebSocket. */
const OF_A_SOCKET = /^sec-websocket-(?!protocol$)/;
/** Added by intermediaries about the client; the sandboxed server need not know. */
const OF_THE_WAY = /^(cf-|mf-|x-forwarded-|x-real-ip$|true-client-ip$|forwarded$|cdn-loop$|x-stdio-|x-preview-)/;
/** Affects more than the server's own origin, or names another way to it. */
const BEYOND: ReadonlySet<string> = new Set(["clear-site-data", "strict-transport-security", "alt-svc", "set-cookie"]);
const LOCAL_ADDRESS = /^http:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::(\d{1,5}))?(?=[/?#]|$)/i;

/** The server's own origin inside the sandbox. Development servers accept no other name. */
export function serverOrigin(port: number): string {
  return `http://localhost:${port}`;
}

/** The browser's headers that the server gets. Our origin is replaced by the server's own. */
export function headersToServer(headers: HeaderList, ends: PreviewEnds): HeaderList {
  const hop = namedByConnection(headers);
  return headers.flatMap(([given, value]): HeaderList => {
    const name = given.toLowerCase();
    if (OF_A_HOP.has(name) || hop.has(name) || OF_A_SOCKET.test(name) || OF_THE_WAY.test(name)) return [];
    if (name === "cookie") return withoutCookie(value, ends.cookie).map((rest) => [name, rest]);
    if (name === "origin") return [[name, value === ends.origin ? serverOrigin(ends.port) : value]];
    // The server need not know which page led here.
    if (name === "referer") return ownAddress(value, ends).map((own) => [name, own]);
    return [[name, value]];
  });
}

/** The server's headers that the browser gets, except cookies. */
export function headersToBrowser(headers: HeaderList, ends: PreviewEnds): HeaderList {
  const hop = namedByConnection(headers);
  return headers.flatMap(([given, value]): HeaderList => {
    const name = given.toLowerCase();
    if (OF_A_HOP.has(name) || hop.has(name) || BEYOND.has(name) || /^x-preview-|^sec-websocket-/.test(name)) return [];
    return [[name, name === "location" ? browserAddress(value, ends) : value]];
  });
}

/** The server's cookies that apply to its own origin only and do not collide with ours. */
export function cookiesToBrowser(cookies: readonly string[], { cookie: ours }: PreviewEnds): string[] {
  return cookies.filter((text) => {
    const [pair = "", ...attributes] = text.split(";");
    // A nameless cookie `=x=y` is sent back as `x=y`, so compare what a browser sends.
    const sent = pair.trim().replace(/^=\s*/, "");
    const name = sent.split("=", 1)[0]?.trim() ?? "";
    const isWide = attributes.some((attribute) => /^\s*domain\s*(=|$)/i.test(attribute));
    return !isWide && name.toLowerCase() !== ours.toLowerCase();
  });
}

function namedByConnection(headers: HeaderList): ReadonlySet<string> {
  const values = headers.filter(([name]) => name.toLowerCase() === "connection").map(([, value]) => value);
  return new Set(values.flatMap((value) => value.split(",").map((name) => name.trim().toLowerCase())));
}

function withoutCookie(value: string, ours: string): string[] {
  const rest = value.split(";").filter((pair) => pair.split("=")[0]?.trim() !== ours && pair.trim() !== "");
  return rest.length === 0 ? [] : [rest.map((pair) => pair.trim()).join("; ")];
}

function ownAddress(value: string, { origin, port }: PreviewEnds): string[] {
  return value === origin || value.startsWith(`${origin}/`) ? [serverOrigin(port) + value.slice(origin.length)] : [];
}

/** A server reached as `localhost` redirects to that name. */
function browserAddress(value: string, { origin, port }: PreviewEnds): string {
  const [whole, named = "80"] = LOCAL_ADDRESS.exec(value) ?? [];
  return whole === undefined || Number(named) !== port ? value : `${origin}${value.slice(whole.length)}`;
}
