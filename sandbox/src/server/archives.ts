// `/archive`: the workspace as a tar archive (POST), and an archive into it (PUT). A process of the sandbox's user does each: its pipes are
// the bodies, so that neither is ever here as a whole.

import type { Subprocess } from "bun";
import { isName } from "sandbox-stdio/core";
import type { Start } from "../base/child-user.ts";
import { refuse } from "../base/http.ts";
import { ownProgram } from "../files/files.ts";
import { PACK_FLAG } from "../files/pack.ts";
import { UNPACK_FLAG, type Unpacked } from "../files/unpack.ts";
import { startOf } from "../process/process.ts";
import type { Registry } from "./registry.ts";

export function archive(request: Request, url: URL, sandbox: string, registry: Registry): Promise<Response> | Response {
  const label = url.searchParams.get("label") ?? sandbox;
  const excludes = url.searchParams.get("excludes") ?? "";
  if (!isName(label) || excludes.includes("\0"))
    return refuse(400, "bad_request", '"label" is no name, or "excludes" no paths');
  const place = registry.placeOf({ sandbox, label });
  const words = request.method === "PUT" ? [UNPACK_FLAG, place.cwd] : [PACK_FLAG, place.cwd, excludes];
  const [cmd = "", ...args] = ownProgram(...words);
  const start = startOf({ ...place, cmd, args });
  if ("fault" in start) return refuse(500, start.fault, start.detail);
  if (request.method === "POST") return packed(start, request);
  return request.method === "PUT" ? unpacked(start, request) : refuse(405, "bad_request", "POST or PUT");
}

async function packed(start: Start, { signal }: Request): Promise<Response> {
  const child = begin(start, "ignore");
  signal.addEventListener("abort", () => child.kill("SIGKILL"));
  const reader = child.stdout.getReader();
  const first = await reader.read();
  // Nothing at all comes of one that fails at once: an archive has its end.
  if (first.done) return refuse(500, "failed", (await new Response(child.stderr).text()).slice(0, 1_000));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(first.value),
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      if ((await child.exited) === 0) controller.close();
      else controller.error(new Error("the archive could not be made to its end"));
    },
    cancel: () => child.kill("SIGKILL"),
  });
  return new Response(body, { headers: { "Content-Type": "application/octet-stream" } });
}

async function unpacked(start: Start, { body }: Request): Promise<Response> {
  const child = begin(start, "pipe");
  // Where the body breaks off, so does the archive: what came of it is removed.
  const fed = feed(child.stdin, body).finally(() => child.stdin.end());
  fed.catch(() => undefined);
  const said = await new Response(child.stdout).text();
  try {
    const result = JSON.parse(said) as Unpacked;
    return result.ok ? Response.json({ ok: true }) : refuse(result.status, result.code, result.message);
  } catch {
    return refuse(500, "failed", (await new Response(child.stderr).text()).slice(0, 1_000));
  }
}

async function feed(
  stdin: { write(bytes: Uint8Array): unknown; flush(): unknown },
  body: ReadableStream<Uint8Array> | null,
): Promise<void> {
  for await (const bytes of body ?? []) {
    stdin.write(bytes);
    await stdin.flush();
  }
}

function begin<In extends "pipe" | "ignore">(
  { argv, env, cwd, path }: Start,
  stdin: In,
): Subprocess<In, "pipe", "pipe"> {
  return Bun.spawn([path, ...argv.slice(1)], { stdin, stdout: "pipe", stderr: "pipe", env, cwd });
}
