// The way to a container by the Sandbox SDK 0.x: `wsConnect` for an upgrade, `containerFetch` for anything else.

import { getSandbox } from "@cloudflare/sandbox";
import type { ContainerWay } from "../containers.ts";
import { whileWanted } from "../given-up.ts";
import type { SdkSandbox } from "./sandbox.ts";

export const sdkContainers: ContainerWay = (env, sandboxKey) => {
  const sandbox = getSandbox(env.Sandbox as DurableObjectNamespace<SdkSandbox>, sandboxKey);
  return {
    fetch: async (request, port) => {
      const { signal } = request;
      signal.throwIfAborted();
      if (!request.headers.has("Upgrade")) {
        // An RPC, to which no signal can be given: who gives up stops waiting here.
        const asked = sandbox.containerFetch(new Request(request, { signal: null }), port);
        return whileWanted(asked, signal);
      }
      // Without it the SDK takes the request for plain HTTP to another port.
      request.headers.set("Connection", "Upgrade");
      return sandbox.wsConnect(request, port);
    },
  };
};
