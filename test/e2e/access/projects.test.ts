// A Project Service that says whose project a sandbox is, on a system of its own since it is a setting: whoever it refuses
// reaches nothing of the project, on any route and in any dialect, also within one tenant.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type ConnectOptions, connect, dropClients, type Params, refusedSocket } from "../support/clients/client.ts";
import { type RawAnswer, rawRequest, UPGRADE } from "../support/clients/raw-http.ts";
import { belongingsOf, heardSince, search, stateOf } from "../support/generators/belongings.ts";
import { ProjectService } from "../support/servers/project-service.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";

/** Of one person, at once; one more comes with a minute. */
const ATTEMPTS = 30;

let projects: ProjectService;
let system: System;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sbx-projects-"));
  projects = await ProjectService.listen();
  const limits = { LIMIT_ATTACHES_PER_MINUTE: "1", LIMIT_ATTACHES_BURST: String(ATTEMPTS) };
  system = await startSystem({
    dir,
    workerVars: { TENANT_CLAIM: "org_id", PROJECT_SERVICE_URL: projects.url, ...limits },
  });
});

afterEach(() => {
  projects.fault = undefined;
  dropClients();
});

afterAll(async () => {
  await system?.stop();
  await projects?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Two of one tenant, who may do everything there, and a project that is the first one's alone. */
async function team() {
  const [org, project] = [fresh("org"), fresh("project")];
  const member = async (): Promise<Person> => {
    const sub = fresh("person");
    return { sub, org, token: await system.mintToken({ sub, org, scope: "sandbox:admin" }) };
  };
  const [owner, other] = [await member(), await member()];
  projects.owns(owner.token, project, `user of ${owner.sub}`);
  return { project, owner, other };
}

const SERVER = () => ({ server: system.origin.replace(/^http/, "ws") });
const attach = (who: Person | undefined, params: Params, options: ConnectOptions = {}) =>
  connect(who, params, { ...SERVER(), ...options });
const refused = (who: Person | undefined, params: Params, options: ConnectOptions = {}) =>
  refusedSocket(who, params, { ...SERVER(), ...options });

async function post(
  who: Person,
  path: string,
  body: object,
): Promise<{ status: number; body: Record<string, string> }> {
  const headers = { Authorization: `Bearer ${who.token}` };
  const answer = await fetch(`${system.origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

const pathOf = (project: string) => `/api/sandboxes/${project}/sessions`;

/** Every way to a session `main` of a project. */
function ways(project: string): (readonly [way: string, body?: object])[] {
  const main = `${pathOf(project)}/main`;
  return [
    [`UPGRADE stdio.v1 /attach?sandbox=${project}&session=main`],
    [`UPGRADE stdio.v1 /attach?sandbox=${project}&session=main&role=viewer`],
    [`UPGRADE stdio.v1 /attach?sandbox=${project}`],
    [`UPGRADE - /attach?sandbox=${project}&session=main`],
    [`UPGRADE - /ws/terminal?id=${project}`],
    [`UPGRADE - /v1/sandboxes/${project}/exec/pty`],
    [`UPGRADE pds-pty /v1/sandboxes/${project}/exec/pty/shared`],
    [`UPGRADE - /sandbox/terminal?sessionId=${project}:main`],
    [`UPGRADE tty /terminal/${project}`],
    [`UPGRADE tty /terminal/${project}/ws`],
    [`GET - ${pathOf(project)}`],
    [`GET - ${main}`],
    [`GET - ${main}/audit`],
    [`GET - ${main}/tickets`],
    [`POST - ${main}/share`, { role: "driver", guests: true }],
    [`DELETE - ${main}/tickets/0123456789abcdef0123456789abcdef`],
    [`POST - /api/tickets`, { sandbox: project, session: "main" }],
    [`DELETE - ${main}`],
  ];
}

function go(who: Person, [way, body]: readonly [string, object?], patienceMs = 5_000): Promise<RawAnswer> {
  const [method = "", protocol = "", target = ""] = way.split(" ");
  const isUpgrade = method === "UPGRADE";
  const headers = [
    `Authorization: Bearer ${who.token}`,
    ...(isUpgrade ? UPGRADE : []),
    ...(protocol === "-" ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  const text = body === undefined ? "" : JSON.stringify(body);
  return rawRequest(system.origin, target, {
    method: isUpgrade ? "GET" : method,
    headers,
    body: text,
    // Who is let in says nothing more, and that is waited for.
    patienceMs,
  });
}

test("a member of the tenant whom the Project Service refuses reaches nothing of it, in no dialect", async () => {
  const { project, owner, other } = await team();
  const client = await attach(owner, { sandbox: project, session: "main", cmd: "cat", tty: 1 });
  const hello = await client.hello();
  client.type("hers\n");
  await client.output("hers\r\nhers\r\n");
  await client.until("its input to be on record", () => client.messages("stdin_ack").at(-1)?.offset === 5);
  const heard = client.received.length;
  for (const way of ways(project)) {
    const { status, code, body } = await go(other, way);
    expect([way[0], code ?? status]).toEqual([way[0], code === undefined ? 401 : 4401]);
    expect(body).not.toContain(String(hello.incarnation));
  }
  expect(client.received.slice(heard)).toEqual([]);
  const answer = await go(owner, [`GET - ${pathOf(project)}`]);
  const { sessions } = JSON.parse(answer.body) as { sessions: { session: string; clients: number }[] };
  expect(sessions).toMatchObject([{ session: "main", clients: 1 }]);
  // The same requests are answered to whom it lets in.
  projects.owns(other.token, project, "somebody else");
  const answers: [string, number][] = [];
  for (const way of ways(project)) answers.push([way[0], (await go(other, way, 300)).status]);
  const expected = (way: string) =>
    way.startsWith("UPGRADE") ? 101 : way.includes("/tickets/") ? 404 : way.startsWith("DELETE") ? 204 : 200;
  expect(answers).toEqual(ways(project).map(([way]) => [way, expected(way)]));
});

test("while the Project Service is down everybody is told so, and may come back", async () => {
  const { project, owner } = await team();
  projects.fault = { status: 500, body: "{}" };
  for (const way of ways(project)) {
    const { status, code, body } = await go(owner, way);
    expect([way[0], code ?? status]).toEqual([way[0], code === undefined ? 503 : 4503]);
    if (code === undefined) expect(JSON.parse(body)).toMatchObject({ error: "validator_unavailable" });
  }
  const { bye, code, reason } = await refused(owner, { sandbox: project });
  expect([bye?.retry, code, reason]).toEqual(["after", 4503, "Project Service unavailable"]);
});

test("who comes back with a resume is asked about again", async () => {
  const { project, owner } = await team();
  const client = await attach(owner, { sandbox: project, session: "main" });
  const { resume, you } = await client.hello();
  client.drop();
  const back = { sandbox: project, session: "main", resume: String(resume) };
  projects.disowns(owner.token, project);
  expect((await refused(owner, back)).code).toBe(4401);
  projects.owns(owner.token, project, "again");
  expect((await (await attach(owner, back)).hello()).you).toEqual(you);
  expect(projects.askedOf(project)).toBe(3);
});

test("nobody is asked about who may not drive, and about no more attempts than count", async () => {
  const { project, owner, other } = await team();
  const token = await system.mintToken({ sub: other.sub, org: other.org, scope: "sandbox:connect" });
  const looker = { ...other, token };
  expect((await refused(looker, { sandbox: project, session: "main" })).code).toBe(4403);
  expect(projects.askedOf(project)).toBe(0);
  // Each of these attempts counts, whichever dialect it comes by.
  const upgrades = ways(project).filter(([way]) => way.startsWith("UPGRADE"));
  const codes: number[] = [];
  while (codes.length < ATTEMPTS + 2 * upgrades.length) {
    for (const way of upgrades) {
      const { status, code = 4000 + status } = await go(other, way);
      codes.push(code);
    }
  }
  const count = (wanted: number) => codes.filter((code) => code === wanted).length;
  expect([count(4401), count(4429)]).toEqual([ATTEMPTS, codes.length - ATTEMPTS]);
  expect(projects.askedOf(project)).toBe(ATTEMPTS);
  // None of them holds a place: all of the address's are free.
  projects.owns(owner.token, project, "hers");
  const { you } = await (await attach(owner, { sandbox: project, session: "main" })).hello();
  expect(you).toMatchObject({ role: "driver" });
});

test("a fresh token on a connection that lives is shown to it too", async () => {
  const { project, owner } = await team();
  const client = await attach(owner, { sandbox: project, session: "main" });
  await client.hello();
  const token = await system.mintToken({ sub: owner.sub, org: owner.org, scope: "sandbox:admin", expires: 7200 });
  client.say({ type: "auth", token });
  expect(await client.message("error")).toMatchObject({ code: "not_allowed" });
  expect(projects.questions.at(-1)?.body).toEqual({ token, project_id: project });
  projects.owns(token, project, "u");
  client.say({ type: "auth", token });
  client.say({ type: "nonsense" });
  expect(await client.message("error", 1)).toMatchObject({ code: "unknown_type" });
});

test("a link lets in whom the Project Service knows, and one for guests everybody, as a guest", async () => {
  const { project, owner, other } = await team();
  await (await attach(owner, { sandbox: project, session: "main" })).hello();
  const share = (guests: boolean) => post(owner, `${pathOf(project)}/main/share`, { role: "viewer", guests });
  const ticket = String((await share(false)).body.ticket);
  expect((await refused(undefined, { ticket })).code).toBe(4401);
  expect((await refused(other, { ticket })).code).toBe(4401);
  const open = String((await share(true)).body.ticket);
  for (const who of [undefined, other]) {
    const { you } = await (await attach(who, { ticket: open })).hello();
    expect((you as { name: string }).name).toMatch(/^guest-/);
  }
  projects.fault = { status: 500, body: "{}" };
  expect((await refused(other, { ticket: open })).code).toBe(4503);
  projects.fault = undefined;
  projects.owns(other.token, project, "another member");
  for (const good of [ticket, open]) {
    const { you } = await (await attach(other, { ticket: good })).hello();
    expect((you as { name: string }).name).not.toMatch(/^guest-/);
  }
});

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.FUZZ_RUNS ?? 8);

test("no request of a member of the tenant whom the Project Service refuses reaches a thing of another's project", {
  timeout: 300_000 + runs * 1_000,
}, async () => {
  console.log(`seed ${seed}`);
  const { project, owner } = await team();
  projects.ownsAs(owner.sub, project); // By the login's cookie, too.
  const bob = await belongingsOf(system, owner, project);
  const nextAlice = async () => {
    const [sub, { org }] = [fresh("person"), owner];
    projects.ownsAs(sub, "default");
    return { sub, org, token: await system.mintToken({ sub, org, scope: "sandbox:exec" }) };
  };
  const before = await stateOf(bob);
  const heard = bob.client.received.length;
  const answers = await search(bob, nextAlice, { seed, runs });
  const asked = Object.values(answers).reduce((sum, count) => sum + count, 0);
  expect(answers["401"] ?? 0).toBeGreaterThan(asked / 10);
  const after = await stateOf(bob);
  const { listing, tickets, layout, webhook } = before;
  expect(after).toMatchObject({ listing, tickets, layout, webhook });
  expect(after.audit.slice(before.audit.length).filter(({ type }) => type !== "refused")).toEqual([]);
  expect(heardSince(bob, heard)).toEqual([]);
  const guest = await attach(undefined, { ticket: String(bob.kept.ticket) });
  expect((await guest.hello()).incarnation).toBe(bob.incarnation);
});
