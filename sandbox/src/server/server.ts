// The bridge's HTTP and WebSocket server: the callers that may speak to it, and the purpose of each request.

import type { Server } from "bun";
import { ARCHIVE_PATH, FILES_PATH, httpStatusOf, isName, PREVIEW_PATH } from "sandbox-stdio/core";
import { MAX_ORDER_BYTES, parseOrder } from "sandbox-stdio/programs";
import { refuse, type SocketData, websocket } from "../base/http.ts";
import { log } from "../base/log.ts";
import type { BridgeSettings } from "../base/settings.ts";
import { MAX_ARCHIVE_BYTES } from "../files/unpack.ts";
import { preview } from "../preview/route.ts";
import type { HostNames } from "../session/host.ts";
import { NOT_ELSEWHERE } from "../session/logged-process.ts";
import { attach } from "./attach.ts";
import { archive, files } from "./files.ts";
import { codeOf, listingOf, Registry } from "./registry.ts";

/** How long a stop waits for the end of all sessions: a little longer than their processes have until SIGKILL. */
const STOP_TIMEOUT_MS = 4_000;
/** How long the last messages may take to go out after that. */
const LAST_WORDS_MS = 1_000;
const LOOK_MS = 20;
/** What would be this machine's own where programs run elsewhere. */
const OF_THIS_MACHINE: readonly string[] = ["/workspace", "/files", ARCHIVE_PATH, PREVIEW_PATH];

export type Bridge = {
  readonly url: string;
  /**
   * Tells all clients how many seconds are left, and starts nothing more. Resolves once no process runs and every exit was told
   * to a client or a session object, or the time is over. {@link Bridge.stop} has to follow.
   */
  drain(seconds: number): Promise<void>;
  /** Ends all sessions, tells their clients, and stops serving: within 6 seconds, whatever a process does. */
  stop(): Promise<void>;
};

export function startBridge(settings: BridgeSettings): Bridge {
  const registry = new Registry(settings);
  const { hostname, port, socket } = settings;
  let isStopping = false;
  const server = Bun.serve<SocketData>({
    ...(socket === undefined ? { hostname, port } : { unix: socket }),
    // Archives are never here as a whole; other routes have limits of their own.
    maxRequestBodySize: MAX_ARCHIVE_BYTES,
    // Otherwise Bun answers an error with a page that shows the source.
    development: false,
    error: (error) => {
      log.error("a request failed:", error);
      return refuse(500, "internal", "internal error of the bridge");
    },
    fetch: (request, self) => {
      // A process that started now would be ended in a moment.
      if (isStopping) return refuse(503, "unavailable", "the bridge is shutting down");
      return route(request, self, settings, registry);
    },
    websocket,
  });
  return {
    url: socket === undefined ? `http://${server.hostname}:${server.port}` : `unix:${socket}`,
    drain: async (seconds) => {
      registry.close(seconds);
      const running = [...registry.hosts].filter((host) => host.state === "running");
      for (const host of running) host.stopping(seconds);
      log.info(`told to stop: ${running.length} sessions have ${seconds} s`);
      // If no client was attached at the exit, the session object comes to fetch it.
      await atMost(seconds * 1000, Promise.all([...registry.hosts].map((host) => host.exitTold)));
      // A session object asks its questions about the end before it disconnects.
      const isAsked = () => [...registry.hosts].some((host) => host.state === "exited" && host.isHeld);
      for (let ms = 0; ms < LAST_WORDS_MS && isAsked(); ms += LOOK_MS) await Bun.sleep(LOOK_MS);
    },
    stop: async () => {
      isStopping = true;
      registry.files.close();
      const hosts = [...registry.hosts];
      // Clients are told the exit if the process ends in time, else that the bridge stops. A process that has left its session
      // and keeps writing to its pipes can't be ended.
      const ends = hosts.filter((host) => host.state === "running").map((host) => host.kill());
      await atMost(STOP_TIMEOUT_MS, Promise.all(ends));
      for (const host of hosts) host.shutDown();
      await atMost(LAST_WORDS_MS, server.stop());
      await atMost(LAST_WORDS_MS, server.stop(true));
    },
  };
}

/** Waits for `promise`, but no longer than `ms`. */
async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

