// The way to a container by the Sandbox SDK 0.x: `wsConnect` for an upgrade, `containerFetch` for anything else.

import { getSandbox } from "@cloudflare/sandbox";
import type { ContainerWay } from "../containers.ts";
import type { SdkSandbox } from "./sandbox.ts";

export const sdkContainers: ContainerWay = (env, sandboxKey) => {
  const sandbox = getSandbox(env.Sandbox as DurableObjectNamespace<SdkSandbox>, sandboxKey);
  return {
    fetch: (request, port) => {
      if (!request.headers.has("Upgrade")) return sandbox.containerFetch(request, port);
      // Without it the SDK takes the request for plain HTTP to another port.
      request.headers.set("Connection", "Upgrade");
      return sandbox.wsConnect(request, port);
    },
  };
};
