// Checks names of members of an untrusted archive, and where its links lead. Names are bytes, one per character.

/** setuid and setgid are never kept, nor is the owner, with whose rights the file would run. */
export const KEPT_MODE = 0o777;

/** Some systems treat a backslash as a slash. */
const LEADS_UP = /(?:^|[\\/])\.\.(?:[\\/]|$)/;
/** A path from the root, or from a drive of such a system. */
const FROM_ROOT = /^(?:[\\/]|[a-z]:)/i;

/** The path's parts below the root; undefined if it leads elsewhere. */
export function partsOf(name: string): readonly string[] | undefined {
  if (name.startsWith("/") || LEADS_UP.test(name)) return undefined;
  return name.split("/").filter((part) => part !== "" && part !== ".");
}

/**
 * Where a symbolic link leads, below the root. `..` is allowed only at the start: after a name, which may be a link, it could
 * lead anywhere.
 * @param parts The link's own path. None of its folders may be a link.
 * @param kept The link may not lead out of this many of its first folders.
 * @returns undefined if it leads outside.
 */
export function leadsTo(parts: readonly string[], target: string, kept: number): readonly string[] | undefined {
  if (FROM_ROOT.test(target)) return undefined;
  const steps = target.split("/").filter((step) => step !== "" && step !== ".");
  const up = steps.findIndex((step) => step !== "..");
  const ups = up === -1 ? steps.length : up;
  const names = steps.slice(ups);
  if (LEADS_UP.test(names.join("/")) || ups > parts.length - 1 - kept) return undefined;
  return [...parts.slice(0, parts.length - 1 - ups), ...names];
}
