// `sandbox-stdio/worker`: sessions inside somebody's own Worker, with containers of the Sandbox SDK.

import { sdkContainers } from "./sandbox/sdk/access.ts";
import { makeStdio, type Stdio, type StdioOptions } from "./stdio.ts";

export type { SandboxIds, SandboxPlace } from "./auth/names.ts";
export type { Authenticate, StdioIdentity, StdioRefusal } from "./auth/own-way.ts";
export type { Stdio, StdioOptions } from "./stdio.ts";

/** To be called once in a Worker, at the top of its module. */
export function createStdio<Env extends object>(options: StdioOptions<Env>): Stdio<Env> {
  return makeStdio(options, sdkContainers);
}
