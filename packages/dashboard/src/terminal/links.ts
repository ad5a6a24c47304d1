// Which links may be opened. Pure.

const SCHEMES = ["http:", "https:", "mailto:"];

/** A link that may be opened. */
export type LinkTarget = {
  /** As the browser reads it: international hosts in ASCII, invisible characters escaped. */
  readonly href: string;
  /** The part for a person to check: host or mail address. */
  readonly to: string;
};

/** @returns undefined for other schemes: scripts, files, starting programs. */
export function readLink(uri: string): LinkTarget | undefined {
  const url = URL.parse(uri);
  if (url === null || !SCHEMES.includes(url.protocol)) return undefined;
  return { href: url.href, to: url.protocol === "mailto:" ? url.pathname : url.host };
}
