// `/v1/sandbox`: sandboxes and their execs, files and terminals for clients of Cloudflare's bridge, contract 1.0.0 (V1 to V5).

import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { SandboxScope } from "../auth/identity.ts";
import { openProject } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { type Authorized, callerOf } from "../programs/authorized.ts";
import { check, readFields } from "../programs/parse.ts";
import { answerFault, enter, freshId, refuse, refuseAs, type SandboxApiEnv, tenantOf } from "../sandbox-api/caller.ts";
import { createBody, execBody, ID, openApi, sessionBody } from "../sandbox-api/contract.ts";
import { execute } from "../sandbox-api/exec.ts";
import { MAX_ENVIRONMENT, within } from "../sandbox-api/exec-session.ts";
import { hydrate, persist, readFile, writeFile } from "../sandbox-api/files.ts";
import { deleteSandbox, isRunning, prepare } from "../sandbox-api/life.ts";
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
  const body = await bodyOf(c.req.raw, createBody);
  if (body instanceof Response) return body;
  if (body.mounts !== undefined && body.mounts.length > 0) return unsupported("mounts");
  if (c.env.PROJECT_SERVICE_URL)
    return unsupported("new sandboxes: they are the projects of the Project Service, which");
  const id = freshId();
  const { sandboxKey } = await openProject(c.env, { tenant: identity, asked: { user: undefined } }, id);
  const tenant = await tenantOf(c.env, identity);
  if (!(await tenant.makeSandbox(sandboxKey))) {
    return refuse(429, "too_many_sandboxes", "too many sandboxes are in use: delete one, or end the sessions of one");
  }
  const fault = await prepare(c.env, { sandboxKey, sandbox: id });
  if (fault === undefined) return c.json({ id });
  await tenant.deleteSandbox(sandboxKey);
  return refuse(502, "no_workspace", `the sandbox can't have a folder /workspace of its own: ${fault}`);
});

sandboxApiRoutes.post(`${ONE}/:mount{(un)?mount}`, (c) =>
  entered(c, "sandbox:exec", async () => unsupported("mounts")),
);

sandboxApiRoutes.get(`${ONE}/running`, (c) =>
  entered(c, "sandbox:connect", async (who) => c.json({ running: await isRunning(c.env, who.project) })),
);

sandboxApiRoutes.delete(ONE, (c) =>
  entered(c, "sandbox:exec", async (who) => {
    await deleteSandbox(c.env, who);
    return c.body(null, 204);
  }),
);

sandboxApiRoutes.post(`${ONE}/exec`, (c) =>
  entered(c, "sandbox:exec", async (who) => {
    const body = await bodyOf(c.req.raw, execBody);
    if (body instanceof Response) return body;
    const { argv, cwd, timeout_ms: timeoutMs } = body;
    const execution = { argv, cwd, timeoutMs };
    const id = c.req.header("Session-Id");
    const shared = id !== undefined && ID.test(id) ? await directoryOf(c, who).execSession(id) : undefined;
    if (id !== undefined && shared === undefined) return noSession(id);
    const reading = await at(c, who, `exec-${freshId().slice(0, FRESH_LENGTH)}`);
    return execute(c.req.raw, c.env, who, reading, shared === undefined ? execution : within(shared, execution));
  }),
);

sandboxApiRoutes.post(`${ONE}/session`, (c) =>
  entered(c, "sandbox:exec", async (who) => {
    const body = await bodyOf(c.req.raw, sessionBody);
    if (body instanceof Response) return body;
    const { id = freshId(), ...wish } = body;
    if (JSON.stringify(wish).length > MAX_ENVIRONMENT) {
      return refuse(413, "too_long", `a session's environment has more than ${MAX_ENVIRONMENT} characters`);
    }
    const why = await directoryOf(c, who).addExecSession(id, wish);
    if (why === "full") return refuse(429, "too_many_sessions", "the sandbox has too many sessions: delete one");
    const isOther = why === "other";
    return isOther
      ? refuse(409, "other_session", `session "${id}" has another directory or environment`)
      : c.json({ id });
  }),
);

sandboxApiRoutes.delete(`${ONE}/session/:session`, (c) =>
  entered(c, "sandbox:exec", async (who) => {
    const id = c.req.param("session") ?? "";
    const isGone = ID.test(id) && (await directoryOf(c, who).removeExecSession(id));
    return isGone ? c.body(null, 204) : noSession(id);
  }),
);

const onFiles = (act: typeof readFile) => (c: ApiContext) =>
  entered(c, "sandbox:exec", (who) => act({ request: c.req.raw, env: c.env, who }));
sandboxApiRoutes.get(`${ONE}/file/*`, onFiles(readFile));
sandboxApiRoutes.put(`${ONE}/file/*`, onFiles(writeFile));
sandboxApiRoutes.post(`${ONE}/persist`, onFiles(persist));
sandboxApiRoutes.post(`${ONE}/hydrate`, onFiles(hydrate));

sandboxApiRoutes.all(`${BASE}/*`, async (c) => {
  const { method, path } = c.req;
  if (!`${path}/`.startsWith(`${BASE}/pool/`)) return refuse(404, "not_found", `no ${method} ${path}`);
  await callerOf(c.req.raw, c.env, "sandbox:exec");
  return unsupported("pools");
});

// ---- What they share ---------------------------------------------------------------------------------------------

async function entered(
  c: ApiContext,
  scope: SandboxScope,
  then: (who: Authorized) => Promise<Response>,
): Promise<Response> {
  const who = await enter(c.req.raw, c.env, c.req.param("sandbox") ?? "", scope);
  return who instanceof Response ? who : then(who);
}

/** @returns The fields, or the refusal. */
async function bodyOf<S extends z.ZodObject>(request: Request, schema: S): Promise<z.output<S> | Response> {
  const fields = await readFields(request, "process");
  const parsed = fields.ok ? check(schema, fields.value) : fields;
  return parsed.ok ? parsed.value : refuseAs(parsed.answer);
}

function directoryOf({ env }: ApiContext, { project }: Authorized) {
  return env.DIRECTORY.getByName(project.sandboxKey);
}

function noSession(id: string): Response {
  return refuse(404, "no_session", `no session "${id}" in this sandbox`);
}

function unsupported(what: string): Response {
  return refuse(501, "unsupported", `this server has no ${what}`);
}
