// Whoever asks is looked at wherever they ask: those who were revoked, those who have logged out, and pages of other origins.
import { expect, test } from "vitest";
import { connect, refusedHttp, refusedSocket } from "../support/clients/client.ts";
import { loginCookie } from "../support/clients/login.ts";
import { api, fresh, type Person, person, restartWorker, system } from "../support/system/system.ts";

const AT = "/api/sandboxes/default/sessions";
/** Every route of the API that asks who somebody is. */
const ROUTES: readonly (readonly [string, string])[] = [
  ["GET", "/api/me"],
  ["GET", AT],
  ["GET", `${AT}/s`],
  ["DELETE", `${AT}/s`],
  ["GET", `${AT}/s/audit`],
  ["POST", `${AT}/s/share`],
  ["GET", `${AT}/s/tickets`],
  ["DELETE", `${AT}/s/tickets/t`],
  ["POST", "/api/tickets"],
  ["POST", "/api/revocations"],
  ["GET", "/api/audit"],
];

async function answer(who: Person | undefined, [method, path]: readonly [string, string], headers = {}) {
  const response = await api(who, path, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
  return [response.status, ((await response.json()) as { error?: string }).error];
}

const revoke = async (admin: Person, body: object) =>
  expect((await api(admin, "/api/revocations", { method: "POST", body: JSON.stringify(body) })).status).toBe(204);

test("somebody who was revoked rules nothing by the API either", async () => {
  const mallory = await person({ scope: "sandbox:admin" });
  const admin = await person({ org: mallory.org, scope: "sandbox:admin" });
  const colleague = await person({ org: mallory.org });
  await (await connect(colleague, { session: "s", cmd: "cat" })).hello();
  await revoke(admin, { sub: mallory.sub });
  for (const route of ROUTES) expect([route, await answer(mallory, route)]).toEqual([route, [401, "revoked"]]);
  // Nor can they revoke those who revoked them, or look on from a login of theirs.
  expect((await api(admin, AT)).status).toBe(200);
  await expect(loginCookie(mallory.sub, mallory.org)).rejects.toThrow(/401.*revoked/s);
  expect((await api(colleague, `${AT}/s`)).status).toBe(200);
});

test("a cookie that was copied opens nothing once its person has logged out, and what rested on it ends", async () => {
  const [sub, org] = [fresh("person"), fresh("org")];
  const [Cookie, another] = [await loginCookie(sub, org), await loginCookie(sub, org)];
  const page = { Cookie, Origin: system.origin };
  const NOWHERE = { tokenIn: "nowhere" } as const;
  const session = fresh("s");
  const tab = await connect(undefined, { session, cmd: "cat" }, { ...NOWHERE, headers: page });
  await tab.hello();
  const made = await api(undefined, "/api/tickets", {
    method: "POST",
    headers: page,
    body: JSON.stringify({ session }),
  });
  const { ticket } = (await made.json()) as { ticket: string };
  const ticketed = await connect(undefined, { ticket }, { ...NOWHERE, headers: { Origin: system.origin } });
  const elsewhere = await connect(undefined, { session }, { ...NOWHERE, headers: { ...page, Cookie: another } });
  await Promise.all([ticketed.hello(), elsewhere.hello()]);
  const shared = await api(undefined, `${AT}/${session}/share`, {
    method: "POST",
    headers: page,
    body: '{"guests":true}',
  });
  const link = ((await shared.json()) as { ticket: string }).ticket;

  expect((await api(undefined, "/logout", { method: "POST", headers: page })).status).toBe(204);
  for (const client of [tab, ticketed]) expect((await client.end()).code).toBe(4401);
  for (const route of ROUTES) {
    expect([route, await answer(undefined, route, page)]).toEqual([route, [401, "revoked"]]);
  }
  expect((await refusedSocket(undefined, { session }, { ...NOWHERE, headers: page })).code).toBe(4401);
  await restartWorker();
  expect(await answer(undefined, ["GET", AT], page)).toEqual([401, "revoked"]);
  // The person's other browser, and a link for others, go on.
  expect((await api(undefined, AT, { headers: { Cookie: another } })).status).toBe(200);
  await (await connect(undefined, { ticket: link }, NOWHERE)).hello();
  const admin = await person({ org, scope: "sandbox:admin" });
  const { records } = (await (await api(admin, "/api/audit")).json()) as { records: object[] };
  expect(records).toMatchObject([{ type: "logout", user: sub }]);
});

test("A7: a cookie counts from our own page alone, an attach ticket from its own, a token from anywhere", async () => {
  const alice = await person();
  const session = fresh("s");
  const host = await connect(alice, { session, cmd: "cat" });
  await host.hello();
  const elsewhere = { Origin: "https://elsewhere.example" };
  const Cookie = await loginCookie(alice.sub, alice.org);
  for (const tokenIn of ["header", "subprotocol", "query"] as const) {
    await (await connect(alice, { session }, { tokenIn, headers: elsewhere })).hello();
  }
  const post = async (path: string, body: object) =>
    (await (await api(alice, path, { method: "POST", body: JSON.stringify(body) })).json()) as { ticket: string };
  const NOWHERE = { tokenIn: "nowhere" } as const;
  const share = (await post(`${AT}/${session}/share`, { guests: true })).ticket;
  await (await connect(undefined, { ticket: share }, { ...NOWHERE, headers: elsewhere })).hello();
  expect((await api(alice, `${AT}/${session}`, { headers: elsewhere })).status).toBe(200);

  const ticket = (await post("/api/tickets", { session })).ticket;
  const forbidden = [
    [{ session }, { ...elsewhere, Cookie }],
    [{ session }, { Cookie }],
    [{ ticket: share }, { ...elsewhere, Cookie }],
    [{ ticket }, elsewhere],
  ] as const;
  for (const [params, headers] of forbidden) {
    for (const protocols of [[], ["stdio.v1"]]) {
      const refusal = await refusedHttp(undefined, params, { ...NOWHERE, protocols, headers });
      expect([refusal.status, JSON.parse(refusal.body).error]).toEqual([403, "bad_origin"]);
    }
  }
  await (await connect(undefined, { session }, { ...NOWHERE, headers: { Cookie, Origin: system.origin } })).hello();
});
