// Requests that pretend: headers as the Worker, a proxy or the platform would set them, and names that are paths.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sandboxKey } from "../../../worker/src/auth/names.ts";
import { auditOf, said } from "../support/clients/audit.ts";
import { connect, type Params, refusedHttp, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { rawRequest, UPGRADE } from "../support/clients/raw-http.ts";
import { api, fresh, mint, type Person, person, system } from "../support/system/system.ts";

const MARKER = "only-for-alice";

describe("headers that only the Worker, a proxy or the platform sets", () => {
  let alice: Person;
  let hers: TestClient;
  let smuggled: Record<string, string>;
  let session: string;

  beforeEach(async () => {
    alice = await person();
    session = fresh("s");
    hers = await connect(alice, { session, cmd: "cat" });
    await hers.hello();
    hers.type(MARKER);
    await hers.output(MARKER);
    const tenant = { issuer: system.issuerUrl, tenantClaim: "org_id", tenantValue: alice.org } as const;
    const own = { persons: [{ subject: alice.sub }], tokenIds: [] };
    // As the Worker says it to Alice's own session.
    const spec = {
      dialect: "stdio",
      subprotocol: "stdio.v1",
      refusal: "close",
      sandboxKey: await sandboxKey(tenant, "default"),
      session,
      query: { sandbox: "default", session, process: { cmd: "cat", args: [], env: [] }, name: "root", role: "driver" },
      isTransient: false,
      who: {
        ...own,
        own,
        subject: alice.sub,
        name: "Alice",
        bearer: tenant,
        mayExec: true,
        isAdmin: true,
        mayCreate: true,
      },
      actor: { tenant: alice.org, user: alice.sub, address: "192.0.2.1" },
      pass: { connection: "forged", address: "192.0.2.1", homeKey: "0".repeat(60) },
    };
    smuggled = {
      "x-attach": encodeURIComponent(JSON.stringify(spec)),
      "X-Sandbox": "default",
      "X-Tenant": alice.org,
      "X-User": alice.sub,
      "X-Role": "admin",
      "X-Scope": "sandbox:admin",
      "X-Forwarded-For": "192.0.2.1",
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-User": alice.sub,
      "X-Real-IP": "192.0.2.1",
      "X-Original-URL": `/api/sandboxes/default/sessions/${session}`,
      "X-Rewrite-URL": `/api/sandboxes/default/sessions/${session}`,
      "X-HTTP-Method-Override": "DELETE",
      Forwarded: "for=192.0.2.1;host=evil.example",
      "True-Client-IP": "192.0.2.1",
      "Cf-Access-Authenticated-User-Email": "alice@example.test",
      "Cf-Access-Jwt-Assertion": alice.token,
      "Cf-Worker": "evil.example",
      "Cf-Ray": "1",
    };
  });

  test("make nobody somebody: without a token the answer is that to nobody", async () => {
    const params = { session, cmd: "cat" };
    expect(await refusedSocket(undefined, params, { headers: smuggled })).toEqual(
      await refusedSocket(undefined, params),
    );
    const plain = await refusedHttp(undefined, params, { headers: smuggled });
    expect([plain.status, JSON.parse(plain.body).error]).toEqual([401, "no_token"]);
    const listing = await api(undefined, "/api/sandboxes/default/sessions", { headers: smuggled });
    expect([listing.status, JSON.parse(await listing.text()).error]).toEqual([401, "no_token"]);
  });

  test("give a token no tenant, role, scope, method or address that it does not have", async () => {
    const mallory = await person();
    const his = await connect(mallory, { session, cmd: "cat", mode: "exclusive" }, { headers: smuggled });
    const hello = await his.hello();
    const { incarnation } = await hers.hello();
    expect(hello.incarnation).not.toBe(incarnation);
    expect(hello).toMatchObject({
      offset: 0,
      mode: "exclusive",
      you: { role: "driver", name: mallory.sub.replace(/^p/, "P") },
    });
    expect(hello.participants).toEqual([hello.you]);
    his.say({ type: "force_take" });
    expect(await his.message("error")).toEqual({ type: "error", code: "not_allowed", message: "not allowed" });
    const method = { headers: smuggled, method: "GET" };
    expect((await api(mallory, `/api/sandboxes/default/sessions/${session}`, method)).status).toBe(200);
    expect((await api(mallory, `/api/sandboxes/default/sessions/${session}/audit`, method)).status).toBe(403);
    await his.leave();

    // Alice's is as it was, and knows nothing of him.
    hers.type("still hers");
    await hers.output(`${MARKER}still hers`);
    expect([hers.messages("join"), hers.messages("bye")]).toEqual([[], []]);
    expect(his.text()).toBe("");

    const simple = fresh("s");
    await (await connect(mallory, { session: simple, cmd: "cat" })).hello();
    const [withHeaders, without] = [await auditOf(mallory, session), await auditOf(mallory, simple)];
    const who = ({ tenant, user, address }: Record<string, unknown>) => ({ tenant, user, address });
    const [attached, usual] = [withHeaders, without].map((records) => {
      const record = records.find(({ type }) => type === "attach");
      return record === undefined ? undefined : who(said(record));
    });
    expect(attached).toEqual(usual);
    expect(attached).toMatchObject({ tenant: mallory.org, user: mallory.sub });
    expect(attached?.address).not.toBe("192.0.2.1");
  });

  test.each<[string, (good: string) => string[], string]>([
    ["the same token twice", (good) => [`Bearer ${good}`, `Bearer ${good}`], "malformed"],
    ["another scheme and a good token", (good) => ["Basic eA==", `Bearer ${good}`], "no_token"],
  ])("Authorization twice, %s: neither counts", async (_name, values, error) => {
    const headers = values(await mint({ sub: alice.sub, org: alice.org })).map((value) => `Authorization: ${value}`);
    const listing = await rawRequest(system.origin, "/api/sandboxes/default/sessions", { headers });
    expect([listing.status, JSON.parse(listing.body).error]).toEqual([401, error]);
    const upgrade = await rawRequest(system.origin, `/attach?session=${session}`, {
      headers: [...headers, ...UPGRADE],
    });
    expect([upgrade.status, JSON.parse(upgrade.body).error]).toEqual([401, error]);
  });
});

/** Percent-decoded by nobody, or by those who should: none of them is a name. */
const NO_NAMES = [
  "..%2fb",
  "default%2Fsessions%2Fmain",
  "%00",
  // Overlong UTF-8 of a dot, of a slash; a byte that is no UTF-8; percent signs that encode nothing.
  "%c0%ae%c0%ae",
  "%ff",
  "%zz",
  // Look-alikes of "admin" and "dev", and what does not show.
  "%D0%B0dmin",
  "dev%0d%0aX:y",
  "x".repeat(8_000),
];
/** In a path, a URL's own steps and separators: they lead to another path, which is no route. In a query they are no names. */
const STEPS = ["..", ".", "%2e%2e", "%2E", "a/b", "dev\\x"];
/** What is no URL at all. */
const NO_URLS = ["dev\u00e9", "a b"];

describe("a name that is none opens nothing and makes nothing", () => {
  /** Those of sandboxes, where they are this machine's. */
  const directories = () => (system.sandboxesDir === "" ? [] : readdirSync(system.sandboxesDir));
  let who: Person;
  let before: string[];
  beforeAll(async () => {
    who = await person({ scope: "sandbox:admin sandbox:exec sandbox:connect" });
    before = directories();
  });

  async function answer(target: string, isUpgrade: boolean): Promise<string> {
    const headers = [`Authorization: Bearer ${who.token}`, ...(isUpgrade ? UPGRADE : [])];
    const { status, body, code } = await rawRequest(system.origin, target, { headers });
    if (code !== undefined) return String(code);
    return `${status} ${/"error":"(\w+)"/.exec(body)?.[1] ?? ""}`.trim();
  }
  const answers = async (names: readonly string[], path: (name: string) => string, isUpgrade: boolean) =>
    Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await answer(path(name), isUpgrade)] as const)),
    );
  const all = (names: readonly string[], told: string) => Object.fromEntries(names.map((name) => [name, told]));

  test.each<[string, (name: string) => string, string]>([
    ["/attach?sandbox=", (name) => `/attach?sandbox=${name}&session=s&cmd=cat`, "400 bad_request"],
    ["/attach?session=", (name) => `/attach?sandbox=dev&session=${name}&cmd=cat`, "400 bad_request"],
    ["/ws/terminal?id=", (name) => `/ws/terminal?id=${name}`, "400 bad_request"],
    ["/ws/terminal?session=", (name) => `/ws/terminal?id=dev&session=${name}`, "400 bad_request"],
    ["/sandbox/terminal?sessionId=", (name) => `/sandbox/terminal?sessionId=${name}`, "401 wrong_session"],
    ["/sandbox/terminal?sessionId=dev:", (name) => `/sandbox/terminal?sessionId=dev:${name}`, "401 wrong_session"],
    ["/terminal/dev?session=", (name) => `/terminal/dev?session=${name}`, "4400"],
  ])("in the query, %s", async (_name, path, told) => {
    const names = [...NO_NAMES, ...STEPS];
    expect(await answers(names, path, true)).toEqual(all(names, told));
    expect(await answers(NO_URLS, path, true)).toEqual(all(NO_URLS, "400"));
  });

  test.each<[string, (name: string) => string, string]>([
    ["/v1/sandboxes/…/exec/pty", (name) => `/v1/sandboxes/${name}/exec/pty`, "400 bad_request"],
    ["/v1/sandboxes/…/exec/pty/shared", (name) => `/v1/sandboxes/${name}/exec/pty/shared`, "400 bad_request"],
    ["/terminal/…", (name) => `/terminal/${name}`, "4400"],
    ["/terminal/…/ws", (name) => `/terminal/${name}/ws`, "4400"],
  ])("in the path of a WebSocket, %s", async (_name, path, told) => {
    expect(await answers(NO_NAMES, path, true)).toEqual(all(NO_NAMES, told));
    expect(await answers(["a/b", "dev\\x"], path, true)).toEqual(all(["a/b", "dev\\x"], "404 not_found"));
    expect(await answers(NO_URLS, path, true)).toEqual(all(NO_URLS, "400"));
  });

  test.each<[string, (name: string) => string]>([
    ["/api/sandboxes/…/sessions", (name) => `/api/sandboxes/${name}/sessions`],
    ["/api/sandboxes/dev/sessions/…", (name) => `/api/sandboxes/dev/sessions/${name}`],
    ["/api/sandboxes/…/sessions/s/audit", (name) => `/api/sandboxes/${name}/sessions/s/audit`],
    ["/api/sandboxes/…/sessions/s/tickets", (name) => `/api/sandboxes/${name}/sessions/s/tickets`],
  ])("in the path of the API, %s", async (_name, path) => {
    expect(await answers(NO_NAMES, path, false)).toEqual(all(NO_NAMES, "400 bad_name"));
    expect(await answers(STEPS, path, false)).toEqual(all(STEPS, "404 not_found"));
    expect(await answers(NO_URLS, path, false)).toEqual(all(NO_URLS, "400"));
  });

  test("after all of it no session was made, and no directory", async () => {
    const listing = await api(who, "/api/sandboxes/dev/sessions");
    expect(await listing.json()).toEqual({ sessions: [] });
    expect(directories()).toEqual(before);
  });
});

