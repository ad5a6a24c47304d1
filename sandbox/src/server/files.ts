// The sandbox's files: `POST /files` is one order, with the bytes to write behind it, and so is its answer. `/archive` is the workspace as
// a tar archive (POST), and one into it (PUT). A process of the sandbox's user does each: an archive is never here as a whole.

import type { Subprocess } from "bun";
import { type FileOrder, MAX_FILE_BYTES, packFileMessage, unpackFileMessage } from "sandbox-stdio/core";
import type { Start } from "../base/child-user.ts";
import { refuse } from "../base/http.ts";
import { ownProgram } from "../files/files.ts";
import { PACK_FLAG } from "../files/pack.ts";
import { UNPACK_FLAG, type Unpacked } from "../files/unpack.ts";
import { startOf } from "../process/process.ts";
import type { HostNames } from "../session/host.ts";
import type { Registry } from "./registry.ts";

type Names = Pick<HostNames, "sandbox" | "label">;

/** Most bytes of an order's paths and options. */
const MAX_ORDER_BYTES = 64 * 1024;
const MAX_SAID = 1_000;
/** At once, of a sandbox. */
const MAX_ARCHIVES = 4;
/** One that takes longer is ended: its other end does not go on. */
const PATIENCE = { timeout: 30 * 60_000, killSignal: "SIGKILL" } as const;

export async function files(request: Request, names: Names, registry: Registry): Promise<Response> {
  if (Number(request.headers.get("content-length") ?? Number.NaN) > MAX_FILE_BYTES + MAX_ORDER_BYTES) {
    return refuse(413, "too_long", `an order has at most ${MAX_FILE_BYTES} bytes`);
  }
  const asked = unpackFileMessage<FileOrder>(new Uint8Array(await request.arrayBuffer()));
  if (asked === undefined) return refuse(400, "bad_request", "the body is no order");
  const { answer, bytes } = await registry.askFiles(names, asked.message, asked.bytes);
  return new Response(packFileMessage(answer, bytes));
}

export async function archive(request: Request, names: Names, registry: Registry): Promise<Response> {
  const isPacking = request.method === "POST";
  const excludes = new URL(request.url).searchParams.get("excludes") ?? "";
  if (excludes.includes("\0")) return refuse(400, "bad_request", '"excludes" has a NUL character');
  const { archives } = registry;
  if ([...archives].filter(({ sandbox }) => sandbox === names.sandbox).length >= MAX_ARCHIVES) {
    return refuse(429, "too_many_archives", `${MAX_ARCHIVES} archives of this sandbox are on their way: try again`);
  }
  const place = registry.placeOf(names);
  const words = isPacking ? [PACK_FLAG, place.cwd, excludes] : [UNPACK_FLAG, place.cwd];
  const [cmd = "", ...args] = ownProgram(...words);
  const start = startOf({ ...place, cmd, args });
  if ("fault" in start) return refuse(500, start.fault, start.detail);
  const child = begin(start, isPacking ? null : request.body);
  request.signal.addEventListener("abort", () => child.kill("SIGKILL"));
  archives.add(names);
  void registry.whileBusy(child.exited).then(() => archives.delete(names));
  return isPacking ? packed(child) : unpacked(child);
}

async function packed(child: Child): Promise<Response> {
  const reader = child.stdout.getReader();
  const first = await reader.read();
  // Nothing at all comes of one that fails at once: an archive has its end.
  if (first.done) return failed(child);
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
  return new Response(body);
}

async function unpacked(child: Child): Promise<Response> {
  const said = await new Response(child.stdout).text();
  try {
    const result = JSON.parse(said) as Unpacked;
    return result.ok ? Response.json({ ok: true }) : refuse(result.status, result.code, result.message);
  } catch {
    return failed(child);
  }
}

async function failed(child: Child): Promise<Response> {
  return refuse(500, "failed", (await new Response(child.stderr).text()).slice(0, MAX_SAID));
}

type Child = Subprocess<ReadableStream | null, "pipe", "pipe">;

function begin({ argv, env, cwd, path }: Start, stdin: ReadableStream | null): Child {
  return Bun.spawn([path, ...argv.slice(1)], { stdin, stdout: "pipe", stderr: "pipe", env, cwd, ...PATIENCE });
}
