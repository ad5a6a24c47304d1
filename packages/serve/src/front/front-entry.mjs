// What stands in front of the Worker where others than this machine's own person may call: it says whose address a request has, drops
// what callers say of it themselves, and passes the issuer's requests on. Runs in workerd, never imported.

import worker from "worker-entry.js";

export * from "worker-entry.js";

const ISSUER =
  /^\/(oauth\/.*|interaction\/.*|device|key|me|\.well-known\/(jwks\.json|openid-configuration|oauth-authorization-server))$/;
/** What the Worker itself asks of the issuer: it can't follow the way that people come, whose certificate it may not know. */
const BACK_CHANNEL = /^\/(oauth\/(token|introspect)|\.well-known\/jwks\.json)$/;
/** What this machine's own programs ask of the Worker: the bridge, and `serve`. A person's cookie opens nothing here. */
const OWN = /^\/(healthz|internal\/bell|api\/.*)$/;
/** Whom a request is from, or where it went, in the words of proxies of every kind. */
const FORWARDING =
  /^(cf-.*|x-forwarded.*|x-original-.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|forwarded|via|mf-.*)$/;

/** `[::ffff:192.0.2.1]:5000` is 192.0.2.1. */
const addressOf = (peer = "") => peer.replace(/^\[?(?:::ffff:)?(.*?)\]?:\d+$/, "$1");

/** The address that the nearest proxy has added, where that is ours. Those before it are the caller's own words. */
function clientOf(request, { proxies, addressHeader }) {
  const peer = addressOf(request.cf?.clientIp);
  if (!proxies.includes(peer)) return peer;
  const last = request.headers.get(addressHeader)?.split(",").pop()?.trim() ?? "";
  return /^[\da-fA-F.:]{2,45}$/.test(last) ? last : peer;
}

function cleaned(request) {
  const headers = new Headers(request.headers);
  for (const name of [...headers.keys()]) if (FORWARDING.test(name)) headers.delete(name);
  return headers;
}

function askIssuer(request, url, headers, { ISSUER: issuer, FRONT: { origin } }) {
  headers.set("X-Forwarded-Proto", new URL(origin).protocol.slice(0, -1));
  headers.set("X-Forwarded-Host", url.host);
  return issuer.fetch(new Request(`http://${url.host}${url.pathname}${url.search}`, new Request(request, { headers })));
}

/** Without its bridge nothing can be started: a monitor is told. */
async function healthOf(answer, { BRIDGE }) {
  const signal = AbortSignal.timeout(5_000);
  const bridge = await BRIDGE.fetch("http://bridge/healthz", { signal }).catch(() => undefined);
  return answer.ok && bridge?.ok !== true ? new Response("The bridge does not answer\n", { status: 503 }) : answer;
}

const fetch = async (request, env, ctx) => {
  const url = URL.parse(request.url);
  if (url === null) return worker.fetch(request, env, ctx);
  const headers = cleaned(request);
  headers.set("CF-Connecting-IP", clientOf(request, env.FRONT));
  // A program that is shown in a preview may have such paths too.
  if (ISSUER.test(url.pathname) && env.FRONT.hosts.includes(url.host)) return askIssuer(request, url, headers, env);
  const answer = await worker.fetch(new Request(request, { headers }), env, ctx);
  return url.pathname === "/healthz" ? healthOf(answer, env) : answer;
};

export default { ...worker, fetch };

/** Answers on loopback and a Unix socket only, in plain HTTP, as if the request had come to the public origin. */
export const inner = {
  fetch(request, env, ctx) {
    const { origin, innerHost } = env.FRONT;
    const asked = URL.parse(request.url);
    // A page elsewhere that points its own name here gets nothing.
    if (asked?.host !== innerHost && asked?.host !== "inner")
      return new Response("Not under this host name\n", { status: 403 });
    const url = new URL(asked.pathname + asked.search, origin);
    const headers = cleaned(request);
    for (const name of ["Cookie", "Origin"]) headers.delete(name);
    headers.set("Host", url.host);
    if (BACK_CHANNEL.test(url.pathname)) return askIssuer(request, url, headers, env);
    if (!OWN.test(url.pathname)) return new Response("Not here\n", { status: 404 });
    return worker.fetch(new Request(url, new Request(request, { headers })), env, ctx);
  },
};
