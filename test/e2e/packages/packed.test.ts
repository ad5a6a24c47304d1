// What other people install: both packages packed, installed into an empty directory outside of the checkout, and their READMEs'
// examples run there against the running system, in Node, Bun and Chromium.
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { launch } from "../../../packages/dashboard/test/browser.ts";
import { BIN, ROOT } from "../../../packages/local/src/base/paths.ts";
import { buildPage, examplesOf, freshProject, packed, run, serveFiles } from "../support/system/installed.ts";
import { person, system } from "../support/system/system.ts";

const examples = examplesOf("packages/sandbox-stdio/PACKAGE.md");
const SORTED = "two\nthree\none\n";
let cli = "";
let project = "";
let browser: Browser | undefined;

beforeAll(async () => {
  const packages = await packed();
  cli = packages.cli;
  const xterm = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).dependencies["@xterm/xterm"];
  project = await freshProject([packages.library, packages.cli, `@xterm/xterm@${xterm}`]);
  for (const [name, code] of examples) writeFileSync(join(project, name), code);
});

afterAll(async () => {
  await browser?.close();
  if (project !== "") rmSync(project, { recursive: true, force: true });
});

const credentials = async () => ({ STDIO_URL: system.origin, STDIO_TOKEN: (await person()).token });
const html = (script: string) => `<!doctype html><body><script type="module" src="./${script}"></script>`;

async function pageOf(files: Readonly<Record<string, string>>, fragment: Record<string, string>): Promise<Page> {
  const server = await serveFiles(await buildPage(project, files));
  onTestFinished(() => server.close());
  browser ??= await launch();
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(`${server.origin}/#${new URLSearchParams(fragment)}`);
  return page;
}

test("the files of the packages: entry points with types, a license, and nothing of the workspace", async () => {
  const home = join(project, "node_modules/sandbox-stdio");
  const { exports, dependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  for (const target of Object.values<{ types?: string; default?: string } | string>(exports)) {
    for (const file of typeof target === "string" ? [target] : Object.values(target)) {
      expect(globSync(file, { cwd: home }), file).not.toEqual([]);
    }
  }
  const dist = join(project, "node_modules/sbx-stdio/dist");
  const parts = [...readFileSync(join(dist, "sbx-stdio.js"), "utf8").matchAll(/import\("(\.\/[^"]+)"\)/g)];
  expect(parts.map(([, part = ""]) => part).filter((part) => !existsSync(join(dist, part)))).toEqual([]);
  expect(parts.length).toBeGreaterThan(3);
  expect(Object.keys(dependencies)).toEqual([
    "@xterm/addon-unicode11",
    "@xterm/headless",
    "hono",
    "jose",
    "re2js",
    "zod",
  ]);
  for (const name of ["sandbox-stdio", "sbx-stdio"]) {
    expect(readdirSync(join(project, "node_modules", name))).toEqual(expect.arrayContaining(["LICENSE", "README.md"]));
  }
  const found = await run(
    "grep",
    ["-rlE", "--include=*.js", '"(sandbox-stdio|@sbx)/|\\.tsx?"', join(home, "dist")],
    project,
  );
  expect(found.stdout).toBe("");
});

test("the types hold for a program of others, also where libraries are checked", async () => {
  const source = [
    'import { connect, sandbox, StdioError } from "sandbox-stdio/client";',
    'import { parseServerMessage, CLOSE } from "sandbox-stdio/protocol";',
    'const job = connect("https://host.example", { cmd: "cat", token: async () => "t" });',
    "export const piped: Promise<void> = new Blob([]).stream().pipeTo(job.stdin);",
    "export const code: Promise<number> = job.exited.then((exit) => exit.code);",
    'export const names = async () => (await sandbox("https://host.example").list()).sessions.map((one) => one.session.length);',
    "export const isGone = (error: unknown) => error instanceof StdioError && error.closeCode === CLOSE.notFound;",
    "// @ts-expect-error: no such option",
    'connect("https://host.example", { command: 7 });',
    'export const parsed = parseServerMessage("{}").ok;',
  ].join("\n");
  writeFileSync(join(project, "program.ts"), source);
  for (const resolution of ["bundler", "nodenext"]) {
    const kind = resolution === "bundler" ? ["--module", "esnext"] : ["--module", "nodenext"];
    const args = ["--noEmit", "--strict", "--target", "es2023", "--lib", "es2023,dom", "--types", "", "program.ts"];
    const { code, stdout } = await run(join(BIN, "tsc"), [...kind, "--moduleResolution", resolution, ...args], project);
    expect(stdout).toBe("");
    expect(code).toBe(0);
  }
});

test.each([
  ["Node", process.execPath],
  ["Bun", join(BIN, "bun")],
])("the README's ten lines run a command there and pipe through it, in %s", async (_, runtime) => {
  const { code, stdout, stderr } = await run(runtime, ["pipe.mjs"], project, await credentials());
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ output: SORTED, code: 0 });
  expect(code).toBe(0);
});

