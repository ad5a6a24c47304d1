// Every text that the page or the component shows, in English. Another language, or other words, replace any of them: see
// textsWith. The server's words (the reason of a refusal, the message of an error) stay as they are. Pure.

import { PARTICIPANT_WORDS, stoppingWords } from "sandbox-stdio/core";
import { ENGLISH_DESK } from "./english-desk.ts";
import { count } from "./english-numbers.ts";
import { ENGLISH_PANES } from "./english-panes.ts";
import { ENGLISH_TOOLS } from "./english-tools.ts";

const time = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const ENGLISH = {
  /** Cards of the page, before there is a terminal. */
  page: {
    name: "sbx-stdio",
    asking: "One moment…",
    anonymous:
      "A shell in a sandbox of your own. It lives on while you are away: close this tab, lose the network, and go on from any device.",
    firstSteps:
      "Log in, and it opens. “Sessions” (Ctrl+Shift+P) lists what can be done there: more sessions, panes beside each other, settings. Files that you drop are uploaded.",
    unreachable: "The server does not answer",
    tryAgain: "Try again",
    offline: "Offline",
    offlineText:
      "Only the page itself is kept in this browser: no session, no output, no login. It goes on when the network is back.",
    runThis: "Run this?",
    asksToStart: (sandbox: string) => `The link asks to start, in sandbox ${sandbox}:`,
    run: "Run",
    loggedIn: "Logged in: this window can be closed.",
    onlyIfTrusted: "Only if you trust where the link came from.",
    /** One of the wishes of a link. */
    withVariable: (pair: string) => `with ${pair}`,
    inDirectory: (path: string) => `in ${path}`,
    closed: "Closed",
    closedText: (place: string) => `${place} is still there, as its process left it.`,
    openAgain: "Open it again",
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
      const trip = roundTripMs === undefined ? "No key was timed yet" : `A key takes ${Math.round(roundTripMs)} ms`;
      return `${trip}; ${count(bytesBehind, "byte")} still to be drawn`;
    },
  },
  /** The connection in words. */
  status: {
    connecting: "Connecting…",
    connectingAgain: "Connecting again…",
    starting: "Starting the container…",
    connected: "Connected",
    reaching: "Reaching the sandbox again…",
    asleep: "Asleep: press a key to wake it",
    resumed: "Resumed, nothing was lost",
    resumedWithGap: "Resumed, with output missing",
    lost: "Connection lost: back in",
    offline: "Offline: goes on when the network is back",
    seconds: (seconds: number) => `${seconds} s`,
    left: "Left the session",
    exited: (code: number) => `Process exited with code ${code}`,
    killed: (signal: string, code: number) => `Process killed by ${signal} (${code})`,
  },
  /** Why nothing can be typed. */
  obstacle: {
    connecting: "Connecting…",
    asleep: "Asleep",
    reconnecting: "Reconnecting…",
    exited: "The process has exited",
    notConnected: "Not connected",
  },
  /** The meaning of a refusal, and its remedies. The server's reason stands before the advice. */
  refusal: {
    badAddress: "The address is not right",
    badAddressAdvice: "Check what the address of this page asks for.",
    badTicket: "The link does not count any more",
    badTicketAdvice: "Ask whoever sent it for another.",
    notLoggedIn: "Not logged in",
    linkNeedsLogin: "This link is for people who log in.",
    logIn: "Log in: the session waits.",
    logInAgain: "Log in again: the session waits.",
    forbidden: "Not allowed",
    forbiddenAdvice: "Ask whoever runs this for the right to use this sandbox.",
    gone: "The session is gone",
    goneAdvice: "Start it again under its name, or another with a fresh shell.",
    conflict: "Disconnected",
    conflictAdvice: "Take it back, or start a session of another name.",
    cannotStart: "The command can't be started",
    cannotStartAdvice: "Check its name and the directory.",
    /** By the server's code for it. */
    cannotStartWhy: {
      cmd_not_found: (name: string) => `There is no command ${name} here.`,
      cmd_not_executable: (name: string, why: string) => `${name} can't be run${why === "" ? "" : `: ${why}`}.`,
      bad_cwd: (name: string, why: string) => `The directory ${name} can't be entered${why === "" ? "" : `: ${why}`}.`,
    },
    misunderstood: "The server did not understand this page",
    misunderstoodAdvice: "Reload it: it may be of another version.",
    other: (code: number) => `Refused (${code})`,
  },
  remedy: { retry: "Retry now", login: "Log in", again: "Start again", new: "New session", close: "Close" },
  /** Keys with the effect of those buttons. */
  remedyKey: { again: "Enter", close: "Escape" },
  /** The notices in the corner. */
  notice: {
    dismiss: "Dismiss",
    refused: (message: string) => `Refused: ${message}`,
    expiring: "The login that lets you in here ends in",
    expiringAdvice: "Log in again in a window of its own: nothing here is lost.",
    stopping: (seconds: number) => stoppingWords(seconds),
    startedOver: (reason: string) => `What was here before is gone (${reason}): started over`,
    approximate: "There was more output than could be followed: the screen may not be exact until it is drawn anew",
    shortened:
      "The scrollback begins later than it did: the older output is no longer kept, or is too long to be drawn again",
    unsent: (keys: number) => `${count(keys, "key")} typed while disconnected: not sent`,
    missed: (bytes: number) =>
      `${count(bytes, "byte")} of output are missing: they came faster than they could be kept`,
  },
  bar: {
    size: "Columns by rows of the terminal",
    framedSize: "Columns by rows of the terminal: another window on this session is smaller",
    /** Behind the size: whose window it is. */
    sizedBy: (names: readonly string[]) => `by ${names.length > 2 ? `${names.length} others` : names.join(" or ")}`,
    sizedByTitle: (names: readonly string[]) =>
      names.length === 1
        ? `Columns by rows of the terminal: as large as the window of ${names[0]}`
        : `Columns by rows of the terminal: as large as the smallest window of ${names.join(", ")}`,
    secret: "Secret input",
    secretOn: "Secret input on",
    secretTitle: "Before a password: ask the server to record only how much you type, not what",
    secretOnTitle: "The server is asked to record only how much you type. Press to end that",
    reader: "Reader",
    readerTitle: "Let a screen reader follow the output",
  },
  people: {
    ...PARTICIPANT_WORDS,
    label: "People",
    who: "Who is here",
    wholeName: (name: string) => `The whole name: ${name}`,
    /** Words about a person, joined after the name. */
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
    yieldTitle: "A program has the keyboard: it is yours at once",
    ask: "Ask",
    askTitle: "Ask for the keyboard",
    askAgain: "Ask again",
    askAgainTitle: "You have asked for the keyboard",
    takeOver: "Take over",
    takeOverTitle: "Take the keyboard without asking",
  },
  clipboard: {
    label: "Clipboard",
    wants: "The program wants to put this on your clipboard:",
    copy: (characters: number) => `Copy ${count(characters, "character")}`,
    always: "Always here",
    alwaysTitle: "Let the programs of this session write to the clipboard until this page is closed",
    ignore: "Ignore",
  },
  question: {
    open: (to: string) => `Open ${to}?`,
    leadsTo: "The link leads to this address, whatever its text says:",
    openIt: "Open",
    notOpened: "This link is not opened",
    notOpenedWhy: "Only http, https and mailto addresses are. It leads to:",
    path: "A path in the sandbox",
    copyPath: "Copy",
    downloadPath: "Download",
    local: (port: number) => `Port ${port} of the sandbox`,
    preview: "What runs there is shown in an origin of its own:",
    noPreview:
      "The address is inside the sandbox, and this server shows no previews, or not to you: PREVIEW_HOST sets them up. On your own machine it is there after:",
    forward: (origin: string, sandbox: string, port: number) =>
      `sbx-stdio forward ${origin} --sandbox ${sandbox} ${port}`,
    paste: (lines: number) => `Paste ${count(lines, "line")}?`,
    pasteWhy:
      "The program has not asked to be told of pastes: it takes each line as if you had typed it and pressed Enter.",
    pasteIt: (lines: number) => `Paste ${count(lines, "line")}`,
    cancel: "Cancel",
    close: "Close",
  },
  ...ENGLISH_TOOLS,
  ...ENGLISH_DESK,
  ...ENGLISH_PANES,
  share: {
    title: (sandbox: string, session: string) => `Share ${sandbox} / ${session}`,
    mayDo: "Whoever has the link may",
    lookOn: "look on",
    type: "type",
    for: "for",
    lifetime: { 900: "15 minutes", 3600: "an hour", 28800: "8 hours", 86400: "a day" },
    guests: "without logging in",
    make: "Make a link",
    close: "Close",
    link: (until: string) => `The link, good until ${until}. It is shown only now.`,
    copy: "Copy",
    copied: "Copied",
    selected: "Selected: copy it with Ctrl+C",
    links: "Links that are good now",
    mayLookOn: "may look on",
    mayType: "may type",
    guestsToo: "guests too",
    loggedIn: "logged in",
    until: (until: string) => `until ${until}`,
    revoke: "Revoke",
    revokeTitle: (until: string) => `Revoke the link that is good until ${until}`,
    time: (date: Date) => time.format(date),
  },
  /** Keys on a touch screen: their labels, and a screen reader's words. */
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
  /** Words for when no server answered: the reason of a refusal, or of a wait. */
  connection: {
    badCredential: "the token or ticket has characters that it can't have",
    offline: "this device is offline",
    unreachable: "the server can't be reached, or refused the connection",
    unreadable: "the server's answer can't be read",
  },
};

export type Texts = typeof ENGLISH;

/** The texts that differ: any of any section. */
export type OwnTexts = { readonly [Section in keyof Texts]?: Partial<Texts[Section]> };

/** English, with what differs put in. */
export function textsWith(own: OwnTexts | undefined): Texts {
  if (own === undefined) return ENGLISH;
  const sections = Object.entries(ENGLISH).map(([name, texts]) => [name, { ...texts, ...own[name as keyof Texts] }]);
  // Each section has what it had, of the same types: OwnTexts says so.
  return Object.fromEntries(sections) as Texts;
}
