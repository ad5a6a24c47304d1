// A bridge calls a session object that has gone: some output is in no object, or its process has ended. From a container it comes
// by the name below, which the platform passes on to us; a local bridge calls a route.

import { hash } from "node:crypto";
import { Hono } from "hono";
import type { SessionsEnv } from "../attach/session-calls.ts";
import { readText } from "../base/read-text.ts";
import { type BridgeSecretEnv, bridgeSecret, containerToken } from "./secret.ts";

/** No name of the internet's: only a container asks for it, and its traffic to it comes to the Worker. */
export const BELL_HOST = "bell.sbx-stdio.internal";
export const BELL_PATH = "/internal/bell";

export type BellEnv = SessionsEnv & BridgeSecretEnv & { readonly BRIDGE_URL?: string };

const MAX_BODY_BYTES = 1_024;
const BODY_PATIENCE_MS = 5_000;
/** The name of a session's object. */
const SESSION = /^[0-9a-f]{60}$/;
const INCARNATION = /^[\w-]{1,128}$/;

/** Finds the object that a request calls, once it is known to be a bridge's. */
async function answerCall(request: Request, env: SessionsEnv, token: string): Promise<Response> {
  const shown = request.headers.get("Authorization") ?? "";
  // An older bridge shows the secret itself.
  const isBridge = [hash("sha256", `bell ${token}`), token].some((one) => isSame(shown, `Bearer ${one}`));
  if (request.method !== "POST" || !isBridge) return new Response(null, { status: 401 });
  const body = await readText(request, MAX_BODY_BYTES, BODY_PATIENCE_MS);
  // The bridge tests whether its calls arrive.
  if (body.kind === "whole" && body.text === "{}") return new Response(null, { status: 204 });
  const call = body.kind === "whole" ? readCall(body.text) : undefined;
  if (call === undefined) return new Response(null, { status: 400 });
  await env.SESSION.getByName(call.session).called(call.incarnation);
  return new Response(null, { status: 200 });
}

/**
 * A call from a container.
 * @param env With bindings as the Worker's own requests have them: the proxy for a container's traffic is given the platform's.
 * @param containerId The container that sent the request, as the platform says.
 */
export async function answerContainer(request: Request, env: BellEnv, containerId: string): Promise<Response> {
  return answerCall(request, env, await containerToken(env, containerId));
}

export const bellRoutes = new Hono<{ Bindings: BellEnv }>();

bellRoutes.post(BELL_PATH, async (c) => {
  // Bridges in containers call from inside: here only a local one has anything to say.
  if (!c.env.BRIDGE_URL) return c.body(null, 404);
  return answerCall(c.req.raw, c.env, bridgeSecret(c.env));
});

function readCall(text: string): { readonly session: string; readonly incarnation: string } | undefined {
  try {
    const { session, incarnation } = JSON.parse(text) as { session?: unknown; incarnation?: unknown };
    if (typeof session !== "string" || typeof incarnation !== "string") return undefined;
    return SESSION.test(session) && INCARNATION.test(incarnation) ? { session, incarnation } : undefined;
  } catch {
    return undefined; // Not JSON.
  }
}

/** In a time that does not tell how much of it is the same. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [new TextEncoder().encode(one), new TextEncoder().encode(other)];
  return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
}
