// Every route and dialect by every kind of identity: what each is answered, written to docs/matrix.md. The routes are those
// that the Worker's code registers; one that nothing is asked of fails.
import { DIALECT_ROUTES } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { sandboxKey } from "../../../worker/src/auth/names.ts";
import { connect } from "../support/clients/client.ts";
import { callTool, closeClients, mcpClient } from "../support/clients/mcp.ts";
import { addonPath, jsonPath, ptyPath, shared, sharedPath } from "../support/generators/foreign-routes.ts";
import { http, type Kind, kinds, type Place, post, type Question, rpc, upgrade } from "../support/generators/matrix.ts";
import { routesOfCode } from "../support/generators/routes-of-code.ts";
import { fresh, type Person, person, restartBridge, sessionsInBridge, system } from "../support/system/system.ts";

const SANDBOX = "/api/sandboxes/:sandbox";
const AT = `${SANDBOX}/sessions`;
const BOX = "/v1/sandbox/:sandbox";
const HELLO = '{"type":"ping"}';
const TTYD_HELLO = '{"AuthToken":"","columns":80,"rows":24}';

const sessions = ({ sandbox }: Place) => `/api/sandboxes/${sandbox}/sessions`;
const session = (place: Place) => `${sessions(place)}/${place.session}`;
const attach = (more: Readonly<Record<string, string>>) => (place: Place) =>
  `/attach?${new URLSearchParams({ sandbox: place.sandbox, session: place.session, ...more })}`;
const terminal = (part: string, role?: string) => (place: Place) =>
  `/terminal/${place.sandbox}${part}?session=${place.session}${role === undefined ? "" : `&role=${role}`}`;

const watch = ({ sandbox, session }: Place) => `/watch/${sandbox}/${session}`;

/** It answers one request. */
const ANSWERING = 'read -r line; echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{}}"; cat';
const server = ({ sandbox }: Place) =>
  `/mcp/${sandbox}/server?cmd=sh&arg=-c&arg=${encodeURIComponent(ANSWERING)}&keep=1`;

const made =
  (rest: string) =>
  ({ sandbox }: Place) =>
    `/v1/sandbox/${sandbox}${rest}`;

const stdio = { protocol: "stdio.v1", first: HELLO };
const ttyd = { protocol: "tty", first: TTYD_HELLO };
const none = { about: "none" } as const;

