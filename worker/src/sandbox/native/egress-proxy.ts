// What a container's HTTP and HTTPS goes through, where EGRESS_ALLOW restricts it. Whatever is no HTTP goes nowhere.

import { WorkerEntrypoint } from "cloudflare:workers";
import { isAllowedHost } from "../egress.ts";

export class EgressProxy extends WorkerEntrypoint<unknown, { readonly hosts: readonly string[] }> {
  override async fetch(request: Request): Promise<Response> {
    const { hostname } = new URL(request.url);
    if (isAllowedHost(hostname, this.ctx.props.hosts)) return fetch(request);
    return new Response("Origin is disallowed", { status: 520 });
  }
}
