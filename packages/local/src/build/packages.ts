// The two packages: which files each has, how they are compiled, and what their package.json says.
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { BIN, ROOT } from "../base/paths.ts";
import { APART_FILES } from "./builds.ts";
import { runTool } from "./tool.ts";

/** Where each part of the workspace stands in the packed tree. */
const PARTS = {
  core: "packages/sandbox-stdio/src",
  page: "packages/dashboard/src",
  api: "packages/api/src",
  mcp: "packages/mcp/src",
  worker: "worker/src",
} as const;

/** The file of each package of the workspace in that tree. */
const MODULES: Readonly<Record<string, string>> = {
  "sandbox-stdio/core": "core/index.ts",
  "sandbox-stdio/programs": "core/programs/index.ts",
  "sandbox-stdio/recording": "core/recording/index.ts",
  "sandbox-stdio/codex": "core/codex/index.ts",
  "sandbox-stdio/shapes": "core/http/shapes.ts",
  "sandbox-stdio/recording-shapes": "core/http/recording-shapes.ts",
  "sandbox-stdio/protocol": "core/entry/protocol.ts",
  "sandbox-stdio/client": "core/entry/client.ts",
  "@sbx/api": "api/index.ts",
  "@sbx/mcp": "mcp/index.ts",
  "@sbx/mcp/gateway": "mcp/gateway/index.ts",
  "@sbx/api/patterns": "api/patterns.ts",
};

const SPECIFIER = /(from |import |import\()"((?:sandbox-stdio|@sbx)\/[^"]+)"/g;

type Manifest = {
  readonly version: string;
  readonly license: string;
  readonly description: string;
  readonly dependencies?: Readonly<Record<string, string>>;
};

/** Compiled apart, since each stands on another platform's types. Only what an entry point reaches is compiled. */
const PROGRAMS = [
  {
    name: "web",
    entries: ["core/entry/protocol.ts", "core/entry/client.ts", "page/xterm.ts", "page/react.ts"],
    options: { lib: ["ES2023", "ESNext.Collection", "DOM", "DOM.Iterable", "DOM.AsyncIterable"], jsx: "react-jsx" },
    types: ["vite/client"],
  },
  {
    name: "worker",
    entries: ["worker/library.ts", "worker/library-mcp.ts", "worker/node.d.ts", "worker/xterm.d.ts"],
    options: { lib: ["ES2023"] },
    types: ["@cloudflare/workers-types"],
  },
] as const;

const ENTRIES: Readonly<Record<string, string>> = {
  "./protocol": "core/entry/protocol",
  "./client": "core/entry/client",
  "./worker": "worker/library",
  "./worker/mcp": "worker/library-mcp",
  "./xterm": "page/xterm",
  "./react": "page/react",
};

/** The packages of others that `/worker` imports. */
const DEPENDENCIES: readonly string[] = ["@xterm/addon-unicode11", "@xterm/headless", "hono", "jose", "re2js", "zod"];
/** Packages that only users of an entry point that imports them need. */
const PEERS = [
  "@cloudflare/sandbox",
  "@modelcontextprotocol/server",
  "react",
  "lucide-react",
  "@xterm/xterm",
  "@xterm/addon-fit",
  "@xterm/addon-image",
  "@xterm/addon-search",
  "@xterm/addon-web-links",
  "@xterm/addon-webgl",
];

