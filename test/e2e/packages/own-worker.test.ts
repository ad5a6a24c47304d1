// examples/own-worker under `wrangler dev`, outside of the checkout, from the packed package: a Worker with logins of its own that
// serves sessions to its users, and to nobody else.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { build } from "esbuild";
import { type Connection, type ConnectOptions, connect, StdioError, sandbox } from "sandbox-stdio/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import NodeWebSocket from "ws";
import { childEnv } from "../../../packages/local/src/base/env.ts";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { clientInfo, toolBody } from "../support/clients/mcp.ts";
import { freshProject, packed } from "../support/system/installed.ts";
import { system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

/** What PACKAGE.md says to add for the tools of MCP. */
const MCP_IMPORT = 'import { mcpTools } from "sandbox-stdio/worker/mcp"';
const MCP_OPTION = "mcp: mcpTools";
const SERVER = "https://logins.example";
let project = "";
let origin = "";
let wrangler: ChildProcess | undefined;
let log = "";

beforeAll(async () => {
  const { library } = await packed();
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const peers = ["@cloudflare/sandbox", "@modelcontextprotocol/server"].map((name) => `${name}@${dependencies[name]}`);
  project = await freshProject([library, ...peers]);
  const example = join(ROOT, "examples/own-worker");
  cpSync(join(example, "ours.js"), join(project, "ours.js"));
  const index = readFileSync(join(example, "index.js"), "utf8");
  writeFileSync(join(project, "plain.js"), index);
  const withTools = index.replace("createStdio({", `createStdio({\n  ${MCP_OPTION},`);
  writeFileSync(join(project, "index.js"), `${MCP_IMPORT};\n${withTools}`);
  // The image stays where it is.
  const config = readFileSync(join(example, "wrangler.toml"), "utf8").replace('"../../', `"${ROOT}/`);
  writeFileSync(join(project, "wrangler.toml"), config);
  const port = await anyFreePort();
  origin = `http://localhost:${port}`;
  const secret = () => randomBytes(32).toString("hex");
  const vars = {
    ...{ PUBLIC_ORIGIN: origin, LOGIN_SECRET: secret(), SESSION_SECRET: secret() },
    ...{ STDIO_TOKEN: system.bridgeToken, BRIDGE_URL: system.bridgeUrl, AUTHORIZATION_SERVERS: SERVER },
  };
  const lines = Object.entries(vars).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(join(project, ".dev.vars"), lines.join(""), { mode: 0o600 });
  const args = ["dev", "--local", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  const quiet = [
    "--enable-containers=false",
    "--show-interactive-dev-session=false",
    "--persist-to",
    join(project, "state"),
  ];
  const env = childEnv({
    ...{ CI: "1", WRANGLER_SEND_METRICS: "false", WRANGLER_SEND_ERROR_REPORTS: "false", WRANGLER_HIDE_BANNER: "true" },
    ...{ WRANGLER_LOG_PATH: join(project, "logs"), WRANGLER_CACHE_DIR: join(project, "cache") },
    // It would ask a server on the network what a request looks like there.
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
  });
  wrangler = spawn(process.execPath, [join(ROOT, "node_modules/wrangler/bin/wrangler.js"), ...args, ...quiet], {
    ...{ cwd: project, env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  });
  for (const stream of [wrangler.stdout, wrangler.stderr]) {
    stream?.on("data", (chunk) => {
      log += chunk;
    });
  }
  const answers = async () => {
    if (wrangler?.exitCode !== null) throw new Error("wrangler has ended");
    // Where the bundle failed, it takes connections and never answers.
    if (log.includes("Build failed")) throw new Error("wrangler could not bundle the example");
    return fetch(origin, { signal: AbortSignal.timeout(5_000) }).then(
      (response) => response.ok,
      () => false,
    );
  };
  await until("the Worker to answer", answers).catch((error: Error) => {
    throw new Error(`${error.message}. Its log:\n${log}`);
  });
}, 900_000);

afterAll(async () => {
  const { pid } = wrangler ?? {};
  if (wrangler !== undefined && pid !== undefined && wrangler.exitCode === null) {
    const gone = new Promise((resolve) => wrangler?.once("close", resolve));
    process.kill(-pid, "SIGTERM");
    const timer = setTimeout(() => process.kill(-pid, "SIGKILL"), 5_000);
    await gone;
    clearTimeout(timer);
  }
  if (project !== "") rmSync(project, { recursive: true, force: true });
});

async function loginOf(user: string): Promise<string> {
  const response = await fetch(`${origin}/login?user=${user}`, { method: "POST" });
  expect(response.status).toBe(204);
  return response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
}

/** What a browser's own socket sends from a page of this origin. */
function socketOf(cookie: string, page = origin) {
  return class extends NodeWebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { headers: { Cookie: cookie, Origin: page } });
    }
  };
}

function attach(cookie: string, options: ConnectOptions, page?: string): Connection {
  const connection = connect(`${origin}/terminals`, {
    WebSocket: socketOf(cookie, page),
    firstAttempts: 1,
    ...options,
  });
  onTestFinished(() => connection.close());
  return connection;
}

const pageFetch = (cookie: string): typeof fetch => {
  return (input, init) => fetch(input, { ...init, headers: { ...init?.headers, Cookie: cookie, Origin: origin } });
};

async function refusal(connection: Connection): Promise<StdioError> {
  const error = await connection.exited.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StdioError);
  return error as StdioError;
}

