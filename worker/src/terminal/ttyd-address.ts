// The addresses under which a terminal is asked for, and that of a sandbox's ttyd. Pure.

import type { TtydSettings } from "./settings.ts";

export type TtydAddress =
  | { readonly kind: "container"; readonly sandboxKey: string; readonly port: number }
  | { readonly kind: "local"; readonly url: string };

/** The address of a sandbox's ttyd: its own port in its own container, and no other's. */
export function ttydAddress(settings: TtydSettings, sandboxKey: string): TtydAddress {
  const { port, localUrl } = settings;
  if (localUrl === undefined) return { kind: "container", sandboxKey, port };
  return { kind: "local", url: localUrl.replace("{sandbox}", sandboxKey) };
}

type TerminalAddress = {
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
