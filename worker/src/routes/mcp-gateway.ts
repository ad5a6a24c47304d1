// `/mcp/SANDBOX/NAME?cmd=…&arg=…`: any MCP server that speaks over stdio, as one over Streamable HTTP (M2). Each MCP session is a
// session NAME-RANDOM, made by the programs' own route; its Durable Object does the rest.

import { isInitialize, MAX_MESSAGE_BYTES, needsNewerServer, readBody, versionOf } from "@sbx/mcp/gateway";
import { type Context, type ExecutionContext, Hono } from "hono";
import { defined } from "sandbox-stdio/core";
import { tenantKey } from "../auth/names.ts";
import { toBase64Url } from "../base/base64url.ts";
import { log } from "../base/log.ts";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { answerFault } from "../guards/faults.ts";
import type { Authenticated } from "../guards/identify.ts";
import { caller, innerRequest, refuseWithMetadata } from "../mcp/caller.ts";
import { type GatewayAsk, gatewayRequest } from "../mcp/gateway-call.ts";
import { type Authorized, authorized } from "../programs/authorized.ts";
import { type ProgramAnswer, refused } from "../programs/operations/call.ts";
import { BAD_ENCODING, checkSessionName } from "../programs/parse.ts";
import { respond } from "../programs/respond.ts";
import { at, type ProgramsEnv, programRoutes } from "./programs.ts";

type GatewayContext = Context<{ Bindings: ProgramsEnv }>;

export const gatewayRoutes = new Hono<{ Bindings: ProgramsEnv }>();
gatewayRoutes.onError(refuseWithMetadata);

const api = new Hono<{ Bindings: ProgramsEnv }>();
api.onError(answerFault);
api.route("/api/sandboxes", programRoutes);

const HTTP_CREATED = 201;
/** Status for a server that ended at once. */
const HTTP_ENDED = 502;
const BODY_PATIENCE_MS = 30_000;
const SESSION_ID = /^[0-9a-f]{20}$/;
/** For clients that send no version: the last revision without a header for it. */
const OLDEST = "2025-03-26";

gatewayRoutes.all("/mcp/:sandbox/:name", async (c) => {
  const identified = await caller(c.req.raw, c.env);
  const request = innerRequest(c.req.raw, identified, c.req.url, { method: c.req.method });
  const who = await authorized(request, c.env, c.req.param("sandbox"), "sandbox:exec");
  const header = c.req.header("MCP-Protocol-Version") ?? null;
  const session = c.req.header("Mcp-Session-Id");
  if (c.req.method === "POST") return posted(c, { ...who, identified }, header, session);
  if (c.req.method !== "GET" && c.req.method !== "DELETE") {
    return new Response("POST, GET and DELETE\n", { status: 405, headers: { Allow: "POST, GET, DELETE" } });
  }
  if (needsNewerServer(header, [])) return tooNew();
  if (session === undefined) return respond(refused(400, "bad_request", "Mcp-Session-Id is missing"));
  if (c.req.method === "DELETE") return asked(c, who, session, { type: "end" });
  if (!(c.req.header("Accept") ?? "").includes("text/event-stream")) return notAcceptable();
  const lastEventId = c.req.header("Last-Event-ID");
  return asked(c, who, session, { type: "listen", lastEventId, version: header ?? undefined });
});

type Caller = Authorized & { readonly identified: Authenticated };

async function posted(
  c: GatewayContext,
  who: Caller,
  header: string | null,
  session: string | undefined,
): Promise<Response> {
  if (!/^application\/json\b/i.test(c.req.header("Content-Type") ?? "")) {
    return respond(refused(415, "bad_request", "the body is to be application/json"));
  }
  const text = await readText(c.req.raw, MAX_MESSAGE_BYTES, BODY_PATIENCE_MS, REST_BYTES);
  if (text.kind === "cut") return respond(refused(413, "input_too_long", "a message may have 4 MiB"));
  if (!text.isUtf8) return respond(refused(400, "bad_encoding", BAD_ENCODING));
  const body = readBody(text.text);
  if (!body.ok) return rpcError(400, body.code, body.message);
  const { sent, messages } = body;
  if (needsNewerServer(header, messages)) return tooNew();
  const hasRequests = sent.some(({ id }) => id !== undefined);
  const accept = c.req.header("Accept") ?? "*/*";
  if (hasRequests && !/text\/event-stream|\*\/\*/.test(accept)) return notAcceptable();
  const [first] = messages;
  const isBeginning = messages.length === 1 && first !== undefined && isInitialize(first);
  if (!isBeginning) {
    if (session === undefined)
      return respond(refused(400, "bad_request", "Mcp-Session-Id is missing: initialize first"));
    return asked(c, who, session, { type: "post", sent, version: header ?? undefined });
  }
  const id = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  const begun = begin(c, who, id, { type: "begin", sent, version: versionOf(header, messages) ?? OLDEST });
  // The runtime ends a request's context with its client: what was started must still be ended then.
  c.executionCtx.waitUntil(begun.catch(() => undefined));
  return begun;
}

