// Which test files a change of files can break. Pure: it is handed the tree's files. A file depends on every other that its text names, by an
// import, a URL or a path; what a test runs without naming it stands in a table of its own.

export type TreeFile = { readonly path: string; readonly text: string };

/** Programs and pages that are built or started: by the file that does so, what it runs. A folder means its files without tests. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  "packages/local/src/system/parts.ts": [
    "wrangler.toml",
    "worker/src",
    "sandbox/src",
    "sandbox/stdio-ws.ts",
    "packages/serve/src",
    "packages/dashboard/src",
    "packages/dashboard/index.html",
  ],
  "packages/sbx-cli/test/fixture/cli.ts": ["packages/sbx-cli/src", "packages/local/src/build"],
  "test/e2e/support/clients/cli.ts": ["packages/sbx-cli/src", "packages/local/src/build"],
  "packages/dashboard/test/browser.ts": [
    "packages/dashboard/src",
    "packages/dashboard/index.html",
    "packages/dashboard/public",
  ],
  "test/browser/support/fixture.ts": ["packages/dashboard/src", "packages/dashboard/public"],
};

/** By how its path begins, what each test file there runs under. */
const UNDER: readonly (readonly [tests: string, runs: readonly string[]])[] = [
  ["test/e2e/", ["test/e2e/vitest.config.ts", "test/e2e/global-setup.ts", "test/e2e/support/cleanup.ts"]],
  ["test/browser/", ["test/browser/vitest.config.ts", "test/e2e/global-setup.ts"]],
  // Its bindings and its main module.
  ["worker/test/", ["worker/vitest.config.ts", "wrangler.toml", "worker/test/support/global-setup.ts"]],
  ["sandbox/test/", ["sandbox/vitest.config.ts"]],
  ["packages/", ["vitest.config.ts"]],
  ["packages/dashboard/test/", ["packages/dashboard/test/global-setup.ts"]],
  ["packages/sbx-cli/test/", ["packages/sbx-cli/test/global-setup.ts"]],
];

/** A change of one of these can break any test. */
const EVERYTHING = /^(package\.json|package-lock\.json|tsconfig\.base\.json|packages\/[\w-]+\/package\.json)$/;
/** These read the whole tree: documents, tables, commits. */
const READS_EVERYTHING = "scripts/test/";
const TEST_FILE = /\.test\.tsx?$/;
const IN_TESTS = /(^|\/)test\//;
/** What workerd's tests reach by these is the whole Worker. */
const WORKER_ITSELF = /"cloudflare:(test|workers)"/;
/** A quoted word that could be a path or a package's name. */
const QUOTED = /["'`]([\w@./*+-]+)["'`]/g;

/** The tree's files, and which of them each depends on. */
export class DependencyGraph {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #folders = new Map<string, string[]>();
  readonly #packages: ReadonlyMap<string, string>;
  readonly #edges = new Map<string, ReadonlySet<string>>();

  /**
   * @param files Every file of the tree that is tracked; the text of those that are no source may be empty.
   * @param packages The folder of each workspace package, by its name.
   */
  constructor(files: readonly TreeFile[], packages: ReadonlyMap<string, string>) {
    this.#texts = new Map(files.map(({ path, text }) => [path, text]));
    this.#packages = packages;
    for (const { path } of files) {
      if (IN_TESTS.test(path)) continue;
      const parts = path.split("/");
      for (let depth = 1; depth < parts.length; depth++) {
        const folder = parts.slice(0, depth).join("/");
        const members = this.#folders.get(folder);
        if (members === undefined) this.#folders.set(folder, [path]);
        else members.push(path);
      }
    }
  }

  /** Paths of the test files that a change of these files can break, sorted. Paths are from the top of the tree. */
  affectedTests(changed: readonly string[]): string[] {
    const tests = [...this.#texts.keys()].filter((path) => TEST_FILE.test(path)).sort();
    if (changed.some((path) => EVERYTHING.test(path))) return tests;
    const wanted = new Set(changed);
    return tests.filter((path) => path.startsWith(READS_EVERYTHING) || this.#reaches(path, wanted));
  }

  /** Paths of all files that can break a test file in one of these folders, or one of these programs, sorted. */
  inputsOf(places: readonly string[]): string[] {
    const paths = [...this.#texts.keys()];
    const tests = paths.filter(
      (path) =>
        places.includes(path) || (TEST_FILE.test(path) && places.some((folder) => path.startsWith(`${folder}/`))),
    );
    if (tests.length === 0 || tests.some((path) => path.startsWith(READS_EVERYTHING))) return paths.sort();
    const found = new Set(paths.filter((path) => EVERYTHING.test(path)));
    for (const test of tests) for (const path of this.#closureOf(test)) found.add(path);
    return [...found].sort();
  }

  #reaches(from: string, wanted: ReadonlySet<string>): boolean {
    for (const path of this.#closureOf(from)) if (wanted.has(path)) return true;
    return false;
  }

  *#closureOf(from: string): Generator<string> {
    const seen = new Set([from]);
    for (const path of seen) {
      yield path;
      for (const next of this.#dependenciesOf(path)) seen.add(next);
    }
  }

  #dependenciesOf(path: string): ReadonlySet<string> {
    let found = this.#edges.get(path);
    if (found === undefined) {
      found = new Set(this.#namedIn(path));
      this.#edges.set(path, found);
    }
    return found;
  }

  *#namedIn(path: string): Generator<string> {
    // It names the set-ups of every project.
    if (path === "vitest.config.ts") return;
    for (const place of RUNS[path] ?? []) yield* this.#filesAt(place);
    if (TEST_FILE.test(path)) {
      for (const [tests, runs] of UNDER) {
        if (path.startsWith(tests)) for (const place of runs) yield* this.#filesAt(place);
      }
    }
    const text = this.#texts.get(path) ?? "";
    if (path.startsWith("worker/") && WORKER_ITSELF.test(text)) yield "worker/src/index.ts";
    const folder = path.split("/").slice(0, -1);
    for (const [, quoted = ""] of text.matchAll(QUOTED)) {
      if (quoted.startsWith(".")) yield* this.#filesAt(resolve(folder, quoted));
      else yield* this.#sourcesOfPackage(quoted) ?? this.#filesAt(quoted);
    }
  }

  #sourcesOfPackage(specifier: string): readonly string[] | undefined {
    // The product's name stands everywhere; nobody imports the command line by its package's.
    if (specifier === "sbx-stdio") return undefined;
    const name = /^(@[^/]+\/)?[^/]*/.exec(specifier)?.[0] ?? "";
    const folder = this.#packages.get(specifier) ?? this.#packages.get(name);
    return folder === undefined ? undefined : this.#filesAt(`${folder}/src`);
  }

  /** The file itself, or a folder's files. A folder at the top is a word like another, and counts only in the tables. */
  #filesAt(place: string): readonly string[] {
    if (this.#texts.has(place)) return [place];
    return (place.includes("/") ? this.#folders.get(place.replace(/\/$/, "")) : undefined) ?? [];
  }
}

/** `folder` and then `relative`, without dots. */
function resolve(folder: readonly string[], relative: string): string {
  const parts = [...folder];
  for (const step of relative.split("/")) {
    if (step === "..") parts.pop();
    else if (step !== "." && step !== "") parts.push(step);
  }
  return parts.join("/");
}
