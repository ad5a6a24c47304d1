// The Worker's entry, with containers reached by the Sandbox SDK. index-native.ts is the one without it.

import { ours } from "./app.ts";
import { createStdio } from "./library.ts";
import { UsualSandbox } from "./sandbox/sdk/sandbox.ts";

const stdio = createStdio(ours);

// The proxy through which the SDK sends a container's calls of sessions, and all of its traffic where EGRESS_ALLOW restricts it.
export { ContainerProxy } from "@cloudflare/sandbox";
export const { SessionObject, TenantObject, AddressObject, SandboxDirectory, CounterObject } = stdio;
export class Sandbox extends stdio.withStdio(UsualSandbox) {}
stdio.answerCallsOf(Sandbox);
export default { fetch: stdio.fetch };