/** What is asked of each route. */
const QUESTIONS: Readonly<Record<string, readonly Question[]>> = {
  "POST /internal/bell": [http("POST", "/internal/bell", {})],
  "GET /healthz": [http("GET", "/healthz")],
  "GET /metrics": [http("GET", "/metrics")],
  "GET /api/openapi.json": [http("GET", "/api/openapi.json")],
  "GET /.well-known/oauth-protected-resource": [http("GET", "/.well-known/oauth-protected-resource")],
  "GET /.well-known/oauth-protected-resource/mcp": [http("GET", "/.well-known/oauth-protected-resource/mcp")],
  "ALL /mcp": [
    { ...rpc("/mcp", "tools/list"), what: "POST" },
    { ...http("GET", "/mcp"), what: "GET" },
  ],
  "ALL /mcp/:sandbox/:name": [
    { ...rpc(server, "initialize"), what: "initialize" },
    { ...rpc(server, "tools/list"), what: "without a session" },
    { ...http("DELETE", server), what: "DELETE" },
  ],
  "ALL /*": [http("GET", "/"), { ...http("POST", "/no/such"), what: "POST" }],
  "ALL /api/*": [http("GET", "/api/no/such")],
  "GET /login": [http("GET", "/login")],
  "GET /callback": [http("GET", "/callback?code=x&state=y")],
  "POST /logout": [http("POST", "/logout")],
  "GET /api/me": [http("GET", "/api/me")],
  "POST /api/me/renew": [http("POST", "/api/me/renew")],
  [`GET ${AT}`]: [http("GET", sessions)],
  [`GET ${AT}/:session`]: [http("GET", session), { ...http("GET", session), ...none, what: "that is not there" }],
  [`PUT ${AT}/:session`]: [
    { ...http("PUT", session, { cmd: "cat", tty: true }), what: "that is there" },
    { ...http("PUT", session, { cmd: "cat" }), ...none, what: "that is not there" },
  ],
  [`POST ${AT}`]: [http("POST", sessions, { cmd: "cat" })],
  "POST /api/sandboxes/:sandbox/run": [http("POST", ({ sandbox }) => `/api/sandboxes/${sandbox}/run`, { cmd: "true" })],
  [`GET ${AT}/:session/output`]: [http("GET", (place) => `${session(place)}/output`)],
  [`POST ${AT}/:session/wait`]: [
    http("POST", (place) => `${session(place)}/wait`, { until: { exit: true }, timeoutMs: 0 }),
  ],
  [`POST ${AT}/:session/signal`]: [http("POST", (place) => `${session(place)}/signal`, { signal: "SIGCONT" })],
  [`POST ${AT}/:session/resize`]: [http("POST", (place) => `${session(place)}/resize`, { cols: 80, rows: 24 })],
  [`POST ${AT}/:session/keyboard`]: [http("POST", (place) => `${session(place)}/keyboard`, { do: "take" })],
  [`DELETE ${AT}/:session`]: [{ ...http("DELETE", session), about: "own" }],
  [`POST ${AT}/:session/input`]: [http("POST", (place) => `${session(place)}/input`, { text: "" })],
  [`GET ${AT}/:session/screen`]: [http("GET", (place) => `${session(place)}/screen`)],
  [`GET ${AT}/:session/commands`]: [http("GET", (place) => `${session(place)}/commands`)],
  [`GET ${AT}/:session/audit`]: [http("GET", (place) => `${session(place)}/audit`)],
  [`GET ${AT}/:session/recordings`]: [http("GET", (place) => `${session(place)}/recordings`)],
  [`GET ${AT}/:session/recording`]: [http("GET", (place) => `${session(place)}/recording`)],
  [`GET ${AT}/:session/recording/screen`]: [http("GET", (place) => `${session(place)}/recording/screen?offset=0`)],
  [`GET ${AT}/:session/recording/search`]: [http("GET", (place) => `${session(place)}/recording/search?text=x`)],
  [`DELETE ${AT}/:session/recording`]: [http("DELETE", (place) => `${session(place)}/recording?all=1`)],
  [`POST ${AT}/:session/recording/hold`]: [
    http("POST", (place) => `${session(place)}/recording/hold`, { reason: "x" }),
  ],
  [`DELETE ${AT}/:session/recording/hold`]: [http("DELETE", (place) => `${session(place)}/recording/hold`)],
  "DELETE /api/recordings": [http("DELETE", "/api/recordings?sub=nobody")],
  [`POST ${AT}/:session/share`]: [http("POST", (place) => `${session(place)}/share`, {})],
  [`GET ${AT}/:session/tickets`]: [http("GET", (place) => `${session(place)}/tickets`)],
  [`DELETE ${AT}/:session/tickets/:ticket`]: [http("DELETE", (place) => `${session(place)}/tickets/none`)],
  "GET /codex/:sandbox": [upgrade(undefined, ({ sandbox }) => `/codex/${sandbox}`)],
  "POST /api/sandboxes/:sandbox/codex-ticket": [
    http("POST", ({ sandbox }) => `/api/sandboxes/${sandbox}/codex-ticket`, {}),
  ],
  "GET /api/sandboxes/:sandbox/tickets": [http("GET", ({ sandbox }) => `/api/sandboxes/${sandbox}/tickets`)],
  "DELETE /api/sandboxes/:sandbox/tickets/:ticket": [
    http("DELETE", ({ sandbox }) => `/api/sandboxes/${sandbox}/tickets/none`),
  ],
  "GET /api/sandboxes/:sandbox/audit": [http("GET", ({ sandbox }) => `/api/sandboxes/${sandbox}/audit`)],
  "POST /api/tickets": [
    {
      ...http("POST", "/api/tickets", (place) => place),
      what: "to drive",
    },
    {
      ...http("POST", "/api/tickets", (place) => ({ ...place, role: "viewer" })),
      what: "to look on",
    },
  ],
  "POST /api/revocations": [http("POST", "/api/revocations", { jti: "nobody" })],
  "GET /api/attention-webhook": [http("GET", "/api/attention-webhook")],
  "PUT /api/attention-webhook": [http("PUT", "/api/attention-webhook", { url: null })],
  "DELETE /api/attention-webhook": [http("DELETE", "/api/attention-webhook")],
  "GET /api/sandboxes": [http("GET", "/api/sandboxes")],
  "GET /api/layout": [http("GET", "/api/layout")],
  "PUT /api/layout": [http("PUT", "/api/layout", { layout: {} })],
  "GET /api/preferences": [http("GET", "/api/preferences")],
  "PUT /api/preferences": [http("PUT", "/api/preferences", { preferences: {} })],
  "GET /api/push": [http("GET", "/api/push")],
  "PUT /api/push": [http("PUT", "/api/push", { endpoint: "https://push.example.com/x", p256dh: "no", auth: "no" })],
  "DELETE /api/push": [http("DELETE", "/api/push", { endpoint: "https://push.example.com/x" })],
  "GET /api/audit": [http("GET", "/api/audit")],
  "GET /attach": [
    upgrade("stdio: look on", attach({ role: "viewer" }), stdio),
    upgrade("stdio: drive", attach({ role: "driver" }), stdio),
    upgrade("stdio: make", attach({ cmd: "cat" }), { ...stdio, ...none }),
    // Nothing listens on that port.
    upgrade("stdio: a port", attach({ tcp: "1" }), { ...stdio, ...none }),
    upgrade("plain: look on", attach({ role: "viewer" })),
    upgrade("plain: drive", attach({ role: "driver" })),
    upgrade("plain: make", attach({ cmd: "cat" }), none),
    upgrade("plain: a port", attach({ tcp: "1" }), none),
  ],
  "GET /preview/:sandbox/:port/*": [http("GET", ({ sandbox }) => `/preview/${sandbox}/5173/`)],
  "GET /ws/terminal": [
    upgrade("addon: look on", ({ sandbox, session }) => addonPath(sandbox, { session, role: "viewer" })),
    upgrade("addon: drive", ({ sandbox, session }) => addonPath(sandbox, { session, role: "driver" })),
    upgrade("addon: make", ({ sandbox, session }) => addonPath(sandbox, { session }), none),
  ],
  "GET /v1/sandboxes/:id/exec/pty": [upgrade("pty: make", ({ sandbox }) => ptyPath(sandbox))],
  "GET /v1/sandboxes/:id/exec/pty/shared": [
    upgrade("pty: look on", ({ sandbox }) => sharedPath(sandbox, { role: "viewer" }), { about: "pty" }),
    upgrade("pty: drive", ({ sandbox }) => sharedPath(sandbox, { role: "driver" }), { about: "pty" }),
  ],
  // Of a sandbox that was never made.
  [`GET ${BOX}/pty`]: [upgrade("sandbox: make", ({ sandbox }) => `/v1/sandbox/${sandbox}/pty`)],
  "GET /v1/openapi.json": [http("GET", "/v1/openapi.json")],
  "POST /v1/sandbox": [http("POST", "/v1/sandbox", {})],
  [`DELETE ${BOX}`]: [http("DELETE", made(""))],
  [`GET ${BOX}/running`]: [http("GET", made("/running"))],
  [`POST ${BOX}/exec`]: [http("POST", made("/exec"), { argv: ["true"] })],
  [`POST ${BOX}/session`]: [http("POST", made("/session"), {})],
  [`DELETE ${BOX}/session/:session`]: [http("DELETE", made("/session/none"))],
  [`GET ${BOX}/file/*`]: [http("GET", made("/file/workspace/none"))],
  [`PUT ${BOX}/file/*`]: [http("PUT", made("/file/workspace/none"), {})],
  [`POST ${BOX}/persist`]: [http("POST", made("/persist"), {})],
  [`POST ${BOX}/hydrate`]: [http("POST", made("/hydrate"), {})],
  [`POST ${BOX}/:mount{(un)?mount}`]: [http("POST", made("/mount"), {})],
  "ALL /v1/pool/*": [http("GET", "/v1/pool/stats")],
  "ALL /v1/sandbox/*": [http("GET", "/v1/sandbox/no/such")],
  "GET /sandbox/terminal": [
    upgrade("json: look on", ({ sandbox, session }) => `${jsonPath(`${sandbox}:${session}`)}&role=viewer`),
    upgrade("json: drive", ({ sandbox, session }) => `${jsonPath(`${sandbox}:${session}`)}&role=driver`),
    upgrade("json: make", ({ sandbox, session }) => jsonPath(`${sandbox}:${session}`), none),
  ],
  "GET /watch/:sandbox/:session": [upgrade("alis: look on", watch, { protocol: "v1.alis", first: "" })],
  "ALL /terminal/*": [
    { ...http("GET", terminal("")), what: "page" },
    { ...http("GET", terminal("/token")), what: "token" },
  ],
  "GET /terminal/:project": [
    upgrade("ttyd: look on", terminal("", "viewer"), ttyd),
    upgrade("ttyd: drive", terminal("", "driver"), ttyd),
    upgrade("ttyd: make", terminal(""), { ...ttyd, ...none }),
  ],
  "GET /terminal/:project/ws": [
    upgrade("ttyd: look on", terminal("/ws", "viewer"), ttyd),
    upgrade("ttyd: drive", terminal("/ws", "driver"), ttyd),
    upgrade("ttyd: make", terminal("/ws"), { ...ttyd, ...none }),
  ],
};