/** @param staging Is made. @returns The path of the packed file. @throws {BuildError} */
export async function packLibrary(staging: string, outDir: string): Promise<string> {
  const sources = join(staging, "src");
  mkdirSync(sources, { recursive: true });
  gather(sources);
  // The compiler looks for types of other packages from here upwards.
  symlinkSync(join(ROOT, "node_modules"), join(staging, "node_modules"));
  for (const program of PROGRAMS) {
    const config = join(staging, `tsconfig.${program.name}.json`);
    const { entries, options, types } = program;
    writeJson(config, {
      extends: join(ROOT, "tsconfig.base.json"),
      compilerOptions: {
        ...options,
        types,
        noEmit: false,
        // The workspace checks the sources, and the tests of the packed files the declarations.
        noCheck: true,
        declaration: true,
        allowImportingTsExtensions: false,
        rewriteRelativeImportExtensions: true,
        rootDir: "src",
        outDir: "package/dist",
      },
      files: entries.map((entry) => `src/${entry}`),
    });
    await runTool(`compile ${program.name}`, join(BIN, "tsc"), ["-p", config], { cwd: staging });
  }
  const dist = join(staging, "package/dist");
  for (const file of globSync("page/*.css", { cwd: sources })) cpSync(join(sources, file), join(dist, file));
  const home = join(ROOT, "packages/sandbox-stdio");
  const own = readManifest(home);
  const root = readManifest(ROOT);
  const versions = (names: readonly string[], prefix = "") =>
    Object.fromEntries(names.map((name) => [name, `${prefix}${versionOf(root, name)}`]));
  writeJson(join(staging, "package/package.json"), {
    name: "sandbox-stdio",
    version: own.version,
    description: "Terminals and process stdio of Cloudflare Sandboxes, with not one byte lost or doubled",
    license: root.license,
    type: "module",
    sideEffects: ["**/*.css"],
    exports: Object.fromEntries([
      ...Object.entries(ENTRIES).map(([name, path]) => [
        name,
        { types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` },
      ]),
      ["./protocol/vectors/*.json", "./vectors/*.json"],
      ["./package.json", "./package.json"],
    ]),
    files: ["dist", "vectors", "PROTOCOL.md", "INTERNALS.md"],
    dependencies: versions(DEPENDENCIES),
    // `@cloudflare/sandbox` admits no version before its release: beside it, only the page needs the newer one.
    peerDependencies: { ...versions(PEERS, "^"), "@xterm/xterm": `^6.0.0 || ^${versionOf(root, "@xterm/xterm")}` },
    peerDependenciesMeta: Object.fromEntries(PEERS.map((name) => [name, { optional: true }])),
  });
  cpSync(join(home, "vectors"), join(staging, "package/vectors"), { recursive: true });
  copyDocuments(home, join(staging, "package"), ["PROTOCOL.md", "INTERNALS.md"]);
  writeFileSync(join(staging, "package/README.md"), withoutLinksOut(join(home, "PACKAGE.md")));
  return pack(join(staging, "package"), outDir);
}

/** What `serve` runs its parts with, by platform: the versions that this checkout has. */
function runtimes(): Record<string, string> {
  const { overrides, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const workerd = ["linux-64", "linux-arm64", "darwin-64", "darwin-arm64"].map((platform) => {
    const name = `@cloudflare/workerd-${platform}`;
    return [name, overrides[name] ?? overrides.workerd];
  });
  const bun = ["linux-x64", "linux-aarch64", "darwin-x64", "darwin-aarch64"].map((platform) => [
    `@oven/bun-${platform}`,
    devDependencies.bun,
  ]);
  return Object.fromEntries([...workerd, ...bun]);
}

/** @param staging Is made. @param serve The folder of what `serve` runs. @returns The path of the packed file. @throws {BuildError} */
export async function packCli(staging: string, outDir: string, serve: string): Promise<string> {
  const home = join(ROOT, "packages/sbx-cli");
  const own = readManifest(home);
  mkdirSync(staging, { recursive: true });
  for (const file of ["dist/sbx-stdio.js", ...APART_FILES, "bin/sbx-stdio.js"]) {
    cpSync(join(home, file), join(staging, file));
  }
  cpSync(serve, join(staging, "dist/serve"), { recursive: true });
  chmodSync(join(staging, "bin/sbx-stdio.js"), 0o755);
  writeJson(join(staging, "package.json"), {
    name: "sbx-stdio",
    version: own.version,
    description: own.description,
    license: own.license,
    type: "commonjs",
    bin: { "sbx-stdio": "bin/sbx-stdio.js" },
    man: ["man/sbx-stdio.1"],
    engines: { node: ">=20" },
    files: ["dist", "bin", "man"],
    // Optional, since npm installs those of the platform alone: two programs that only `serve` needs.
    optionalDependencies: runtimes(),
  });
  mkdirSync(join(staging, "man"));
  const manual = await runTool("print the manual page", process.execPath, ["bin/sbx-stdio.js", "man"], {
    cwd: staging,
  });
  writeFileSync(join(staging, "man/sbx-stdio.1"), manual);
  copyDocuments(home, staging, ["README.md"]);
  return pack(staging, outDir);
}

async function pack(dir: string, outDir: string): Promise<string> {
  const args = ["pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", outDir];
  const [packed] = JSON.parse(await runTool("pack", "npm", args, { cwd: dir })) as { filename: string }[];
  return join(outDir, packed?.filename ?? "");
}

/** Links that lead out of the package's directory lead nowhere once it is packed: they are left as words. */
const withoutLinksOut = (file: string): string =>
  readFileSync(file, "utf8").replace(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, "$1");

function copyDocuments(home: string, to: string, names: readonly string[]): void {
  for (const name of names) writeFileSync(join(to, name), withoutLinksOut(join(home, name)));
  cpSync(join(ROOT, "LICENSE"), join(to, "LICENSE"));
}

function versionOf({ dependencies }: Manifest, name: string): string {
  const version = dependencies?.[name];
  if (version === undefined) throw new Error(`Cannot pack: package.json has no ${name}`);
  return version;
}

function readManifest(dir: string): Manifest {
  return JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as Manifest;
}

function writeJson(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Copies the sources into one tree, and makes the names of the workspace's packages relative paths. @throws {Error} Where a source imports a package of the workspace that is not packed. */
function gather(dir: string): void {
  for (const [part, from] of Object.entries(PARTS)) cpSync(join(ROOT, from), join(dir, part), { recursive: true });
  for (const file of globSync("**/*.{ts,tsx}", { cwd: dir })) {
    const path = join(dir, file);
    const source = readFileSync(path, "utf8");
    const rewritten = source.replace(SPECIFIER, (_, before: string, name: string) => {
      const target = MODULES[name];
      if (target === undefined) throw new Error(`Cannot pack ${file}: it imports ${name}`);
      const path = relative(dirname(file), target);
      return `${before}"${path.startsWith(".") ? path : `./${path}`}"`;
    });
    if (rewritten !== source) writeFileSync(path, rewritten);
  }
}
