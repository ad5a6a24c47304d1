// `POST /files`: one order for the sandbox's files, with the bytes to write behind it. The answer is of the same form.

import { type FileOrder, isName, MAX_FILE_BYTES, packFileMessage, unpackFileMessage } from "sandbox-stdio/core";
import { refuse } from "../base/http.ts";
import type { Registry } from "./registry.ts";

/** Of an order, beside its bytes: its paths. */
const MAX_ORDER_BYTES = 64 * 1024;

export async function files(request: Request, url: URL, sandbox: string, registry: Registry): Promise<Response> {
  const label = url.searchParams.get("label") ?? sandbox;
  if (!isName(label)) return refuse(400, "bad_request", '"label" is not a name');
  if (Number(request.headers.get("content-length") ?? Number.NaN) > MAX_FILE_BYTES + MAX_ORDER_BYTES) {
    return refuse(413, "too_long", `an order has at most ${MAX_FILE_BYTES} bytes`);
  }
  const asked = unpackFileMessage<FileOrder>(new Uint8Array(await request.arrayBuffer()));
  if (asked === undefined) return refuse(400, "bad_request", "the body is no order");
  const { answer, bytes } = await registry.askFiles({ sandbox, label }, asked.message, asked.bytes);
  return new Response(packFileMessage(answer, bytes));
}
