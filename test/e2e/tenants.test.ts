// A property: whatever somebody of one tenant asks for, by whatever names, ids, tickets, proofs and cookies of another tenant's,
// beside a token of their own, no object of the other tenant is reached. `SEED=…` repeats a run, `FUZZ_RUNS=…` makes it longer.
import fc from "fast-check";
import { expect, test } from "vitest";
import { sandboxKey, sessionKey } from "../../worker/src/auth/names.ts";
import { type AuditRecord, auditOf, auditorOf } from "./support/audit.ts";
import { connect, refusedSocket } from "./support/client.ts";
import { loginCookie } from "./support/login.ts";
import { type RawAnswer, rawRequest, UPGRADE } from "./support/raw-http.ts";
import { api, fresh, type Person, person, system } from "./support/system.ts";

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.FUZZ_RUNS ?? 300);
/** Where one of Bob's tickets is good, and where she is. From there it would let anybody in: that is what tickets are for. */
const ORIGIN = "https://elsewhere.example";
const HER_ORIGIN = "https://her-own.example";

/** All that somebody could have come by of Bob's, and what must never be told of him. */
async function bobsSession() {
  const who = await auditorOf(await person());
  const session = fresh("bobs");
  const client = await connect(who, { sandbox: "default", session, cmd: "cat" });
  const hello = await client.hello();
  const marker = fresh("marker");
  client.type(`${marker}\n`);
  await client.output(`${marker}\n`);
  const path = `/api/sandboxes/default/sessions/${session}`;
  const post = async (to: string, body: object, headers = {}) =>
    (await (await api(who, to, { method: "POST", body: JSON.stringify(body), headers })).json()) as Record<
      string,
      string
    >;
  const spent = (await post("/api/tickets", { session, role: "viewer" })).ticket ?? "";
  await (await connect(undefined, { ticket: spent }, { tokenIn: "nowhere" })).leave();
  const elsewhere = (await post("/api/tickets", { session }, { Origin: ORIGIN })).ticket ?? "";
  const kept = await post(`${path}/share`, { role: "viewer", guests: true });
  const revoked = await post(`${path}/share`, { role: "driver", guests: true });
  expect((await api(who, `${path}/tickets/${revoked.id}`, { method: "DELETE" })).status).toBe(204);
  const tenant = { issuer: system.issuerUrl, tenantClaim: "org_id", tenantValue: who.org } as const;
  return {
    ...{ who, session, client, marker, path, kept },
    secrets: [marker, String(hello.incarnation), who.sub],
    ids: [String((hello.you as { id: string }).id), String(kept.id), String(revoked.id)],
    keys: [await sandboxKey(tenant, "default"), await sessionKey(tenant, "default", session)],
    tickets: [spent, elsewhere, String(revoked.ticket), `${String(kept.ticket).slice(0, -3)}AAA`],
    resume: String(hello.resume),
    cookie: await loginCookie(who.sub, who.org),
  };
}
type Bob = Awaited<ReturnType<typeof bobsSession>>;

/** What Bob can see of his own: it must not change. */
async function stateOf({ who, path, session }: Bob) {
  const read = async (to: string) => (await api(who, to)).json();
  return {
    listing: await read("/api/sandboxes/default/sessions"),
    tickets: await read(`${path}/tickets`),
    audit: await auditOf(who, session),
  };
}

type Ask = { method: string; target: string; isUpgrade: boolean; headers: string[]; body: string };