/** Starts a server for the session that is asked to begin. It does not stay where nobody is told the session's id. */
async function begin(c: GatewayContext, who: Caller, id: string, ask: GatewayAsk): Promise<Response> {
  const started = await start(c, who, id);
  if (started.status !== HTTP_CREATED) return started;
  let answer: Response | undefined;
  try {
    answer = await asked(c, who, id, ask);
  } finally {
    // Keep the log of a server that ended by itself.
    if (answer?.ok !== true && answer?.status !== HTTP_ENDED)
      await api.fetch(...inner(c, who, id, { method: "DELETE" }));
  }
  const response = new Response(answer.body, answer);
  if (response.ok) response.headers.set("Mcp-Session-Id", id);
  return response;
}

/** A request to the programs' route of the session, as its caller. */
function inner(c: GatewayContext, { identified }: Caller, id: string, init: RequestInit): Parameters<typeof api.fetch> {
  const path = `/api/sandboxes/${encodeURIComponent(c.req.param("sandbox") ?? "")}/sessions/${sessionName(c, id)}`;
  return [innerRequest(c.req.raw, identified, path, init), c.env, c.executionCtx as ExecutionContext];
}

/** Starts the server that the address names, by the route that starts every program's process. */
async function start(c: GatewayContext, who: Caller, id: string): Promise<Response> {
  const { searchParams } = new URL(c.req.url);
  const cmd = searchParams.get("cmd");
  if (cmd === null) return respond(refused(400, "bad_request", "the address says no cmd"));
  const wrong = nameFault(sessionName(c, id));
  if (wrong !== undefined) return respond(wrong);
  const [cwd, keep] = [searchParams.get("cwd"), searchParams.get("keep")];
  const body = {
    cmd,
    args: searchParams.getAll("arg"),
    ...defined({ cwd: cwd ?? undefined, keepSeconds: keep === null ? undefined : Number(keep) }),
    // While the session object is made anew, the server's output waits.
    delivery: "lossless",
    shellIntegration: false,
  };
  return api.fetch(...inner(c, who, id, { method: "PUT", body: JSON.stringify(body) }));
}

/** Asks the session's Durable Object. Its stream counts as a connection of the caller's address. */
async function asked(c: GatewayContext, who: Authorized, id: string, ask: GatewayAsk): Promise<Response> {
  if (!SESSION_ID.test(id))
    return respond(refused(404, "not_found", "there is no such MCP session: initialize a new one"));
  const { target, callOf, enter, leave, waitUntil } = await at(c, who, sessionName(c, id));
  const isStream = ask.type !== "end";
  const refusal = isStream ? await enter() : undefined;
  if (refusal !== undefined) return respond(refusal);
  const { operation: _, mayStart: __, incarnation: ___, ...facts } = callOf({ type: "commands" });
  try {
    const call = { ...facts, binding: await bindingOf(c, who), ask };
    const stub = c.env.SESSION.getByName(target.sessionKey);
    const response = await stub.fetch(gatewayRequest(call, target.signal));
    const isStreaming = response.headers.get("Content-Type") === "text/event-stream";
    if (!isStreaming || response.body === null) {
      leave();
      return response;
    }
    const { readable, writable } = new IdentityTransformStream();
    waitUntil(
      response.body
        .pipeTo(writable)
        .catch(() => undefined)
        .finally(leave),
    );
    return new Response(readable, response);
  } catch (error) {
    leave();
    if (target.signal.aborted) throw error;
    log.warn("a session's object did not answer an MCP client:", error);
    return respond({
      ...refused(503, "unavailable", "the session restarted meanwhile: ask again"),
      retryAfterSeconds: 1,
    });
  }
}

/** The owner of the MCP session: it answers no requests of another caller, nor those to another address. */
async function bindingOf(c: GatewayContext, { identity }: Authorized): Promise<string> {
  const { pathname, search } = new URL(c.req.url);
  const parts = [identity.issuer, identity.subject, await tenantKey(identity), pathname, search];
  return toBase64Url(
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(parts)))),
  );
}

function sessionName(c: GatewayContext, id: string): string {
  return `${c.req.param("name")}-${id}`;
}

function nameFault(name: string): ProgramAnswer | undefined {
  return (
    checkSessionName(name) &&
    refused(400, "bad_name", "NAME has 1 to 43 of A-Z a-z 0-9 . _ - and starts with none of . -")
  );
}

/** Not in JSON: clients of both eras go on with `initialize` then. */
function tooNew(): Response {
  return new Response("This server speaks MCP up to revision 2025-11-25: begin with initialize\n", { status: 400 });
}

function notAcceptable(): Response {
  return respond(refused(406, "bad_request", "Accept is to have text/event-stream"));
}

function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
