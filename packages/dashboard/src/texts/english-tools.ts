// The English texts of the terminal's tools: sections of those in texts.ts. Pure.

import type { WhyLeftOut } from "sandbox-stdio/core";
import { count, number } from "./english-numbers.ts";

/** What of a folder is not in its saved archive: whoever unpacks it would be led out of the folder, or the like. */
export type LeftOut = {
  readonly count: number;
  /** The name of the first member that was left out. */
  readonly name: string;
  readonly why: WhyLeftOut;
};

const WHY_LEFT_OUT: Readonly<Record<LeftOut["why"], string>> = {
  "leads-out": "leads out of the folder",
  "below-link": "has the name of a link, or lies below one",
  "not-in-archive": "is another name of a file that is not in the archive",
  special: "is no file, no folder and no link",
  "no-name": "can't be its name",
  "too-many-links": "is one of too many links",
};

export const ENGLISH_TOOLS = {
  /** Search in the scrollback. */
  search: {
    label: "Search",
    term: "Find",
    options: {
      isCaseSensitive: ["Aa", "Case sensitive"],
      isWholeWord: ["“ ”", "Whole words"],
      isRegex: [".*", "Regular expression"],
    } satisfies Record<string, readonly [on: string, said: string]>,
    previous: "↑",
    previousTitle: "Previous (Enter)",
    next: "↓",
    nextTitle: "Next (Shift+Enter)",
    close: "×",
    closeTitle: "Close (Escape)",
    none: "Not found",
    badPattern: "No pattern",
    count: (found: number, isMore: boolean) => `${number.format(found)}${isMore ? "+" : ""} found`,
    place: (index: number, found: number, isMore: boolean) =>
      `${number.format(index)} of ${number.format(found)}${isMore ? "+" : ""}`,
  },
  /** The commands in the scrollback, by the shell's marks. */
  command: {
    ended: (exit: number | undefined) =>
      exit === undefined ? "Ended: click to copy its output" : `Exit ${exit}: click to copy its output`,
    announced: (line: string, exit: number | undefined) =>
      `${line === "" ? "The command" : line}: ${exit === undefined ? "ended" : `exit ${exit}`}`,
    copied: (lines: number) => `Copied ${count(lines, "line")} of output`,
    notCopied: "The browser does not let the page copy",
    leftOn: "The program that has ended left the mouse on: it is off again",
    nothingToCopy: "No output of a command to copy here",
    unmarked: "This shell does not mark its commands",
    first: "This is the first command that is kept",
    toBottom: "↓ Newest",
    toBottomTitle: "To the newest line (Ctrl+Shift+End)",
  },
  /** Notices of the browser, while the page is out of sight. */
  attention: {
    bell: "A bell rang",
    fromProgram: "A program says",
    commandEnded: (exit: number | undefined) =>
      exit === undefined ? "A command has ended" : exit === 0 ? "A command is done" : `A command failed (${exit})`,
    tookSeconds: (seconds: number) => `It took ${number.format(seconds)} s`,
  },
  settings: {
    open: "Settings",
    /** Where there is no room for the word. */
    openSign: "⚙\u{fe0e}",
    openTitle: "Settings (Ctrl+Shift+,)",
    title: "Settings",
    close: "Close",
    colours: "Colours",
    scheme: "Scheme",
    schemes: { system: "as the system", light: "light", dark: "dark", contrast: "high contrast" },
    noOwnTheme: "No theme of your own",
    ownTheme: (name: string) => `Theme: ${name}`,
    importTheme: "Import a theme…",
    removeTheme: "Remove",
    noTheme: (file: string) => `${file} is no theme of iTerm2 or VS Code`,
    type: "Text",
    fontFamily: "Font",
    usualFonts: "the usual ones",
    fontSize: "Size in pixels",
    cursor: "Cursor",
    cursors: { block: "block", bar: "bar", underline: "underline" },
    attention: "Attention",
    flags: {
      hasLigatures: "Ligatures, if the font has them",
      cursorBlinks: "The cursor blinks",
      bellSounds: "A bell sounds",
      bellFlashes: "A bell flashes",
      bellNotifies: "A bell is a notice while I look elsewhere",
      programsNotify: "Notices of programs, and of commands that end, while I look elsewhere",
      warnsOnClose: "Warn before a page closes in which a process runs",
      isReader: "A screen reader follows the output",
    },
    noticesForbidden: "The browser does not let this page show notices",
    prediction: "Show keys before the process echoes them",
    predictions: { never: "never", auto: "on slow connections", always: "always" },
    predictionWarning:
      "They are guessed from the keys echoed before. If a program turns the echo off and prints nothing, a key of a password can be seen for a moment.",
    exportAll: "Export",
    importAll: "Import…",
    noPreferences: (file: string) => `${file} holds no settings of this page`,
  },
  /** Files that are dropped or pasted. */
  upload: {
    label: "Upload",
    drop: "Drop here: goes to where the shell is",
    sending: (files: number, directory: string | undefined) =>
      `Uploading ${count(files, "file")}${directory === undefined ? "" : ` to ${directory}`}`,
    progress: (sent: number, total: number) => `${number.format(sent)} of ${count(total, "byte")}`,
    cancel: "Cancel",
    dismiss: "Dismiss",
    failed: (reason: string) => `Not uploaded: ${reason}`,
    refused: {
      nothing: "There is no file in it",
      "too-many": "Not uploaded: at most 10,000 files at a time",
      "too-large": "Not uploaded: at most 1 GiB at a time",
      "bad-name": "Not uploaded: a file has a name that can't be used",
      unreadable: "Not uploaded: the browser can't read it",
    },
  },
  /** Files that a person takes out of the sandbox. */
  download: {
    label: "Download",
    wants: "A program asks whether to save this on your computer:",
    save: "Save it",
    ignore: "Ignore",
    receiving: (path: string) => `Downloading ${path}`,
    progress: (received: number, total: number | undefined) =>
      total === undefined ? count(received, "byte") : `${number.format(received)} of ${count(total, "byte")}`,
    cancel: "Cancel",
    dismiss: "Dismiss",
    partial: (path: string, { count: left, name, why }: LeftOut) =>
      `Downloaded ${path} without ${count(left, "member")} of the archive: ${name} ${WHY_LEFT_OUT[why]}${left === 1 ? "" : ", …"}`,
    failed: {
      failed: (path: string, reason: string) => `Not downloaded: ${path}${reason === "" ? "" : `: ${reason}`}`,
      "too-large": (path: string) => `Not downloaded: ${path} is larger than 1 GiB`,
      incomplete: (path: string) => `Not downloaded: ${path} changed meanwhile, or some of it was lost`,
    },
  },
};
