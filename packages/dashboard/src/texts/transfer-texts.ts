// The texts of files on their way: the files panel, uploads and downloads.

import type { WhyLeftOut } from "sandbox-stdio/core";
import { count, left, part, size } from "./counted.ts";

/** A file whose name was taken in the sandbox, and its name there. */
export type Renamed = { readonly name: string; readonly now: string };

/** That are told by name. */
const MAX_RENAMED = 3;

/** Members of a folder that were left out of the saved archive, since unpacking them would be unsafe. */
export type SkippedMembers = {
  readonly count: number;
  /** Name of the first one. */
  readonly name: string;
  readonly why: WhyLeftOut;
};

const WHY_LEFT_OUT: Readonly<Record<SkippedMembers["why"], string>> = {
  "leads-out": "points outside of the folder",
  "below-link": "has the path of a link or lies below one",
  "not-in-archive": "is a hard link to a file outside of the archive",
  special: "is not a file, folder or link",
  "no-name": "is not a valid name",
  "too-many-links": "exceeds the limit of links",
};

export const TRANSFER_TEXTS = {
  /** The files panel. */
  files: {
    label: "Files",
    up: "Parent folder",
    refresh: "Refresh",
    close: "Close",
    open: "Open",
    showOnly: "Show this folder only",
    download: "Download",
    uploadHere: "Upload here…",
    type: "Type its path",
    copyPath: "Copy path",
    reading: "Reading…",
    empty: "Empty",
    cut: "More entries are not shown",
    size,
    part: (shown: number, all: number) => `${size(shown)} of ${size(all)} shown`,
    notText: (bytes: number) => `Not text. ${size(bytes)}.`,
    pixels: (width: number, height: number) => `${width}×${height} pixels`,
    wrap: "Wrap lines",
    copy: "Copy",
    copied: "Copied",
    notCopied: "Not copied",
    failed: (reason: string) => `Cannot read: ${reason}`,
  },
  /** Uploads. */
  upload: {
    label: "Upload",
    drop: "Drop to upload to the shell's directory",
    sending: (files: number, directory: string | undefined) =>
      `Uploading ${count(files, "file")}${directory === undefined ? "" : ` to ${directory}`}`,
    progress: (sent: number, total: number, seconds: number | undefined) => part(sent, total) + left(seconds),
    done: (files: number, renamed: readonly Renamed[]) =>
      [
        `${count(files, "file")} uploaded.`,
        ...renamed.slice(0, MAX_RENAMED).map(({ name, now }) => `${name} was taken: it is ${now}.`),
        ...(renamed.length > MAX_RENAMED ? [`${count(renamed.length - MAX_RENAMED, "more name")} got a number.`] : []),
      ].join(" "),
    cancel: "Cancel",
    dismiss: "Dismiss",
    failed: (reason: string) => `Not uploaded: ${reason}`,
    refused: {
      nothing: "Nothing to upload",
      "too-many": "Not uploaded: at most 10,000 files at a time",
      "too-large": "Not uploaded: at most 1 GiB at a time",
      "bad-name": "Not uploaded: a file has an invalid name",
      unreadable: "Not uploaded: the browser cannot read the files",
    },
  },
  /** Downloads. */
  download: {
    label: "Download",
    wants: "A program wants to save this file on your computer:",
    save: "Save",
    ignore: "Ignore",
    receiving: (path: string) => `Downloading ${path}`,
    progress: (received: number, total: number | undefined) =>
      total === undefined ? size(received) : part(received, total),
    cancel: "Cancel",
    dismiss: "Dismiss",
    partial: (path: string, { count: out, name, why }: SkippedMembers) =>
      `Downloaded ${path} without ${count(out, "member")} of the archive: ${name} ${WHY_LEFT_OUT[why]}${out === 1 ? "" : ", …"}`,
    failed: {
      failed: (path: string, reason: string) => `Not downloaded: ${path}${reason === "" ? "" : `: ${reason}`}`,
      "too-large": (path: string) => `Not downloaded: ${path} is larger than 1 GiB`,
      incomplete: (path: string) => `Not downloaded: ${path} changed during the download, or data was lost`,
    },
  },
};
