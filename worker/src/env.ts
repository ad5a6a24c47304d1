// The bindings and variables of the Worker: what its parts declare, with the classes behind the bindings. Only
// the files that put the parts together import this, so that no part knows all of it.

import type { PlacementEnv } from "./base/placement.ts";
import type { MetricsEnv } from "./metrics/report.ts";
import type { AddressObject } from "./objects/address-object.ts";
import type { SessionObject } from "./objects/session-object.ts";
import type { SessionEnv } from "./objects/session-parts.ts";
import type { TenantObject } from "./objects/tenant-object.ts";
import type { PreviewEnv } from "./preview/settings.ts";
import type { AttachEnv } from "./routes/attach.ts";
import type { McpEnv } from "./routes/mcp.ts";
import type { PageEnv } from "./routes/page.ts";
import type { SandboxEnv } from "./sandbox/bridge-inside.ts";

/** Bindings and variables of the routes and objects of sessions, in any Worker. */
export interface StdioEnv extends AttachEnv, SessionEnv, SandboxEnv, MetricsEnv, PlacementEnv, PreviewEnv {
  readonly SESSION: DurableObjectNamespace<SessionObject>;
  readonly TENANT: DurableObjectNamespace<TenantObject>;
  readonly ADDRESS: DurableObjectNamespace<AddressObject>;
}

/** Bindings and variables of our own Worker. */
export interface Env extends StdioEnv, PageEnv, McpEnv {}
