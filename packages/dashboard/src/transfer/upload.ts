// One upload: an archive into its own session on pipes, which survives reconnects like any session.

import { STREAM_STDERR, STREAM_STDOUT, tarEnd, tarHeader, tarPadding } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { withoutCode } from "../connection/status.ts";
import type { OfferedFile } from "./dropped-files.ts";
import { entryOf, type Received, receivedOf, WHOLE } from "./upload-plan.ts";

export type UploadEnd =
  | { readonly kind: "done"; readonly received: readonly Received[] }
  /** Nothing is kept in the sandbox. `reason` comes from the server or the command. */
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "cancelled" };

/** Limit of the command's output. */
const MAX_OUTPUT = 65_536;
/** A browser may read megabytes at once, and no progress would be seen until they are taken. */
const PIECE_BYTES = 65_536;

export class Upload {
  readonly #connection: BrowserConnection;
  readonly #progressed: (sentBytes: number) => void;
  #written = 0;
  #isCancelled = false;
  #continue: () => void = () => undefined;

  /** @param progressed Receives the bytes of the archive that the sandbox has taken. */
  constructor(connection: BrowserConnection, progressed: (sentBytes: number) => void) {
    this.#connection = connection;
    this.#progressed = progressed;
  }

  /** Sends the files and waits for the command's end. Never rejects. */
  async run(files: readonly OfferedFile[]): Promise<UploadEnd> {
    const ended = this.#watch();
    await this.#connection.start();
    let problem: string | undefined;
    try {
      await this.#send(files);
    } catch (error) {
      // A file is unreadable or changed meanwhile.
      problem = error instanceof Error ? error.message : String(error);
    }
    // Without its last entry the sandbox discards the archive.
    this.#connection.client?.endInput();
    const end = await ended;
    if (this.#isCancelled) return { kind: "cancelled" };
    return problem === undefined ? end : { kind: "failed", reason: problem };
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#continue();
  }

  #watch(): Promise<UploadEnd> {
    const connection = this.#connection;
    const out = new TextDecoder();
    const errors = new TextDecoder();
    const texts = { stdout: "", stderr: "" };
    return new Promise((resolve) => {
      connection.subscribe({
        output: (stream, bytes, end) => {
          if (stream === STREAM_STDOUT && texts.stdout.length < MAX_OUTPUT)
            texts.stdout += out.decode(bytes, { stream: true });
          if (stream === STREAM_STDERR && texts.stderr.length < MAX_OUTPUT)
            texts.stderr += errors.decode(bytes, { stream: true });
          connection.processed(end);
        },
        inputDrained: () => {
          this.#progressed(this.#written - (connection.client?.unackedInput ?? 0));
          this.#continue();
        },
        state: (state) => {
          if (state.phase !== "ended") return;
          this.#continue();
          const { end } = state;
          if (end.kind === "exit" && end.code === 0) resolve({ kind: "done", received: receivedOf(texts.stdout) });
          else if (end.kind === "exit") resolve({ kind: "failed", reason: texts.stderr.trim() || `exit ${end.code}` });
          else resolve({ kind: "failed", reason: end.kind === "refused" ? withoutCode(end.reason) : "" });
        },
      });
    });
  }

  async #send(files: readonly OfferedFile[]): Promise<void> {
    for (const entry of files) {
      if (!(await this.#write(tarHeader(entryOf(entry))))) return;
      if (entry.file === undefined) continue;
      let size = 0;
      const reader = entry.file.stream().getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        size += part.value.length;
        if (size > entry.size || this.#isOver) break;
        for (let at = 0; at < part.value.length && !this.#isOver; at += PIECE_BYTES) {
          await this.#write(part.value.subarray(at, at + PIECE_BYTES));
        }
      }
      if (this.#isOver) return;
      if (size !== entry.size) throw new Error(`${entry.path} changed while it was read`);
      await this.#write(tarPadding(size));
    }
    await this.#write(tarHeader(WHOLE));
    await this.#write(tarEnd());
  }

  get #isOver(): boolean {
    return this.#isCancelled || this.#connection.state.phase === "ended";
  }

  /** Waits until more may be written. @returns Whether it may. */
  async #write(bytes: Uint8Array): Promise<boolean> {
    const { client } = this.#connection;
    if (this.#isOver || client === undefined) return false;
    this.#written += bytes.length;
    const mayGoOn = new Promise<void>((resolve) => {
      this.#continue = resolve;
    });
    if (bytes.length > 0 && !client.write(bytes)) await mayGoOn;
    return !this.#isOver;
  }
}
