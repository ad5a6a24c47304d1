// Uploads of files dropped or pasted on one terminal, into its shell's directory. Their paths are typed at the cursor. No React.

import type { Terminal } from "@xterm/xterm";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { readWorkingDirectory } from "../terminal/shell-marks.ts";
import type { Renamed } from "../texts/transfer-texts.ts";
import { Store } from "../ui/store.ts";
import { chosenFiles, clipboardPictures, filesOf, hasFiles, type OfferedFile, pastedFiles } from "./dropped-files.ts";
import { childPath, nameOf } from "./file-paths.ts";
import { Upload, type UploadEnd } from "./upload.ts";
import { planUpload, secondsLeft, typedPaths, UPLOAD_LIMITS } from "./upload-plan.ts";

export type UploadState =
  | { readonly kind: "idle" }
  | { readonly kind: "hovering" }
  | { readonly kind: "refused"; readonly why: "nothing" | "too-many" | "too-large" | "bad-name" | "unreadable" }
  | {
      readonly kind: "sending";
      readonly files: number;
      readonly totalBytes: number;
      readonly sentBytes: number;
      /** undefined: not known yet. */
      readonly secondsLeft: number | undefined;
      /** The target; undefined: where sessions begin. */
      readonly directory: string | undefined;
    }
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "done";
      readonly files: number;
      readonly renamed: readonly Renamed[];
      /** What is new, as the target was named. */
      readonly paths: readonly string[];
    };

/** How long a success is told that asks for nobody's eye. */
const DONE_MS = 5_000;

export type UploadsOptions = {
  /** Only a person who may type may upload. */
  readonly mayUpload: () => boolean;
  /** Connects to the session that receives files in this directory. */
  readonly connect: (directory: string | undefined) => BrowserConnection;
};

export class Uploads extends Store<UploadState> {
  readonly #terminal: Terminal;
  readonly #options: UploadsOptions;
  readonly #stop = new AbortController();
  readonly #handler: { dispose(): void };
  #directory: string | undefined;
  #upload: Upload | undefined;

  /** @param stage The element around the terminal. Create before other listeners for its pastes. */
  constructor(terminal: Terminal, stage: HTMLElement, options: UploadsOptions) {
    super({ kind: "idle" });
    this.#terminal = terminal;
    this.#options = options;
    this.#handler = terminal.parser.registerOscHandler(633, (text) => {
      this.#directory = readWorkingDirectory(text) ?? this.#directory;
      return true;
    });
    const capturing = { signal: this.#stop.signal, capture: true };
    stage.addEventListener("dragover", (event) => this.#hovers(event), capturing);
    stage.addEventListener(
      "dragleave",
      () => {
        if (this.state.kind === "hovering") this.state = { kind: "idle" };
      },
      capturing,
    );
    stage.addEventListener("drop", (event) => this.#dropped(event), capturing);
    stage.addEventListener("paste", (event) => this.#pasted(event), capturing);
  }

  /** The shell's directory, if it has reported one. */
  get directory(): string | undefined {
    return this.#directory;
  }

  /**
   * Lets the person choose files. Call from a click or key, or the browser shows no dialog.
   * @param folder Where they go, without being typed. undefined: to the shell's directory.
   */
  choose(folder?: string): void {
    if (!this.#isOpen) return;
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.addEventListener("change", () => {
      const files = [...(input.files ?? [])];
      if (files.length > 0) void this.#take(Promise.resolve(chosenFiles(files)), folder);
    });
    input.click();
  }

  /** Files that were dropped on a folder. */
  drop(transfer: DataTransfer, folder: string): void {
    if (this.#isOpen && hasFiles(transfer)) void this.#take(filesOf(transfer, UPLOAD_LIMITS.files), folder);
  }

  cancel(): void {
    this.#upload?.cancel();
  }

  dismiss(): void {
    if (this.#upload === undefined) this.state = { kind: "idle" };
  }

  dispose(): void {
    this.#stop.abort();
    this.#handler.dispose();
    this.#upload?.cancel();
    this.forgetListeners();
  }

  get #isOpen(): boolean {
    return this.#upload === undefined && this.#options.mayUpload();
  }

  #hovers(event: DragEvent): void {
    if (!hasFiles(event.dataTransfer)) return;
    // The browser would open a dropped file in place of the page.
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = this.#isOpen ? "copy" : "none";
    if (this.#isOpen && this.state.kind !== "hovering") this.state = { kind: "hovering" };
  }

  #dropped(event: DragEvent): void {
    if (event.dataTransfer === null || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    if (this.#isOpen) void this.#take(filesOf(event.dataTransfer, UPLOAD_LIMITS.files));
  }

  /** Prefers text to an image of it, which office programs add. */
  #pasted(event: ClipboardEvent): void {
    const transfer = event.clipboardData;
    if (transfer?.types.length === 0) {
      event.preventDefault();
      event.stopImmediatePropagation();
      void this.#pasteImages();
      return;
    }
    if (transfer === null || transfer.files.length === 0 || transfer.types.includes("text/plain")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (this.#isOpen) void this.#take(Promise.resolve(pastedFiles([...transfer.files], new Date())));
  }

  /** Handles a paste without data: an image pasted by the shortcut for plain text. */
  async #pasteImages(): Promise<void> {
    const files = this.#isOpen ? await clipboardPictures(navigator.clipboard) : [];
    if (files.length > 0 && this.#isOpen) await this.#take(Promise.resolve(pastedFiles(files, new Date())));
  }

  async #take(offered: Promise<readonly OfferedFile[]>, folder?: string): Promise<void> {
    let files: readonly OfferedFile[];
    try {
      files = await offered;
    } catch {
      // An unreadable folder.
      this.state = { kind: "refused", why: "unreadable" };
      return;
    }
    const plan = planUpload(files);
    if (plan.kind === "refused") {
      this.state = plan;
      return;
    }
    if (this.#upload !== undefined) return;
    const directory = folder ?? this.#directory;
    const sending = { kind: "sending", files: plan.files, totalBytes: plan.bytes, directory } as const;
    const begunMs = performance.now();
    // The archive is slightly longer than its files.
    const progressed = (sent: number) => {
      const sentBytes = Math.min(sent, plan.bytes);
      const left = secondsLeft(sentBytes, plan.bytes, performance.now() - begunMs);
      this.state = { ...sending, sentBytes, secondsLeft: left };
    };
    progressed(0);
    const upload = new Upload(this.#options.connect(directory), progressed);
    this.#upload = upload;
    const end = await upload.run(files);
    this.#upload = undefined;
    if (end.kind === "done") this.#done(end, plan.files, directory, folder === undefined);
    else this.state = end.kind === "failed" ? end : { kind: "idle" };
  }

  #done({ received }: Extract<UploadEnd, { kind: "done" }>, files: number, directory = "", isTyped: boolean): void {
    const paths = received.map(({ path }) => (directory === "" ? path : childPath(directory, nameOf(path))));
    const renamed = received.flatMap(({ name, path }) => (nameOf(path) === name ? [] : [{ name, now: nameOf(path) }]));
    const done = { kind: "done", files, renamed, paths } as const;
    this.state = done;
    if (renamed.length === 0) setTimeout(() => this.state === done && this.dismiss(), DONE_MS);
    if (isTyped && this.#options.mayUpload()) this.#terminal.paste(typedPaths(received.map(({ path }) => path)));
  }
}
