// Our own Worker: the routes to sessions, with tokens of an OAuth issuer, the browser's login, and the page.

import { loginRoutes } from "./auth/login.ts";
import { oauthWay } from "./auth/oauth-way.ts";
import { useAuthentication } from "./auth/way.ts";
import type { Env } from "./env.ts";
import { gatewayRoutes } from "./mcp/gateway-routes.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import { page } from "./page.ts";
import { stdioRoutes } from "./routes.ts";

useAuthentication(oauthWay);

const app = stdioRoutes<Env>();
app.route("/", mcpRoutes);
app.route("/", gatewayRoutes);
app.route("/", loginRoutes);
app.all("/api/*", (c) => c.json({ error: "not_found", message: `no ${c.req.method} ${c.req.path}` }, 404));
app.all("*", (c) => page(c.req.raw, c.env));

export default app;
