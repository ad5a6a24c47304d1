// What a preview says by itself, in place of a server in the sandbox: a page for a person, a line of JSON for a program.

import { countRefusal } from "../metrics/refusal-counts.ts";

const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  Vary: "Accept",
};

/** Whether somebody looks at the answer. */
export function isForPerson({ method, headers }: Request): boolean {
  const destination = headers.get("Sec-Fetch-Dest");
  if (method !== "GET" || headers.has("Upgrade")) return false;
  if (destination !== null) return destination === "document" || destination === "iframe";
  return headers.get("Accept")?.includes("text/html") === true;
}

/** @param title and text: ours, and names that were checked. */
export function personsPage(
  status: number,
  title: string,
  text: string,
  link?: { readonly href: string; readonly text: string },
): Response {
  countRefusal(4000 + status);
  const more = link === undefined ? "" : ` <a href="${escaped(link.href)}">${escaped(link.text)}</a>`;
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width"><style>:root{color-scheme:light dark;font:16px system-ui}
body{max-width:32rem;margin:20vh auto;padding:0 16px}</style>
<h1>${escaped(title)}</h1><p>${escaped(text)}${more}</p></html>`;
  return new Response(body, { status, headers: HEADERS });
}

/** The same to whoever asks. */
export function said(request: Request, status: number, error: string, title: string, text: string): Response {
  if (isForPerson(request)) return personsPage(status, title, text);
  countRefusal(4000 + status);
  return Response.json({ error, message: text }, { status, headers: { "Cache-Control": "no-store" } });
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? "");
}
