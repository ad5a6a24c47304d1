// Files on their way out of one terminal's sandbox. A person asks for one, or a program does, which a person has to agree to: nothing
// that is printed starts a transfer. No React.

import type { Terminal } from "@xterm/xterm";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import type { LeftOut } from "../texts/english-tools.ts";
import { Download, type DownloadEnd, type DownloadProgress } from "./download.ts";
import { MAX_WISHES, readDownloadWish, savedName } from "./download-plan.ts";

export type DownloadState =
  | { readonly kind: "idle" }
  | ({ readonly kind: "receiving"; readonly path: string } & DownloadProgress)
  /** The download is saved, without some members of its archive. */
  | { readonly kind: "partial"; readonly path: string; readonly leftOut: LeftOut }
  | {
      readonly kind: "failed";
      readonly path: string;
      readonly end: Exclude<DownloadEnd["kind"], "done" | "cancelled">;
      readonly reason: string;
    };

/** A program wants this file saved. Another request is another object. */
export type DownloadWish = { readonly path: string; readonly count: number };

export type DownloadsView = { readonly state: DownloadState; readonly wish: DownloadWish | undefined };

export type DownloadsPorts = {
  /** Whether the output that is being drawn was printed before a person was here to be asked. */
  readonly isReplay: () => boolean;
  /** Only who may type is asked: a program speaks to them. */
  readonly mayType: () => boolean;
  /** A connection to a pipes session beside, which sends this file. */
  readonly connect: (path: string) => BrowserConnection;
  readonly save: (name: string, content: Blob) => void;
};

export class Downloads {
  readonly #ports: DownloadsPorts;
  readonly #listeners = new Set<() => void>();
  readonly #handler: { dispose(): void };
  #view: DownloadsView = { state: { kind: "idle" }, wish: undefined };
  #wishes: readonly DownloadWish[] = [];
  #count = 0;
  #waiting: string[] = [];
  #download: Download | undefined;
  #isDisposed = false;

  constructor(terminal: Terminal, ports: DownloadsPorts) {
    this.#ports = ports;
    this.#handler = terminal.parser.registerOscHandler(633, (text) => {
      const path = readDownloadWish(text);
      if (path === undefined) return false;
      if (!ports.isReplay() && ports.mayType()) this.#wished(path);
      return true;
    });
  }

  /** The same object until something changes. */
  readonly getView = (): DownloadsView => this.#view;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The person's answer to a program's request. */
  answer(wish: DownloadWish, isYes: boolean): void {
    this.#wishes = this.#wishes.filter((each) => each !== wish);
    this.#change({ wish: this.#wishes[0] });
    if (isYes) this.start(wish.path);
  }

  /** Begins a download, or lets it wait for the one under way. To be called by what a person does, and nothing else. */
  start(path: string): void {
    if (this.#download === undefined) void this.#run(path);
    else this.#waiting.push(path);
  }

  /** Gives up the one under way, and those that wait for it. */
  cancel(): void {
    this.#waiting = [];
    this.#download?.cancel();
  }

  dismiss(): void {
    if (this.#download === undefined) this.#change({ state: { kind: "idle" } });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#handler.dispose();
    this.cancel();
    this.#listeners.clear();
  }

  #wished(path: string): void {
    if (this.#wishes.length >= MAX_WISHES || this.#wishes.some((each) => each.path === path)) return;
    this.#wishes = [...this.#wishes, { path, count: ++this.#count }];
    this.#change({ wish: this.#wishes[0] });
  }

  async #run(path: string): Promise<void> {
    this.#change({ state: { kind: "receiving", path, receivedBytes: 0, totalBytes: undefined } });
    const download = new Download(this.#ports.connect(path), path, (progress) =>
      this.#change({ state: { kind: "receiving", path, ...progress } }),
    );
    this.#download = download;
    const end = await download.run();
    this.#download = undefined;
    if (this.#isDisposed) return;
    if (end.kind === "done") this.#ports.save(savedName(path, end.header), end.content);
    if (end.kind === "done" && end.leftOut !== undefined)
      this.#change({ state: { kind: "partial", path, leftOut: end.leftOut } });
    else if (end.kind === "done" || end.kind === "cancelled") this.#change({ state: { kind: "idle" } });
    else
      this.#change({ state: { kind: "failed", path, end: end.kind, reason: end.kind === "failed" ? end.reason : "" } });
    const next = this.#waiting.shift();
    if (next !== undefined) void this.#run(next);
  }

  #change(change: Partial<DownloadsView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Hands it to the browser, which puts it where the person's downloads go. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser reads it after this, and says not when it has: it is let go with the page, or in a while.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
