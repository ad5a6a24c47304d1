// What never passes from a client to the bridge or into a sandbox, and who may speak to the bridge itself.
import { connect as dial } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { connect, HttpRefusal } from "../support/clients/client.ts";
import { loginCookie } from "../support/clients/login.ts";
import { attachesOf, queryOf, readRecorded } from "../support/clients/websocket-frames.ts";
import { api, forgetRecorded, fresh, type Person, person, recorded, system } from "../support/system/system.ts";

/** The answer to a request that no HTTP client would make. */
async function raw(address: string, request: string): Promise<string> {
  const { hostname, port } = new URL(address);
  const socket = dial(Number(port), hostname);
  socket.end(request);
  const chunks: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const bridge = system.bridgeUrl.replace(/^http/, "ws");

/** What a client may try to pass on: its credentials, and headers that look like the Worker's own. */
const SPOOFED = {
  "X-Attach": encodeURIComponent(JSON.stringify({ sandboxKey: "spoofed-key", session: "spoofed" })),
  "X-User": "spoofed-user",
  "X-Forwarded-User": "spoofed-user",
  "X-Forwarded-For": "203.0.113.9",
  "Cf-Access-Authenticated-User-Email": "spoofed@example.test",
  "User-Agent": "spoofed-agent",
} as const;

describe("of a client's request, the bridge sees", () => {
  let who: Person;
  let heads: string[];
  let payloads: string[];
  let attaches: URLSearchParams[];
  let secrets: string[];

  beforeAll(async () => {
    who = await person();
    const cookie = await loginCookie("dave", fresh("org"));
    await forgetRecorded();
    const params = { sandbox: "dev", session: "main", cmd: "cat", secret_parameter: "spoofed-parameter" };
    for (const tokenIn of ["header", "subprotocol", "query"] as const) {
      // The runtime keeps the connection of an upgrade that was refused, and may use it for the next one.
      const refused = { ...params, session: fresh("none"), cmd: "no-such-command" };
      await (await connect(who, refused, { tokenIn, headers: SPOOFED })).message("bye");
      const client = await connect(who, params, { tokenIn, headers: SPOOFED });
      await client.hello();
      client.type("typed\n");
      await client.output("typed\n");
      client.drop();
    }
    const browser = await connect(undefined, params, {
      headers: { ...SPOOFED, Cookie: cookie, Origin: system.origin },
    });
    await browser.hello();
    browser.type("typed\n");
    await browser.output("typed\n");
    await browser.leave();
    await api(who, "/api/sandboxes/dev/sessions/main", { method: "DELETE", headers: SPOOFED });
    const requests = (await recorded()).flatMap(readRecorded);
    heads = requests.map(({ head }) => head);
    attaches = attachesOf(requests);
    payloads = requests.flatMap((request) => request.payloads.map((payload) => payload.toString("latin1")));
    secrets = [who.token, who.token.split(".")[2] ?? "", cookie, cookie.split("=")[1] ?? "", "spoofed", "203.0.113.9"];
  });

  test("what is typed, so that the recording is known to hold something", () => {
    // Two sessions' hops, three attaches that were refused, the end of a session.
    expect(heads.length).toBeGreaterThanOrEqual(6);
    expect(attaches.length).toBeGreaterThanOrEqual(5);
    expect(payloads.filter((payload) => payload.endsWith("typed\n")).length).toBe(4);
  });

  test("no token, no cookie, no header and no unknown parameter", () => {
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(6);
      expect(heads.filter((head) => head.includes(secret))).toEqual([]);
      expect(payloads.filter((payload) => payload.includes(secret))).toEqual([]);
    }
  });

  test("a request that was made from nothing: its own secret, no Origin, and only the headers of any upgrade", () => {
    // The runtime adds the Worker's own name.
    const allowed = /^(host|upgrade|connection|authorization|content-length|sec-websocket-[a-z]+|cf-worker)$/;
    for (const head of heads) {
      const [line = "", ...headers] = head.split("\r\n");
      expect(line).toMatch(/^(?:GET \/attach|GET \/sessions|DELETE \/sessions\/\S+)\?\S+ HTTP\/1\.1$/);
      const names = headers.map((header) => header.slice(0, header.indexOf(":")).toLowerCase());
      expect(names.filter((name) => !allowed.test(name))).toEqual([]);
      expect(headers).toContain(`Authorization: Bearer ${system.bridgeToken}`);
    }
  });

  test("a sandbox name that tells nothing of the tenant, and the client's own name for it", () => {
    for (const head of heads) expect(queryOf(head).get("sandbox")).toMatch(/^[0-9a-f]{60}$/);
    for (const text of [...heads, ...attaches.map(String)]) {
      expect(text).not.toContain(who.org);
      expect(text).not.toContain(who.sub);
    }
    // A hop that is made again, of an earlier test's session perhaps, names its process instead.
    const labels = attaches.filter((query) => !query.has("incarnation")).map((query) => query.get("label"));
    expect(new Set(labels)).toEqual(new Set(["dev"]));
  });
});

