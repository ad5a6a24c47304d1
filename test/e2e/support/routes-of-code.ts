// Which routes the Worker's code registers. Its platform's modules are stood in for by the configuration of these tests.

import { fileURLToPath } from "node:url";

type Route = { readonly method: string; readonly path: string };

/** `METHOD /path` of each route, as the Worker registers it; what comes before every route has the last one's, `ALL /*`. */
export async function routesOfCode(): Promise<string[]> {
  // By a name that is made up here: the Worker's types are for another platform than these tests'.
  const entry = fileURLToPath(new URL("../../../worker/src/index.ts", import.meta.url));
  const { default: app } = (await import(/* @vite-ignore */ entry)) as { default: { routes: readonly Route[] } };
  const routes = app.routes.map(({ method, path }) => `${method} ${path}`);
  return [...new Set(routes)];
}
