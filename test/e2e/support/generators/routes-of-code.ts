// Which routes the Worker's code registers. Its platform's modules are stood in for by the configuration of these tests.

import { fileURLToPath } from "node:url";

type Route = { readonly method: string; readonly path: string };
type Router = { readonly routes: readonly Route[] };

/** `METHOD /path` of each route, as the Worker registers it; what comes before every route has the last one's, `ALL /*`. */
export async function routesOfCode(): Promise<string[]> {
  const { stdioRoutes } = await sourceOf<{ stdioRoutes(mcp: unknown): Router }>("routes.ts");
  const { mcpTools } = await sourceOf<{ mcpTools: Router }>("routes/mcp.ts");
  const { otherRoutes } = await sourceOf<{ otherRoutes: Router }>("app.ts");
  const routes = [...stdioRoutes(mcpTools).routes, ...otherRoutes.routes];
  return [...new Set(routes.map(({ method, path }) => `${method} ${path}`))];
}

/**
 * The routes that none of the requests goes to.
 * @param requests `METHOD /path`, with or without a query.
 */
export function routesWithout(requests: readonly string[], routes: readonly string[]): string[] {
  return routes.filter((route) => {
    const [method = "", path = ""] = route.split(" ");
    const form = path
      .replace(/[.]/g, "\\.")
      .replace(/:[a-z]+(\{.*?\})?/g, "[^/?]+")
      .replace("*", ".*");
    const asked = new RegExp(`^${method === "ALL" ? "[A-Z]+" : method} ${form}(\\?|$)`);
    return !requests.some((request) => asked.test(request));
  });
}

/** By a name that is made up here: the Worker's types are for another platform than these tests'. */
async function sourceOf<Module>(file: string): Promise<Module> {
  const path = fileURLToPath(new URL(`../../../../worker/src/${file}`, import.meta.url));
  return (await import(/* @vite-ignore */ path)) as Module;
}
