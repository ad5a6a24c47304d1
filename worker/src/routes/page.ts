// The page, from the static assets, with the headers that keep it to itself.

import { CLOSE } from "sandbox-stdio/core";
import { refuseHttp } from "../refusal/refusal.ts";

export interface PageEnv {
  readonly ASSETS: Fetcher;
}

/** xterm.js writes style elements, so inline styles are allowed. Scripts are only our own files; its images' decoder is WebAssembly. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join("; ");

/** For a person who has mistyped an address. */
const NOTHING = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Nothing here</title>
<meta name="viewport" content="width=device-width"><style>:root{color-scheme:light dark;font:16px system-ui}
body{max-width:26rem;margin:20vh auto;padding:0 16px}</style>
<h1>Nothing here</h1><p>There is no page at this address. <a href="/">Open a terminal</a></p></html>`;

const NOTHING_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  Vary: "Accept",
};

export async function page(request: Request, env: PageEnv): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return nothingAt(request);
  }
  const asset = await env.ASSETS.fetch(request);
  if (asset.status === 404) return nothingAt(request);
  const response = new Response(asset.body, asset);
  // Their names change with what is in them.
  if (new URL(request.url).pathname.startsWith("/assets/")) {
    response.headers.set("Cache-Control", "public, max-age=31536000, immutable");
  }
  response.headers.set("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  response.headers.set("Referrer-Policy", "no-referrer");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cross-Origin-Opener-Policy", "same-origin");
  return response;
}

function nothingAt(request: Request): Response {
  const { method, url } = request;
  if (request.headers.get("Accept")?.includes("text/html")) {
    return new Response(NOTHING, { status: 404, headers: NOTHING_HEADERS });
  }
  const message = `no ${method} ${new URL(url).pathname}: the page is at /`;
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message });
}
