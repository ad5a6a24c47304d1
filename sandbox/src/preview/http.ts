// Previews: streams a browser's request to a server on this machine's loopback, and its answer back.

import { type ClientRequest, type IncomingMessage, request as openRequest } from "node:http";
import { cloneBytes, PREVIEW_LEAD, PREVIEW_PREFIX, PREVIEW_STATUS } from "sandbox-stdio/core";
import { refuse } from "../base/http.ts";
import { log } from "../base/log.ts";

/** From the last byte of the request. A development server compiles before its first answer. */
const PATIENCE_MS = 60_000;
/** Bytes of an answer that are kept if the browser is slower than the server. */
const HIGH_WATER_BYTES = 256 * 1024;
const LEAD = new Uint8Array(1);
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** A request for a server of this machine. */
export type ServerCall = {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
};

/**
 * Not fetch(): that takes a proxy from the environment, and decodes what it gets.
 * @param hasLead Whether the answer's body begins with a byte of the bridge's own ({@link PREVIEW_LEAD}).
 */
export function answered(
  request: Request,
  { host, port, path, method, headers }: ServerCall,
  hasLead: boolean,
): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const asked = openRequest({ host, port, path, method, headers: Object.fromEntries(headers), agent: false });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSettled = false;
  const wait = () => {
    clearTimeout(timer);
    if (isSettled) return;
    timer = setTimeout(() => {
      resolve(refuse(422, "timeout", `the server on port ${port} has not answered within ${PATIENCE_MS / 1000} s`));
      asked.destroy();
    }, PATIENCE_MS);
  };
  const settled = () => {
    isSettled = true;
    clearTimeout(timer);
  };
  wait();
  asked.once("response", (answer) => {
    settled();
    resolve(toResponse(answer, asked, method, hasLead));
  });
  asked.once("error", (error) => {
    settled();
    log.debug("a preview's server has failed:", error);
    resolve(refuse(422, "bad_answer", `the server on port ${port} does not answer in HTTP`));
  });
  request.signal.addEventListener("abort", () => asked.destroy());
  void sendBody(request.body, asked, wait).catch(() => asked.destroy());
  return promise;
}

async function sendBody(
  body: ReadableStream<Uint8Array> | null,
  asked: ClientRequest,
  sent: () => void,
): Promise<void> {
  if (body !== null) {
    for await (const chunk of body) {
      if (asked.destroyed) return;
      if (!asked.write(chunk))
        await new Promise<void>((resolve) => asked.once("drain", resolve).once("close", resolve));
      sent();
    }
  }
  asked.end();
}

/** The status is a header too: a 204 would be the bridge's own, and end the connection in front of it. */
function toResponse(answer: IncomingMessage, asked: ClientRequest, method: string, hasLead: boolean): Response {
  const status = answer.statusCode ?? 502;
  const headers = new Headers({ [PREVIEW_STATUS]: String(status) });
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [answer.rawHeaders[at]?.toLowerCase(), answer.rawHeaders[at + 1]];
    // Only this name may stand there more than once.
    headers.append(name === "set-cookie" ? name : PREVIEW_PREFIX + name, value);
  }
  headers.set(PREVIEW_STATUS, String(status));
  if (hasLead) headers.set(PREVIEW_LEAD, "1");
  if (method === "HEAD" || NO_BODY.has(status)) {
    answer.resume();
    return new Response(hasLead ? LEAD : null, { headers });
  }
  return new Response(streamOf(answer, asked, hasLead), { headers });
}

function streamOf(answer: IncomingMessage, asked: ClientRequest, hasLead: boolean): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        if (hasLead) controller.enqueue(cloneBytes(LEAD));
        answer.on("data", (chunk: Uint8Array) => {
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) answer.pause();
        });
        answer.once("end", () => controller.close());
        answer.once("error", (error) => controller.error(error));
      },
      pull: () => {
        answer.resume();
      },
      cancel: () => {
        asked.destroy();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_BYTES }),
  );
}
