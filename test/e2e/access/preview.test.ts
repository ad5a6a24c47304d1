// Previews of a sandbox's ports: who may look, in which origin, what of ours reaches the server there, and what ends it.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  request as openRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { recordsAt } from "../support/clients/audit.ts";
import { connect } from "../support/clients/client.ts";
import { loginCookie } from "../support/clients/login.ts";
import { askHost, openHost, Preview, ticketTo } from "../support/clients/preview.ts";
import { reach } from "../support/clients/reach.ts";
import { post } from "../support/generators/matrix.ts";
import { api, fresh, type Person, person, system } from "../support/system/system.ts";
import { within } from "../support/system/wait.ts";

let server: Server;
let port: number;
let asked: IncomingMessage[] = [];
let serve: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    serve(request, response);
  });
  const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered].at(-1) ?? false });
  sockets.on("connection", (socket, request) => {
    asked.push(request);
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  asked = [];
  serve = (_request, response) => response.end("theirs");
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const bearer = ({ token }: Person) => ({ Authorization: `Bearer ${token}` });
const pageCookie = async ({ sub, org }: Person) => ({ Cookie: await loginCookie(sub, org) });
const box = fresh("box");

async function looking(who?: Person) {
  const owner = who ?? (await person());
  await reach(owner, box, port);
  return { owner, preview: await Preview.open(bearer(owner), box, port) };
}

async function ended(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, "close")) as [number];
  return code;
}

describe("the way in", () => {
  test("the login leads to an origin of the port's own, which keeps its path and is let in by a cookie for itself", async () => {
    const owner = await person();
    await reach(owner, box, port);
    const preview = await Preview.open(await pageCookie(owner), box, port, "/a%20b?c=d");
    expect(preview.origin).toMatch(/^http:\/\/[0-9a-f]{40}\.localhost:\d+$/);
    expect(preview.location).toBe(`${preview.origin}/a%20b?c=d`);
    const { headers } = await askHost(await ticketTo(bearer(owner), box, port));
    expect(headers["set-cookie"]?.[0]).toMatch(
      /^sbx_preview_\d+=v\.[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
    );
    expect(await preview.ask("/a%20b?c=d")).toMatchObject({ status: 200, text: "theirs" });
    expect(asked.map(({ url }) => url)).toEqual(["/a%20b?c=d"]);
  });

  test("an origin is of one port, sandbox and tenant: what opens one opens no other", async () => {
    const owner = await person();
    const { preview } = await looking(owner);
    const others = await Promise.all([
      Preview.open(bearer(owner), box, port === 5_173 ? 5_174 : 5_173),
      Preview.open(bearer(owner), fresh("box"), port),
      Preview.open(bearer(await person()), box, port),
    ]);
    expect(new Set([preview, ...others].map(({ origin }) => origin)).size).toBe(4);
    for (const other of others) {
      const { status, text } = await askHost(`${other.origin}/`, { headers: { Cookie: preview.cookie } });
      expect([status, JSON.parse(text)]).toMatchObject([401, { error: "no_token" }]);
      const entrance = await ticketTo(bearer(owner), box, port);
      const moved = await askHost(entrance.replace(preview.origin, other.origin));
      expect([moved.status, JSON.parse(moved.text)]).toMatchObject([403, { error: "wrong_ticket" }]);
    }
    expect(asked).toEqual([]);
  });

  test("a ticket counts once, also where many come with it at the same time, and is no other credential", async () => {
    const owner = await person();
    const entrance = await ticketTo(bearer(owner), box, port);
    const answers = await Promise.all(Array.from({ length: 5 }, () => askHost(entrance)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401, 401]);
    const ticket = new URL(entrance).searchParams.get("ticket") ?? "";
    const attach = await askHost(`${system.origin}/attach?ticket=${ticket}`, {
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
      },
    });
    expect([attach.status, JSON.parse(attach.text)]).toMatchObject([401, { error: "bad_ticket" }]);
    const cookie = `${new URL(system.origin).port}=${ticket}`;
    const { status } = await askHost(`${new URL(entrance).origin}/`, { headers: { Cookie: `sbx_preview_${cookie}` } });
    expect(status).toBe(401);
  });

  test("neither a token nor the product's own cookie counts there, and no route of the product is there", async () => {
    const { owner, preview } = await looking();
    for (const headers of [bearer(owner), await pageCookie(owner)]) {
      expect((await askHost(`${preview.origin}/`, { headers })).status).toBe(401);
    }
    for (const path of ["/healthz", "/api/me", "/metrics", "/attach", "/internal/bell"]) {
      expect([path, (await preview.ask(path)).text]).toEqual([path, "theirs"]);
    }
    const me = await api(undefined, "/api/me", { headers: { Cookie: preview.cookie } });
    expect(await me.json()).toMatchObject({ authenticated: false });
  });

  test("a path never leads to another host", async () => {
    const owner = await person();
    for (const path of ["//evil.example/x", "/%2f%2fevil.example", "/\\evil.example", "/@evil.example"]) {
      const { origin, location } = await Preview.open(bearer(owner), box, port, path);
      expect([path, new URL(location).origin]).toEqual([path, origin]);
    }
  });

  test("the bridge's own port is not shown, nor what is no port", async () => {
    const who = { headers: bearer(await person()) };
    const ofContainer = () => askHost(`${system.origin}/preview/${box}/8080/`, who);
    const ofBridge = async (no: string) => (await Preview.open(who.headers, box, Number(no))).ask("/healthz");
    expect((await askHost(`${system.origin}/preview/${box}/65536/`, who)).status).toBe(400);
    // In a container it is 8080, of which the Worker knows; elsewhere the bridge says so.
    const answer = system.bridgeUrl === "" ? ofContainer() : ofBridge(new URL(system.bridgeUrl).port);
    expect((await answer).status).toBe(403);
  });
});

