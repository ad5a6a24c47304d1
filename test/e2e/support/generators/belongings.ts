// All of one person's that somebody else could have come by, and requests with it in every place where there is one: for
// searches after a request that reaches what is not the asker's.
import fc from "fast-check";
import { DIALECT_ROUTES } from "../../../../packages/sandbox-stdio/src/dialects/table.ts";
import { sandboxKey, sessionKey } from "../../../../worker/src/auth/names.ts";
import { type AuditRecord, recordsAt } from "../clients/audit.ts";
import { connect, type Received } from "../clients/client.ts";
import { loginCookie } from "../clients/login.ts";
import { type RawAnswer, rawRequest, UPGRADE } from "../clients/raw-http.ts";
import { fresh, type Person } from "../system/system.ts";
import { routesWithout } from "./routes-of-code.ts";

/** The system that is searched: the one that all tests share, or one of a test's own. */
export type Site = { readonly origin: string; readonly issuerUrl: string };

/** Where one of the tickets is good, and where the askers are. From there it would let anybody in: that is what tickets are for. */
const ORIGIN = "https://elsewhere.example";
const ASKERS_ORIGIN = "https://her-own.example";

export const serverOf = ({ origin }: Site) => ({ server: origin.replace(/^http/, "ws") });

async function call(site: Site, who: Person, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${who.token}`, ...init.headers };
  return fetch(`${site.origin}${path}`, { ...init, headers });
}

/**
 * Makes somebody a session with all that a session can have.
 * @param who Whose token has the scope sandbox:admin.
 */
export async function belongingsOf(site: Site, who: Person, sandbox: string) {
  const session = fresh("bobs");
  const client = await connect(who, { sandbox, session, cmd: "cat" }, serverOf(site));
  const hello = await client.hello();
  const marker = fresh("marker");
  client.type(`${marker}\n`);
  await client.output(`${marker}\n`);
  const path = `/api/sandboxes/${sandbox}/sessions/${session}`;
  const post = async (to: string, body: object, headers = {}) =>
    (await (await call(site, who, to, { method: "POST", body: JSON.stringify(body), headers })).json()) as Record<
      string,
      string
    >;
  const spent = (await post("/api/tickets", { sandbox, session, role: "viewer" })).ticket ?? "";
  await (await connect(undefined, { ticket: spent }, { tokenIn: "nowhere", ...serverOf(site) })).leave();
  const elsewhere = (await post("/api/tickets", { sandbox, session }, { Origin: ORIGIN })).ticket ?? "";
  const kept = await post(`${path}/share`, { role: "viewer", guests: true, seconds: 80_000 });
  const revoked = await post(`${path}/share`, { role: "driver", guests: true });
  const outcome = await call(site, who, `${path}/tickets/${revoked.id}`, { method: "DELETE" });
  if (outcome.status !== 204) throw new Error(`Not revoked: ${outcome.status}`);
  const led = await call(site, who, `/preview/${sandbox}/5173/`, { redirect: "manual" });
  const toPreview = new URL(led.headers.get("Location") ?? site.origin).searchParams.get("ticket") ?? "";
  const put = async (to: string, body: object) => {
    const { status } = await call(site, who, to, { method: "PUT", body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`Not kept at ${to}: ${status}`);
  };
  await put("/api/layout", { layout: { marker } });
  await put("/api/preferences", { preferences: { marker } });
  await put("/api/attention-webhook", { url: `https://${marker}.example.com/`, secret: `${marker} is his` });
  const tenant = { issuer: site.issuerUrl, tenantClaim: "org_id", tenantValue: who.org } as const;
  return {
    ...{ site, who, sandbox, session, client, marker, path, kept },
    incarnation: String(hello.incarnation),
    secrets: [marker, String(hello.incarnation), who.sub],
    ids: [String((hello.you as { id: string }).id), String(kept.id), String(revoked.id)],
    keys: [await sandboxKey(tenant, sandbox), await sessionKey(tenant, sandbox, session)],
    tickets: [spent, elsewhere, toPreview, String(revoked.ticket), `${String(kept.ticket).slice(0, -3)}AAA`],
    resume: String(hello.resume),
    cookie: await loginCookie(who.sub, who.org, site.origin),
  };
}
export type Belongings = Awaited<ReturnType<typeof belongingsOf>>;

