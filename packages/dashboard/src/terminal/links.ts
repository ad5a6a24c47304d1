// Which links in the output may be opened, and where they lead. Pure.

const SCHEMES = ["http:", "https:", "mailto:"];

/** An address that may be opened. */
export type LinkTarget = {
  /** As the browser will read it: hosts of other scripts in their ASCII form, invisible characters escaped. */
  readonly href: string;
  /** The part to look at before the link is opened: the host, or the address of a mail. */
  readonly to: string;
};

/** @returns undefined for targets that no link in a terminal should have: scripts, files, schemes that start programs. */
export function readLink(uri: string): LinkTarget | undefined {
  const url = URL.parse(uri);
  if (url === null || !SCHEMES.includes(url.protocol)) return undefined;
  return { href: url.href, to: url.protocol === "mailto:" ? url.pathname : url.host };
}
