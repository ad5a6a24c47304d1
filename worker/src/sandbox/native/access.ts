// The way to a container by the platform's own API: the object passes each request to the port that a header names.

import type { ContainerWay } from "../containers.ts";

/** The same as the SDK's: requests to the container do not depend on the way. */
export const PORT_HEADER = "cf-container-target-port";

export const nativeContainers: ContainerWay = (env, sandboxKey) => ({
  fetch: (request, port) => {
    request.headers.set(PORT_HEADER, String(port));
    return env.Sandbox.getByName(sandboxKey).fetch(request);
  },
});
