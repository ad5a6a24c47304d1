// The bindings and variables of the Worker: what its parts declare, with the classes behind the bindings. Only
// the files that put the parts together import this, so that no part knows all of it.

import type { AttachEnv } from "./attach/attach-route.ts";
import type { AddressObject } from "./limits/address-object.ts";
import type { TenantObject } from "./limits/tenant-object.ts";
import type { McpEnv } from "./mcp/routes.ts";
import type { MetricsEnv } from "./metrics/report.ts";
import type { PageEnv } from "./page.ts";
import type { PlacementEnv } from "./placement.ts";
import type { PreviewEnv } from "./preview/settings.ts";
import type { SandboxEnv } from "./sandbox/bridge-inside.ts";
import type { SessionObject } from "./session/session-object.ts";
import type { SessionEnv } from "./session/session-parts.ts";

/** Of the routes and objects of sessions, whoever's Worker they stand in. */
export interface StdioEnv extends AttachEnv, SessionEnv, SandboxEnv, MetricsEnv, PlacementEnv, PreviewEnv {
  readonly SESSION: DurableObjectNamespace<SessionObject>;
  readonly TENANT: DurableObjectNamespace<TenantObject>;
  readonly ADDRESS: DurableObjectNamespace<AddressObject>;
}

/** Of our own Worker. */
export interface Env extends StdioEnv, PageEnv, McpEnv {}
