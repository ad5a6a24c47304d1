// Downloads from one terminal's sandbox. A program's request needs the person's consent: output never starts a transfer. No React.

import type { Terminal } from "@xterm/xterm";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import type { SkippedMembers } from "../texts/transfer-texts.ts";
import { Store } from "../ui/store.ts";
import { Download, type DownloadEnd, type DownloadProgress } from "./download.ts";
import { MAX_REQUESTS, readDownloadRequest, savedName } from "./download-plan.ts";

export type DownloadState =
  | { readonly kind: "idle" }
  | ({ readonly kind: "receiving"; readonly path: string } & DownloadProgress)
  /** Saved without some members of the archive. */
  | { readonly kind: "partial"; readonly path: string; readonly skipped: SkippedMembers }
  | {
      readonly kind: "failed";
      readonly path: string;
      readonly end: Exclude<DownloadEnd["kind"], "done" | "cancelled">;
      readonly reason: string;
    };

/** A program's request. Each one is another object. */
export type DownloadRequest = { readonly path: string; readonly count: number };

export type DownloadsView = { readonly state: DownloadState; readonly request: DownloadRequest | undefined };

export type DownloadsOptions = {
  /** Whether the output being drawn is replay. */
  readonly isReplay: () => boolean;
  /** Only a person who may type is asked. */
  readonly mayType: () => boolean;
  /** Connects to the session that sends this file. */
  readonly connect: (path: string) => BrowserConnection;
  readonly save: (name: string, content: Blob) => void;
};

export class Downloads extends Store<DownloadsView> {
  readonly #options: DownloadsOptions;
  readonly #handler: { dispose(): void };
  #requests: readonly DownloadRequest[] = [];
  #count = 0;
  #waiting: string[] = [];
  #download: Download | undefined;
  #isDisposed = false;

  constructor(terminal: Terminal, options: DownloadsOptions) {
    super({ state: { kind: "idle" }, request: undefined });
    this.#options = options;
    this.#handler = terminal.parser.registerOscHandler(633, (text) => {
      const path = readDownloadRequest(text);
      if (path === undefined) return false;
      if (!options.isReplay() && options.mayType()) this.#requested(path);
      return true;
    });
  }

  /** The person's answer to a program's request. */
  answer(request: DownloadRequest, isYes: boolean): void {
    this.#requests = this.#requests.filter((each) => each !== request);
    this.change({ request: this.#requests[0] });
    if (isYes) this.start(request.path);
  }

  /** Starts or queues a download. Call only for a person's action. */
  start(path: string): void {
    if (this.#download === undefined) void this.#run(path);
    else this.#waiting.push(path);
  }

  /** All of a file, to be shown. @returns undefined if it could not be read. */
  async read(path: string): Promise<Blob | undefined> {
    const end = await new Download(this.#options.connect(path), path, () => undefined).run();
    return end.kind === "done" ? end.content : undefined;
  }

  /** Cancels the current and queued downloads. */
  cancel(): void {
    this.#waiting = [];
    this.#download?.cancel();
  }

  dismiss(): void {
    if (this.#download === undefined) this.change({ state: { kind: "idle" } });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#handler.dispose();
    this.cancel();
    this.forgetListeners();
  }

  #requested(path: string): void {
    if (this.#requests.length >= MAX_REQUESTS || this.#requests.some((each) => each.path === path)) return;
    this.#requests = [...this.#requests, { path, count: ++this.#count }];
    this.change({ request: this.#requests[0] });
  }

  async #run(path: string): Promise<void> {
    this.change({ state: { kind: "receiving", path, receivedBytes: 0, totalBytes: undefined } });
    const download = new Download(this.#options.connect(path), path, (progress) =>
      this.change({ state: { kind: "receiving", path, ...progress } }),
    );
    this.#download = download;
    const end = await download.run();
    this.#download = undefined;
    if (this.#isDisposed) return;
    if (end.kind === "done") this.#options.save(savedName(path, end.header), end.content);
    if (end.kind === "done" && end.skipped !== undefined)
      this.change({ state: { kind: "partial", path, skipped: end.skipped } });
    else if (end.kind === "done" || end.kind === "cancelled") this.change({ state: { kind: "idle" } });
    else
      this.change({ state: { kind: "failed", path, end: end.kind, reason: end.kind === "failed" ? end.reason : "" } });
    const next = this.#waiting.shift();
    if (next !== undefined) void this.#run(next);
  }
}

/** Saves a file by the browser. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser does not report when it has read the file.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
