// The packed packages in a directory outside of the checkout, as somebody has them who installed them.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { inject } from "vitest";
import { childEnv } from "../../../../packages/local/src/base/env.ts";
import { ROOT } from "../../../../packages/local/src/base/paths.ts";
import { LIMIT_MS } from "./wait.ts";

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs a program to its end. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const child = spawn(command, args, { cwd, env: childEnv(env), stdio: ["ignore", "pipe", "pipe"], timeout: LIMIT_MS });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** The packages' files, packed once for all tests. */
export async function packed(): Promise<{ readonly library: string; readonly cli: string }> {
  const response = await fetch(`${inject("systemsUrl")}/packed`, { method: "POST" });
  if (!response.ok) throw new Error(`Cannot pack: ${await response.text()}`);
  return (await response.json()) as { library: string; cli: string };
}

/** @returns The directory; the caller removes it. @throws {Error} With npm's words. */
export async function freshProject(packages: readonly string[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-packed-"));
  writeFileSync(join(dir, "package.json"), '{ "private": true, "type": "module" }\n');
  const flags = "--prefer-offline --no-audit --no-fund --ignore-scripts --omit=optional --loglevel=error".split(" ");
  const { code, stdout, stderr } = await run("npm", ["install", ...flags, ...packages], dir);
  if (code === 0) return dir;
  rmSync(dir, { recursive: true, force: true });
  throw new Error(`npm install failed (${code}):\n${stdout}${stderr}`);
}

/** The examples of a README: blocks of JavaScript that begin with their file's name. */
export function examplesOf(readme: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(ROOT, readme), "utf8");
  const blocks = text.matchAll(/```js\n(\/\/ ([\w.-]+\.m?js)[\s\S]*?)```/g);
  return new Map(Array.from(blocks, ([, code = "", name = ""]): [string, string] => [name, code]));
}

/** Builds a page by Vite in the project's directory. @returns Where its files are. @throws {Error} With Vite's words. */
export async function buildPage(project: string, files: Readonly<Record<string, string>>): Promise<string> {
  const page = mkdtempSync(join(project, "page-"));
  mkdirSync(page, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(page, name), text);
  const vite = [join(ROOT, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn", "--target", "es2023"];
  const { code, stdout, stderr } = await run(process.execPath, vite, page, { NODE_ENV: "production" });
  if (code !== 0) throw new Error(`vite build failed (${code}):\n${stdout}${stderr}`);
  return join(page, "dist");
}

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Serves files on loopback. */
export async function serveFiles(dir: string): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://files");
    try {
      const body = readFileSync(join(dir, pathname === "/" ? "index.html" : pathname));
      response.writeHead(200, { "Content-Type": TYPES[extname(pathname)] ?? "text/html" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