const HEAD = `# Who is answered what

Every route by every kind of identity, as \`test/e2e/access/matrix.test.ts\` asks a system; \`-u\` writes this file. Routes
answered alike share rows.

The driver's token is of the sandbox's tenant, with \`sandbox:exec\`, and made the tickets. The admin has \`sandbox:admin\`, and so had the revoked
and the expired; the viewer has \`sandbox:connect\`. In another tenant the same names mean other, empty sandboxes. The guest link is for viewing.
"Logged out" is a copy of a cookie, from our own page. \`in\`: attached. Four digits are a close's code. \`…\` is \`¦/sessions\`, \`¦\` is \`/api/sandboxes/:sandbox\`,
\`§\` is \`/v1/sandbox/:sandbox\`.

The usual code of an error is left out: of 403 \`insufficient_scope\`, of 404 \`not_found\`, of 401 \`expired\` for the expired, \`revoked\` for the
revoked and the logged out, else \`no_token\`.
`;

function usualCode(status: string, name: string): string | undefined {
  if (status === "403") return "insufficient_scope";
  if (status === "404") return "not_found";
  if (status !== "401") return undefined;
  return { expired: "expired", revoked: "revoked", "logged out": "revoked" }[name] ?? "no_token";
}

/** An answer without its usual code. */
function shortened(answer: string, name: string): string {
  const [status = "", code] = answer.split(" ");
  const usual = usualCode(status, name);
  if (usual === undefined) return answer;
  return code === undefined ? `${status} without a code` : code === usual ? status : answer;
}

