// A codex client's calls about files (E6): allowed by the command policy, done beside the bridge, and put on record.

import { CodexError, ERROR, type FileCall, fileCallOf, requireDone } from "sandbox-stdio/codex";
import type { CodexSpec } from "../attach/codex-spec.ts";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import { askFiles } from "../bridge/files.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import { toBase64 } from "./output.ts";

const READING = "fs:read";
const WRITING = "fs:write";

export class CodexFiles {
  readonly #env: BridgeEnv & CommandEnv;
  readonly #audit: SessionAudit | undefined;

  constructor(env: BridgeEnv & CommandEnv, audit: SessionAudit | undefined) {
    this.#env = env;
    this.#audit = audit;
  }

  /** @param session Its owner, for open files. @throws {CodexError} Also where there is no such method. */
  async request(spec: CodexSpec, session: string, method: string, params: unknown): Promise<object> {
    const asked = fileCallOf(method, params, session);
    if (asked === undefined)
      throw new CodexError(ERROR.unknownMethod, `there is no method ${method.slice(0, 64)} here`);
    const refusal = commandRefusal(this.#env, asked.writes ? WRITING : READING, spec.who.isAdmin);
    if (refusal !== undefined) {
      this.#note(spec, method, asked, 0, refusal.error);
      throw new CodexError(ERROR.failed, refusal.message);
    }
    const data = asked.data === undefined ? undefined : bytesOf(asked.data);
    const { answer, bytes } = await askFiles(this.#env, spec.sandboxKey, spec.sandbox, asked.order, data);
    this.#note(spec, method, asked, (data ?? bytes).length, answer.ok ? "ok" : answer.code);
    return asked.result(requireDone(answer), toBase64(bytes));
  }

  #note({ actor }: CodexSpec, operation: string, { path }: FileCall, bytes: number, outcome: string): void {
    this.#audit?.note({ type: "file", operation, path, bytes, outcome }, undefined, actor);
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