/** A request of anybody's to any route, with what is Bob's wherever there is a place for it. */
function asks(bob: Bob): fc.Arbitrary<Ask> {
  const sandbox = fc.constantFrom(
    "default",
    "default",
    "default",
    "default",
    "DEFAULT",
    "%64efault",
    bob.session,
    "..",
    "default%2f..",
    ...bob.keys,
  );
  const name = fc.constantFrom(
    ...Array.from({ length: 5 }, () => bob.session),
    encodeURIComponent(bob.who.org),
    "main",
    ...bob.keys,
    ...bob.ids,
  );
  const id = fc.constantFrom(...bob.ids);
  const upgrades = fc
    .tuple(sandbox, name, fc.constantFrom("/attach", "addon", "pty", "shared", "json", "ttyd", "ttyd/ws"))
    .map(([s, n, route]): string => {
      if (route === "addon") return `/ws/terminal?id=${s}&session=${n}`;
      if (route === "pty") return `/v1/sandboxes/${s}/exec/pty?session=${n}`;
      if (route === "shared") return `/v1/sandboxes/${s}/exec/pty/shared?session=${n}`;
      if (route === "json") return `/sandbox/terminal?sessionId=${s}:${n}`;
      if (route === "ttyd") return `/terminal/${s}?session=${n}`;
      if (route === "ttyd/ws") return `/terminal/${s}/ws?session=${n}`;
      return `/attach?sandbox=${s}&session=${n}&keep=0`;
    });
  const calls = fc
    .tuple(
      sandbox,
      name,
      id,
      fc.constantFrom("", "one", "audit", "tickets", "ticket", "share", "/tickets", "/revocations", "/me"),
    )
    .map(([s, n, i, route]): string => {
      if (route.startsWith("/")) return `/api${route}?`;
      const at = `/api/sandboxes/${s}/sessions`;
      if (route === "") return `${at}?`;
      if (route === "one") return `${at}/${n}?`;
      return route === "ticket" ? `${at}/${n}/tickets/${i}?` : `${at}/${n}/${route}?`;
    });
  const extras = fc.record({
    ticket: fc.option(fc.constantFrom(...bob.tickets), { freq: 3 }),
    resume: fc.option(fc.constantFrom(bob.resume, `${bob.resume}x`), { freq: 3 }),
    role: fc.option(fc.constantFrom("viewer", "driver")),
    cookie: fc.option(fc.constant(bob.cookie)),
    origin: fc.option(fc.constantFrom(system.origin, HER_ORIGIN)),
    spoken: fc.constantFrom(undefined, "stdio.v1", "tty", "pds-pty"),
    method: fc.constantFrom("GET", "GET", "POST", "DELETE", "PUT"),
    body: fc.constantFrom<object>(
      {},
      { sandbox: "default", session: bob.session, role: "driver" },
      { sub: bob.who.sub },
      { jti: bob.ids[1] },
      { role: "driver", guests: true, seconds: 60 },
    ),
  });
  return fc.tuple(fc.oneof(upgrades, calls), extras).map(([path, extra]) => {
    const isUpgrade = !path.startsWith("/api");
    const query = (["ticket", "resume", "role"] as const).flatMap((key) => {
      const value = extra[key];
      return value === null ? [] : [`&${key}=${encodeURIComponent(value)}`];
    });
    const method = isUpgrade ? "GET" : extra.method;
    return {
      ...{ method, isUpgrade, target: `${path}${query.join("")}` },
      headers: [
        ...(isUpgrade ? UPGRADE : []),
        ...(isUpgrade && extra.spoken !== undefined ? [`Sec-WebSocket-Protocol: ${extra.spoken}`] : []),
        ...(extra.cookie === null ? [] : [`Cookie: ${extra.cookie}`]),
        ...(extra.origin === null ? [] : [`Origin: ${extra.origin}`]),
      ],
      body: method === "GET" ? "" : JSON.stringify(extra.body),
    };
  });
}

const send = (who: Person, { method, target, headers, body }: Ask): Promise<RawAnswer> =>
  rawRequest(system.origin, target, {
    ...{ method, body, patienceMs: 250 },
    headers: [`Authorization: Bearer ${who.token}`, ...headers],
  });

test("no request of one tenant's reaches an object of another's", { timeout: 60_000 + runs * 1_000 }, async () => {
  console.log(`seed ${seed}`);
  const bob = await bobsSession();
  // The same requests with Bob's own token do find him: what is looked for can be seen.
  const own = await send(bob.who, { method: "GET", target: bob.path, isUpgrade: false, headers: [], body: "" });
  expect(bob.secrets.filter((secret) => own.body.includes(secret))).toEqual([bob.secrets[1]]);
  const alice = await auditorOf(await person());
  const before = await stateOf(bob);
  const heard = bob.client.received.length;
  // In a long search he would be taken for one who has gone.
  const pings = setInterval(() => bob.client.say({ type: "ping" }), 10_000);
  const answers: Record<string, number> = {};
  const property = fc.asyncProperty(asks(bob), async (ask) => {
    const { status, body, code } = await send(alice, ask);
    const kind = code === undefined ? String(status) : `${status} ${code}`;
    answers[kind] = (answers[kind] ?? 0) + 1;
    expect(status).toBeLessThan(500);
    // A refusal names what was asked for: what she said herself she may hear again.
    const unsaid = bob.secrets.filter((secret) => !ask.target.includes(secret) && !ask.body.includes(secret));
    expect(unsaid.filter((secret) => body.includes(secret))).toEqual([]);
  });
  const limit = Number(process.env.FUZZ_SECONDS ?? 3_600) * 1000;
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: limit, markInterruptAsFailure: false });
  clearInterval(pings);
  console.log(JSON.stringify(answers));
  const asked = Object.values(answers).reduce((sum, count) => sum + count, 0);
  // Sessions of her own were opened, and calls of her own answered: of 300 about 26, give or take 5.
  expect((answers["101 0"] ?? 0) + (answers["200"] ?? 0)).toBeGreaterThan(asked / 100);

  const after = await stateOf(bob);
  expect(after.listing).toEqual(before.listing);
  expect(after.tickets).toEqual(before.tickets);
  // That somebody came with a ticket that is good no more is on his record, and nothing else.
  const added: AuditRecord[] = after.audit.slice(before.audit.length);
  expect(after.audit.slice(0, before.audit.length)).toEqual(before.audit);
  expect(added.filter(({ type }) => type !== "refused")).toEqual([]);
  const pong = '{"type":"pong"}';
  expect(bob.client.received.slice(heard).filter((one) => one.kind !== "control" || one.text !== pong)).toEqual([]);
  bob.client.type("his own\n");
  await bob.client.output(`${bob.marker}\nhis own\n`);
  const guest = await connect(undefined, { ticket: String(bob.kept.ticket) }, { tokenIn: "nowhere" });
  expect((await guest.hello()).incarnation).toBe(bob.secrets[1]);
  // And what she has of his is still of no use without a token.
  expect((await refusedSocket(undefined, { session: bob.session, resume: bob.resume })).code).toBe(4401);
});
