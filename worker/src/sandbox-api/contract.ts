// The contract of the sandbox API (V1): the bodies that it takes, whose unknown fields are ignored, and its OpenAPI document, whose
// version is the contract's and not that of this server.

import { defined } from "sandbox-stdio/core";
import * as z from "zod";
import { log } from "../base/log.ts";
import { readText } from "../base/read-text.ts";
import { type AskedSandbox, fetchFolder } from "../bridge/files.ts";
import { isAwake } from "../bridge/upstream.ts";
import type { Authorized } from "../programs/authorized.ts";
import { readSaid } from "../sandbox/said.ts";
import { type SandboxApiEnv, tenantOf } from "./caller.ts";
import { forget } from "./exec-session.ts";

const VERSION = "1.0.0";

/** Id of a session (V3). */
export const ID = /^[A-Za-z0-9_-]{1,64}$/;

const word = z.string().regex(/^[^\0]*$/, "has a NUL character");
const variable = z.string().regex(/^[^=\0]+$/, 'a name is not empty and has no "="');

export const createBody = z.object({ mounts: z.array(z.unknown()).optional() });
export const execBody = z.object({
  argv: z.array(word).min(1),
  timeout_ms: z.number().positive().optional(),
  cwd: word.optional(),
});
export const sessionBody = z.object({
  id: z.string().regex(ID, "has other characters than A-Z a-z 0-9 _ -, or more than 64").optional(),
  cwd: word.optional(),
  env: z.record(variable, word).optional(),
});

const JSON_TYPE = "application/json";
const BYTES = "application/octet-stream";
const BELOW = "/v1/sandbox/{id}";

type Operation = {
  readonly does: string;
  readonly body?: z.ZodType | "bytes";
  /** The kind of a good answer; absent: none, and 204. */
  readonly answer?: string;
  readonly query?: readonly string[];
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "post /v1/sandbox": { does: "Makes a sandbox, and starts nothing", body: createBody, answer: JSON_TYPE },
  [`delete ${BELOW}`]: { does: "Ends the sandbox with all that runs in it" },
  [`get ${BELOW}/running`]: { does: "Whether its container runs", answer: JSON_TYPE },
  [`post ${BELOW}/exec`]: {
    does: "Runs a process: events stdout and stderr (base64), then exit or error",
    body: execBody,
    answer: "text/event-stream",
  },
  [`post ${BELOW}/session`]: {
    does: "Makes a session: execs with its id in the header Session-Id share directory and environment",
    body: sessionBody,
    answer: JSON_TYPE,
  },
  [`delete ${BELOW}/session/{session}`]: { does: "Forgets a session" },
  [`get ${BELOW}/file/{path}`]: { does: "A file below /workspace or /tmp", answer: BYTES },
  [`put ${BELOW}/file/{path}`]: { does: "Writes it, at most 32 MiB", body: "bytes", answer: JSON_TYPE },
  [`post ${BELOW}/persist`]: { does: "/workspace as a tar archive", answer: BYTES, query: ["excludes"] },
  [`post ${BELOW}/hydrate`]: { does: "Unpacks one into /workspace", body: "bytes", answer: JSON_TYPE },
  [`get ${BELOW}/pty`]: {
    does: "A terminal, as a WebSocket",
    query: ["cols", "rows", "shell", "session", "authorization"],
  },
};

const refusal = z.object({ error: z.string(), code: z.string() });

/** @param origin Where the server is, without a slash at the end. */
export function openApi(origin: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [key, operation] of Object.entries(OPERATIONS)) {
    const [method = "", path = ""] = key.split(" ");
    paths[path] = { ...paths[path], [method]: described(path, operation) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Sandboxes for agents", version: VERSION, description: "For clients of Cloudflare's bridge." },
    servers: [{ url: origin }],
    security: [{ bearer: [] }],
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

function described(path: string, { does, body, answer, query = [] }: Operation): object {
  const schema = { type: "string" };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: "path", required: true, schema }));
  const status = path.endsWith("/pty") ? 101 : answer === undefined ? 204 : 200;
  const asked = body === "bytes" ? content(BYTES) : body && content(JSON_TYPE, body);
  return {
    summary: does,
    parameters: [...inPath, ...query.map((name) => ({ name, in: "query", schema }))],
    ...defined({ requestBody: asked }),
    responses: {
      [status]: { description: "Done", ...(answer && content(answer)) },
      default: { description: "Refused", ...content(JSON_TYPE, refusal) },
    },
  };
}

function content(kind: string, schema?: z.ZodType): object {
  return { content: { [kind]: schema === undefined ? {} : { schema: z.toJSONSchema(schema, { io: "input" }) } } };
}

/** The bridge gives itself a minute. */
const PATIENCE_MS = 75_000;
const MAX_SAID_BYTES = 16 * 1024;

/** Whether a sandbox of the sandbox API runs (V2). Neither asking nor ending starts anything. */
export function isRunning(env: SandboxApiEnv, { sandboxKey }: AskedSandbox): Promise<boolean> {
  return isAwake(env, sandboxKey);
}

/** Asks a local bridge, which has many sandboxes, for a /workspace of this one. @returns Why there can be none, if so. */
export async function prepare(env: SandboxApiEnv, sandbox: AskedSandbox): Promise<string | undefined> {
  return env.BRIDGE_URL ? askWorkspace(env, sandbox, "POST") : undefined;
}

async function askWorkspace(
  env: SandboxApiEnv,
  sandbox: AskedSandbox,
  method: "POST" | "DELETE",
): Promise<string | undefined> {
  try {
    const response = await fetchFolder(env, sandbox, "/workspace", {
      method,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (response.ok) return undefined;
    const { text } = await readText(response, MAX_SAID_BYTES, PATIENCE_MS);
    return readSaid(text).message ?? `${response.status}`;
  } catch (error) {
    log.warn("no answer from the bridge:", error);
    return "the bridge does not answer";
  }
}

/** Its name is the last thing to go: who is told of a failure may ask again. */
export async function deleteSandbox(env: SandboxApiEnv, { identity, project, actor }: Authorized): Promise<void> {
  const { sandboxKey } = project;
  const directory = env.DIRECTORY.getByName(sandboxKey);
  const names = await directory.list();
  await Promise.all(names.map(async (name) => env.SESSION.getByName(await project.sessionKey(name)).end(actor)));
  await forget(env, project, await directory.removeExecSessions());
  // A local bridge serves other sandboxes too.
  if (env.BRIDGE_URL) await askWorkspace(env, project, "DELETE");
  else await env.Sandbox.getByName(sandboxKey).endContainer();
  await (await tenantOf(env, identity)).deleteSandbox(sandboxKey);
}
