import { afterEach, expect, test } from "vitest";
import { foreignRefused } from "../support/clients/foreign-client.ts";
import { dropTtydClients, TtydClient, type TtydClientOptions } from "../support/clients/ttyd-client.ts";
import { jsonPath, ptyPath } from "../support/generators/foreign-routes.ts";
import { api, fresh, mint, type Person, person, system } from "../support/system/system.ts";

afterEach(dropTtydClients);

const urlOf = (project: string, part = "") => `${system.origin.replace(/^http/, "ws")}/terminal/${project}${part}`;
const pair = ({ token }: Person, user = "someone") => Buffer.from(`${user}:${token}`).toString("base64");
/** Comes with nothing but its first message. */
const begins = (project: string, AuthToken: string, options: TtydClientOptions = {}, part = "") =>
  TtydClient.connect(urlOf(project, part), {
    first: JSON.stringify({ AuthToken, columns: 93, rows: 31 }),
    ...options,
  });

async function sessionsOf(who: Person, project: string): Promise<number> {
  const answer = await api(who, `/api/sandboxes/${project}/sessions`);
  return ((await answer.json()) as { sessions: unknown[] }).sessions.length;
}

test.each<[string, (who: Person) => string, string, readonly string[]]>([
  ["the token itself", ({ token }) => token, "", ["tty"]],
  ["no user but a token, of a client without a subprotocol", (who) => pair(who, ""), "", []],
])("AuthToken opens a session: %s", async (_name, tokenOf, part, protocols) => {
  const [who, project] = [await person(), fresh("project")];
  const client = await begins(project, tokenOf(who), { protocols }, part);
  // What is typed while the token is looked at is not lost.
  client.type("stty size; echo ear''ly\r");
  await client.shows("early");
  await client.shows("31 93");
  client.type("exit 3\r");
  expect(await client.end()).toEqual({ code: 1000, reason: "" });
});

test.each<[string, (who: Person) => string | Promise<string>]>([
  ["no token", () => "secret"],
  ["expired", ({ sub, org }) => mint({ sub, org, expires: -60 })],
])("an AuthToken that is %s: 4401, and nothing was started", async (_name, tokenOf) => {
  const [who, project] = [await person(), fresh("project")];
  const client = await begins(project, await tokenOf(who));
  expect(await client.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  expect(client.received.map(({ bytes }) => bytes.toString())).toEqual(['2{"disableReconnect":true}']);
  expect(await sessionsOf(who, project)).toBe(0);
});

test.each<[string, string]>([["input", "0id\r"]])("who says first %s is closed with 4401", async (_name, first) => {
  const client = await TtydClient.connect(urlOf(fresh("project")), { first });
  expect(await client.end()).toEqual({ code: 4401, reason: "Unauthorized" });
});

test("no more than 10 of one address wait to say who they are, and others are let in meanwhile", async () => {
  const address = `198.51.100.${1 + Math.floor(Math.random() * 250)}`;
  const headers = { "CF-Connecting-IP": address };
  const [who, project] = [await person(), fresh("project")];
  const waiting = await Promise.all(
    Array.from({ length: 10 }, () => TtydClient.connect(urlOf(project), { first: "", headers })),
  );
  expect((await (await begins(project, who.token, { headers })).end()).code).toBe(4429);
  const withToken = await TtydClient.connect(urlOf(project), {
    headers: { ...headers, Authorization: `Bearer ${who.token}` },
  });
  await withToken.shows(/[$#] /);
  for (const one of waiting) expect((await one.end()).code).toBe(4401);
  await (await begins(project, who.token, { headers })).shows(/[$#] /);
});

test("Basic credentials hold the token as their password, on each of ttyd's routes and on no other", async () => {
  const [who, project] = [await person(), fresh("project")];
  const headers = { Authorization: `Basic ${pair(who)}` };
  for (const part of ["", "/ws"]) {
    const client = await TtydClient.connect(urlOf(project, part), { headers });
    await client.shows(/[$#] /);
  }
  const tokenAt = async (authorization: string) => {
    const answer = await fetch(`${system.origin}/terminal/${project}/token`, {
      headers: { Authorization: authorization },
    });
    return [answer.status, await answer.text()];
  };
  // What ttyd's page asks for, and then says first.
  expect(await tokenAt(headers.Authorization)).toEqual([200, `{"token": "${pair(who)}"}`]);
  const bad = `Basic ${pair({ ...who, token: await mint({ ...who, expires: -60 }) })}`;
  expect((await tokenAt(bad))[0]).toBe(401);
  expect((await (await TtydClient.connect(urlOf(project), { headers: { Authorization: bad } })).end()).code).toBe(4401);
  for (const path of [
    ptyPath(project),
    jsonPath(project),
    `/ws/terminal?id=${project}`,
    `/attach?sandbox=${project}`,
  ]) {
    expect((await foreignRefused(undefined, path, { headers })).status).toBe(401);
  }
  expect((await fetch(`${system.origin}/api/sandboxes/${project}/sessions`, { headers })).status).toBe(401);
});

test("Basic credentials, which a browser adds by itself, count from our own page alone", async () => {
  const [who, project] = [await person(), fresh("project")];
  const headers = { Authorization: `Basic ${pair(who)}` };
  const ours = await TtydClient.connect(urlOf(project), { headers: { ...headers, Origin: system.origin } });
  await ours.shows(/[$#] /);
  for (const Origin of ["https://evil.example", "null"]) {
    const stranger = TtydClient.connect(urlOf(project), { headers: { ...headers, Origin } });
    await expect(stranger).rejects.toThrow("403");
  }
});
