// The Worker as the tests run it: the objects of both ways to a container are bound, with stand-ins for the containers themselves.

import type { StdioEnv } from "../../src/env.ts";
import { Sandbox as SdkSandbox } from "../../src/index.ts";
import { Sandbox as NativeSandboxClass } from "../../src/sandbox/native/sandbox.ts";
import { STDIO_TOKEN } from "./secret.ts";
import { withContainer } from "./stand-in-container.ts";

export {
  AddressObject,
  ContainerProxy,
  CounterObject,
  default,
  SandboxDirectory,
  SessionObject,
  TenantObject,
} from "../../src/index.ts";
export { EgressProxy } from "../../src/sandbox/native/egress-proxy.ts";

export class Sandbox extends SdkSandbox {
  constructor(ctx: DurableObjectState, env: StdioEnv) {
    super(withContainer(ctx), { ...env, STDIO_TOKEN });
  }
}

export class NativeSandbox extends NativeSandboxClass {
  constructor(ctx: DurableObjectState, env: StdioEnv) {
    super(withContainer(ctx), { ...env, STDIO_TOKEN });
  }
}
