// The addresses that a webhook may have: out in the public network, by HTTPS. Decided by the text of the URL, which the parser has
// brought into its one form: `0x7f.1` is `127.0.0.1` here. Pure.

const MAX_URL_CHARACTERS = 2_048;
/** Ports that HTTPS is offered on. Others are other protocols', which a request could be made to speak. */
const PORTS = ["", "443", "8443"];
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
/** Names that lead to the machine itself, its network or its cloud's metadata; in the public DNS they have no owner. */
const PRIVATE_SUFFIXES = [
  ...["localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "test", "invalid"],
  ...["home.arpa", "in-addr.arpa", "ip6.arpa", "onion", "alt"],
  // Names in the public DNS that stand for any address which they contain.
  ...["nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me", "vcap.me", "traefik.me", "lacolhost.com"],
];

/** @returns Why this is no address for a webhook; undefined: it is one. @param isLoopbackAllowed For tests alone. */
export function webhookAddressFault(text: string, isLoopbackAllowed: boolean): string | undefined {
  if (text.length > MAX_URL_CHARACTERS) return `"url" has more than ${MAX_URL_CHARACTERS} characters`;
  const url = URL.parse(text);
  if (url === null) return '"url" is not a URL';
  if (url.username !== "" || url.password !== "") return '"url" must not hold a name or a password';
  const host = url.hostname.replace(/\.+$/, "").toLowerCase();
  const isLoopback = host === "127.0.0.1" || host === "localhost" || host === "[::1]";
  if (isLoopbackAllowed && isLoopback && /^https?:$/.test(url.protocol)) return undefined;
  if (url.protocol !== "https:") return '"url" must begin with https:';
  if (!PORTS.includes(url.port)) return '"url" has a port other than 443 and 8443';
  if (IPV4.test(host) || host.startsWith("[")) return '"url" must name a host, not an address';
  const isPrivate = PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  if (isPrivate || !host.includes(".")) return '"url" names a host that is not public';
  return undefined;
}
