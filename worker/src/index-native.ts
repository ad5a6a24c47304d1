// The Worker's entry, with containers reached by the platform's own API. Nothing of the Sandbox SDK is bundled.

import worker from "./app.ts";
import { useContainers } from "./sandbox/containers.ts";
import { nativeContainers } from "./sandbox/native/access.ts";

useContainers(nativeContainers);

export { AddressObject } from "./limits/address-object.ts";
export { TenantObject } from "./limits/tenant-object.ts";
export { SandboxDirectory } from "./sandbox/directory.ts";
// What a container's traffic goes through, where EGRESS_ALLOW restricts it.
export { EgressProxy } from "./sandbox/native/egress-proxy.ts";
export { Sandbox } from "./sandbox/native/sandbox.ts";
export { SessionObject } from "./session/session-object.ts";
export default worker;