/** What their owner can see of them: nobody else's request may change it. */
export async function stateOf({ site, who, sandbox, path }: Belongings) {
  const read = async (to: string): Promise<unknown> => (await call(site, who, to)).json();
  const { sessions } = (await read(`/api/sandboxes/${sandbox}/sessions`)) as { sessions: readonly object[] };
  return {
    // In a long search the session parks: the bridge's clock then says when its last output came, and not the object's.
    listing: sessions.map((session) => ({ ...session, lastOutputAt: undefined })),
    tickets: await read(`${path}/tickets`),
    layout: [await read("/api/layout"), await read("/api/preferences")],
    webhook: await read("/api/attention-webhook"),
    audit: (await recordsAt(`${site.origin}${path}/audit`, who.token)) as readonly AuditRecord[],
  };
}

/** What the owner's client was told after its first `count` messages, but for the answers to its pings. */
export function heardSince({ client }: Belongings, count: number): readonly Received[] {
  const isPong = (one: Received) => one.kind === "control" && one.message.type === "pong";
  return client.received.slice(count).filter((one) => !isPong(one));
}

/** Upgrades at each path where there are any. `S` is the sandbox and `N` the session. */
const UPGRADES: Readonly<Record<string, string>> = {
  "/attach": "/attach?sandbox=S&session=N&keep=0",
  "/ws/terminal": "/ws/terminal?id=S&session=N",
  "/v1/sandboxes/:id/exec/pty": "/v1/sandboxes/S/exec/pty?session=N",
  "/v1/sandboxes/:id/exec/pty/shared": "/v1/sandboxes/S/exec/pty/shared?session=N",
  "/sandbox/terminal": "/sandbox/terminal?sessionId=S:N",
  "/terminal/:project": "/terminal/S?session=N",
  "/terminal/:project/ws": "/terminal/S/ws?session=N",
  "/watch/:sandbox/:session": "/watch/S/N?",
  "/v1/sandbox/:sandbox/pty": "/v1/sandbox/S/pty?session=N",
  "/codex/:sandbox": "/codex/S?",
};

const RECORDED = ["recordings", "recording", "recording/screen", "recording/search"];
const READS = ["output", "screen", "commands", "audit", "tickets", ...RECORDED];
const ACTS = ["wait", "signal", "resize", "keyboard", "input", "share", "recording/hold"];
const CALLS = ["", "/N", "/N/tickets/I", ...[...READS, ...ACTS].map((name) => `/N/${name}`)].map(
  (rest) => `/api/sandboxes/S/sessions${rest}?`,
);
const OTHER_CALLS = [
  ...["/api/sandboxes/S/run?", "/api/sandboxes?", "/api/tickets?", "/api/revocations?", "/api/audit?", "/api/me?"],
  "/api/recordings?",
  ...["/codex-ticket?", "/tickets?", "/tickets/I?", "/audit?"].map((rest) => `/api/sandboxes/S${rest}`),
  ...["/v1/openapi.json?", "/v1/sandbox?", "/v1/pool/stats?"],
  ...["", "/running", "/exec", "/session", "/session/N", "/file/tmp/N", "/persist", "/hydrate", "/mount", "/other"].map(
    (rest) => `/v1/sandbox/S${rest}?`,
  ),
  ...[
    "/api/layout?",
    "/api/preferences?",
    "/api/push?",
    "/api/attention-webhook?",
    "/terminal/S/token?",
    "/preview/S/5173/?",
    "/mcp?",
    "/mcp/S/N?cmd=cat&keep=0",
  ],
];
/** Routes of one browser's login, which its cookie alone decides, and those that know nobody or one secret. */
const NOT_ASKED = ["/login", "/callback", "/logout", "/api/me/renew", "/healthz", "/metrics", "/api/openapi.json"];
const OF_NOBODY = /^\/(\.well-known\/.*|internal\/bell|\*|api\/\*)$/;

