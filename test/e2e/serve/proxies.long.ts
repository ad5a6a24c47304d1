// `serve` behind the proxies of the guide's recipes, as those are written there, with real nginx and Caddy and TLS.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { anyFreePort, isPortFree } from "../../../packages/local/src/base/ports.ts";
import { selfSigned } from "../../../packages/sbx-cli/test/fixture/certificate.ts";
import { attached, installServe, Served, Visitor } from "../support/system/served.ts";
import { until } from "../support/system/wait.ts";

const GUIDE = readFileSync(join(ROOT, "docs/guide.md"), "utf8");
let [project, dir] = ["", ""];

beforeAll(async () => {
  project = await installServe();
  dir = mkdtempSync(join(tmpdir(), "sbx-proxy-"));
  const { cert, key } = selfSigned(new Date(Date.now() + 3_600_000));
  writeFileSync(join(dir, "cert.pem"), cert);
  writeFileSync(join(dir, "key.pem"), key);
  // fetch() has no other way to be told of a certificate in a process that runs.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
});

afterAll(() => {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  for (const one of [project, dir]) rmSync(one, { recursive: true, force: true });
});

/** What the guide says, for a server at this port. */
function recipe(pattern: RegExp, port: number): string {
  const [, text = ""] = pattern.exec(GUIDE) ?? [];
  expect(text).toContain("8787");
  return text.replace("8787", String(port));
}

const PROXIES: Readonly<Record<string, (port: number, own: number) => readonly string[]>> = {
  nginx: (port, own) => {
    const location = recipe(/```nginx\n([\s\S]*?)```/, port);
    const server = `listen 127.0.0.1:${own} ssl; ssl_certificate ${dir}/cert.pem; ssl_certificate_key ${dir}/key.pem;`;
    const text = `pid ${dir}/nginx.pid; error_log stderr; events {} http { access_log off; server { ${server}\n${location} } }`;
    writeFileSync(join(dir, "nginx.conf"), text);
    return ["nginx", "-p", dir, "-c", join(dir, "nginx.conf"), "-g", "daemon off;"];
  },
  caddy: (port, own) => {
    const proxied = recipe(/`(reverse_proxy [^`]*)`/, port);
    const site = `https://127.0.0.1:${own} {\n tls ${dir}/cert.pem ${dir}/key.pem\n ${proxied}\n}\n`;
    writeFileSync(join(dir, "Caddyfile"), `{\n admin off\n auto_https disable_redirects\n}\n${site}`);
    return ["caddy", "run", "--config", join(dir, "Caddyfile"), "--adapter", "caddyfile"];
  },
};

test.each(Object.keys(PROXIES))(
  "behind %s people log in, type over its restart, and forge no address",
  async (name) => {
    const [port, own] = [await anyFreePort(), await anyFreePort()];
    const [program = "", ...words] = PROXIES[name]?.(port, own) ?? [];
    const start = async (): Promise<ChildProcess> => {
      const child = spawn(program, words, { env: { ...process.env, HOME: dir }, stdio: ["ignore", "ignore", "pipe"] });
      let said = "";
      child.stderr?.on("data", (text) => {
        said += text;
      });
      onTestFinished(() => void child.kill("SIGTERM"));
      await until(`${name} to listen`, async () => {
        if (child.exitCode !== null) throw new Error(`${name} has ended:\n${said}`);
        return !(await isPortFree(own));
      });
      return child;
    };
    let proxy = await start();
    const origin = `https://127.0.0.1:${own}`;
    const served = await Served.start(project, ["--trust-proxy", "127.0.0.1", "--origin", origin], { port });
    expect(served.link.startsWith(`${origin}/?`)).toBe(true);
    const visitor = new Visitor(origin);
    expect((await visitor.exchange(served.key)).status).toBe(204);
    await visitor.follow();
    expect(await visitor.me()).toMatchObject({ authenticated: true });
    expect(visitor.cookie).toMatch(/__Host-/);

    const one = await attached(project, served, ["cat"], {
      origin,
      env: { NODE_EXTRA_CA_CERTS: join(dir, "cert.pem") },
    });
    const whole = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join("");
    await one.says(whole);
    // nginx' workers outlive a master that is killed.
    proxy.kill(name === "nginx" ? "SIGTERM" : "SIGKILL");
    await once(proxy, "exit");
    one.type("while away\n");
    proxy = await start();
    await one.says("after\n");
    expect(await one.end()).toEqual({ code: 0, output: `${whole}while away\nafter\n` });

    // A forged address is dropped, or stands before the proxy's own word.
    const statuses: number[] = [];
    for (let index = 0; index < 7; index++) {
      const headers = { "X-Forwarded-For": `203.0.113.${index}`, "X-Real-IP": `203.0.113.${index}` };
      statuses.push((await new Visitor(origin, headers).exchange("x".repeat(43))).status);
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(2);
  },
);
