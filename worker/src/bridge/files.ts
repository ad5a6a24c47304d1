// Orders for a sandbox's files, which a helper beside the bridge carries out. The container, if there is one, is started for it.

import {
  FILES_PATH,
  type FileAnswer,
  type FileOrder,
  MAX_FILE_BYTES,
  packFileMessage,
  unpackFileMessage,
} from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import { AuthFault } from "../refusal/fault.ts";
import { type BridgeEnv, fetchBridge } from "./upstream.ts";

/** A container that has to be started takes its time, and so do 4 MiB. */
const PATIENCE_MS = 150_000;
/** Largest answer: a file's bytes, or the entries of a directory. */
const MAX_ANSWER_BYTES = MAX_FILE_BYTES + 16 * 1024 * 1024;

export type FilesAnswer = { readonly answer: FileAnswer; readonly bytes: Uint8Array };

/** The sandbox that a request is about: the name of its object, and its readable one. */
export type AskedSandbox = { readonly sandboxKey: string; readonly sandbox: string };

/** Asks the bridge for something in the sandbox's folder. @throws {unknown} Where there is no way to it. */
export function fetchFolder(
  env: BridgeEnv,
  { sandboxKey, sandbox: label }: AskedSandbox,
  path: string,
  init: RequestInit,
  query: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const search = new URLSearchParams({ sandbox: sandboxKey, label, ...query });
  return fetchBridge(env, sandboxKey, `${path}?${search}`, init);
}

/** @param label The sandbox's readable name. @param bytes What is to be written. @throws {AuthFault} `misconfigured`. */
export async function askFiles(
  env: BridgeEnv,
  sandboxKey: string,
  label: string,
  order: FileOrder,
  bytes?: Uint8Array,
): Promise<FilesAnswer> {
  // Not AbortSignal.timeout(): it keeps the object in memory for as long, although there is an answer.
  const given = new AbortController();
  const timer = setTimeout(() => given.abort(), PATIENCE_MS);
  try {
    const init = { method: "POST", body: packFileMessage(order, bytes), signal: given.signal };
    const response = await fetchFolder(env, { sandboxKey, sandbox: label }, FILES_PATH, init);
    const length = Number(response.headers.get("Content-Length") ?? 0);
    const isGood = response.status === 200 && length <= MAX_ANSWER_BYTES;
    const said = isGood ? unpackFileMessage<FileAnswer>(new Uint8Array(await response.arrayBuffer())) : undefined;
    if (said !== undefined && typeof said.message.ok === "boolean") return { answer: said.message, bytes: said.bytes };
    log.warn(`the bridge did not answer about files (${response.status})`);
  } catch (error) {
    if (error instanceof AuthFault) throw error;
    log.warn("no way to the bridge:", error);
  } finally {
    clearTimeout(timer);
  }
  const message = "the sandbox can't be reached just now: try again";
  return { answer: { ok: false, code: "EIO", message }, bytes: new Uint8Array(0) };
}
