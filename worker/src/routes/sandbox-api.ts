// `/v1/sandbox`: sandboxes and their execs, files and terminals for clients of Cloudflare's bridge, contract 1.0.0 (V1 to V5).

import { type Context, Hono } from "hono";
import { openProject } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { type Authorized, callerOf } from "../programs/authorized.ts";
import {
  answerFault,
  bodyOf,
  enter,
  freshId,
  type Refused,
  refuse,
  type SandboxApiEnv,
  tenantOf,
} from "../sandbox-api/caller.ts";
import {
  createBody,
  deleteSandbox,
  execBody,
  ID,
  isRunning,
  openApi,
  prepare,
  sessionBody,
} from "../sandbox-api/contract.ts";
import { execute } from "../sandbox-api/exec.ts";
import { forget, MAX_ENVIRONMENT, within } from "../sandbox-api/exec-session.ts";
import { hydrate, persist, readFile, writeFile } from "../sandbox-api/files.ts";
import { at } from "./programs.ts";

type Api = { Bindings: SandboxApiEnv };
type ApiContext = Context<Api>;

export const sandboxApiRoutes = new Hono<Api>();
sandboxApiRoutes.onError(answerFault);

const BASE = "/v1/sandbox";
const ONE = `${BASE}/:sandbox`;
const FRESH_LENGTH = 20;

sandboxApiRoutes.get("/v1/openapi.json", async (c) => {
  await callerOf(c.req.raw, c.env, "sandbox:connect");
  return c.json(openApi(readEntrySettings(c.env).linkBase));
});

sandboxApiRoutes.post(BASE, async (c) => {
  const { identity } = await callerOf(c.req.raw, c.env, "sandbox:exec");
  const { mounts = [] } = await bodyOf(c.req.raw, createBody);
  if (mounts.length > 0) throw unsupported("mounts");
  if (c.env.PROJECT_SERVICE_URL)
    throw unsupported("new sandboxes: they are the projects of the Project Service, which");
  const id = freshId();
  const { sandboxKey } = await openProject(c.env, { tenant: identity, asked: { user: undefined } }, id);
  const tenant = await tenantOf(c.env, identity);
  if (!(await tenant.makeSandbox(sandboxKey))) {
    throw refuse(429, "too_many_sandboxes", "too many sandboxes are in use: delete one, or end the sessions of one");
  }
  const fault = await prepare(c.env, { sandboxKey, sandbox: id });
  if (fault === undefined) return c.json({ id });
  await tenant.deleteSandbox(sandboxKey);
  throw refuse(502, "no_workspace", `the sandbox can't have a folder /workspace of its own: ${fault}`);
});

sandboxApiRoutes.post(`${ONE}/:mount{(un)?mount}`, async (c) => {
  await enter(c, "sandbox:exec");
  throw unsupported("mounts");
});

sandboxApiRoutes.get(`${ONE}/running`, async (c) => {
  const { project } = await enter(c, "sandbox:connect");
  return c.json({ running: await isRunning(c.env, project) });
});

sandboxApiRoutes.delete(ONE, async (c) => {
  await deleteSandbox(c.env, await enter(c, "sandbox:exec"));
  return c.body(null, 204);
});

sandboxApiRoutes.post(`${ONE}/exec`, async (c) => {
  const who = await enter(c, "sandbox:exec");
  const { argv, cwd, timeout_ms: timeoutMs } = await bodyOf(c.req.raw, execBody);
  const execution = { argv, cwd, timeoutMs };
  const id = c.req.header("Session-Id");
  const shared = id !== undefined && ID.test(id) ? await directoryOf(c, who).execSession(id) : undefined;
  if (id !== undefined && shared === undefined) throw noSession(id);
  const reading = await at(c, who, `exec-${freshId().slice(0, FRESH_LENGTH)}`);
  return execute(c.req.raw, c.env, who, reading, shared === undefined ? execution : within(shared, execution));
});

sandboxApiRoutes.post(`${ONE}/session`, async (c) => {
  const who = await enter(c, "sandbox:exec");
  const { id = freshId(), ...wish } = await bodyOf(c.req.raw, sessionBody);
  if (JSON.stringify(wish).length > MAX_ENVIRONMENT) {
    throw refuse(413, "too_long", `a session's environment has more than ${MAX_ENVIRONMENT} characters`);
  }
  const why = await directoryOf(c, who).addExecSession(id, wish);
  if (why === "full") throw refuse(429, "too_many_sessions", "the sandbox has too many sessions: delete one");
  if (why === undefined) return c.json({ id });
  throw refuse(409, "other_session", `session "${id}" has another directory or environment`);
});

sandboxApiRoutes.delete(`${ONE}/session/:session`, async (c) => {
  const who = await enter(c, "sandbox:exec");
  const id = c.req.param("session") ?? "";
  const removed = ID.test(id) ? await directoryOf(c, who).removeExecSessions(id) : [];
  if (removed.length === 0) throw noSession(id);
  await forget(c.env, who.project, removed);
  return c.body(null, 204);
});

const onFiles = (act: typeof readFile) => async (c: ApiContext) =>
  act({ request: c.req.raw, env: c.env, who: await enter(c, "sandbox:exec") });
sandboxApiRoutes.get(`${ONE}/file/*`, onFiles(readFile));
sandboxApiRoutes.put(`${ONE}/file/*`, onFiles(writeFile));
sandboxApiRoutes.post(`${ONE}/persist`, onFiles(persist));
sandboxApiRoutes.post(`${ONE}/hydrate`, onFiles(hydrate));

sandboxApiRoutes.all("/v1/pool/*", async (c) => {
  await callerOf(c.req.raw, c.env, "sandbox:exec");
  throw unsupported("pools");
});

sandboxApiRoutes.all(`${BASE}/*`, (c) => {
  throw refuse(404, "not_found", `no ${c.req.method} ${c.req.path}`);
});

function directoryOf({ env }: ApiContext, { project }: Authorized) {
  return env.DIRECTORY.getByName(project.sandboxKey);
}

function noSession(id: string): Refused {
  return refuse(404, "no_session", `no session "${id}" in this sandbox`);
}

function unsupported(what: string): Refused {
  return refuse(501, "unsupported", `this server has no ${what}`);
}