/** Of the routes of the Worker's code, those that no request of a search goes to. */
export function neverAsked(routes: readonly string[]): string[] {
  const named = (path: string) => path.replace(/\bS\b/, "s").replace(/\bN\b/, "n").replace(/\bI\b/, "i");
  const paths = [...Object.values(UPGRADES), ...CALLS, ...OTHER_CALLS].map(named);
  const requests = ["GET", "POST", "PUT", "DELETE"].flatMap((method) => paths.map((path) => `${method} ${path}`));
  const wanted = routes.filter((route) => {
    const path = route.split(" ")[1] ?? "";
    return !NOT_ASKED.includes(path) && !OF_NOBODY.test(path);
  });
  return routesWithout(requests, wanted);
}

/** Where a token stands; `basic` and `begin`, the first message, count on ttyd's routes alone. */
type Carrier = "header" | "subprotocol" | "query" | "basic" | "begin";

export type Ask = {
  readonly method: string;
  readonly target: string;
  readonly isUpgrade: boolean;
  readonly carrier: Carrier;
  readonly headers: readonly string[];
  readonly protocols: readonly string[];
  readonly body: string;
};

const isUpgraded = (route: string) => Object.values(UPGRADES).includes(route);

function bodiesFor({ sandbox, session, who, ids }: Belongings): readonly object[] {
  return [
    {},
    { sandbox, session, role: "driver" },
    { sub: who.sub },
    { jti: ids[1] },
    { role: "driver", guests: true, seconds: 60 },
    { cmd: "true", keepSeconds: 0, timeoutMs: 0 },
    { until: { exit: true }, timeoutMs: 0 },
    { text: "hers" },
    { signal: "SIGTERM" },
    { do: "take" },
    { do: "ask", reason: "hers" },
    { endpoint: `https://push.example.com/${who.sub}` },
    { cols: 10, rows: 10 },
    { layout: { tabs: [] } },
    { preferences: { hers: 1 } },
    { url: null },
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    { jsonrpc: "2.0", id: 1, method: "initialize", params: {} },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "read", arguments: { sandbox, session } } },
  ];
}

/** Each route, by each method and with each body that it may take, by the asker's token and the owner's names. */
function plainAsks(own: Belongings): readonly Ask[] {
  const { sandbox, session, ids } = own;
  const plain = { carrier: "header", protocols: [] } as const;
  const headers = ["Accept: application/json, text/event-stream", "Content-Type: application/json"];
  const bodies = bodiesFor(own).map((body) => JSON.stringify(body));
  return [...Object.values(UPGRADES), ...CALLS, ...OTHER_CALLS].flatMap((route): Ask[] => {
    const isUpgrade = isUpgraded(route);
    const target = route.replace(/\bS\b/, sandbox).replace(/\bN\b/, session).replace(/\bI\b/, String(ids[1]));
    if (isUpgrade) return [{ ...plain, method: "GET", target, isUpgrade, headers: [], body: "" }];
    const empty = ["GET", "DELETE"].map((method) => ({ ...plain, method, target, isUpgrade, headers, body: "" }));
    const full = bodies.map((body) => ({ ...plain, method: "POST", target, isUpgrade, headers, body }));
    return [...empty, ...full, ...full.map((ask) => ({ ...ask, method: "PUT" }))];
  });
}

