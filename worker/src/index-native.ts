// The Worker's entry, with containers reached by the platform's own API. Nothing of the Sandbox SDK is bundled.

import { ours } from "./app.ts";
import { nativeContainers } from "./sandbox/native/access.ts";
import { makeStdio } from "./stdio.ts";

const stdio = makeStdio(ours, nativeContainers);

// The proxy for a container's traffic, where EGRESS_ALLOW restricts it.
export { EgressProxy } from "./sandbox/native/egress-proxy.ts";
export { Sandbox } from "./sandbox/native/sandbox.ts";
export const { SessionObject, TenantObject, AddressObject, SandboxDirectory, CounterObject } = stdio;
export default { fetch: stdio.fetch };