async function route(
  request: Request,
  server: Server<SocketData>,
  settings: BridgeSettings,
  registry: Registry,
): Promise<Response | undefined> {
  const url = URL.parse(request.url);
  if (url === null) return refuse(400, "bad_request", "the Host header names no host");
  if (url.pathname === "/healthz" || url.pathname === "/") return Response.json({ ok: true });
  // A page in a developer's browser must not open a shell on their laptop: pages can't use the bridge.
  if (request.headers.has("origin")) return refuse(403, "forbidden", "requests with an Origin are refused");
  if (!isAuthorized(request, settings.token)) {
    return refuse(401, "unauthenticated", "need Authorization: Bearer with the bridge's secret");
  }
  const sandbox = url.searchParams.get("sandbox") ?? "default";
  if (!isName(sandbox)) return refuse(400, "bad_request", '"sandbox" is not a name');
  if (settings.exec !== undefined && OF_THIS_MACHINE.includes(url.pathname))
    return refuse(422, "not_here", NOT_ELSEWHERE);
  const label = url.searchParams.get("label") ?? sandbox;
  if (!isName(label)) return refuse(400, "bad_request", '"label" is not a name');
  if (url.pathname === "/workspace") {
    // A namespace has a limit of its own. Otherwise Bun ends a connection that is silent for ten seconds.
    server.timeout(request, 0);
    return workspace(request, { sandbox, label }, registry);
  }
  const making = registry.workspaces.ready(sandbox);
  if (making !== undefined) server.timeout(request, 0);
  const fault = making && (await making);
  if (fault !== undefined) return refuse(503, "no_workspace", fault);
  if (url.pathname === "/attach") return attach(request, url, server, registry);
  if (url.pathname === PREVIEW_PATH) return preview(request, url, server);
  if (url.pathname === "/sessions" && request.method === "GET") {
    const sessions = registry.list(sandbox, url.searchParams.get("session") ?? undefined);
    return Response.json({ sessions, idleMs: registry.idleMs });
  }
  if (url.pathname === "/sessions" && request.method === "POST") return start(request, sandbox, registry);
  if (url.pathname === FILES_PATH || url.pathname === ARCHIVE_PATH) {
    // A copy takes its time, and an archive may have to wait for its other end.
    server.timeout(request, 0);
    return (url.pathname === ARCHIVE_PATH ? archive : files)(request, { sandbox, label }, registry);
  }
  const name = /^\/sessions\/([^/]+)$/.exec(url.pathname)?.[1];
  if (name !== undefined && request.method === "DELETE") {
    const host = registry.find(sandbox, name);
    if (host === undefined) return refuse(404, "not_found", `no session "${name}"`);
    await host.kill();
    host.remove();
    // Not 204: after a 204, workerd's client of a container's port fails the next request on that connection.
    return Response.json({ ok: true });
  }
  return refuse(404, "not_found", `no ${request.method} ${url.pathname}`);
}

/** Has the sandbox's folder be /workspace for its processes, or lets go of that. */
async function workspace(
  { method }: Request,
  names: Pick<HostNames, "sandbox" | "label">,
  registry: Registry,
): Promise<Response> {
  const { workspaces } = registry;
  let fault: string | undefined;
  if (method === "DELETE") workspaces.drop(names.sandbox);
  else fault = await workspaces.make(names.sandbox, () => registry.folderOf(names));
  return fault === undefined ? Response.json({ ok: true }) : refuse(502, "no_workspace", fault);
}

/** Finds the process of an order, or starts it without a client. */
async function start(request: Request, sandbox: string, registry: Registry): Promise<Response> {
  if (Number(request.headers.get("content-length") ?? Number.NaN) > MAX_ORDER_BYTES) {
    return refuse(413, "too_long", `a body has at most ${MAX_ORDER_BYTES} bytes`);
  }
  const order = parseOrder(await request.text());
  if ("detail" in order) return refuse(400, "bad_request", order.detail);
  const { label, session } = order;
  const found = registry.order({ sandbox, label, session }, order);
  if (!found.ok) return refuse(httpStatusOf(codeOf(found.fault)), found.fault, found.detail);
  const isNew = found.isNew === true;
  const { hasFirstInput: hasInput } = found.host;
  return Response.json({ isNew, hasInput, sessions: [listingOf(found.host)] }, { status: isNew ? 201 : 200 });
}

function isAuthorized(request: Request, token: string): boolean {
  const given = Buffer.from(request.headers.get("authorization") ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  // In constant time.
  return given.length === wanted.length && crypto.timingSafeEqual(given, wanted);
}
