// Every text of the page and the component, in English. A page may replace any of them with `textsWith`. Reasons and error messages of
// the server are shown unchanged. Pure.

import { PARTICIPANT_WORDS, stoppingWords, type WhyLeftOut } from "sandbox-stdio/core";
import { RECORDING_TEXTS } from "./recording-texts.ts";

const time = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const number = new Intl.NumberFormat("en");

/** "1 line", "2,000 lines". */
const count = (of: number, one: string, many = `${one}s`): string => `${number.format(of)} ${of === 1 ? one : many}`;

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

export const ENGLISH = {
  /** Cards shown before there is a terminal. */
  page: {
    name: "sbx-stdio",
    asking: "Loading…",
    anonymous:
      "A shell in your own sandbox. It keeps running while you are away: close this tab or lose the network, and continue on any device.",
    firstSteps:
      "Log in to start. “Sessions” (Ctrl+Shift+P) lists sessions and commands: tabs, panes, settings. Drop files to upload them.",
    unreachable: "Cannot reach the server",
    tryAgain: "Try again",
    offline: "Offline",
    offlineText: "This browser stores only the page, no session and no login. It continues when the network is back.",
    runThis: "Run this?",
    asksToStart: (sandbox: string) => `This link wants to run in sandbox ${sandbox}:`,
    run: "Run",
    loggedIn: "Logged in. You can close this window.",
    onlyIfTrusted: "Run it only if you trust the source of this link.",
    withVariable: (pair: string) => `with ${pair}`,
    inDirectory: (path: string) => `in ${path}`,
    closed: "Closed",
    closedText: (place: string) => `The session ${place} still exists.`,
    openAgain: "Reopen",
    newSession: "New session",
    notLoggedIn: "Not logged in",
    guest: "Guest",
    logIn: "Log in",
    logOut: "Log out",
  },
  terminal: {
    label: "Terminal",
    sessionLabel: (session: string) => `Terminal, session ${session}`,
    place: (sandbox: string, session: string) => `${sandbox} / ${session}`,
    size: (cols: number, rows: number) => `${cols}×${rows}`,
    latency: ({ roundTripMs, bytesBehind }: { roundTripMs: number | undefined; bytesBehind: number }) => {
      const trip = roundTripMs === undefined ? "No key measured yet" : `Key round trip ${Math.round(roundTripMs)} ms`;
      return `${trip}; ${count(bytesBehind, "byte")} to draw`;
    },
  },
  /** The state of the connection. */
  status: {
    connecting: "Connecting…",
    connectingAgain: "Reconnecting…",
    starting: "Starting the container…",
    connected: "Connected",
    reaching: "Reconnecting to the sandbox…",
    asleep: "Asleep: press a key to wake it",
    resumed: "Resumed, nothing was lost",
    resumedWithGap: "Resumed, some output was lost",
    lost: "Connection lost: retrying in",
    offline: "Offline: reconnects when the network is back",
    seconds: (seconds: number) => `${seconds} s`,
    left: "Detached",
    exited: (code: number) => `Process exited with code ${code}`,
    killed: (signal: string, code: number) => `Process killed by ${signal} (${code})`,
  },
  /** Why typing is impossible. */
  obstacle: {
    connecting: "Connecting…",
    asleep: "Asleep",
    reconnecting: "Reconnecting…",
    exited: "The process has exited",
    notConnected: "Not connected",
  },
  /** Refusals, and advice that follows the server's reason. */
  refusal: {
    badAddress: "Invalid address",
    badAddressAdvice: "Check the parameters in this page's address.",
    badTicket: "This link is no longer valid",
    badTicketAdvice: "Ask for a new link.",
    notLoggedIn: "Not logged in",
    linkNeedsLogin: "This link requires a login.",
    logIn: "Log in to continue.",
    logInAgain: "Log in again to continue.",
    forbidden: "Not allowed",
    forbiddenAdvice: "Ask the operator for access to this sandbox.",
    gone: "The session no longer exists",
    goneAdvice: "Start it again, or open a new session.",
    conflict: "Disconnected",
    conflictAdvice: "Retry, or start a new session.",
    cannotStart: "Cannot start the command",
    cannotStartAdvice: "Check its name and the directory.",
    /** By the server's error code. */
    cannotStartWhy: {
      cmd_not_found: (name: string) => `Command not found: ${name}.`,
      cmd_not_executable: (name: string, why: string) => `Cannot execute ${name}${why === "" ? "" : `: ${why}`}.`,
      bad_cwd: (name: string, why: string) => `Cannot enter the directory ${name}${why === "" ? "" : `: ${why}`}.`,
    },
    misunderstood: "The server rejected a request of this page",
    misunderstoodAdvice: "Reload the page: it may be outdated.",
    other: (code: number) => `Refused (${code})`,
  },
  remedy: { retry: "Retry now", login: "Log in", again: "Start again", new: "New session", close: "Close" },
  /** Keys of the remedy buttons. */
  remedyKey: { again: "Enter", close: "Escape" },
  /** Notices in the corner. */
  notice: {
    dismiss: "Dismiss",
    refused: (message: string) => `Refused: ${message}`,
    expiring: "Your login expires in",
    expiringAdvice: "Log in again in a new window: nothing here is lost.",
    stopping: (seconds: number) => stoppingWords(seconds),
    startedOver: (reason: string) => `The previous session is gone (${reason}): started a new one`,
    approximate: "Too much output to follow: the screen may be inexact until the program redraws it",
    shortened: "Older output is missing from the scrollback: it is no longer available, or too long to be drawn again",
    unsent: (keys: number) => `${count(keys, "key")} typed while disconnected: not sent`,
    missed: (bytes: number) => `${count(bytes, "byte")} of output were lost: they came faster than they could be sent`,
  },
  bar: {
    size: "Terminal size (columns by rows)",
    framedSize: "Terminal size (columns by rows), limited by another window on this session",
    /** After the size: whose window sets it. */
    sizedBy: (names: readonly string[]) => `by ${names.length > 2 ? `${names.length} others` : names.join(" or ")}`,
    sizedByTitle: (names: readonly string[]) =>
      names.length === 1
        ? `Terminal size (columns by rows), set by the window of ${names[0]}`
        : `Terminal size (columns by rows), set by the smallest window of ${names.join(", ")}`,
    secret: "Secret input",
    secretOn: "Secret input on",
    secretTitle: "For passwords: have the server record only how much you type, not what",
    secretOnTitle: "The server records only how much you type. Press to turn this off",
    files: "Files",
    filesTitle: "Browse the sandbox's files",
    upload: "Upload",
    uploadTitle: "Choose files to upload to the shell's directory",
    reader: "Reader",
    readerTitle: "Screen reader mode: announce the output",
  },
  people: {
    ...PARTICIPANT_WORDS,
    label: "People",
    who: "Who is here",
    wholeName: (name: string) => `Full name: ${name}`,
    /** After a participant's name. */
    you: "you",
    isViewer: "viewer",
    hasKeyboard: "has the keyboard",
    typed: (text: string) => `typed ${text}`,
    readOnly: (why: string) => `Read only: ${why}`,
    share: "Share",
  },
  keyboard: {
    give: "Give",
    giveTo: (name: string) => `Give the keyboard to ${name}`,
    giveIt: "Give it",
    notNow: "Not now",
    release: "Release",
    releaseTitle: "Let somebody else take the keyboard",
    takeIt: "Take it",
    takeItTitle: "Take the keyboard",
    takeItWith: (key: string) => `Take it (${key})`,
    yieldTitle: "A program has the keyboard, and gives it up at once",
    ask: "Ask",
    askTitle: "Ask for the keyboard",
    askAgain: "Ask again",
    askAgainTitle: "You have asked for the keyboard",
    takeOver: "Take over",
    takeOverTitle: "Take the keyboard without asking",
  },
  /** A program asks for a person. */
  ask: {
    asks: (writer: string) => `${writer} asks for you`,
    secret: "What you type is a secret: only its length will be recorded.",
    secretNow: "Only the length of what you type is recorded.",
    echo: "The terminal shows what you type, and that is kept.",
    take: "Take the keyboard",
    back: "Give back",
    decline: "Decline",
    title: {
      take: "Type alone until you give the keyboard back",
      back: "The program goes on",
      decline: "The program is told that nobody helps",
    },
    taken: (name: string) => `${name} has the keyboard for it`,
  },
  /** Calls of this device when a program asks for a person. */
  push: {
    on: "This device is notified when a program asks for you",
    off: "This device is notified no more",
    blocked: "The browser blocks notifications of this page",
    unsupported: "This browser or server has no push notifications",
  },
  clipboard: {
    label: "Clipboard",
    wants: "A program wants to copy this to your clipboard:",
    copy: (characters: number) => `Copy ${count(characters, "character")}`,
    always: "Always allow",
    alwaysTitle: "Let the programs of this session write to the clipboard until this page is closed",
    ignore: "Ignore",
  },
  server: {
    label: (port: number) => `A web server started on port ${port}`,
    open: (port: number) => `Open ${port}`,
  },
  question: {
    open: (to: string) => `Open ${to}?`,
    leadsTo: "The link opens this address:",
    openIt: "Open",
    notOpened: "Link blocked",
    notOpenedWhy: "Only http, https and mailto links can be opened. This one leads to:",
    path: "Path in the sandbox",
    copyPath: "Copy",
    downloadPath: "Download",
    local: (port: number) => `Port ${port} of the sandbox`,
    preview: "The preview opens on a separate origin:",
    noPreview:
      "This address is inside the sandbox, and this server shows no previews, or not to you (see PREVIEW_HOST). To reach it from your machine, run:",
    forward: (origin: string, sandbox: string, port: number) =>
      `sbx-stdio forward ${origin} --sandbox ${sandbox} ${port}`,
    paste: (lines: number) => `Paste ${count(lines, "line")}?`,
    pasteWhy: "The program does not use bracketed paste: each line runs as if you had typed it and pressed Enter.",
    pasteIt: (lines: number) => `Paste ${count(lines, "line")}`,
    cancel: "Cancel",
    close: "Close",
  },
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
    badPattern: "Invalid pattern",
    count: (found: number, isMore: boolean) => `${number.format(found)}${isMore ? "+" : ""} found`,
    place: (index: number, found: number, isMore: boolean) =>
      `${number.format(index)} of ${number.format(found)}${isMore ? "+" : ""}`,
  },
  /** Commands in the scrollback, found by shell integration. */
  command: {
    ended: (exit: number | undefined) =>
      exit === undefined ? "Ended: click to copy output" : `Exit ${exit}: click to copy output`,
    announced: (line: string, exit: number | undefined) =>
      `${line === "" ? "The command" : line}: ${exit === undefined ? "ended" : `exit ${exit}`}`,
    copied: (lines: number) => `Copied ${count(lines, "line")} of output`,
    notCopied: "The browser blocked copying",
    leftOn: "The ended program left the mouse or its own keys on: they are off again",
    nothingToCopy: "No command output to copy here",
    unmarked: "This shell has no shell integration",
    first: "This is the first command in the scrollback",
    block: (line: string) => `Command ${line}`,
    isRunning: "running",
    exit: (code: number) => `exit ${code}`,
    took: (ms: number) => (ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min`),
    copyCommand: "Copy command",
    copiedCommand: "Copied the command",
    copyOutput: "Copy output",
    runAgain: "Run again",
    busy: "The shell is busy: a command is running",
    toBottom: "↓ Newest",
    toBottomTitle: "Scroll to the newest line (Ctrl+Shift+End)",
  },
  /** Browser notifications while the page is in the background. */
  attention: {
    bell: "Bell",
    fromProgram: "Message from a program",
    commandEnded: (exit: number | undefined) =>
      exit === undefined ? "Command ended" : exit === 0 ? "Command finished" : `Command failed (exit code ${exit})`,
    tookSeconds: (seconds: number) => `Took ${number.format(seconds)} s`,
  },
  settings: {
    open: "Settings",
    title: "Settings",
    close: "Close",
    colours: "Colours",
    scheme: "Scheme",
    schemes: { system: "system", light: "light", dark: "dark", contrast: "high contrast" },
    noOwnTheme: "No imported theme",
    ownTheme: (name: string) => `Theme: ${name}`,
    importTheme: "Import a theme…",
    removeTheme: "Remove",
    noTheme: (file: string) => `${file} is not a theme of iTerm2 or VS Code`,
    type: "Text",
    fontFamily: "Font",
    usualFonts: "Default",
    fontSize: "Size in pixels",
    lineHeight: "Line height",
    scrollback: "Lines of scrollback",
    gallery: "Themes",
    behaviour: "Behaviour",
    preview: "Preview",
    /** As the terminal draws it. */
    sample: [
      ["green", "ada@dev"],
      ["foreground", ":"],
      ["blue", "~/project"],
      ["foreground", "$ npm test\n"],
      ["green", "✓ 41 passed  "],
      ["red", "✗ 1 failed  "],
      ["yellow", "⚠ __init__.py\n"],
      ["foreground", "$ "],
    ] as readonly (readonly [colour: "foreground" | "green" | "blue" | "red" | "yellow", text: string])[],
    cursor: "Cursor",
    cursors: { block: "block", bar: "bar", underline: "underline" },
    attention: "Notifications",
    flags: {
      hasLigatures: "Ligatures",
      cursorBlinks: "Blinking cursor",
      bellSounds: "Play a sound on a bell",
      bellFlashes: "Flash on a bell",
      bellNotifies: "Notify on a bell while the page is in the background",
      programsNotify: "Notify on program messages and finished commands while the page is in the background",
      warnsOnClose: "Warn before closing a page with a running process",
      isReader: "Screen reader mode",
      isOptionMeta: "On a Mac, Option is Alt for programs and types no characters",
    },
    noticesForbidden: "The browser blocks notifications from this page",
    prediction: "Show keys before the process echoes them",
    predictions: { never: "never", auto: "on slow connections", always: "always" },
    predictionWarning:
      "After two echoes on a line, keys are shown underlined before theirs. Not while the terminal does not echo, as for passwords.",
    exportAll: "Export",
    importAll: "Import…",
    noPreferences: (file: string) => `${file} is not a settings file of this page`,
  },
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
    cutText: "The rest is not shown. Download it to see all.",
    failed: (reason: string) => `Cannot read: ${reason}`,
  },
  /** Uploads. */
  upload: {
    label: "Upload",
    drop: "Drop to upload to the shell's directory",
    sending: (files: number, directory: string | undefined) =>
      `Uploading ${count(files, "file")}${directory === undefined ? "" : ` to ${directory}`}`,
    progress: (sent: number, total: number) => `${number.format(sent)} of ${count(total, "byte")}`,
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
      total === undefined ? count(received, "byte") : `${number.format(received)} of ${count(total, "byte")}`,
    cancel: "Cancel",
    dismiss: "Dismiss",
    partial: (path: string, { count: left, name, why }: SkippedMembers) =>
      `Downloaded ${path} without ${count(left, "member")} of the archive: ${name} ${WHY_LEFT_OUT[why]}${left === 1 ? "" : ", …"}`,
    failed: {
      failed: (path: string, reason: string) => `Not downloaded: ${path}${reason === "" ? "" : `: ${reason}`}`,
      "too-large": (path: string) => `Not downloaded: ${path} is larger than 1 GiB`,
      incomplete: (path: string) => `Not downloaded: ${path} changed during the download, or data was lost`,
    },
  },
  /** Tabs and panes. */
  desk: {
    tabs: "Tabs",
    tab: (names: readonly string[]) => names.join(", "),
    pane: (place: string) => `Pane ${place}`,
    sessions: "Sessions",
    new: "New tab",
    split: "Split pane",
    search: "Search",
    paneMenu: "Pane menu",
    terminalMenu: { openLink: "Open link…", copyLink: "Copy link address", copy: "Copy", paste: "Paste" },
    nameHere: "Name (only you see it)",
    closed: (titles: readonly string[]) => `Closed ${titles.join(", ")}`,
    undo: "Undo",
    switcher: "Open sessions",
    closeTab: (name: string) => `Close tab ${name} (its sessions keep running)`,
    drag: "Drag to an edge of another pane or to the tabs",
    divider: "Divider (move with the arrow keys)",
    nothing: "No open sessions",
    nothingText: "Closed sessions keep running: find them in the list of sessions.",
    notKept: "The tabs could not be saved for other devices",
  },
  /** The list of sessions and commands. */
  palette: {
    title: "Sessions and commands",
    search: "Search",
    placeholder: "Session, command or sandbox; > for commands only",
    list: "Sessions and commands",
    results: (of: number) => (of === 0 ? "Nothing found" : `${count(of, "entry", "entries")}`),
    loading: "Loading sessions…",
    unlisted: (sandbox: string, why: string) => `Cannot list the sessions of ${sandbox}: ${why}`,
    shell: "shell",
    isOpen: "open here",
    unasked: (of: number) => `${count(of, "more sandbox", "more sandboxes")} not listed`,
    people: (names: readonly string[]) => `${names.join(", ")} attached`,
    lastOutput: (of: number, unit: "second" | "minute" | "hour" | "day") => `output ${count(of, unit)} ago`,
    clients: (of: number) => (of === 0 ? "nobody attached" : `${count(of, "client")} attached`),
    state: { running: "running", exited: "exited", lost: "lost" },
    exited: (code: number) => `exited with ${code}`,
    age: (of: number, unit: "second" | "minute" | "hour" | "day") => `${count(of, unit)} old`,
    screen: (session: string) => `Screen of ${session}`,
    noScreen: "No output",
    open: "Open",
    more: "Actions",
    openRight: "Open to the right",
    openBelow: "Open below",
    copy: "Copy attach command",
    copied: "Copied",
    notCopied: (command: string) => `The browser blocked copying: ${command}`,
    rename: "Rename…",
    nameOf: (session: string) => `Name for ${session}, which only you see`,
    end: "End…",
    endIt: (session: string) => `End ${session}`,
    endWhy: (command: string) => `This kills the process: ${command}`,
    keepIt: "Cancel",
    ended: (session: string) => `${session} has ended`,
    command: {
      new: "New session in a new tab",
      newIn: (sandbox: string) => `New session in sandbox ${sandbox}`,
      divideRight: "Split right",
      divideBelow: "Split down",
      close: "Close pane (the session keeps running)",
      files: "Show or hide files",
      upload: "Upload files…",
      rename: "Rename…",
      share: "Share…",
      reopen: "Reopen closed pane",
      scheme: (scheme: string) => `Colours: ${scheme}`,
      terminal: {
        search: "Search the output",
        "previous-command": "Previous command",
        "next-command": "Next command",
        "copy-output": "Copy output of the command",
        "to-bottom": "Scroll to the newest line",
        latency: "Show latency",
        settings: "Settings",
      },
      ask: {
        take: "Program's request: take the keyboard",
        decline: "Program's request: decline",
        back: "Program's request: give the keyboard back",
      },
      notify: "Notify this device when a program asks for you (on or off)",
      ownTab: "Move pane to a new tab",
      nextTab: "Next tab",
      previousTab: "Previous tab",
      tabRight: "Move tab right",
      tabLeft: "Move tab left",
      focus: (direction: string) => `Focus the pane ${direction}`,
      move: (direction: string) => `Swap with the pane ${direction}`,
      grow: (direction: string) => `Move the divider ${direction}`,
    },
    direction: { left: "to the left", right: "to the right", up: "above", down: "below" },
    way: { left: "to the left", right: "to the right", up: "up", down: "down" },
  },
  keySheet: {
    title: "Keyboard shortcuts",
    /** Keys that are no commands. */
    others: [
      ["Ctrl+Shift+C", "Copy the selection"],
      ["Ctrl+F6", "Leave the terminal, go round the page"],
      ["F2", "On a tab: rename it; in a terminal: take the keyboard from a program"],
    ] as readonly (readonly [keys: string, does: string])[],
    rest: "Every other key goes to the process.",
    close: "Close",
  },
  /** Windows and panes of a session under tmux. */
  panes: {
    windows: "Windows",
    window: (index: number, name: string) => `${index + 1}: ${name}`,
    pane: (id: string, name: string) => `Pane ${name === "" ? id : `${name} (${id})`}`,
    newWindow: "New window",
    renameWindow: ["✎", "Rename window (F2)"],
    windowName: "Window name",
    /** Symbol and label of each button. */
    splitRight: ["◫", "Split right"],
    splitBelow: ["⊟", "Split down"],
    zoom: ["⤢", "Zoom pane"],
    move: ["⠿", "Swap with the next pane, or drag: onto another pane, into a window, or behind the windows"],
    joinNext: ["⇥", "Move pane to the next window"],
    breakOut: ["⇱", "Move pane to a new window"],
    close: ["×", "Close pane (ends its program)"],
    closing: (id: string) => `Pane ${id}:`,
    closeNow: "End program",
    keep: "Cancel",
    border: "Border (move with the arrow keys)",
  } satisfies Record<string, string | readonly [on: string, said: string] | ((...of: never[]) => string)>,
  share: {
    title: (place: string) => `Share ${place}`,
    anyone: "Anyone",
    whoMay: "Who may use the link",
    who: { members: "who logs in", guests: "with the link" },
    can: "can",
    mayDo: "What they may do",
    does: { viewer: "view", driver: "type" },
    for: "for",
    howLong: "For how long",
    lifetime: { 900: "15 minutes", 3600: "an hour", 28800: "8 hours", 86400: "a day" },
    recording: "and see its recording",
    make: "Copy link",
    close: "Close",
    link: (until: string) => `Link, valid until ${until}. It is shown only once.`,
    code: "The link as a QR code",
    copied: "Copied",
    selected: "Selected: press Ctrl+C to copy",
    links: "Active links",
    mayLookOn: "can view",
    mayType: "can type",
    guestsToo: "guests allowed",
    loggedIn: "login required",
    until: (until: string) => `until ${until}`,
    revoke: "Revoke",
    revokeTitle: (until: string) => `Revoke the link valid until ${until}`,
    time: (date: Date) => time.format(date),
  },
  /** Keys of the touch bar: symbols, and labels for screen readers. */
  keys: {
    label: "Keys",
    escape: ["Esc", "Esc, Escape"],
    tab: ["Tab", "Tab"],
    controlC: ["^C", "^C, Control C"],
    controlD: ["^D", "^D, Control D"],
    left: ["←", "Left"],
    down: ["↓", "Down"],
    up: ["↑", "Up"],
    right: ["→", "Right"],
    control: ["Ctrl", "Ctrl, for the next key"],
    alt: ["Alt", "Alt, for the next key"],
    pageUp: ["PgUp", "PgUp, page up"],
    pageDown: ["PgDn", "PgDn, page down"],
    paste: ["Paste", "Paste"],
    copy: ["Copy", "Copy the selection"],
  } satisfies { label: string; [key: string]: string | readonly [on: string, said: string] },
  recording: RECORDING_TEXTS,
  /** Reasons if no server answered. */
  connection: {
    badCredential: "the token or ticket contains invalid characters",
    offline: "this device is offline",
    unreachable: "the server is unreachable, or refused the connection",
    unreadable: "the server sent an invalid response",
  },
};

export type Texts = typeof ENGLISH;

/** Replacements for any texts of any section. */
export type OwnTexts = { readonly [Section in keyof Texts]?: Partial<Texts[Section]> };

/** The English texts with these replacements. */
export function textsWith(own: OwnTexts | undefined): Texts {
  if (own === undefined) return ENGLISH;
  const sections = Object.entries(ENGLISH).map(([name, texts]) => [name, { ...texts, ...own[name as keyof Texts] }]);
  // OwnTexts keeps the keys and types of each section.
  return Object.fromEntries(sections) as Texts;
}
