// The bridge's end of file helpers: one for each sandbox whose files are asked about, started like a process of the sandbox, and ended
// when it has had nothing to do for a while.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Subprocess } from "bun";
import { type FileAnswer, type FileOrder, packFileMessage, unpackFileMessage } from "sandbox-stdio/core";
import type { Start } from "../base/child-user.ts";
import { type ProcessSpec, startOf } from "../process/process.ts";
import { FrameReader } from "./frames.ts";
import { HELPER_FLAG, MAX_MESSAGE_BYTES } from "./helper.ts";

/** An order that takes longer is given up, and the helper with it. */
const PATIENCE_MS = 60_000;
/** Without orders and open files a helper ends after this long. */
const IDLE_MS = 60_000;
const IDLE_WITH_FILES_MS = 24 * 60 * 60_000;
const MAX_WAITING = 1_024;
/** Bytes to write of all that wait. A helper that does not go on is the sandbox's user's doing. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Where a helper runs, and as whom. */
export type HelperPlace = Pick<ProcessSpec, "env" | "cwd" | "user" | "namespace">;

export type FileResult = { readonly answer: FileAnswer; readonly bytes: Uint8Array };

type Waiting = { readonly length: number; readonly resolve: (result: FileResult) => void };

export class Files {
  readonly #helpers = new Map<string, FileHelper>();

  /** @param placeOf Asked only if a helper has to be started. */
  ask(sandbox: string, placeOf: () => HelperPlace, order: FileOrder, bytes: Uint8Array): Promise<FileResult> {
    let helper = this.#helpers.get(sandbox);
    if (helper === undefined) {
      const started: FileHelper | string = FileHelper.start(placeOf(), () => {
        if (this.#helpers.get(sandbox) === started) this.#helpers.delete(sandbox);
      });
      if (typeof started === "string") return Promise.resolve(failed(started));
      helper = started;
      this.#helpers.set(sandbox, helper);
    }
    return helper.ask(order, bytes);
  }

  close(): void {
    for (const helper of this.#helpers.values()) helper.end();
  }
}

class FileHelper {
  readonly #frames = new FrameReader(MAX_MESSAGE_BYTES);
  readonly #waiting = new Map<number, Waiting>();
  readonly #gone: () => void;
  readonly #child: Subprocess<"pipe", "pipe", "ignore">;
  #lastId = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @returns Why there is none, if there is none. */
  static start(place: HelperPlace, gone: () => void): FileHelper | string {
    const [cmd = "", ...args] = ownProgram(HELPER_FLAG);
    const start = startOf({ ...place, cmd, args });
    return "fault" in start ? start.detail : new FileHelper(start, gone);
  }

  private constructor({ path, argv, env, cwd }: Start, gone: () => void) {
    this.#gone = gone;
    this.#child = Bun.spawn([path, ...argv.slice(1)], { stdin: "pipe", stdout: "pipe", stderr: "ignore", env, cwd });
    const { stdout, exited } = this.#child;
    // The helper runs as the sandbox's user, who may have replaced it: its answers are not trusted.
    this.#read(stdout).catch(() => this.#ended("the file helper said what can't be read"));
    void exited.then((code) => this.#ended(`the file helper ended with code ${code}`));
  }

  ask(order: FileOrder, bytes: Uint8Array): Promise<FileResult> {
    const waitingBytes = [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
    if (this.#waiting.size >= MAX_WAITING || waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      return Promise.resolve(failed("too many orders for files wait: try again"));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<FileResult>((resolve) => {
      this.#waiting.set(id, { length: bytes.length, resolve });
    });
    const { stdin } = this.#child;
    stdin.write(packFileMessage({ ...order, id }, bytes));
    void stdin.flush();
    this.#endIn(PATIENCE_MS);
    return answer;
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }

  async #read(stdout: ReadableStream<Uint8Array>): Promise<void> {
    for await (const piece of stdout) for (const packed of this.#frames.push(piece)) this.#answered(packed);
  }

  #answered(packed: Uint8Array): void {
    const said = unpackFileMessage<FileAnswer & { readonly id: number; readonly isInUse: boolean }>(packed);
    if (said === undefined) throw new TypeError("no answer");
    const { id, isInUse, ...answer } = said.message;
    this.#waiting.get(id)?.resolve({ answer, bytes: said.bytes });
    this.#waiting.delete(id);
    this.#endIn(this.#waiting.size > 0 ? PATIENCE_MS : isInUse === true ? IDLE_WITH_FILES_MS : IDLE_MS);
  }

  #endIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), ms);
    this.#timer.unref();
  }

  #ended(why: string): void {
    this.end();
    clearTimeout(this.#timer);
    this.#gone();
    for (const { resolve } of this.#waiting.values()) resolve(failed(why));
    this.#waiting.clear();
  }
}

function failed(message: string): FileResult {
  return { answer: { ok: false, code: "EIO", message }, bytes: new Uint8Array(0) };
}

/** The bridge's own program once more, with these words: compiled or bundled it is one file, else its entry is named. */
export function ownProgram(...words: readonly string[]): string[] {
  const here = fileURLToPath(import.meta.url);
  if (here.startsWith("/$bunfs/")) return [process.execPath, ...words];
  return [process.execPath, here.endsWith(".ts") ? join(dirname(here), "../../stdio-ws.ts") : here, ...words];
}
