// With a Project Service set, every route to a sandbox asks it: the routes are those that the Worker has, so that a new one
// can't be forgotten.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { otherRoutes } from "../../src/app.ts";
import { openProject, type ProjectEnv } from "../../src/auth/project-gate.ts";
import type { Env } from "../../src/env.ts";
import { mcpTools } from "../../src/routes/mcp.ts";
import { stdioRoutes } from "../../src/routes.ts";
import { faultOf, newRealm, type Realm } from "../auth/realm.ts";
import { ask as askWorker } from "../support/ask.ts";

/** These are about no sandbox; a bridge's call asks for its secret. `/terminal/*` is ttyd's page: here it leads to ours. The tools of `/mcp` ask the sandbox's routes. The list of sandboxes asks about each (sandboxes.test.ts). */
const OF_NO_PROJECT = [
  "GET /healthz",
  "GET /api/sandboxes",
  "ALL /terminal/*",
  "POST /api/revocations",
  "GET /api/audit",
  "DELETE /api/recordings",
  // Where a Project Service says which sandboxes there are, none is made here: a terminal of one that was not made is 404.
  "GET /v1/openapi.json",
  "POST /v1/sandbox",
  "POST /v1/sandbox/:sandbox/:mount{(un)?mount}",
  "GET /v1/sandbox/:sandbox/pty",
  "ALL /v1/pool/*",
  "ALL /v1/sandbox/*",
  "GET /login",
  "GET /callback",
  "GET /logout",
  "POST /logout",
  "GET /api/me",
  "POST /api/me/renew",
  "GET /api/openapi.json",
  "GET /metrics",
  "POST /internal/bell",
  "GET /api/attention-webhook",
  "PUT /api/attention-webhook",
  "DELETE /api/attention-webhook",
  "GET /api/layout",
  "PUT /api/layout",
  "GET /api/preferences",
  "PUT /api/preferences",
  "GET /api/push",
  "PUT /api/push",
  "DELETE /api/push",
  "GET /.well-known/oauth-protected-resource",
  "GET /.well-known/oauth-protected-resource/mcp",
  "ALL /mcp",
  "ALL /api/*",
  "ALL *",
  "ALL /*",
];

const ALL = [...stdioRoutes(mcpTools).routes, ...otherRoutes.routes];
const ROUTES = [...new Set(ALL.map(({ method, path }) => `${method} ${path}`))].filter(
  (route) => !OF_NO_PROJECT.includes(route),
);

/** The close codes of the dialect whose player knows no others. */
const ALIS_STATUS: Readonly<Record<number, number>> = { 4001: 401, 1013: 503 };

type Said = { readonly status: number; readonly error: string; readonly retryAfter: string | null };

/** Asks at a route as somebody whose token allows everything. */
async function ask(realm: Realm, route: string): Promise<Said> {
  const [declared = "", path = ""] = route.split(" ");
  const method = declared === "ALL" ? "POST" : declared;
  const filled = path
    .replaceAll(/:(sandbox|id|project)\b/g, "dev")
    .replaceAll(":port", "5173")
    .replaceAll(/:\w+/g, "main");
  const query =
    path === "/sandbox/terminal" ? "sessionId=dev:main" : path === "/ws/terminal" ? "id=dev" : "sandbox=dev";
  const token = await realm.sign({ scope: "sandbox:admin" });
  const isApi = /^\/(?:api|mcp|v1\/sandbox)\//.test(path);
  const protocol = path.startsWith("/watch/") ? { "Sec-WebSocket-Protocol": "v1.alis" } : {};
  const init = {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(isApi ? {} : { Upgrade: "websocket" }), ...protocol },
    ...(method === "POST" ? { body: JSON.stringify({ sandbox: "dev", session: "main" }) } : {}),
  };
  const bindings = {
    ...(env as unknown as Env),
    ...realm.env,
    TERMINAL_UPSTREAM: "",
    PROJECT_SERVICE_URL: realm.issuer,
    PREVIEW_HOST: "*.preview.example",
  };
  const response = await askWorker(`${filled}${isApi ? "" : `?${query}`}`, init, bindings);
  const { webSocket } = response;
  if (webSocket !== null) {
    const closed = new Promise<CloseEvent>((resolve) => webSocket.addEventListener("close", resolve));
    webSocket.accept();
    const { code, reason } = await closed;
    return { status: ALIS_STATUS[code] ?? code - 4000, error: reason, retryAfter: null };
  }
  const { error, code } = (await response.json()) as { error: string; code?: string };
  return { status: response.status, error: code ?? error, retryAfter: response.headers.get("Retry-After") };
}

test("the Worker's routes to a sandbox are found", () => {
  expect(ROUTES.length).toBeGreaterThan(14);
  expect(ROUTES).toEqual(expect.arrayContaining(["GET /attach", "GET /terminal/:project/ws", "POST /api/tickets"]));
});

test.each(ROUTES)(
  "%s is closed to whom the Project Service refuses, and told apart while it is down",
  async (route) => {
    const realm = newRealm();
    const isAlis = route.startsWith("GET /watch/");
    const isTtyd = route.startsWith("GET /terminal/");
    const isClosed = isTtyd || isAlis;
    const words = (ttyds: string, usual: string) => (isAlis ? expect.any(String) : isTtyd ? ttyds : usual);
    expect(await ask(realm, route)).toMatchObject({ status: 401, error: words("Unauthorized", "not_owner") });
    for (const validate of [
      { status: 500, body: {} },
      { status: 200, body: {} },
      { status: 302, body: { user_id: "u" } },
    ]) {
      await realm.set({ validate });
      const unavailable = words("Project Service unavailable", "validator_unavailable");
      expect(await ask(realm, route)).toEqual({ status: 503, error: unavailable, retryAfter: isClosed ? null : "5" });
    }
    expect((await realm.counts()).validate).toBe(4);
  },
);

const TENANT = { issuer: "https://issuer.example", tenantClaim: "sub", tenantValue: "alice" } as const;

test("a ticket counts for whoever made it, if they were asked about, and asks nobody again", async () => {
  const realm = newRealm();
  const set: ProjectEnv = { PROJECT_SERVICE_URL: realm.issuer };
  const asked = { user: "u1" };
  expect((await openProject(set, { tenant: TENANT, asked }, "dev")).user).toBe("u1");
  // It was made before the service was set up.
  const unasked = { tenant: TENANT, asked: { user: undefined } };
  expect(await faultOf(() => openProject(set, unasked, "dev"))).toBe("not_owner");
  expect((await openProject({}, unasked, "dev")).user).toBeUndefined();
  expect((await realm.counts()).validate).toBe(0);
});

test.each(["http://example.com", "https://example.com/?a=b", "projects"])(
  "a Project Service at %j is no setting: it lets nobody in, whatever they show",
  async (url) => {
    for (const by of [{ token: "t" }, { asked: { user: "u1" } }]) {
      const open = () => openProject({ PROJECT_SERVICE_URL: url }, { tenant: TENANT, ...by }, "dev");
      expect(await faultOf(open)).toBe("misconfigured");
    }
  },
);

test("a slash at the end of the Project Service's address is left out", async () => {
  const realm = newRealm();
  await realm.set({ validate: { status: 200, body: { user_id: 7 } } });
  const project = await openProject({ PROJECT_SERVICE_URL: `${realm.issuer}/` }, { tenant: TENANT, token: "t" }, "dev");
  expect(project.user).toBe("7");
});