describe("from where", () => {
  test.each<[string, string, Record<string, string>, number]>([
    ["its own page", "POST", { "Sec-Fetch-Site": "same-origin", Origin: "OWN" }, 200],
    [
      "another preview's script",
      "GET",
      { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script" },
      403,
    ],
    ["another preview's form", "POST", { "Sec-Fetch-Site": "same-site", Origin: "http://other.localhost:1" }, 403],
    ["the product's page", "POST", { Origin: system.origin }, 403],
  ])("%s may ask by %s, or not", async (_from, method, headers, status) => {
    const { preview } = await looking();
    const own = Object.entries(headers).map(([name, value]) => [name, value === "OWN" ? preview.origin : value]);
    expect((await preview.ask("/x", { method, headers: Object.fromEntries(own) })).status).toBe(status);
  });

  test("a WebSocket of another origin is refused", async () => {
    const { preview } = await looking();
    const socket = preview.socket("/", [], { Origin: system.origin });
    const [, { statusCode }] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
    expect([statusCode, asked.length]).toEqual([403, 0]);
  });

  test("a preview's page is no page of ours: with a cookie of ours it may do nothing at the product", async () => {
    const { owner, preview } = await looking();
    const headers = { ...(await pageCookie(owner)), Origin: preview.origin };
    const outcome = await api(undefined, "/logout", { method: "POST", headers });
    expect([outcome.status, await outcome.json()]).toMatchObject([403, { error: "bad_origin" }]);
  });
});

test("a request that its browser gives up keeps no place, be it before its answer or in the middle of that", async () => {
  const { preview } = await looking();
  const { host, port: worker } = new URL(preview.origin);
  const headers = { Host: host, Cookie: preview.cookie };
  let seen = 0;
  // As many as may be open at once, a few at a time.
  for (const isAnswered of [true, false, true, false, true, false, true, false]) {
    serve = (_request, response) => {
      if (isAnswered) response.writeHead(200).write("half");
    };
    const going = Array.from({ length: 32 }, () =>
      openRequest({ host: "127.0.0.1", port: worker, path: "/", headers, agent: false }).on("error", () => undefined),
    );
    for (const request of going) request.end();
    seen += going.length;
    await expect.poll(() => asked.length).toBe(seen);
    // As browsers that close a tab, and the platform's edge: the runtime ends what answers it at once.
    for (const request of going) request.socket?.resetAndDestroy();
  }
  serve = (_request, response) => response.end("theirs");
  await expect.poll(async () => (await preview.ask("/")).status).toBe(200);
});

describe("what passes", () => {
  test("the server is asked under its own name, and sees no cookie, ticket or address of ours", async () => {
    const { preview } = await looking();
    const headers = {
      Cookie: `a=1; ${preview.cookie}; b=2`,
      Origin: preview.origin,
      Referer: `${preview.origin}/from`,
      "X-Forwarded-For": "1.2.3.4",
      "CF-Connecting-IP": "1.2.3.4",
      "X-Stdio-Ticket": "s.x",
      "X-Own": "theirs",
      Authorization: "Basic dGhlaXJzOng=",
      Connection: "close, X-Hop",
      "X-Hop": "1",
    };
    await preview.ask("/x", { method: "PUT", headers, body: "body" });
    const { headers: seen, rawHeaders } = asked[0] as IncomingMessage;
    expect(seen).toMatchObject({
      host: `localhost:${port}`,
      origin: `http://localhost:${port}`,
      referer: `http://localhost:${port}/from`,
      cookie: "a=1; b=2",
      "x-own": "theirs",
      authorization: "Basic dGhlaXJzOng=",
      "content-length": "4",
    });
    const shown = rawHeaders.join("\n").toLowerCase();
    for (const secret of [
      "sbx_preview",
      "1.2.3.4",
      "x-stdio",
      "x-hop",
      "x-preview",
      system.bridgeToken.toLowerCase(),
    ]) {
      expect([secret, shown.includes(secret)]).toEqual([secret, false]);
    }
  });

  test("answers without a body break no connection: what comes next succeeds at the first try, whatever it is", async () => {
    const { owner, preview } = await looking();
    const at = ["HEAD", 204, 304, 404, 200];
    const held: ServerResponse[] = [];
    // All of them at once: each has a connection of its own.
    serve = (_request, response) => {
      held.push(response);
      if (held.length < at.length) return;
      for (const one of held) one.writeHead(Number(one.req.url?.slice(1))).end();
    };
    const ask = (one: string | number) =>
      preview.ask(`/${Number(one) || 200}`, { method: Number(one) ? "GET" : "HEAD" });
    expect((await Promise.all(at.map(ask))).map(({ status }) => status)).toEqual([200, 204, 304, 404, 200]);
    serve = (_request, response) => response.end("theirs");
    const headers = { Origin: preview.origin };
    const posts = at.slice(1).map(() => preview.ask("/", { method: "POST", headers, body: "x" }));
    const attached = connect(owner, { sandbox: box, session: fresh("s"), cmd: "cat" });
    expect((await Promise.all(posts)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await (await attached).hello();
    const run = await post(owner, `/api/sandboxes/${box}/run`, { cmd: "echo", args: ["ran"] });
    expect([run.status, await run.json()]).toMatchObject([200, { stdout: "ran\n" }]);
  });

  test("what is encoded stays so, and HEAD is answered", async () => {
    const { preview } = await looking();
    const packed = gzipSync("theirs");
    serve = (_request, response) =>
      response.writeHead(200, { "Content-Encoding": "gzip", "Content-Length": packed.length }).end(packed);
    const answer = await openHost(`${preview.origin}/`, {
      headers: { Cookie: preview.cookie, "Accept-Encoding": "gzip" },
    });
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    expect([answer.headers["content-encoding"], Buffer.concat(chunks).equals(packed)]).toEqual(["gzip", true]);
    serve = (_request, response) => response.writeHead(200, { "Content-Length": 6, ETag: '"x"' }).end();
    const head = await preview.ask("/", { method: "HEAD" });
    expect([head.status, head.headers.etag, head.headers["content-length"]]).toEqual([200, '"x"', "6"]);
  });

  test("bodies pass as they come, both ways at once", async () => {
    const { preview } = await looking();
    serve = (request, response) => {
      response.writeHead(200);
      request.pipe(response);
    };
    const { host, port: worker } = new URL(preview.origin);
    const headers = { Host: host, Cookie: preview.cookie, Origin: preview.origin };
    const going = openRequest({ host: "127.0.0.1", port: worker, path: "/", method: "POST", headers, agent: false });
    going.write("one");
    const [answer] = (await once(going, "response")) as [IncomingMessage];
    const [first] = await once(answer, "data");
    going.write("two");
    const [second] = await once(answer, "data");
    going.end("three");
    const [third] = await once(answer, "data");
    expect([first, second, third].map(String)).toEqual(["one", "two", "three"]);
  });

  test("a WebSocket passes text, bytes, its subprotocol and its code", async () => {
    const { preview } = await looking();
    const socket = preview.socket("/hmr?token=x", ["other", "vite-hmr"]);
    await once(socket, "open");
    expect([socket.protocol, asked[0]?.url, asked[0]?.headers.origin]).toEqual([
      "vite-hmr",
      "/hmr?token=x",
      `http://localhost:${port}`,
    ]);
    socket.send("text");
    const [text, isBinary] = await once(socket, "message");
    socket.send(Buffer.from([0, 255]));
    const [bytes] = await once(socket, "message");
    expect([String(text), isBinary, [...(bytes as Buffer)]]).toEqual(["text", false, [0, 255]]);
    socket.close(4321, "done");
    expect(await ended(socket)).toBe(4321);
  });

  test("where nothing listens a page says so, and a program is told", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const free = (closed.address() as AddressInfo).port;
    closed.close();
    const owner = await person();
    // A preview starts no container.
    await (await connect(owner, { sandbox: box, session: fresh("s"), cmd: "cat" })).hello();
    const preview = await Preview.open(bearer(owner), box, free);
    const page = await preview.ask("/", { headers: { Accept: "text/html" } });
    expect([page.status, page.text.includes(`Nothing listens on port ${free} of the sandbox ${box}`)]).toEqual([
      502,
      true,
    ]);
    const told = await preview.ask("/");
    expect([told.status, JSON.parse(told.text)]).toMatchObject([502, { error: "connection_refused" }]);
  });

  test("a request that is too long is refused before it is read", async () => {
    const { preview } = await looking();
    const headers = { "Content-Length": String(101 * 1024 * 1024), Origin: preview.origin };
    const answer = await openHost(`${preview.origin}/`, {
      method: "POST",
      headers: { ...headers, Cookie: preview.cookie },
    });
    expect([answer.statusCode, asked.length]).toEqual([413, 0]);
    answer.destroy();
  });
});

describe("its end", () => {
  test("logging out ends what is open, WebSocket and stream, and lets nobody in again", async () => {
    const owner = await person();
    await reach(owner, box, port);
    const headers = await pageCookie(owner);
    const preview = await Preview.open(headers, box, port);
    const socket = preview.socket("/");
    await once(socket, "open");
    serve = (_request, response) =>
      response.writeHead(200, { "Content-Type": "text/event-stream" }).write("data: 1\n\n");
    const stream = await openHost(`${preview.origin}/events`, { headers: { Cookie: preview.cookie } });
    const cut = once(stream, "error");
    const end = ended(socket);
    const out = await api(undefined, "/logout", { method: "POST", headers: { ...headers, Origin: system.origin } });
    expect(out.status).toBe(204);
    expect(await end).toBe(4401);
    await cut;
    // Nor does the runtime log it as a fault of ours.
    expect(readFileSync(join(system.dir, "logs/worker.log"), "utf8")).not.toContain("the preview's time is over");
    await expect.poll(async () => (await preview.ask("/")).status).toBe(401);
  });

  test("a revoked token's preview is closed, and the tenant's record says who has looked", async () => {
    const { org, sub, token } = await person({ scope: "sandbox:exec" });
    const { preview } = await looking({ org, sub, token });
    const socket = preview.socket("/");
    await once(socket, "open");
    const end = ended(socket);
    const admin = await person({ org, scope: "sandbox:admin" });
    expect((await post(admin, "/api/revocations", { sub })).status).toBe(204);
    // It was told: it would ask again by itself only half a minute later.
    expect(await within("its end", end)).toBe(4401);
    await expect.poll(async () => (await preview.ask("/")).status).toBe(401);
    const records = await recordsAt(`${system.origin}/api/audit`, admin.token);
    expect(records.find(({ type }) => type === "preview")).toMatchObject({
      type: "preview",
      sandbox: box,
      port,
      user: sub,
    });
  });
});
