// A codex client's calls about files (E6): allowed by the command policy, done beside the bridge, and put on record.

import { CodexError, ERROR } from "sandbox-stdio/codex";
import type { FileOrder } from "sandbox-stdio/core";
import type { CodexSpec } from "../attach/codex-spec.ts";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import { base64Of } from "../base/base64url.ts";
import { askFiles } from "../bridge/files.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import { fileCallOf } from "./calls.ts";

const WRITING: readonly FileOrder["op"][] = ["write", "mkdir", "remove", "copy"];

/** @param session The owner of open files. @throws {CodexError} Also where there is no such method. */
export async function fileRequest(
  env: BridgeEnv & CommandEnv,
  audit: SessionAudit | undefined,
  { actor, who, sandboxKey, sandbox }: CodexSpec,
  session: string,
  operation: string,
  params: unknown,
): Promise<object> {
  const { order, bytes: given, result } = fileCallOf(operation, params, session);
  const path = subjectOf(order);
  const note = (bytes: number, outcome: string) =>
    audit?.note({ type: "file", operation, path, bytes, outcome }, undefined, actor);
  const refusal = commandRefusal(env, WRITING.includes(order.op) ? "fs:write" : "fs:read", who.isAdmin);
  if (refusal !== undefined) {
    note(0, refusal.error);
    throw new CodexError(ERROR.failed, refusal.message);
  }
  const { answer, bytes } = await askFiles(env, sandboxKey, sandbox, order, given);
  note((given ?? bytes).length, answer.ok ? "ok" : answer.code);
  if (answer.ok) return result(answer, base64Of(bytes));
  const isOfParams = answer.code === "EINVAL" || answer.code === "EFBIG";
  const code = answer.code === "ENOENT" ? ERROR.notFound : isOfParams ? ERROR.badParams : ERROR.failed;
  throw new CodexError(code, answer.message);
}

/** The path that it is about, for the record. */
function subjectOf(order: FileOrder): string {
  if ("to" in order) return `${order.path} to ${order.to}`;
  if ("path" in order) return order.path;
  return "handle" in order ? `handle ${order.handle}` : "";
}
