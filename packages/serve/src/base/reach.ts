// Where a server is reached: its address, its origin and its other names; and whether that may be without TLS. Pure.
import { isIP } from "node:net";
import { ServeError } from "./refusal.ts";
import type { ServeRequest } from "./request.ts";

export type Reach = {
  /** For workerd: `ADDRESS:PORT`. */
  readonly address: string;
  readonly origin: string;
  /** `HOST[:PORT]`: all names that it answers to. */
  readonly hosts: readonly string[];
  /** Plain HTTP beyond this machine. */
  readonly isPlain: boolean;
};

/** What the machine and its files say. */
export type Surroundings = {
  /** Addresses of this machine's interfaces but loopback, the likeliest first. */
  readonly addresses: readonly string[];
  /** The names in the certificate, the first one first. */
  readonly certified: readonly string[];
};

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
const ANY = /^(\*|0\.0\.0\.0|::)$/;

type Wish = Pick<ServeRequest, "port" | "bind" | "origin" | "tlsCert" | "trustProxy" | "insecure">;

/** @throws {ServeError} For what is open to others without protection, and an origin that is none. */
export function reachOf(wish: Wish, { addresses, certified }: Surroundings): Reach {
  const { port, bind, tlsCert, trustProxy: proxies = [], insecure: isInsecure = false } = wish;
  const isOwn = LOOPBACK.test(bind);
  const hasTls = tlsCert !== undefined;
  if (!isOwn && !hasTls && proxies.length === 0 && !isInsecure) {
    throw new ServeError(
      `--bind ${bind} lets others come, and without TLS they can read and change what passes. Give --tls-cert and --tls-key, or ` +
        "--trust-proxy ADDRESS for a proxy with TLS, or --insecure for a network where everybody may",
    );
  }
  const listening = isOwn ? "localhost" : ANY.test(bind) ? (addresses[0] ?? "localhost") : bind;
  const named = certified.filter((name) => !name.startsWith("*"));
  // Of a certificate's names, localhost leads nobody else here.
  const host = named.find((name) => isOwn || !LOOPBACK.test(name)) ?? named[0] ?? listening;
  const given = wish.origin;
  if (given === undefined && proxies.length > 0)
    throw new ServeError("--trust-proxy needs --origin too: the https address that people use at the proxy");
  const origin = given === undefined ? originOf(hasTls ? "https" : "http", host, port) : checkedOrigin(given);
  const isPlain = origin.startsWith("http:") && !LOOPBACK.test(new URL(origin).hostname);
  if (isPlain && !isInsecure)
    throw new ServeError(`--origin ${origin} is not https: give its https address, or --insecure`);
  const odd = proxies.find((proxy) => !isIP(proxy));
  if (odd !== undefined) throw new ServeError(`--trust-proxy is the proxy's IP address as it comes here, not "${odd}"`);
  const scheme = new URL(origin).protocol.slice(0, -1);
  const names =
    isOwn || ANY.test(bind) ? ["localhost", "127.0.0.1", ...(isOwn ? [bind] : [listening, ...addresses])] : [listening];
  const hosts = [origin, ...[...names, ...named].map((name) => originOf(scheme, name, port))].map(
    (one) => new URL(one).host,
  );
  const local = bind === "localhost" ? "127.0.0.1" : bind;
  const address = ANY.test(bind) ? `*:${port}` : `${bracketed(local)}:${port}`;
  return { address, origin, hosts: [...new Set(hosts)], isPlain };
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);
const originOf = (scheme: string, host: string, port: number): string =>
  new URL(`${scheme}://${bracketed(host)}:${port}`).origin;

function checkedOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (!/^https?:/.test(origin) || origin !== text.replace(/\/$/, ""))
    throw new ServeError(`--origin is https://HOST[:PORT] with no path, not "${text}"`);
  return origin;
}