test("the README's Worker is the example's, and short", () => {
  const example = readFileSync(join(ROOT, "examples/own-worker/index.js"), "utf8");
  expect(readFileSync(join(ROOT, "packages/sandbox-stdio/PACKAGE.md"), "utf8")).toContain(example);
  expect(
    example
      .trim()
      .split("\n")
      .filter((line) => line !== "" && !line.trim().startsWith("//")).length,
  ).toBeLessThanOrEqual(22);
});

test("a user who is logged in there runs a command and pipes through it", async () => {
  const job = attach(await loginOf("ann"), { cmd: "sh", args: ["-c", "cat; exit 3"], sandbox: "dev" });
  const writer = job.stdin.getWriter();
  await writer.write("through\n");
  await writer.close();
  expect(await new Response(job.stdout).text()).toBe("through\n");
  expect(await job.exited).toEqual({ code: 3 });
  expect(job.hello?.you.name).toBe("Ann");
  expect(await (await fetch(origin)).text()).toBe("what the Worker has always answered");
});

test("a session outlives its connection, and another user of the Worker reaches neither it nor its sandbox", async () => {
  const ann = await loginOf("ann");
  const place = { sandbox: "dev", session: "kept" };
  const first = attach(ann, { ...place, cmd: "cat" });
  await until("the greeting", () => first.hello);
  const ben = await loginOf("ben");
  expect(await refusal(attach(ben, { ...place, role: "viewer" }))).toMatchObject({ closeCode: 4404 });
  const boxOf = (cookie: string) => sandbox(`${origin}/terminals`, { sandbox: "dev", fetch: pageFetch(cookie) });
  expect((await boxOf(ben).list()).sessions).toEqual([]);
  expect((await boxOf(ann).list()).sessions.map(({ session }) => session)).toContain("kept");
  await boxOf(ann).session("kept").write({ text: "by HTTP\n" });
  const { value } = await first.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toBe("by HTTP\n");
  await boxOf(ann).session("kept").end();
});

test("the container has the id that the Worker chose", async () => {
  const box = sandbox(`${origin}/terminals`, { sandbox: "dev", fetch: pageFetch(await loginOf("ann")) });
  const { stdout } = await box.run({ cmd: "pwd" });
  // The local bridge names a sandbox's directory by its name and by the id that its container would have.
  expect(stdout?.trim()).toBe(join(system.sandboxesDir, "dev-ann--dev"));
});

test("nobody comes in without a login, with one that is not allowed, or from a page of another origin", async () => {
  expect(await refusal(attach("", { cmd: "cat" }))).toMatchObject({ closeCode: 4401, message: "Log in" });
  const eve = await loginOf("eve");
  expect(await refusal(attach(eve, { cmd: "cat" }))).toMatchObject({ closeCode: 4403, message: /terminals/ });
  const ann = await loginOf("ann");
  const foreign = await refusal(attach(ann, { cmd: "cat" }, "https://elsewhere.example"));
  expect(foreign.message).toMatch(/403/);
  const forged = `${ann.slice(0, -1)}${ann.endsWith("0") ? "1" : "0"}`;
  expect(await refusal(attach(forged, { cmd: "cat" }))).toMatchObject({ closeCode: 4401 });
});

async function mcpClient(path: string, token: string): Promise<Client> {
  const client = new Client(...clientInfo("auto"));
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/terminals${path}`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

test("its users' MCP clients run commands in their sandboxes, and reach MCP servers there", async () => {
  const readme = readFileSync(join(ROOT, "packages/sandbox-stdio/PACKAGE.md"), "utf8");
  expect([readme.includes(MCP_IMPORT), readme.includes(MCP_OPTION)]).toEqual([true, true]);
  const token = (await loginOf("ann")).replace("login=", "");
  const tools = await mcpClient("/mcp?sandbox=dev", token);
  expect(await toolBody(tools, "run", { cmd: "pwd" })).toMatchObject({
    text: `${join(system.sandboxesDir, "dev-ann--dev")}\n`,
  });
  const server = join(ROOT, "test/e2e/support/servers/scripted-mcp-server.mjs");
  const served = await mcpClient(`/mcp/dev/mine?cmd=node&arg=${encodeURIComponent(server)}`, token);
  expect(served.getServerVersion()).toMatchObject({ name: "scripted" });
});

test("at /mcp a cookie is no login, a refusal says where to look, and the issuer is the Worker's to say", async () => {
  const cookie = await loginOf("ann");
  const refused = await fetch(`${origin}/terminals/mcp`, { method: "POST", headers: { Cookie: cookie } });
  expect(refused.status).toBe(401);
  const at = `${origin}/terminals/.well-known/oauth-protected-resource`;
  expect(refused.headers.get("WWW-Authenticate")).toContain(`resource_metadata="${at}"`);
  expect(await (await fetch(at)).json()).toMatchObject({
    resource: `${origin}/terminals/mcp`,
    authorization_servers: [SERVER],
  });
});

test("its programs' interface describes itself, with the address below the prefix", async () => {
  const response = await fetch(`${origin}/terminals/api/openapi.json`);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ servers: [{ url: `${origin}/terminals` }] });
});

test("without the tools nothing of the MCP SDK is bundled", async () => {
  const isSdk = (input: string) => input.includes("@modelcontextprotocol");
  const { metafile } = await build({
    ...{ entryPoints: [join(project, "plain.js")], external: ["cloudflare:*", "node:*"], metafile: true },
    ...{ bundle: true, format: "esm", write: false, logLevel: "silent" },
  });
  expect(Object.keys(metafile.inputs).filter(isSdk)).toEqual([]);
});
