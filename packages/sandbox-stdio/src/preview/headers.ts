// The headers of a request that a browser makes to a server in the sandbox, and of its answer: what of them passes. Pure.

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** A server in the sandbox, as the browser sees it. */
export type PreviewEnds = {
  /** The origin that the browser knows. */
  readonly origin: string;
  readonly port: number;
  /** The cookie that lets the browser in: it is nobody's but ours. */
  readonly cookie: string;
};

/** The bridge's route, and what stands before the name of each header that it passes on. */
export const PREVIEW_PATH = "/preview";
export const PREVIEW_PREFIX = "x-preview-";
/** The status that the server in the sandbox has answered with; absent in an answer of the bridge's own. */
export const PREVIEW_STATUS = "x-preview-status";
/**
 * In the query of a request: its answer is to begin with a byte of the bridge's own. As a header of an answer: it does so. After
 * an answer without a body on a new connection, workerd's client of a container's port fails the next request on it.
 */
export const PREVIEW_LEAD = "stdio-lead";

/** Of one connection (RFC 9110 §7.6.1), or made anew for the next. */
const OF_A_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade", "expect", "host", "http2-settings"],
]);
/** Made anew by whoever opens the next WebSocket. */
const OF_A_SOCKET = /^sec-websocket-(?!protocol$)/;
/** Who asks, in the words of what is before us: no server in a sandbox has to know. */
const OF_THE_WAY = /^(cf-|mf-|x-forwarded-|x-real-ip$|true-client-ip$|forwarded$|cdn-loop$|x-stdio-|x-preview-)/;
/** Would reach beyond the server's own origin, or name another way to it. */
const BEYOND: ReadonlySet<string> = new Set(["clear-site-data", "strict-transport-security", "alt-svc", "set-cookie"]);
const LOCAL_ADDRESS = /^http:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::(\d{1,5}))?(?=[/?#]|$)/i;

/** The server's own address, as it is in the sandbox. Development servers answer to no other name. */
export function serverOrigin(port: number): string {
  return `http://localhost:${port}`;
}

/** What of a browser's headers reaches the server. Its own origin is the server's there. */
export function headersToServer(headers: HeaderList, ends: PreviewEnds): HeaderList {
  const hop = namedByConnection(headers);
  return headers.flatMap(([given, value]): HeaderList => {
    const name = given.toLowerCase();
    if (OF_A_HOP.has(name) || hop.has(name) || OF_A_SOCKET.test(name) || OF_THE_WAY.test(name)) return [];
    if (name === "cookie") return withoutCookie(value, ends.cookie).map((rest) => [name, rest]);
    if (name === "origin") return [[name, value === ends.origin ? serverOrigin(ends.port) : value]];
    // The address of the page that led here is no business of the server's.
    if (name === "referer") return ownAddress(value, ends).map((own) => [name, own]);
    return [[name, value]];
  });
}

/** What of a server's headers reaches the browser, but for its cookies. */
export function headersToBrowser(headers: HeaderList, ends: PreviewEnds): HeaderList {
  const hop = namedByConnection(headers);
  return headers.flatMap(([given, value]): HeaderList => {
    const name = given.toLowerCase();
    if (OF_A_HOP.has(name) || hop.has(name) || BEYOND.has(name) || /^x-preview-|^sec-websocket-/.test(name)) return [];
    return [[name, name === "location" ? browserAddress(value, ends) : value]];
  });
}

/** Those of a server's cookies that are for its own origin alone, and are none of ours. */
export function cookiesToBrowser(cookies: readonly string[], { cookie: ours }: PreviewEnds): string[] {
  return cookies.filter((text) => {
    const [pair = "", ...attributes] = text.split(";");
    // Without a name, `=x=y` comes back as `x=y`: what counts is how a browser sends it.
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

/** A server that is asked as `localhost` leads to itself by that name. */
function browserAddress(value: string, { origin, port }: PreviewEnds): string {
  const [whole, named = "80"] = LOCAL_ADDRESS.exec(value) ?? [];
  return whole === undefined || Number(named) !== port ? value : `${origin}${value.slice(whole.length)}`;
}
