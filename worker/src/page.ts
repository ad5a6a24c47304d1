// The page, from the static assets, with the headers that keep it to itself.

import { CLOSE } from "sandbox-stdio/core";
import { refuseHttp } from "./refusal.ts";

export interface PageEnv {
  readonly ASSETS: Fetcher;
}

/** xterm.js writes style elements, so inline styles are allowed; scripts are only our own files. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join("; ");

export async function page(request: Request, env: PageEnv): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return nothingAt(request);
  }
  const asset = await env.ASSETS.fetch(request);
  if (asset.status === 404) return nothingAt(request);
  const response = new Response(asset.body, asset);
  response.headers.set("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  response.headers.set("Referrer-Policy", "no-referrer");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cross-Origin-Opener-Policy", "same-origin");
  return response;
}

function nothingAt({ method, url }: Request): Response {
  const message = `no ${method} ${new URL(url).pathname}: the page is at /`;
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message });
}