/** Rows of the table: what is answered alike shares one. */
function rowsOf(asked: readonly (readonly [what: string, answers: string])[]): string[] {
  const alike = new Map<string, string[]>();
  for (const [what, answers] of asked) alike.set(answers, [...(alike.get(answers) ?? []), what]);
  return [...alike].map(([answers, whats]) => `| ${whats.join(", ")} | ${answers} |`);
}

async function ask(question: Question, { show }: Kind, owner: Person, lives: Place): Promise<string> {
  const { about = "lives" } = question;
  const place = placeOf(about, lives);
  const { sandbox, session } = place;
  const own = about === "own" ? await connect(owner, { sandbox, session, cmd: "cat" }) : undefined;
  await own?.hello();
  const answer = await question.ask(await show(place), place);
  await own?.leave();
  return answer;
}

function placeOf(about: NonNullable<Question["about"]>, lives: Place): Place {
  switch (about) {
    case "lives":
      return lives;
    case "own":
      return { ...lives, session: fresh("s") };
    case "none":
      return { ...lives, session: fresh("s"), shared: lives.session };
    case "pty":
      return { sandbox: ptyBox(lives), session: "main" };
  }
}

const ptyBox = ({ sandbox }: Place) => `${sandbox}-pty`;

test("every route and dialect answers every kind of identity as docs/matrix.md says, and none is missing", async () => {
  expect(Object.keys(QUESTIONS).sort()).toEqual((await routesOfCode()).sort());
  for (const { path, dialect } of DIALECT_ROUTES) {
    const whats = QUESTIONS[`GET ${path}`]?.map(({ what = "" }) => what.split(":")[0]);
    expect([path, whats]).toEqual([path, expect.arrayContaining([dialect.name.split("-")[0]])]);
  }
  const { owner, kinds: everybody } = await kinds();
  const lives = { sandbox: fresh("box"), session: "main" };
  await (await connect(owner, { ...lives, cmd: "cat", tty: 1 })).hello();
  await shared(owner, ptyBox(lives));

  const names = everybody.map(({ name }) => name);
  const asked: [string, string][] = [];
  for (const [route, questions] of Object.entries(QUESTIONS)) {
    for (const question of questions) {
      const path = `\`${route.replace(AT, "…").replace(SANDBOX, "¦").replace(BOX, "§")}\``;
      const answers = await Promise.all(everybody.map((kind) => ask(question, kind, owner, lives)));
      // Where the bridges are in containers nobody calls there: the route is not there for anybody.
      const isUncalled = route === "POST /internal/bell" && system.bridgeUrl === "";
      const told = isUncalled ? answers.map((answer) => (answer === "404" ? "401" : answer)) : answers;
      const isSame = told.every((answer) => answer === told[0]);
      const shown = told.map((answer, at) => shortened(answer, names[at] ?? ""));
      const cells = isSame ? `${shown[0]} for all` : shown.join(" | ");
      asked.push([question.what === undefined ? path : `${path} ${question.what}`, cells]);
    }
  }
  const head = [`| asked | ${names.join(" | ")} |`, `|---${"|---".repeat(names.length)}|`];
  await expect(`${HEAD}\n${[...head, ...rowsOf(asked)].join("\n")}\n`).toMatchFileSnapshot("../../../docs/matrix.md");
});

