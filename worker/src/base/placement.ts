// Where objects are made: near a place, or within a jurisdiction, where settings say so. The namespaces of a Worker's bindings are
// replaced by such that ask for it, so that whoever addresses an object need not know.

export interface PlacementEnv {
  /**
   * Where objects are created, as the platform names it, such as `weur`. Not tested here. Default: near the first
   * request.
   */
  readonly LOCATION_HINT?: string;
  /**
   * `eu` or `fedramp`: objects are created and stay there. Another value means other objects, so choose once. Not
   * tested here. Default: none.
   */
  readonly JURISDICTION?: string;
}

/** Objects that hold people's data, unlike the global counters. */
const PLACED = ["Sandbox", "SESSION", "TENANT", "ADDRESS", "DIRECTORY"] as const;

export function placed<Env extends PlacementEnv>(env: Env): Env {
  const { LOCATION_HINT = "", JURISDICTION = "" } = env;
  if (LOCATION_HINT === "" && JURISDICTION === "") return env;
  const bindings = env as unknown as Readonly<Record<string, DurableObjectNamespace | undefined>>;
  const found = PLACED.flatMap((name) => {
    const namespace = bindings[name];
    if (namespace === undefined) return [];
    // What the platform does not know it refuses, at the first request.
    const inside = JURISDICTION === "" ? namespace : namespace.jurisdiction(JURISDICTION as DurableObjectJurisdiction);
    return [[name, LOCATION_HINT === "" ? inside : hinted(inside, LOCATION_HINT as DurableObjectLocationHint)]];
  });
  return { ...env, ...Object.fromEntries(found) };
}

function hinted(namespace: DurableObjectNamespace, locationHint: DurableObjectLocationHint): DurableObjectNamespace {
  return new Proxy(namespace, {
    get: (target, name) => {
      if (name === "getByName") return (key: string) => target.getByName(key, { locationHint });
      if (name === "get") return (id: DurableObjectId) => target.get(id, { locationHint });
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
