// A container in the place of the platform's, for a container's object that is reached as in production: by its stub. It starts at once,
// and a test says what listens in it.

type Listener = (request: Request<unknown, unknown>, port: number) => Response | Promise<Response>;

/** What is asked here starts a container, and reaches nothing that listens there. */
export const START_PATH = "/start";
/** Hosts that the SDK asks for, before it sends anything. */
const PROBED: readonly string[] = ["ping", "containerstarthealthcheck"];

const listeners = new Map<string, Listener>();

/** Says what answers in the container of a sandbox. It is called in the object: its answer is to be made there. */
export function listenIn(sandboxKey: string, listener: Listener): void {
  listeners.set(sandboxKey, listener);
}

const blocked = new Set<string>();

/** Has no container start for the object that there is, as the local runtime does after a container was taken from it. */
export function blockStartsOf(sandboxKey: string): void {
  blocked.add(sandboxKey);
}

/** Gives an object's state a container, which does not run yet. */
export function withContainer(state: DurableObjectState): DurableObjectState {
  const key = state.id.name ?? "";
  let running = false;
  // It is of a new object.
  blocked.delete(key);
  const container = {
    get running() {
      return running;
    },
    start: () => {
      running = !blocked.has(key);
    },
    monitor: () => {
      const ended = running
        ? new Promise<void>(() => undefined)
        : Promise.reject(new Error("Container failed to start"));
      // Whoever watches it hears of that; where nobody does, it is nobody's error.
      ended.catch(() => undefined);
      return ended;
    },
    signal: () => undefined,
    destroy: async () => {
      running = false;
    },
    setInactivityTimeout: async () => undefined,
    interceptOutboundHttp: async () => undefined,
    getTcpPort: (port: number) => ({
      fetch: async (...given: ConstructorParameters<typeof Request>) => {
        const request = new Request(...given);
        if (!running) throw new Error("Container is not listening");
        const { hostname, pathname } = new URL(request.url);
        const isProbe = port === 3000 || pathname === "/healthz" || PROBED.includes(hostname);
        if (isProbe || pathname === START_PATH) return Response.json({ version: "0.12.10" });
        const listener = listeners.get(key);
        if (listener === undefined) throw new Error("The container is not listening");
        return listener(request, port);
      },
    }),
  };
  Object.defineProperty(state, "container", { value: container });
  return state;
}
