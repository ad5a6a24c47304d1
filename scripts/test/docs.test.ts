// The documents: the targets of their links and names exist, each variable is explained, and each rule that a test quotes exists.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { GENERATED_PAGES } from "../pages/generated-pages.ts";

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT })
  .toString()
  .trim()
  .split("\n")
  .filter((file) => existsSync(join(ROOT, file)));
const pages = files.filter((file) => file.endsWith(".md"));
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
/** The part of a page outside of code blocks. */
const proseOf = (page: string): string => read(page).replace(/^```[\s\S]*?^```/gm, "");

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const headings = proseOf(page).matchAll(/^#+ (.*)$/gm);
  const anchor = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
  return new Set([...headings].map(([, heading = ""]) => anchor(heading)));
}

test("the pages are these: what is new gets a section, or is generated", () => {
  const written = [
    "CHANGELOG.md CONTRIBUTING.md README.md SECURITY.md",
    "docs/architecture.md docs/benchmark.md docs/ssh.md docs/guide.md docs/operations.md docs/programs.md",
    "packages/sandbox-stdio/INTERNALS.md packages/sandbox-stdio/PACKAGE.md packages/sandbox-stdio/PROTOCOL.md",
    "packages/sbx-cli/README.md",
  ].flatMap((line) => line.split(" "));
  const generated = [...Object.keys(GENERATED_PAGES), "docs/matrix.md"];
  expect(pages.toSorted()).toEqual([...written, ...generated].sort());
});

/** Bytes. */
/** 160 KB for 0.2.0; what has been added since is told in sections. */
const MAX_BY_HAND = 182_000;
const MAX_GENERATED = 72_000;

test("the pages by hand have at most 182 KB, what programs write 72 KB", () => {
  const bytesOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const isGenerated = (page: string) => page in GENERATED_PAGES || page === "docs/matrix.md";
  // Programs write some blocks of pages, too.
  const blocks = pages
    .filter((page) => !isGenerated(page))
    .flatMap((page) => [...read(page).matchAll(/<!-- (?!screenshots)(\w+) -->[\s\S]*?<!-- \/\1 -->/g)])
    .map(([block]) => block);
  const byHand = bytesOf(pages.filter((page) => !isGenerated(page)).map(read)) - bytesOf(blocks);
  const generated = bytesOf(pages.filter(isGenerated).map(read)) + bytesOf(blocks);
  expect(byHand).toBeLessThanOrEqual(MAX_BY_HAND);
  expect(generated).toBeLessThanOrEqual(MAX_GENERATED);
});

