// `sandbox-stdio/worker`: sessions inside another system's Worker, with containers of the Sandbox SDK. Our own Worker uses it too.

import { sdkContainers } from "./sandbox/sdk/access.ts";
import { answerCallsOf, type SandboxClass, type StdioSandboxClass, withStdio } from "./sandbox/sdk/sandbox.ts";
import { makeStdio, type StdioOptions, type StdioParts } from "./stdio.ts";

export type { SandboxIds, SandboxPlace } from "./auth/names.ts";
export type { Authenticate, StdioIdentity, StdioRefusal } from "./auth/own-provider.ts";
export type { StdioOptions } from "./stdio.ts";

export type Stdio<Env> = Omit<StdioParts<Env>, "complete"> & {
  /** Makes a class that extends the SDK's `Sandbox` one whose containers have sessions. */
  readonly withStdio: <Base extends SandboxClass>(Base: Base) => StdioSandboxClass<Base>;
  /**
   * Lets the containers of this class, which is exported and extends that of `withStdio`, call their sessions when there is news:
   * sessions are looked at less often, and sleep while they are quiet. Needs `ContainerProxy` of the SDK among the exports.
   */
  readonly answerCallsOf: (Class: new (...given: never[]) => object) => void;
};

/** To be called once in a Worker, at the top of its module. */
export function createStdio<Env extends object>(options: StdioOptions<Env>): Stdio<Env> {
  const { complete, ...stdio } = makeStdio(options, sdkContainers);
  return {
    ...stdio,
    withStdio: (Base) => withStdio(Base, complete),
    answerCallsOf: (Class) => answerCallsOf(Class, complete),
  };
}
