// How a program is answered over HTTP: JSON, at once where it can be, and held open by a space now and then where it takes
// long (R4).

import { inTime } from "../base/in-time.ts";
import type { ProgramAnswer } from "./operations/call.ts";

/** How long nothing is said at most. */
export const QUIET_MS = 15_000;
const HEADERS = { "Content-Type": "application/json", "Cache-Control": "no-store" };
const SPACE = new Uint8Array([0x20]);

export function respond({ status, body, retryAfterSeconds }: ProgramAnswer): Response {
  const headers = new Headers(HEADERS);
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", String(retryAfterSeconds));
  if (status === 401) headers.set("WWW-Authenticate", 'Bearer error="invalid_token"');
  return new Response(status === 204 ? null : `${JSON.stringify(body)}\n`, { status, headers });
}

/**
 * Answers as soon as there is an answer. One that takes longer than 15 s begins as 200, and a refusal is then its body.
 * @param abandoned Called where the caller goes away while it waits.
 */
export async function respondInTime(
  answer: Promise<ProgramAnswer>,
  abandoned: () => void,
  waitUntil: (promise: Promise<unknown>) => void,
): Promise<Response> {
  const soon = await inTime(answer, QUIET_MS);
  if (soon !== undefined) return respond(soon);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  writer.closed.catch(abandoned);
  const spaces = setInterval(() => writer.write(SPACE).catch(() => undefined), QUIET_MS);
  const rest = (async () => {
    try {
      writer.write(SPACE).catch(() => undefined);
      const { body } = await answer;
      clearInterval(spaces);
      await writer.write(new TextEncoder().encode(`${JSON.stringify(body)}\n`));
      await writer.close();
    } catch {
      // The caller has gone, or the answer never came: the part that the caller has is not JSON.
      await writer.abort().catch(() => undefined);
    } finally {
      clearInterval(spaces);
    }
  })();
  waitUntil(rest);
  return new Response(readable, { status: 200, headers: HEADERS });
}
