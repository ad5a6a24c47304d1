// The Worker's call to a session's Durable Object for an MCP client behind the gateway.

import type { Sent } from "@sbx/mcp/gateway";
import type { ProgramCall } from "../programs/operations/call.ts";

/** A call of the caller's, without what it is to do. */
export type CallerFacts = Omit<ProgramCall, "operation" | "incarnation" | "mayStart">;

export type GatewayAsk =
  /** The process has been started for this client: its `initialize`. */
  | { readonly type: "begin"; readonly sent: readonly Sent[]; readonly version: string }
  | { readonly type: "post"; readonly sent: readonly Sent[]; readonly version: string | undefined }
  | { readonly type: "listen"; readonly lastEventId: string | undefined; readonly version: string | undefined }
  | { readonly type: "end" };

export type GatewayCall = CallerFacts & {
  /** The owner of the MCP session: a digest of issuer, subject, tenant and address. */
  readonly binding: string;
  readonly ask: GatewayAsk;
};

const GATEWAY_PATH = "/mcp";

export function gatewayRequest(call: GatewayCall, signal: AbortSignal): Request {
  return new Request(`http://session${GATEWAY_PATH}`, { method: "POST", body: JSON.stringify(call), signal });
}

/** @returns undefined where the request is of another kind. */
export async function gatewayCallOf(request: Request): Promise<GatewayCall | undefined> {
  // Only the Worker reaches a Durable Object, so the object trusts the call.
  return new URL(request.url).pathname === GATEWAY_PATH ? ((await request.json()) as GatewayCall) : undefined;
}
