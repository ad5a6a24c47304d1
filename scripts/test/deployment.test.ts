// What `npm run deploy` puts into an account, by wrangler itself against a stand-in for the platform's API, with a small Worker.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { newSecrets, SECRETS } from "../deployment/checks.ts";
import { type Deployment, deploy, deployedSecrets } from "../deployment/wrangler.ts";

const ACCOUNT = "0123456789abcdef0123456789abcdef";

type Upload = { readonly method: string; readonly secrets: Readonly<Record<string, string>> };

/** The secrets among an upload's bindings. */
async function uploadedSecrets(body: Buffer, type: string): Promise<Record<string, string>> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const { bindings } = JSON.parse(String(form.get("metadata"))) as {
    bindings: { type: string; name: string; text?: string }[];
  };
  return Object.fromEntries(
    bindings.flatMap(({ type, name, text = "" }) => (type === "secret_text" ? [[name, text]] : [])),
  );
}

/** An account without a Worker, until one is put. It plays as much as wrangler asks about. */
async function standIn(): Promise<{ url: string; uploads: readonly Upload[] }> {
  const uploads: Upload[] = [];
  const answer = (path: string): { status: number; result?: unknown; code?: number } => {
    const isThere = uploads.length > 0;
    const names = uploads.flatMap(({ secrets }) => Object.keys(secrets));
    if (path.endsWith("/secrets"))
      return isThere
        ? { status: 200, result: names.map((name) => ({ name, type: "secret_text" })) }
        : { status: 404, code: 10007 };
    if (path.includes("/services/")) return isThere ? { status: 200, result: SERVICE } : { status: 404, code: 10090 };
    if (path.endsWith("/deployments")) return { status: 200, result: { deployments: isThere ? [DEPLOYED] : [] } };
    if (path.includes("/workers/workers/"))
      return { status: 200, result: { id: "w", name: "stand-in", subdomain: SUBDOMAIN } };
    if (path.endsWith("/subdomain")) return { status: 200, result: SUBDOMAIN };
    return { status: 200, result: RESULT };
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const path = new URL(request.url ?? "/", "http://stand.in").pathname;
      const type = request.headers["content-type"] ?? "";
      if (type.startsWith("multipart/"))
        uploads.push({ method: request.method ?? "", secrets: await uploadedSecrets(Buffer.concat(chunks), type) });
      const { status, result = null, code } = answer(path);
      const errors = code === undefined ? [] : [{ code, message: "This Worker does not exist on your account." }];
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ success: code === undefined, errors, messages: [], result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`, uploads };
}

const SUBDOMAIN = { enabled: false, previews_enabled: false };
const SERVICE = { default_environment: { environment: "production", script: { last_deployed_from: "wrangler" } } };
const DEPLOYED = {
  id: "d",
  source: "wrangler",
  created_on: "2026-01-01T00:00:00Z",
  versions: [{ version_id: "v", percentage: 100 }],
};
const RESULT = { id: "v", etag: "e", startup_time_ms: 3, resources: { script: { etag: "e" }, script_runtime: {} } };

test("a first deployment puts both secrets, the next one none, and no output shows one", async () => {
  const { url, uploads } = await standIn();
  const directory = mkdtempSync(join(tmpdir(), "sbx-deployment-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  // The secrets' file is made below it, and removed.
  vi.stubEnv("TMPDIR", directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(join(directory, "worker.js"), "export default { fetch: () => new Response() };");
  const settings = [
    'name = "stand-in"',
    'main = "worker.js"',
    'compatibility_date = "2026-01-01"',
    "workers_dev = false",
  ];
  writeFileSync(join(directory, "wrangler.toml"), [...settings, `account_id = "${ACCOUNT}"`].join("\n"));
  const lines: string[] = [];
  const deployment: Deployment = {
    directory,
    isShown: false,
    say: (line) => lines.push(line),
    env: {
      ...{ PATH: process.env.PATH, HOME: directory, TMPDIR: directory, CLOUDFLARE_API_TOKEN: "stand-in" },
      ...{ CLOUDFLARE_API_BASE_URL: url, WRANGLER_SEND_METRICS: "false", npm_config_registry: url },
    },
  };
  const secrets = newSecrets(await deployedSecrets(deployment));
  expect(Object.keys(secrets)).toEqual(Object.keys(SECRETS));
  const first = await deploy(deployment, [], secrets);
  expect(first.code, `${first.stdout}${first.stderr}`).toBe(0);
  expect(uploads).toEqual([{ method: "PUT", secrets }]);
  expect(newSecrets(await deployedSecrets(deployment))).toEqual({});
  expect(lines).toEqual(Object.entries(SECRETS).map(([name, use]) => `Sets the secret ${name}: ${use}`));
  const output = `${first.stdout}${first.stderr}${lines.join("\n")}`;
  for (const value of Object.values(secrets)) expect(output).not.toContain(value);
  expect(readdirSync(directory).filter((name) => name.startsWith("sbx-deploy-"))).toEqual([]);
});
