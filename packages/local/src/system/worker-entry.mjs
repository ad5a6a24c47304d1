// The Worker's main module in workerd: the bundle, and what only a log file and an open port need. Runs in workerd, never imported.

import worker from "bundle.js";

export * from "bundle.js";

// workerd's own lines have no level.
const { error, warn } = console;
console.error = (...words) => error("[ERROR]", ...words);
console.warn = (...words) => warn("[WARNING]", ...words);

/** Without a handler, workerd would log two lines for each CONNECT, which anybody can send. */
const connect = (socket) => socket.close();

/** workerd passes an address on as it was sent. Steps like `..` are resolved here, before a route is chosen. */
const fetch = (request, env, ctx) => {
  if (!URL.canParse(request.url)) return new Response("The Host header names no host\n", { status: 400 });
  const { href } = new URL(request.url);
  return worker.fetch(href === request.url ? request : new Request(href, request), env, ctx);
};

export default { ...worker, fetch, connect };