/** What runs in the bridge under these names. */
async function running(owner: Person, sandboxes: readonly string[]): Promise<string[]> {
  const tenant = { issuer: system.issuerUrl, tenantClaim: "org_id", tenantValue: owner.org } as const;
  const lists = await Promise.all(
    sandboxes.map(async (name) => {
      return sessionsInBridge(new URLSearchParams({ sandbox: await sandboxKey(tenant, name) }));
    }),
  );
  return lists.flat().map(({ session }) => session);
}

test("X7a: a viewer starts nothing by any route, dialect or tool, where a session was lost or never was", async () => {
  const { owner, kinds: everybody } = await kinds();
  const lost = { sandbox: fresh("box"), session: "main" };
  const sandboxes = [lost.sandbox, ptyBox(lost)];
  const client = await connect(owner, { ...lost, cmd: "cat", tty: 1 });
  await client.hello();
  await shared(owner, ptyBox(lost));
  const made = await post(owner, `${session(lost)}/share`, { guests: true, role: "viewer" });
  const { ticket } = (await made.json()) as { ticket: string };
  expect(await running(owner, sandboxes)).toEqual(["main", "main"]);
  await restartBridge();
  expect(await running(owner, sandboxes)).toEqual([]);

  const isViewer = ({ name }: Kind) => name === "viewer";
  const asViewer: Kind = { name: "driver as viewer", show: async () => ({ query: { token: owner.token } }) };
  const byLink: Kind = { name: "guest link", show: async () => ({ query: { ticket } }) };
  for (const [route, questions] of Object.entries(QUESTIONS)) {
    for (const question of questions) {
      const looksOn = question.what?.includes("look on") === true;
      const askers = [...everybody.filter(isViewer), byLink, ...(looksOn ? [asViewer] : [])];
      const places = [lost, { ...lost, session: fresh("none") }];
      await Promise.all(
        places.flatMap((place) =>
          askers.map(async ({ show }) =>
            question.ask(await show(place), question.about === "pty" ? { ...place, sandbox: ptyBox(place) } : place),
          ),
        ),
      );
      expect([route, question.what, await running(owner, sandboxes)]).toEqual([route, question.what, []]);
    }
  }
  const replacing = { ended: "replace", attempt: `${fresh("life").replace("-", "")}.0`, role: "viewer" };
  const looking = await connect(owner, { ...lost, ...replacing });
  expect((await looking.end()).code).toBe(4404);

  const viewer = await person({ org: owner.org, scope: "sandbox:connect" });
  const tools = await mcpClient(viewer, "/mcp", "legacy");
  const more = { command: "true", text: "x", until: { exit: true }, signal: "SIGCONT", do: "take", timeoutMs: 0 };
  for (const { name } of (await tools.listTools()).tools) {
    await callTool(tools, name, { ...lost, ...more });
    expect([name, await running(owner, sandboxes)]).toEqual([name, []]);
  }
  await closeClients();
});
