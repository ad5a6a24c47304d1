// The way to a container by the platform's own API: the object passes each request to the port that a header names.

import { type ContainerWay, PORT_HEADER } from "../containers.ts";

export const nativeContainers: ContainerWay = (env, sandboxKey) => ({
  fetch: (request, port) => {
    request.headers.set(PORT_HEADER, String(port));
    return env.Sandbox.getByName(sandboxKey).fetch(request);
  },
});
