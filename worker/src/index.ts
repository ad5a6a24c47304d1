// The Worker's entry, with containers reached by the Sandbox SDK. index-native.ts is the one without it.

import worker from "./app.ts";
import { useContainers } from "./sandbox/containers.ts";
import { sdkContainers } from "./sandbox/sdk/access.ts";

useContainers(sdkContainers);

// What the SDK sends a container's traffic through, where EGRESS_ALLOW restricts it.
export { ContainerProxy } from "@cloudflare/sandbox";
export { AddressObject } from "./limits/address-object.ts";
export { TenantObject } from "./limits/tenant-object.ts";
export { SandboxDirectory } from "./sandbox/directory.ts";
export { Sandbox } from "./sandbox/sdk/sandbox.ts";
export { SessionObject } from "./session/session-object.ts";
export default worker;
