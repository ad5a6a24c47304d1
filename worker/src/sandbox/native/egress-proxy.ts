// A container's HTTP and HTTPS goes through this, where EGRESS_ALLOW restricts it, and its calls of session objects in any case.
// All other traffic goes nowhere where there is such a restriction.

import { WorkerEntrypoint } from "cloudflare:workers";
import { type PlacementEnv, placed } from "../../base/placement.ts";
import { answerContainer, BELL_HOST, type BellEnv } from "../bell.ts";
import { isAllowedHost } from "../egress.ts";

export class EgressProxy extends WorkerEntrypoint<
  BellEnv & PlacementEnv,
  { readonly containerId: string; readonly hosts: readonly string[] }
> {
  override async fetch(request: Request): Promise<Response> {
    const { hostname } = new URL(request.url);
    if (hostname === BELL_HOST) return answerContainer(request, placed(this.env), this.ctx.props.containerId);
    if (isAllowedHost(hostname, this.ctx.props.hosts)) return fetch(request);
    return new Response("Origin is disallowed", { status: 520 });
  }
}