test("the README's calls over HTTP run, type, wait and end", async () => {
  const { stdout, stderr } = await run(process.execPath, ["call.mjs"], project, await credentials());
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ stdout: "42\n", code: 0, outcome: "met", groups: ["42"] });
});

test("the same ten lines pipe through a command from a page that Vite built", async () => {
  const fragment = await credentials();
  const page = await pageOf({ "index.html": html("pipe.js"), "pipe.js": examples.get("pipe.mjs") ?? "" }, fragment);
  const isAnswer = (message: { text(): string }) => message.text().startsWith("{");
  const [said] = await Promise.all([page.waitForEvent("console", isAnswer), page.reload()]);
  expect(JSON.parse(said.text())).toEqual({ output: SORTED, code: 0 });
});

test("the README's terminal shows a shell, without React", async () => {
  const files = { "index.html": html("terminal.js"), "terminal.js": examples.get("terminal.js") ?? "" };
  const page = await pageOf(files, await credentials());
  await page.waitForSelector("body[data-phase=attached]", { timeout: 120_000 });
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("echo shown $((40 + 2))\n");
  await expect.poll(() => page.locator(".xterm-rows").innerText()).toContain("shown 42");
});

test("examples/plain-page has a terminal, and pipes a form's text through a command", async () => {
  const file = (name: string) => readFileSync(join(ROOT, "examples/plain-page", name), "utf8");
  const { STDIO_URL: url, STDIO_TOKEN: token } = await credentials();
  const page = await pageOf({ "index.html": file("index.html"), "main.js": file("main.js") }, { url, token });
  await expect.poll(() => page.locator("#state").innerText()).toBe("attached");
  await page.fill("textarea[name=lines]", "b\na\nc\n");
  await page.click("button");
  await expect.poll(() => page.locator("output[name=sorted]").innerText()).toMatch(/^a\s+b\s+c\s*$/);
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("echo shown $((40 + 2))\n");
  await expect.poll(() => page.locator(".xterm-rows").innerText()).toContain("shown 42");
});

/** Runs a program on a terminal, types "4" once it is ready, and ends with its exit code. */
const IN_TERMINAL = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
try:
  while b"ready" not in seen: seen += os.read(terminal, 4096)
  os.write(terminal, b"4\\r")
  while os.read(terminal, 4096): pass
except OSError: pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

test("the command line, installed for all by npm -g, runs a command there with no runtime but node, and with none but bun", async () => {
  const prefix = mkdtempSync(join(project, "global-"));
  // Those that are optional are for `serve`: 265 MB.
  const flags = ["--prefix", prefix, "--prefer-offline", "--no-audit", "--no-fund", "--omit=optional"];
  const installed = await run("npm", ["install", "-g", ...flags, "--loglevel=error", cli], project);
  expect(installed).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(prefix, "share/man/man1/sbx-stdio.1"), "utf8")).toMatch(/^\.TH SBX-STDIO 1/);
  const { STDIO_URL, STDIO_TOKEN } = await credentials();
  const args = [STDIO_URL, "--sandbox", "dev", "--", "sh", "-c", "echo from there; exit 7"];
  for (const [name, runtime] of [
    ["node", process.execPath],
    ["bun", join(BIN, "bun")],
  ] as const) {
    const only = mkdtempSync(join(project, "path-"));
    symlinkSync(runtime, join(only, name));
    // Whatever else is on the machine's path is no runtime of ours.
    const script = `PATH=${only}; exec ${join(prefix, "bin/sbx-stdio")} "$@"`;
    const ran = await run("/bin/sh", ["-c", script, "sh", ...args], project, { SBX_TOKEN: STDIO_TOKEN });
    // A busy machine lets it say what it waits for.
    expect([name, ran.code, ran.stdout]).toEqual([name, 7, "from there\n"]);
  }
  // On a terminal it also loads what predicts echo.
  const script = "echo ready; read line; exit $line";
  const words = [STDIO_URL, "--sandbox", "dev", "-t", "--predict", "always", "--", "sh", "-c", script];
  const typed = ["-c", IN_TERMINAL, join(prefix, "bin/sbx-stdio"), ...words];
  expect((await run("python3", typed, project, { SBX_TOKEN: STDIO_TOKEN })).code).toBe(4);
});

test("/client and /protocol carry neither schemas nor server parts into a bundle", async () => {
  const contents = 'export { connect, sandbox } from "sandbox-stdio/client"; export * from "sandbox-stdio/protocol";';
  const { metafile } = await build({
    stdin: { contents, resolveDir: project },
    ...{ bundle: true, minify: true, format: "esm", write: false, metafile: true, logLevel: "silent" },
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((input) => /zod|\/(session|server|hop|dialects|programs|output|input)\//.test(input))).toEqual(
    [],
  );
  expect(Object.values(metafile.outputs)[0]?.bytes).toBeLessThan(50_000);
});
