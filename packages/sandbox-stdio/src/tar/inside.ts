// What a member of an archive that anybody has packed may be called, and where a link of it may lead. Names are bytes, one a character.

/** setuid and setgid are never kept: nor is the owner, with whose rights the file would run. */
export const KEPT_MODE = 0o777;

/** Some systems take a backslash for a slash. */
const LEADS_UP = /(?:^|[\\/])\.\.(?:[\\/]|$)/;
/** A path that begins at the root, or at a drive of such a system. */
const FROM_ROOT = /^(?:[\\/]|[a-z]:)/i;

/** Names below the root; undefined where one leads elsewhere. */
export function partsOf(name: string): readonly string[] | undefined {
  if (name.startsWith("/") || LEADS_UP.test(name)) return undefined;
  return name.split("/").filter((part) => part !== "" && part !== ".");
}

/**
 * Where a symbolic link leads, below the root. Upwards only at its beginning: behind a name, which may be a link, `..` leads where
 * nobody can tell.
 * @param parts The link's own name. No folder of it may be a link.
 * @param kept So many of its first folders it may not lead out of.
 * @returns undefined where it leads out.
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
