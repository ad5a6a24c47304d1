// The bridge's end of file helpers: one for each sandbox whose files are asked about, started like a process of the sandbox, and ended
// when it has had nothing to do for a while.

import { type FileAnswer, type FileOrder, packFileMessage, unpackFileMessage } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import { type ChildProcess, type OutputSink, type ProcessSpec, startProcess } from "../process/process.ts";
import { FrameReader, framed } from "./frames.ts";
import { HELPER_FLAG, MAX_MESSAGE_BYTES } from "./helper.ts";

/** An order that takes longer is given up, and the helper with it. */
const PATIENCE_MS = 60_000;
/** Without orders and open files a helper ends after this long. */
const IDLE_MS = 60_000;
const IDLE_WITH_FILES_MS = 24 * 60 * 60_000;
const MAX_WAITING = 1_024;
const READ_BYTES = 64 * 1024;

/** Where a helper runs, and as whom. */
export type HelperPlace = Pick<ProcessSpec, "env" | "cwd" | "user" | "namespace">;

export type FileResult = { readonly answer: FileAnswer; readonly bytes: Uint8Array };

type Waiting = (result: FileResult) => void;

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

class FileHelper implements OutputSink {
  readonly #frames = new FrameReader(MAX_MESSAGE_BYTES);
  readonly #waiting = new Map<number, Waiting>();
  readonly #unwritten: Uint8Array[] = [];
  readonly #gone: () => void;
  #room = new Uint8Array(READ_BYTES);
  #child!: ChildProcess;
  #lastId = 0;
  #isInUse = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @returns Why there is none, if there is none. */
  static start(place: HelperPlace, gone: () => void): FileHelper | string {
    const helper = new FileHelper(gone);
    const [cmd = "", ...args] = ownProgram(HELPER_FLAG);
    const spec = { ...place, cmd, args, tty: false, cols: 80, rows: 24, lingerMs: 0 };
    const child = startProcess(spec, helper, {
      onWritable: () => helper.#pump(),
      onExit: ({ code }) => helper.#ended(`the file helper ended with code ${code}`),
    });
    if ("fault" in child) return child.detail;
    helper.#child = child;
    return helper;
  }

  private constructor(gone: () => void) {
    this.#gone = gone;
  }

  ask(order: FileOrder, bytes: Uint8Array): Promise<FileResult> {
    if (this.#waiting.size >= MAX_WAITING) return Promise.resolve(failed("too many orders for files wait: try again"));
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<FileResult>((resolve) => {
      this.#waiting.set(id, resolve);
    });
    this.#unwritten.push(framed(packFileMessage({ ...order, id }, bytes)));
    this.#pump();
    this.#wait();
    return answer;
  }

  end(): void {
    this.#child.signalAll("SIGKILL");
  }

  // ---- As the sink of its output -----------------------------------------------------------------------------------

  reserve(): Uint8Array {
    this.#room = new Uint8Array(READ_BYTES);
    return this.#room;
  }

  commit(length: number, stream: 1 | 2): void {
    const bytes = this.#room.subarray(0, length);
    if (stream === 2) {
      log.warn(`a file helper says: ${Buffer.from(bytes).toString("utf8").slice(0, 1_000)}`);
      return;
    }
    try {
      for (const packed of this.#frames.push(bytes)) this.#answered(packed);
    } catch {
      // It is a process of the sandbox's user, who may have put something else in its place.
      this.#ended("the file helper said what can't be read");
      this.end();
    }
  }

  flush(): void {
    // Each answer is passed on as soon as it is whole.
  }

  #answered(packed: Uint8Array): void {
    const said = unpackFileMessage<FileAnswer & { readonly id: number; readonly isInUse: boolean }>(packed);
    if (said === undefined) throw new TypeError("no answer");
    const { id, isInUse, ...answer } = said.message;
    this.#isInUse = isInUse === true;
    this.#waiting.get(id)?.({ answer, bytes: said.bytes });
    this.#waiting.delete(id);
    this.#wait();
  }

  // ---- Time --------------------------------------------------------------------------------------------------------

  #wait(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    const idleMs = this.#isInUse ? IDLE_WITH_FILES_MS : IDLE_MS;
    this.#timer = setTimeout(() => this.end(), this.#waiting.size > 0 ? PATIENCE_MS : idleMs);
    this.#timer.unref();
  }

  #pump(): void {
    for (let next = this.#unwritten[0]; next !== undefined; next = this.#unwritten[0]) {
      const taken = this.#child.write(next);
      if (taken < next.length) {
        this.#unwritten[0] = next.subarray(taken);
        return;
      }
      this.#unwritten.shift();
    }
  }

  #ended(why: string): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#gone();
    for (const resolve of this.#waiting.values()) resolve(failed(why));
    this.#waiting.clear();
    this.#unwritten.length = 0;
  }
}

function failed(message: string): FileResult {
  return { answer: { ok: false, code: "EIO", message }, bytes: new Uint8Array(0) };
}

/** The bridge's own program once more, with these words: compiled it is one file, bundled this one, else its entry is named. */
export function ownProgram(...words: readonly string[]): string[] {
  const isCompiled = import.meta.url.startsWith("file:///$bunfs/");
  const isBundled = !import.meta.url.endsWith("/files/files.ts");
  const entry = isCompiled ? [] : [new URL(isBundled ? "" : "../../stdio-ws.ts", import.meta.url).pathname];
  return [process.execPath, ...entry, ...words];
}
