// The address of a sandbox's ttyd. Pure.

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
