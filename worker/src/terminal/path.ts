// The target that a terminal's address names: `/terminal/{project_id}` and the routes of a ttyd below it. Pure.

export type TerminalAddress = {
  /** Decoded: the text as it was asked for, which need not be a name that anything can have. */
  readonly project: string;
  /** `ws`: also the bare address, where a WebSocket is asked for. `page`: ttyd's own, with or without the slash. */
  readonly part: "ws" | "token" | "page";
  /** From the query; undefined where there is none, or an empty one. */
  readonly token: string | undefined;
};

/** The routes of a ttyd, and nothing else at its port. */
const PATH = /^\/terminal\/([^/]+)(?:\/(ws|token)?)?$/;

/**
 * @param target Path and query, `/terminal/ID?token=…`.
 * @returns undefined where it is not a terminal's.
 */
export function parseTerminalAddress(target: string, isUpgrade = true): TerminalAddress | undefined {
  const url = URL.parse(target, "http://terminal");
  const [, encoded, part] = PATH.exec(url?.pathname ?? "") ?? [];
  const project = decoded(encoded ?? "");
  if (url === null || project === "" || (part === "ws" && !isUpgrade)) return undefined;
  return {
    project,
    part: isUpgrade ? "ws" : part === "token" ? "token" : "page",
    token: url.searchParams.get("token") || undefined,
  };
}

/** @returns "" if the segment is no text. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}