describe("a process", () => {
  test("finds no credential and nothing of the bridge's own in its environment", async () => {
    const who = await person();
    const arg = ["-c", "env; tr '\\0' '\\n' < /proc/self/environ; tr '\\0' '\\n' < /proc/$$/cmdline"];
    const client = await connect(who, { sandbox: "dev", cmd: "sh", arg }, { tokenIn: "query", headers: SPOOFED });
    await client.end();
    const text = client.text();
    // On pipes there is no terminal to speak of.
    expect(text).not.toMatch(/^(?:TERM|COLORTERM)=/m);
    const secrets = [who.token, system.bridgeToken, "spoofed", "Bearer"];
    // A bridge in a container has a secret of its own, which stands under a name below.
    for (const secret of secrets.filter((one) => one !== "")) expect(text).not.toContain(secret);
    const names = [...text.matchAll(/^(\w+)=/gm)].map((match) => match[1]);
    const own = ["STDIO_TOKEN", "STDIO_WORKSPACE", "PORT", "HOST", "SANDBOX_ROOT", "SESSION_SECRET"];
    expect(names.filter((name) => own.includes(name ?? ""))).toEqual([]);
  });

  test("starts in a directory of its sandbox's own that is its home, which others can't enter", async () => {
    const arg = ["-c", 'pwd; echo "$HOME"; stat -c %a .'];
    const client = await connect(await person(), { sandbox: "dev", cmd: "sh", arg });
    await client.end();
    const [directory, home, mode] = client.text(1).split("\n");
    expect(directory?.startsWith(`${system.sandboxesDir}/dev-`)).toBe(true);
    expect([home, mode]).toEqual([directory, "700"]);
  });
});

describe("the bridge itself", () => {
  const authorized = { Authorization: `Bearer ${system.bridgeToken}` };
  const status = async (path: string, headers: Record<string, string>, method = "GET") =>
    (await fetch(`${system.bridgeUrl}${path}`, { headers, method })).status;
  const attach = (headers: Record<string, string>, protocols: string[]) =>
    connect(undefined, { session: "x", cmd: "cat" }, { server: bridge, headers, protocols }).then(
      () => 101,
      (error: unknown) => (error instanceof HttpRefusal ? error.status : error),
    );

  test.each([
    ["no secret", {}],
    ["another secret", { Authorization: "Bearer wrong" }],
    ["the secret's beginning", { Authorization: `Bearer ${system.bridgeToken.slice(0, -1)}` }],
    ["the secret as another scheme", { Authorization: `Basic ${system.bridgeToken}` }],
  ])("refuses everything else with 401 to %s", async (_name, given) => {
    const headers = given as Record<string, string>;
    expect([
      await status("/sessions", headers),
      await status("/sessions/x", headers, "DELETE"),
      await status("/attach", headers),
      await status("/no/such/route", headers),
      await attach(headers, ["stdio.v1"]),
      await attach(headers, ["stdio.inner.v1"]),
      await attach(headers, []),
    ]).toEqual([401, 401, 401, 401, 401, 401, 401]);
    expect(await attach(headers, [])).toBe(401);
  });

  test("takes no secret from the query, where pages could put it", async () => {
    expect(await status(`/sessions?token=${system.bridgeToken}`, {})).toBe(401);
  });

  test.each(["http://localhost:8080", "https://evil.example", "null", system.origin])(
    "refuses a page at %s with 403, even with the secret",
    async (origin) => {
      const headers = { ...authorized, Origin: origin };
      expect([
        await status("/sessions", headers),
        await attach(headers, ["stdio.v1"]),
        await attach(headers, []),
      ]).toEqual([403, 403, 403]);
    },
  );

  test("answers what it can't read with 400 or 404, and shows nothing of itself", async () => {
    const answer = await raw(system.bridgeUrl, "GET /attach HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/\r\n\r\n\{"error":"bad_request","message":"the Host header names no host"\}$/);
    expect(await status("/sessions/%zz", authorized, "DELETE")).toBe(404);
    expect(await status("/sessions?sandbox=../x", authorized)).toBe(400);
  });

  test("H1a: serves a plain client that knows the secret, and has stdio.v1 spoken by session objects alone", async () => {
    const asked = { session: fresh("s"), cmd: "cat" };
    expect(await attach(authorized, ["stdio.v1"])).toBe(400);
    const client = await connect(undefined, asked, { server: bridge, headers: authorized, protocols: [] });
    await client.hello();
    client.type("abc");
    client.say({ type: "eof" });
    const { exit, code } = await client.end();
    expect([client.text(), exit, code]).toEqual(["abc", { type: "exit", code: 0, offset: 3 }, 1000]);
    expect(await status("/sessions", authorized)).toBe(200);
  });
});