test("upper and lower case are two names; a percent-encoded letter in a path is that letter", async () => {
  const who = await person();
  const params: Params = { sandbox: "dev", session: "main", cmd: "cat" };
  const client = await connect(who, params);
  const { incarnation } = await client.hello();
  const other = await connect(who, { ...params, sandbox: "DEV" });
  expect((await other.hello()).incarnation).not.toBe(incarnation);
  const found = async (path: string) => {
    const headers = [`Authorization: Bearer ${who.token}`];
    const { status, body } = await rawRequest(system.origin, path, { headers });
    return [status, /"incarnation":"([^"]+)"/.exec(body)?.[1]];
  };
  expect(await found("/api/sandboxes/%64ev/sessions/m%61in")).toEqual([200, incarnation]);
  expect(await found("/api/sandboxes/Dev/sessions/main")).toEqual([404, undefined]);
  expect(await found("/api/sandboxes/dev/sessions/Main")).toEqual([404, undefined]);
});

test("a CONNECT leads nowhere, and nothing is logged for it", async () => {
  const logged = () => readFileSync(join(system.dir, "logs/worker.log"), "utf8");
  const start = logged().length;
  // workerd takes every CONNECT. Nothing was reached: this one ends at once, with nothing in it.
  expect((await rawRequest(system.origin, "example.com:443", { method: "CONNECT" })).body).toBe("");
  // What is logged for a later request stands behind what was logged for this one.
  const after = `/api/sandboxes/${fresh("after")}/sessions`;
  await rawRequest(system.origin, after, {});
  await expect.poll(() => logged().slice(start)).toContain(after);
  expect(logged().slice(start)).not.toMatch(/uncaught|connect event/i);
});
