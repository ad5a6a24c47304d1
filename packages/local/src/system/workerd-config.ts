// workerd's configuration for the Worker: its objects on the local disk, its page from a folder. Pure: settings in, text out.

/** What worker-options.ts writes, as far as it is read here. */
export interface WorkerOptions {
  readonly name: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly bindings: Readonly<Record<string, string>>;
  readonly durableObjects: Readonly<Record<string, { readonly className: string }>>;
}

/** Unix sockets in the folder where workerd starts: its own for this machine's programs, and where issuer and bridge listen. */
export const SOCKETS = { inner: "inner.sock", issuer: "issuer.sock", bridge: "bridge.sock" } as const;

/** What stands between a network and the Worker: one module around it, which passes some requests to the issuer. */
export interface Front {
  /** Its default export answers at the Worker's address, its `inner` at `innerAddress` and a socket. Absolute. */
  readonly module: string;
  /** Where the Worker itself asks for the issuer's answers. */
  readonly innerAddress: string;
  /** What the module finds as `FRONT`: JSON. */
  readonly settings: object;
  /** PEM texts. Absent: plain HTTP. */
  readonly tls?: { readonly privateKey: string; readonly certificateChain: string } | undefined;
}

/** Where workerd listens and what it reads. Paths are absolute: its import path is the root. */
export interface WorkerPlaces {
  /** Flags of workerd's V8, such as `--gc-global`. */
  readonly v8Flags: readonly string[];
  /** `ADDRESS:PORT` */
  readonly address: string;
  readonly bundle: string;
  readonly page: string;
  /** The folder of worker-entry.mjs, asset-worker.mjs and folder-bucket.mjs. */
  readonly modules: string;
  /** Must exist. */
  readonly objects: string;
  readonly front?: Front | undefined;
  /** The folder that the Worker takes for its bucket. Must exist. Absent: each object keeps its own recordings. */
  readonly recordings?: string | undefined;
}

/** @param vars Over the ones of `options`. The text holds their secrets. */
export function workerdConfig(options: WorkerOptions, vars: Record<string, string>, places: WorkerPlaces): string {
  const { name, compatibilityDate, compatibilityFlags, durableObjects } = options;
  const { front, recordings } = places;
  const date = `compatibilityDate = ${text(compatibilityDate)}`;
  const bindings = [
    ...Object.entries({ ...options.bindings, ...vars }).map(([key, value]) => bound(key, `text = ${text(value)}`)),
    ...Object.entries(durableObjects).map(([key, { className }]) =>
      bound(key, `durableObjectNamespace = ${text(className)}`),
    ),
    bound("ASSETS", 'service = "assets"'),
    ...(recordings === undefined ? [] : [BUCKET]),
    ...(front === undefined
      ? []
      : [
          bound("FRONT", `json = ${text(JSON.stringify(front.settings))}`),
          bound("ISSUER", 'service = "issuer"'),
          bound("BRIDGE", 'service = "bridge"'),
        ]),
  ];
  const namespaces = Object.values(durableObjects).map(
    // The key names the folder of the class's objects, and goes into their ids.
    ({ className }) =>
      `(className = ${text(className)}, uniqueKey = ${text(`${name}-${className}`)}, enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = [${places.v8Flags.map(text).join(", ")}],
  services = [
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
    (name = "objects", disk = (path = ${text(places.objects)}, writable = true)),
    (name = "files", disk = (path = ${text(places.page)})),
    (name = "assets", worker = (
      modules = [(name = "asset-worker.js", esModule = embed ${text(`${places.modules}/asset-worker.mjs`)})],
      ${date},
      bindings = [(name = "FILES", service = "files")])),
    (name = "main", worker = (
      modules = [${front === undefined ? "" : `\n        (name = "front.js", esModule = embed ${text(front.module)}),`}
        (name = "worker-entry.js", esModule = embed ${text(`${places.modules}/worker-entry.mjs`)}),
        (name = "bundle.js", esModule = embed ${text(places.bundle)})],
      ${date},
      compatibilityFlags = [${compatibilityFlags.map(text).join(", ")}],
      bindings = [
        ${bindings.join(",\n        ")}],
      durableObjectNamespaces = [
        ${namespaces.join(",\n        ")}],
      durableObjectStorage = (localDisk = "objects"))),${front === undefined ? "" : `\n    ${atSocket("issuer")},\n    ${atSocket("bridge")},`}${recordings === undefined ? "" : `\n    (name = "recordings", disk = (path = ${text(recordings)}, writable = true)),`}
  ],
  extensions = [(modules = [(name = "local:bucket", internal = true, esModule = embed ${text(`${places.modules}/folder-bucket.mjs`)})])],
  sockets = [
    (name = "http", address = ${text(places.address)}, ${protocolOf(front)}, service = "main"),${front === undefined ? "" : innerSockets(front)}
  ],
);
`;
}

const BUCKET =
  '(name = "RECORDINGS", wrapped = (moduleName = "local:bucket", innerBindings = [(name = "FOLDER", service = "recordings")]))';

const atSocket = (name: "issuer" | "bridge"): string =>
  `(name = ${text(name)}, external = (address = ${text(`unix:${SOCKETS[name]}`)}, http = ()))`;

const INNER = 'http = (), service = (name = "main", entrypoint = "inner")';

const innerSockets = ({ innerAddress }: Front): string => `
    (name = "inner", address = ${text(innerAddress)}, ${INNER}),
    (name = "own", address = ${text(`unix:${SOCKETS.inner}`)}, ${INNER}),`;

function protocolOf(front: Front | undefined): string {
  const tls = front?.tls;
  if (tls === undefined) return "http = ()";
  const keypair = `privateKey = ${text(tls.privateKey)}, certificateChain = ${text(tls.certificateChain)}`;
  return `https = (options = (), tlsOptions = (keypair = (${keypair})))`;
}

const bound = (name: string, what: string): string => `(name = ${text(name)}, ${what})`;

/** A text of Cap'n Proto, whose escapes are those of C. UTF-8 stands for itself. */
function text(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they can't stand in a text as they are.
  const escaped = value.replace(/["\\\u0000-\u001f\u007f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `"${escaped}"`;
}