test("the README stays short: at most 150 lines", () => {
  expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test("no instruction asks a registry for a package of ours: nobody has registered the names", () => {
  const ours = "(?:sbx-[a-z]|sandbox-stdio\\b(?!-\\d))";
  const asks = new RegExp(
    [
      `\\b(?:npx|bunx|(?:npm|yarn|pnpm) (?:exec|x|dlx))(?: --?\\S*)* ${ours}`,
      `\\b(?:npm|yarn|pnpm|bun) (?:i|install|add)(?: --?\\S*)* ${ours}`,
      `"npx"[^}]{0,100}?"${ours}`,
    ].join("|"),
  );
  const said = files.filter(
    (file) => /\.(?:md|html|tsx?|m?js|json|toml|sh)$/.test(file) && !file.includes("CHANGELOG"),
  );
  expect(said.length).toBeGreaterThan(100);
  const found = said.map((file) => [file, asks.exec(read(file))?.[0]]).filter(([, words]) => words !== undefined);
  expect(found).toEqual([]);
});

test("each link between the documents and into the tree leads somewhere", () => {
  expect(pages.length).toBeGreaterThan(10);
  const broken: string[] = [];
  for (const page of pages) {
    for (const [, target = ""] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : normalize(join(dirname(page), path));
      const isThere = existsSync(join(ROOT, file)) && (anchor === undefined || anchorsOf(file).has(anchor));
      if (!isThere) broken.push(`${page}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test("each file and directory of the tree that a document names is there", () => {
  const missing: string[] = [];
  for (const page of pages) {
    for (const [, path = ""] of proseOf(page).matchAll(
      /`((?:packages|worker|sandbox|scripts|test|docs)\/[\w./-]*)`/g,
    )) {
      // A package's own page may count from the package.
      const isThere = [ROOT, join(ROOT, dirname(page))].some(
        // The tables of tests leave the end of their names out.
        (from) => existsSync(join(from, path)) || existsSync(join(from, `${path}.test.ts`)),
      );
      if (!isThere && !path.includes("/dist")) missing.push(`${page}: ${path}`);
    }
  }
  expect(missing).toEqual([]);
});

test("each source file that the page on the architecture names is there", () => {
  const roots = ["", "packages/sandbox-stdio/src/", "worker/src/"];
  const named = [...proseOf("docs/architecture.md").matchAll(/`([\w./-]+\/[\w.-]+\.tsx?)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.length).toBeGreaterThan(30);
  const isThere = (path: string) => roots.some((root) => existsSync(join(ROOT, root, path)));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test("each variable of the Worker and of the bridge has its row in docs/settings.md", () => {
  const settings = read("docs/settings.md");
  const sources = (place: RegExp) => files.filter((file) => place.test(file)).map(read);
  const ofWorker = sources(/^worker\/src\/.*\.ts$/).flatMap((source) =>
    [...source.matchAll(/^ {2}(?:readonly )?([A-Z][A-Z0-9_]+)\??: string;/gm)].map(([, name]) => name),
  );
  const ofBridge = sources(/^sandbox\/src\/base\/.*\.ts$/).flatMap((source) =>
    [...source.matchAll(/\benv\.([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name),
  );
  expect(ofWorker.length).toBeGreaterThan(30);
  expect(ofBridge.length).toBeGreaterThan(3);
  expect([...ofWorker, ...ofBridge].filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
});

test("each rule of the protocol has a number of its own, and each that a test's title quotes exists", () => {
  const aboutPrograms =
    /\/(programs|asks)\/|access\/quotas|^packages\/(api|mcp)\/|worker\/test\/(objects\/waits|routes\/)/;
  const protocol = ["PROTOCOL.md", "INTERNALS.md"].map((page) => read(`packages/sandbox-stdio/${page}`)).join("\n");
  const rules = [...protocol.matchAll(/^- \*\*([A-Z]\d+[a-z]?)\*\*/gm)].map(([, rule = ""]) => rule);
  expect(rules.length).toBeGreaterThan(90);
  expect(rules.filter((rule, i) => rules.indexOf(rule) !== i)).toEqual([]);
  const httpRules = [...read("docs/programs.md").matchAll(/^\| \*\*([A-Z]\d[a-z]?)\*\*/gm)].map(
    ([, rule = ""]) => rule,
  );
  expect(httpRules.length).toBeGreaterThan(30);
  const unknown: string[] = [];
  let count = 0;
  for (const file of files.filter((name) => name.endsWith(".test.ts"))) {
    const known = aboutPrograms.test(file) ? [...rules, ...httpRules] : rules;
    const letters = new Set(known.map((rule) => rule[0]));
    const titles = read(file).matchAll(
      /\b(?:test|describe|it)(?:\.each\([\s\S]*?\))?\(\s*["'`]((?:[A-Z]\d+[a-z]?(?:, | and )?)+):/g,
    );
    for (const [, quoted = ""] of titles) {
      for (const [rule] of quoted.matchAll(/[A-Z]\d+[a-z]?/g)) {
        count += 1;
        if (letters.has(rule[0]) && !known.includes(rule)) unknown.push(`${file}: ${rule}`);
      }
    }
  }
  expect(count).toBeGreaterThan(200);
  expect(unknown).toEqual([]);
});
