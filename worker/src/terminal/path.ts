// What the address of a terminal names: `/terminal/{project_id}` and what a ttyd answers below it. Pure.

export type TerminalAddress = {
  readonly project: string;
  /** `ws`: also the bare address, where a WebSocket is asked for. `page`: ttyd's own, with or without the slash. */
  readonly part: "ws" | "token" | "page";
  /** From the query; undefined where there is none, or an empty one. */
  readonly token: string | undefined;
};

/** ttyd's routes, and nothing else of what may run at its port. */
const PATH = /^\/terminal\/([^/]+)(?:\/(ws|token)?)?$/;

/**
 * @param target Path and query, `/terminal/ID?token=…`.
 * @returns undefined where it is not a terminal's.
 */
export function parseTerminalAddress(target: string, isUpgrade = true): TerminalAddress | undefined {
  const url = URL.parse(target, "http://terminal");
  const [, project, part] = PATH.exec(url?.pathname ?? "") ?? [];
  if (url === null || project === undefined || (part === "ws" && !isUpgrade)) return undefined;
  return {
    project,
    part: isUpgrade ? "ws" : part === "token" ? "token" : "page",
    token: url.searchParams.get("token") || undefined,
  };
}
