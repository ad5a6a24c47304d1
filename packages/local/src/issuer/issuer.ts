// The local issuer: an OAuth server for `npm start` and for tests, on the loopback interface only. This file is the
// HTTP shell: which callers it admits, and how much they may send; issuer-routes.ts decides the answers.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { GrantStore } from "./grants.ts";
import { FORM_ROUTES, type IssuerReply, issuerRoutes } from "./issuer-routes.ts";
import { loadSigningKey } from "./keys.ts";

const MAX_BODY_BYTES = 64 * 1024;

export interface IssuerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Directory of the signing key, shared with `npm run token`. */
  readonly dir: string;
  /** Origin of the page that people sign in to; its `/callback` is the only place a code is sent to. */
  readonly publicOrigin: string;
  /** `opaque`: access tokens are `at_…` and have to be introspected, as the real issuer's. Default `jwt`. */
  readonly accessTokens?: "jwt" | "opaque" | undefined;
  /** Seconds an access token lives, or a function that says so for each. Default 3600. */
  readonly accessTokenLifetime?: number | (() => number) | undefined;
  /** Seconds between two polls of a device, possibly a fraction. Default 1. */
  readonly deviceInterval?: number | undefined;
  /** Seconds since 1970; replaced by tests. */
  readonly now?: (() => number) | undefined;
}

export interface Issuer {
  /** The value of `iss`, and the base of all its addresses: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Stops listening and cuts open connections. */
  close(): Promise<void>;
}

/**
 * Starts an issuer. Anyone on this machine may sign in as anybody, so it binds 127.0.0.1 and answers only requests that
 * name it as their host. A page elsewhere that points its own name here gets nothing.
 *
 * @throws {Error} With code EADDRINUSE if the port is taken.
 */
export async function startIssuer(options: IssuerOptions): Promise<Issuer> {
  const now = options.now ?? (() => Date.now() / 1000);
  const deviceInterval = options.deviceInterval ?? 1;
  const { accessTokenLifetime = 3600 } = options;
  const key = await loadSigningKey(options.dir);

  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: options.port, exclusive: true }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const routes = issuerRoutes({
    url,
    key,
    grants: new GrantStore({ now, deviceInterval }),
    redirectUri: new URL("/callback", options.publicOrigin).href,
    accessTokens: options.accessTokens ?? "jwt",
    accessTokenLifetime: typeof accessTokenLifetime === "number" ? () => accessTokenLifetime : accessTokenLifetime,
    deviceInterval,
    now,
  });

  async function answer(request: IncomingMessage): Promise<IssuerReply> {
    const { host, origin, authorization } = request.headers;
    if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return refuse(403, "Host is not this issuer");
    const { pathname, searchParams: query } = new URL(request.url ?? "/", url);
    const route = `${request.method === "HEAD" ? "GET" : request.method} ${pathname}`;
    const handler = routes.get(route);
    if (handler === undefined) return refuse(404, `No such address: ${route}`);
    if (request.method === "POST") {
      // A page elsewhere can post a form here: it may not press our buttons, nor start anything that a program does.
      const isForm = FORM_ROUTES.includes(route);
      if (origin !== (isForm ? `http://${host}` : undefined)) return refuse(403, "Origin is not allowed here");
    }
    const body = await readBody(request);
    if (body === undefined) return refuse(413, `A body is at most ${MAX_BODY_BYTES} bytes`);
    return handler({ route, query, form: new URLSearchParams(body), authorization });
  }

  server.on("request", (request, response) => {
    answer(request).then(
      (reply) => send(response, reply),
      (error: unknown) => {
        // A client that went away in mid-body ends up here as well; then no client reads this.
        console.error("Issuer:", error);
        send(response, refuse(500, "The issuer failed; its terminal says why"));
      },
    );
  });

  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(status: number, message: string): IssuerReply {
  const body = JSON.stringify({ error: "invalid_request", error_description: message });
  return { status, headers: { "content-type": "application/json" }, body };
}

function send(response: ServerResponse, reply: IssuerReply): void {
  const common = {
    "cache-control": "no-store",
    // Not "no-referrer": browsers would then send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
  response.writeHead(reply.status, { ...common, ...reply.headers }).end(reply.body);
}

/** The body as text, or undefined where it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
