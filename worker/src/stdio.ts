// Sessions inside somebody's own Worker: the fetch handler of their routes, and the Durable Object classes to export. The
// variables of docs/settings.md come from `settings`, or from the Worker's own.

import { type SandboxIds, useSandboxIds } from "./auth/names.ts";
import { type Authenticate, ownProvider } from "./auth/own-provider.ts";
import { type AuthProvider, useAuthentication } from "./auth/provider.ts";
import { placed } from "./base/placement.ts";
import type { StdioEnv } from "./env.ts";
import { AddressObject } from "./objects/address-object.ts";
import { CounterObject } from "./objects/counter-object.ts";
import { SessionObject } from "./objects/session-object.ts";
import { TenantObject } from "./objects/tenant-object.ts";
import type { McpTools } from "./routes/mcp.ts";
import { answerPreview } from "./routes/preview-host.ts";
import { stdioRoutes } from "./routes.ts";
import { type ContainerWay, useContainers } from "./sandbox/containers.ts";
import { SandboxDirectory } from "./sandbox/directory.ts";

export type StdioOptions<Env> = {
  /** Who asks. An `AuthProvider`, as our own Worker's, also reads settings, and verifies tokens that are shown on a living connection. */
  readonly authenticate: Authenticate<Env> | AuthProvider;
  /**
   * The id of a sandbox's container: `getSandbox(env.Sandbox, id)` reaches the same one. Two tenants that are given one id share that
   * sandbox and its sessions. Default: an id that no other tenant can have, and that nobody knows.
   */
  readonly sandbox?: SandboxIds;
  /** The path where the routes begin, such as `/sandboxes`. Default: at the root. */
  readonly prefix?: string;
  /** `mcpTools` of `sandbox-stdio/worker/mcp`: serves the tools at `/mcp`. Default: only the gateway at `/mcp/SANDBOX/NAME`. */
  readonly mcp?: McpTools;
  /** Answers what no route takes, with the address as it is below the prefix. Default: 404. */
  readonly otherwise?: (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>;
  /** Variables of docs/settings.md; a variable that is missing here is read from the Worker's own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The names of the Worker's bindings, where they are not these. */
  readonly bindings?: Readonly<Partial<Record<(typeof BINDINGS)[number], string>>>;
};

const BINDINGS = ["Sandbox", "SESSION", "TENANT", "ADDRESS", "DIRECTORY", "COUNTERS"] as const;

export type StdioParts<Env> = {
  /** Answers a request whose path begins with the prefix; 404 to every other. */
  fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response>;
  /** To be exported, each under the name that the Worker's configuration has for it. */
  readonly SessionObject: typeof SessionObject;
  readonly TenantObject: typeof TenantObject;
  readonly AddressObject: typeof AddressObject;
  readonly SandboxDirectory: typeof SandboxDirectory;
  /** Needs a binding, `COUNTERS`, only where `/metrics` is to be read. */
  readonly CounterObject: typeof CounterObject;
  /** The Worker's environment with the settings and the names of the bindings. */
  readonly complete: (env: object) => StdioEnv;
};

/** To be called once in a Worker, at its top: the objects find the chosen options there. */
export function makeStdio<Env extends object>(options: StdioOptions<Env>, containers: ContainerWay): StdioParts<Env> {
  const { authenticate, sandbox, prefix = "", mcp, otherwise, settings = {}, bindings = {} } = options;
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(prefix))
    throw new TypeError(`Cannot serve below "${prefix}": need "/NAME", with no slash behind`);
  const outer = new WeakMap<object, Env>();
  const completed = new WeakMap<object, StdioEnv>();
  const complete = (env: object): StdioEnv => {
    let whole = completed.get(env);
    if (whole === undefined) {
      const own = env as Readonly<Record<string, unknown>>;
      const bound = Object.fromEntries(BINDINGS.map((name) => [name, own[bindings[name] ?? name]]));
      whole = placed({ ...own, ...bound, ...settings, ROUTES_PREFIX: prefix } as unknown as StdioEnv);
      completed.set(env, whole);
      outer.set(whole, env as Env);
    }
    return whole;
  };
  useContainers(containers);
  useSandboxIds(sandbox);
  const given = (env: object): Env => outer.get(env) ?? (env as Env);
  useAuthentication(typeof authenticate === "function" ? ownProvider(authenticate, given) : authenticate);
  const app = stdioRoutes(mcp);
  app.all("*", (c) =>
    otherwise === undefined
      ? c.json({ error: "not_found", message: `no ${c.req.method} ${c.req.path}` }, 404)
      : otherwise(c.req.raw, given(c.env), c.executionCtx as ExecutionContext),
  );
  return {
    fetch: async (request, env, ctx) => {
      // A host of its own: nothing else of this Worker answers there.
      const preview = await answerPreview(request, complete(env));
      if (preview !== undefined) return preview;
      const url = new URL(request.url);
      if (!url.pathname.startsWith(`${prefix}/`)) {
        return Response.json({ error: "not_found", message: `not below ${prefix}` }, { status: 404 });
      }
      url.pathname = url.pathname.slice(prefix.length);
      return app.fetch(prefix === "" ? request : new Request(url, request), complete(env), ctx);
    },
    SessionObject: class extends SessionObject {
      constructor(ctx: DurableObjectState, env: StdioEnv) {
        super(ctx, complete(env));
      }
    },
    TenantObject: class extends TenantObject {
      constructor(ctx: DurableObjectState, env: StdioEnv) {
        super(ctx, complete(env));
      }
    },
    AddressObject: class extends AddressObject {
      constructor(ctx: DurableObjectState, env: StdioEnv) {
        super(ctx, complete(env));
      }
    },
    SandboxDirectory,
    CounterObject,
    complete,
  };
}