/** A request of anybody's to any route, with what is the owner's wherever there is a place for it. */
export function asks(own: Belongings): fc.Arbitrary<Ask> {
  const { sandbox, session, keys, ids, who } = own;
  const missing = DIALECT_ROUTES.find((row) => UPGRADES[row.path] === undefined);
  if (missing !== undefined) throw new Error(`No request is made of the path ${missing.path}`);
  const encoded = `%${sandbox.charCodeAt(0).toString(16)}${sandbox.slice(1)}`;
  const others = [sandbox.toUpperCase(), encoded, session, "default", "..", `${sandbox}%2f..`, ...keys];
  const names = [encodeURIComponent(who.org), "main", ...keys, ...ids];
  const place = fc.record({
    route: fc.oneof(fc.constantFrom(...Object.values(UPGRADES)), fc.constantFrom(...CALLS, ...CALLS, ...OTHER_CALLS)),
    sandbox: fc.oneof({ weight: 2, arbitrary: fc.constant(sandbox) }, fc.constantFrom(...others)),
    name: fc.oneof(fc.constant(session), fc.constantFrom(...names)),
    id: fc.constantFrom(...ids),
  });
  const extras = fc.record({
    carrier: fc.constantFrom<Carrier>("header", "header", "header", "subprotocol", "query", "basic", "begin"),
    ticket: fc.option(fc.constantFrom(...own.tickets), { freq: 3 }),
    ticketIn: fc.constantFrom("query", "header", "subprotocol"),
    resume: fc.option(fc.constantFrom(own.resume, `${own.resume}x`), { freq: 3 }),
    role: fc.option(fc.constantFrom("viewer", "driver")),
    cookie: fc.boolean(),
    origin: fc.option(fc.constantFrom(own.site.origin, ASKERS_ORIGIN)),
    spoken: fc.constantFrom(undefined, "stdio.v1", "tty", "pds-pty"),
    method: fc.constantFrom("GET", "GET", "POST", "DELETE", "PUT"),
    body: fc.constantFrom(...bodiesFor(own)),
    accept: fc.constantFrom("*/*", "text/event-stream", "application/json, text/event-stream"),
  });
  return fc.tuple(place, extras).map(([at, extra]) => {
    const isUpgrade = isUpgraded(at.route);
    const path = at.route.replace(/\bS\b/, at.sandbox).replace(/\bN\b/, at.name).replace(/\bI\b/, at.id);
    const { ticket, ticketIn, carrier, spoken } = extra;
    const inQuery = { ticket: ticketIn === "query" ? ticket : null, resume: extra.resume, role: extra.role };
    const query = Object.entries(inQuery).flatMap(([name, value]) =>
      value === null ? [] : [`&${name}=${encodeURIComponent(value)}`],
    );
    const method = isUpgrade ? "GET" : extra.method;
    // Before a token in the query the owner's cookie would count, and be what it is: the owner's.
    const mayHaveCookie = carrier === "header" || (carrier === "subprotocol" && isUpgrade);
    return {
      ...{ method, isUpgrade, carrier, target: `${path}${query.join("")}` },
      headers: [
        ...(extra.cookie && mayHaveCookie ? [`Cookie: ${own.cookie}`] : []),
        ...(isUpgrade ? [] : [`Accept: ${extra.accept}`, "Content-Type: application/json"]),
        ...(extra.origin === null ? [] : [`Origin: ${extra.origin}`]),
        ...(ticket !== null && ticketIn === "header" ? [`X-Stdio-Ticket: ${ticket}`] : []),
      ],
      protocols: [
        ...(spoken === undefined ? [] : [spoken]),
        ...(ticket !== null && ticketIn === "subprotocol" ? [`ticket.${ticket}`] : []),
      ],
      body: method === "GET" ? "" : JSON.stringify(extra.body),
    };
  });
}

/** Sends it as somebody. A client of ttyd's says its first message, without which nobody is attached there. */
export function send({ origin }: Site, who: Person, ask: Ask): Promise<RawAnswer> {
  const { method, isUpgrade, carrier, body } = ask;
  const basic = Buffer.from(`any:${who.token}`).toString("base64");
  const protocols = [...ask.protocols, ...(carrier === "subprotocol" ? [`bearer.${who.token}`] : [])];
  const headers = [
    ...(isUpgrade ? UPGRADE : []),
    ...(carrier === "header" ? [`Authorization: Bearer ${who.token}`] : []),
    ...(carrier === "basic" ? [`Authorization: Basic ${basic}`] : []),
    ...(isUpgrade && protocols.length > 0 ? [`Sec-WebSocket-Protocol: ${protocols.join(", ")}`] : []),
    ...ask.headers,
  ];
  const begin = { AuthToken: carrier === "begin" ? basic : "", columns: 80, rows: 24 };
  return rawRequest(origin, `${ask.target}${carrier === "query" ? `&token=${who.token}` : ""}`, {
    ...{ method, body, headers, patienceMs: 250, ...(isUpgrade ? {} : { silenceMs: 2_000 }) },
    ...(ask.target.startsWith("/terminal/") ? { first: JSON.stringify(begin) } : {}),
  });
}

