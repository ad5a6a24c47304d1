// The routing table of all dialects. A new one is a file beside this and a line below.

import type { Dialect, DialectRoute } from "../server/dialect.ts";
import { ADDON_ROUTES } from "./addon.ts";
import { ALIS_ROUTES } from "./alis.ts";
import { JSON_ROUTES } from "./json.ts";
import { PTY_ROUTES } from "./pty.ts";
import { SANDBOX_PTY_ROUTES } from "./sandbox-pty.ts";
import { PLAIN_TEXT, STDIO_ROUTES } from "./stdio.ts";
import { TTYD_ROUTES } from "./ttyd.ts";

export const DIALECT_ROUTES: readonly DialectRoute[] = [
  ...STDIO_ROUTES,
  ...ADDON_ROUTES,
  ...PTY_ROUTES,
  ...JSON_ROUTES,
  ...SANDBOX_PTY_ROUTES,
  ...TTYD_ROUTES,
  ...ALIS_ROUTES,
];

/** @throws {RangeError} If no route uses it. */
export function dialectNamed(name: string): Dialect {
  if (name === PLAIN_TEXT.name) return PLAIN_TEXT;
  const route = DIALECT_ROUTES.find(({ dialect }) => dialect.name === name);
  if (route === undefined) throw new RangeError(`Cannot speak "${name}": no route does`);
  return route.dialect;
}
