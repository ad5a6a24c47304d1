// The Worker's bindings and variables.

import type { CommandEnv } from "./attach/command-policy.ts";
import type { AuditEnv } from "./audit/settings.ts";
import type { ProjectEnv } from "./auth/project-gate.ts";
import type { AuthEnv } from "./auth/settings.ts";
import type { AddressObject } from "./limits/address-object.ts";
import type { LimitEnv } from "./limits/limits.ts";
import type { TenantObject } from "./limits/tenant-object.ts";
import type { LogEnv } from "./log.ts";
import type { SandboxObject } from "./sandbox/containers.ts";
import type { SandboxDirectory } from "./sandbox/directory.ts";
import type { EgressEnv } from "./sandbox/egress.ts";
import type { SessionObject } from "./session/session-object.ts";
import type { TerminalEnv } from "./terminal/settings.ts";

export interface Env extends AuthEnv, AuditEnv, CommandEnv, EgressEnv, LimitEnv, LogEnv, ProjectEnv, TerminalEnv {
  readonly Sandbox: DurableObjectNamespace<SandboxObject>;
  readonly SESSION: DurableObjectNamespace<SessionObject>;
  readonly DIRECTORY: DurableObjectNamespace<SandboxDirectory>;
  readonly TENANT: DurableObjectNamespace<TenantObject>;
  readonly ADDRESS: DurableObjectNamespace<AddressObject>;
  readonly ASSETS: Fetcher;
  /** A bridge that is reached directly, `http://HOST:PORT`; empty: the bridge in the sandbox's container. */
  readonly BRIDGE_URL?: string;
  /** The secret of the bridge at BRIDGE_URL, or what each container's own secret is derived from. */
  readonly STDIO_TOKEN?: string;
  /** How long a container with no session left is kept: seconds, or a number with s, m or h. Default: 10m. */
  readonly SLEEP_AFTER?: string;
}