/** Most of the time is waiting. */
const SIDE_BY_SIDE = 10;
/** Fewer than anybody may ask in a minute, by either count: what is refused for its number shows nothing. */
const ASKS_EACH = 150;
/** A long search says how far it is. */
const PROGRESS_ASKS = 5_000;

/**
 * Asks each route plainly, then at random, and throws where an answer holds a secret of the owner's that the asker did not name.
 * @param nextAsker Somebody who has asked nothing yet.
 * @returns How often each status, with the code of a WebSocket's close, was answered.
 */
export async function search(
  own: Belongings,
  nextAsker: () => Promise<Person>,
  { seed, runs }: { readonly seed: number; readonly runs: number },
): Promise<Readonly<Record<string, number>>> {
  const answers: Record<string, number> = {};
  const one = async (asker: Person, ask: Ask) => {
    const { status, body, code } = await send(own.site, asker, ask);
    const kind = code === undefined ? String(status) : `${status} ${code}`;
    answers[kind] = (answers[kind] ?? 0) + 1;
    const isUnsupported = status === 501 && /^\/v1\/(sandbox|pool)/.test(ask.target);
    // A process that has just ended can't be asked, and one that has just begun has no screen.
    const isAway = status === 503 && /"error":"[a-z_]+"/.test(body);
    if (status >= 500 && !isUnsupported && !isAway) throw new Error(`Answered ${status}: ${body}`);
    // A refusal names what was asked for: what the asker said they may hear again.
    const unsaid = own.secrets.filter((secret) => !ask.target.includes(secret) && !ask.body.includes(secret));
    // A tenant's record says whom its people have revoked, in their own words.
    const said = ask.target.startsWith("/api/audit") ? body.replaceAll(/"(?:sub|jti)":"[^"]*"/g, "") : body;
    const told = unsaid.filter((secret) => said.includes(secret));
    if (told.length > 0) throw new Error(`Told ${told.join(" and ")}: ${body}`);
  };
  const several = fc.array(asks(own), { minLength: SIDE_BY_SIDE, maxLength: SIDE_BY_SIDE });
  let asked = 0;
  let asker: Person | undefined;
  const all = async (list: readonly Ask[]) => {
    if (asker === undefined || asked % ASKS_EACH === 0) asker = await nextAsker();
    const by = asker;
    await Promise.all(list.map((ask) => one(by, ask)));
    asked += SIDE_BY_SIDE;
    if (asked % PROGRESS_ASKS === 0) console.log(`${asked} asked: ${JSON.stringify(answers)}`);
  };
  const property = fc.asyncProperty(several, all);
  const interruptAfterTimeLimit = Number(process.env.FUZZ_SECONDS ?? 3_600) * 1000;
  // In a long search the owner would be taken for one who has gone.
  const pings = setInterval(() => own.client.say({ type: "ping" }), 10_000);
  try {
    const plain = plainAsks(own);
    for (let at = 0; at < plain.length; at += SIDE_BY_SIDE) await all(plain.slice(at, at + SIDE_BY_SIDE));
    const numRuns = Math.ceil(runs / SIDE_BY_SIDE);
    await fc.assert(property, { seed, numRuns, interruptAfterTimeLimit, markInterruptAsFailure: false });
  } finally {
    clearInterval(pings);
  }
  console.log(JSON.stringify(answers));
  return answers;
}
