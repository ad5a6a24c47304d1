// One download over its own session on pipes, which survives reconnects like any session.

import { cloneBytes, STREAM_STDERR, STREAM_STDOUT, TarFault, TarFilter } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { withoutCode } from "../connection/status.ts";
import type { SkippedMembers } from "../texts/transfer-texts.ts";
import { folderOf, type Header, MAX_DOWNLOAD_BYTES, readHeader, shownName } from "./download-plan.ts";

export type DownloadEnd =
  | {
      readonly kind: "done";
      readonly header: Header;
      readonly content: Blob;
      readonly skipped: SkippedMembers | undefined;
    }
  /** Nothing is saved. `reason` comes from the server or the command. */
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "too-large" }
  /** Data was lost, or the file changed meanwhile. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "cancelled" };

export type DownloadProgress = { readonly receivedBytes: number; readonly totalBytes: number | undefined };

/** Size from which data moves from memory into a Blob, which the browser may keep on disk. */
const PART_BYTES = 8 * 1024 * 1024;
const LINE_FEED = 0x0a;
const MAX_HEADER = 64;
/** Limit of the command's error text. */
const MAX_STDERR = 4_096;

export class Download {
  readonly #connection: BrowserConnection;
  readonly #progressed: (progress: DownloadProgress) => void;
  #header: Header | undefined;
  #head = "";
  #newest: Uint8Array<ArrayBuffer>[] = [];
  #newestBytes = 0;
  #content = new Blob();
  #receivedBytes = 0;
  #keptBytes = 0;
  /** Present while a folder's archive is read. */
  #filter: TarFilter | undefined;
  #skipped: SkippedMembers | undefined;
  readonly #path: string;
  #stderr = "";
  #isOver = false;
  #finish: (end: DownloadEnd) => void = () => undefined;

  constructor(connection: BrowserConnection, path: string, progressed: (progress: DownloadProgress) => void) {
    this.#connection = connection;
    this.#path = path;
    this.#progressed = progressed;
  }

  /** Receives everything or nothing. Never rejects. */
  async run(): Promise<DownloadEnd> {
    const ended = new Promise<DownloadEnd>((resolve) => {
      this.#finish = (end) => {
        if (this.#isOver) return;
        this.#isOver = true;
        // The command may still be sending.
        if (end.kind !== "done" && end.kind !== "failed") this.#connection.client?.send({ type: "kill" });
        this.#connection.leave();
        resolve(end);
      };
    });
    const errors = new TextDecoder();
    this.#connection.subscribe({
      output: (stream, bytes, end) => {
        if (stream === STREAM_STDOUT) this.#received(bytes);
        else if (stream === STREAM_STDERR && this.#stderr.length < MAX_STDERR)
          this.#stderr += errors.decode(bytes, { stream: true });
        this.#connection.processed(end);
      },
      gap: () => this.#finish({ kind: "incomplete" }),
      // A new client would send all bytes again.
      reset: () => this.#finish({ kind: "incomplete" }),
      state: (state) => {
        if (state.phase !== "ended") return;
        const { end } = state;
        if (end.kind === "exit" && end.code === 0) this.#finish(this.#whole());
        else if (end.kind === "exit")
          this.#finish({ kind: "failed", reason: this.#stderr.trim() || `exit ${end.code}` });
        else this.#finish({ kind: "failed", reason: end.kind === "refused" ? withoutCode(end.reason) : "" });
      },
    });
    await this.#connection.start();
    return ended;
  }

  cancel(): void {
    this.#finish({ kind: "cancelled" });
  }

  #received(bytes: Uint8Array): void {
    if (this.#isOver) return;
    let rest = bytes;
    if (this.#header === undefined) {
      const end = bytes.indexOf(LINE_FEED);
      this.#head += new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
      if (end === -1 && this.#head.length <= MAX_HEADER) return;
      this.#header = readHeader(this.#head);
      if (this.#header === undefined) {
        this.#finish({ kind: "incomplete" });
        return;
      }
      rest = bytes.subarray(end + 1);
      if (this.#header.kind === "folder") this.#filter = this.#makeFilter();
    }
    const totalBytes = this.#header.kind === "file" ? this.#header.size : undefined;
    this.#receivedBytes += rest.length;
    const isTaken = this.#take(rest);
    const largest = Math.max(totalBytes ?? 0, this.#receivedBytes, this.#keptBytes);
    if (!isTaken) this.#finish({ kind: "incomplete" });
    else if (largest > MAX_DOWNLOAD_BYTES) this.#finish({ kind: "too-large" });
    else this.#progressed({ receivedBytes: this.#receivedBytes, totalBytes });
  }

  /** @returns Whether the bytes are valid. */
  #take(bytes: Uint8Array): boolean {
    if (this.#filter === undefined) {
      this.#keep(bytes);
      return true;
    }
    try {
      this.#filter.push(bytes);
      return true;
    } catch (error) {
      if (error instanceof TarFault) return false;
      throw error;
    }
  }

  #makeFilter(): TarFilter {
    return new TarFilter(folderOf(this.#path), {
      write: (bytes) => this.#keep(bytes),
      leftOut: (name, why) => {
        const first = this.#skipped ?? { count: 0, name: shownName(name), why };
        this.#skipped = { ...first, count: first.count + 1 };
      },
    });
  }

  /** @param bytes Borrowed. */
  #keep(bytes: Uint8Array): void {
    this.#keptBytes += bytes.length;
    this.#newest.push(cloneBytes(bytes));
    this.#newestBytes += bytes.length;
    if (this.#newestBytes >= PART_BYTES) this.#putAway();
  }

  #putAway(): void {
    this.#content = new Blob([this.#content, ...this.#newest]);
    this.#newest = [];
    this.#newestBytes = 0;
  }

  #whole(): DownloadEnd {
    const header = this.#header;
    if (header === undefined) return { kind: "incomplete" };
    if (header.kind === "file" && header.size !== this.#receivedBytes) return { kind: "incomplete" };
    if (this.#filter?.end() === false) return { kind: "incomplete" };
    this.#putAway();
    return { kind: "done", header, content: this.#content, skipped: this.#skipped };
  }
}
