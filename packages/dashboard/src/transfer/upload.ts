// One upload: an archive into a session of its own on pipes, which survives breaks as every session does.

import { STREAM_STDERR, STREAM_STDOUT, tarEnd, tarHeader, tarPadding } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { withoutCode } from "../connection/status.ts";
import type { OfferedFile } from "./dropped-files.ts";
import { entryOf, pathsOf, WHOLE } from "./upload-plan.ts";

export type UploadEnd =
  | { readonly kind: "done"; readonly paths: readonly string[] }
  /** Nothing of it is kept in the sandbox. `reason` comes from the server, or from the command. */
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "cancelled" };

/** The command's words, where it fails. */
const MAX_SAID = 65_536;

export class Upload {
  readonly #connection: BrowserConnection;
  readonly #progressed: (sentBytes: number) => void;
  #written = 0;
  #isCancelled = false;
  #goOn: () => void = () => undefined;

  /** @param progressed Told how many bytes of the archive the sandbox has taken. */
  constructor(connection: BrowserConnection, progressed: (sentBytes: number) => void) {
    this.#connection = connection;
    this.#progressed = progressed;
  }

  /** Sends them, and waits for the command's end. Never rejects. */
  async run(files: readonly OfferedFile[]): Promise<UploadEnd> {
    const ended = this.#watch();
    await this.#connection.start();
    let problem: string | undefined;
    try {
      await this.#send(files);
    } catch (error) {
      // A file can't be read, or changed while it was.
      problem = error instanceof Error ? error.message : String(error);
    }
    // Without its last entry, the sandbox throws the sent archive away.
    this.#connection.client?.endInput();
    const end = await ended;
    if (this.#isCancelled) return { kind: "cancelled" };
    return problem === undefined ? end : { kind: "failed", reason: problem };
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#goOn();
  }

  #watch(): Promise<UploadEnd> {
    const connection = this.#connection;
    const out = new TextDecoder();
    const errors = new TextDecoder();
    const said = { stdout: "", stderr: "" };
    return new Promise((resolve) => {
      connection.subscribe({
        output: (stream, bytes, end) => {
          if (stream === STREAM_STDOUT && said.stdout.length < MAX_SAID)
            said.stdout += out.decode(bytes, { stream: true });
          if (stream === STREAM_STDERR && said.stderr.length < MAX_SAID)
            said.stderr += errors.decode(bytes, { stream: true });
          connection.dealtWith(end);
        },
        inputDrained: () => {
          this.#progressed(this.#written - (connection.client?.unackedInput ?? 0));
          this.#goOn();
        },
        state: (state) => {
          if (state.phase !== "ended") return;
          this.#goOn();
          const { end } = state;
          if (end.kind === "exit" && end.code === 0) resolve({ kind: "done", paths: pathsOf(said.stdout) });
          else if (end.kind === "exit") resolve({ kind: "failed", reason: said.stderr.trim() || `exit ${end.code}` });
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
        if (size > entry.size || !(await this.#write(part.value))) break;
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
      this.#goOn = resolve;
    });
    if (bytes.length > 0 && !client.write(bytes)) await mayGoOn;
    return !this.#isOver;
  }
}
