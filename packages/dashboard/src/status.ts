// What the page says about its connection, in words. Pure: state and time in, words out.

import { CLOSE, type ClientState } from "sandbox-stdio/core";

/** Everything about a session that its words are made of. */
export type SessionFacts = {
  readonly client: ClientState;
  /** What the server last said of the way to the process. */
  readonly upstream: "running" | "lost" | "sleeping";
  /** When the connection came back, by the same clock as `nowMs`; undefined while it never broke. */
  readonly resumedAtMs: number | undefined;
  /** Whether output was lost on the way back. */
  readonly hasMissedOutput: boolean;
};

/** One word for the state, as `data-state` shows it. */
export type StateName = "connecting" | "starting" | "attached" | "waiting" | "asleep" | "exited" | "refused" | "left";

export type Tone = "busy" | "good" | "warn" | "bad" | "calm";
export type Remedy = "retry" | "login" | "new";

export type Status = {
  readonly name: StateName;
  readonly tone: Tone;
  readonly words: string;
  /** Counts down beside the words; not read out, which would never end. */
  readonly seconds?: number;
  /** Why, and what to do about it. */
  readonly detail?: string;
  /** What can be done at once, the best first. */
  readonly remedies: readonly Remedy[];
  /** Whether it is worth looking again in a second. */
  readonly isPassing: boolean;
};

/** How long "resumed" is said. */
export const RESUMED_WORDS_MS = 5_000;

/** @param isByLink Whether a link that shares the session led here. */
export function describe(facts: SessionFacts, nowMs: number, isByLink = false): Status {
  const { client } = facts;
  switch (client.phase) {
    case "connecting":
      return say("connecting", "busy", client.attempt === 0 ? "Connecting…" : "Connecting again…");
    case "starting":
      return say("starting", "busy", "Starting the container…");
    case "attached":
      return describeAttached(facts, nowMs);
    case "waiting":
      return describeWaiting(client, nowMs);
    case "ended":
      return describeEnd(client.end, isByLink);
  }
}

function describeAttached(facts: SessionFacts, nowMs: number): Status {
  if (facts.upstream === "lost") return say("attached", "warn", "Reaching the sandbox again…");
  if (facts.upstream === "sleeping") return say("asleep", "calm", "Asleep: press a key to wake it");
  const isJustBack = facts.resumedAtMs !== undefined && nowMs < facts.resumedAtMs + RESUMED_WORDS_MS;
  if (!isJustBack) return say("attached", "good", "Connected");
  const words = facts.hasMissedOutput ? "Resumed, with output missing" : "Resumed, nothing was lost";
  return { ...say("attached", facts.hasMissedOutput ? "warn" : "good", words), isPassing: true };
}

function describeWaiting(client: Extract<ClientState, { phase: "waiting" }>, nowMs: number): Status {
  const { retryAtMs, reason } = client;
  if (retryAtMs === undefined) {
    return { ...say("asleep", "calm", "Asleep: press a key to wake it"), detail: reason };
  }
  const seconds = Math.max(0, Math.ceil((retryAtMs - nowMs) / 1000));
  return { ...say("waiting", "warn", "Connection lost: back in", ["retry"]), detail: reason, seconds, isPassing: true };
}

function describeEnd(end: Extract<ClientState, { phase: "ended" }>["end"], isByLink: boolean): Status {
  if (end.kind === "left") return say("left", "calm", "Left the session");
  if (end.kind === "refused") return describeRefusal(end.code, end.reason, isByLink);
  const words =
    end.signal === undefined ? `Process exited with code ${end.code}` : `Process killed by ${end.signal} (${end.code})`;
  return say("exited", end.code === 0 ? "calm" : "bad", words, ["new"]);
}

/** Why a session takes no input from anybody here, in a few words; undefined where it does. */
export function obstacleWords(client: ClientState): string | undefined {
  switch (client.phase) {
    case "attached":
      return undefined;
    case "connecting":
    case "starting":
      return "Connecting…";
    case "waiting":
      return client.retryAtMs === undefined ? "Asleep" : "Reconnecting…";
    case "ended":
      return client.end.kind === "exit" ? "The process has exited" : "Not connected";
  }
}

/** What each refusal means for the person, and what helps. The server's own words are part of it. */
function describeRefusal(code: number, reason: string, isByLink: boolean): Status {
  const refuse = (words: string, advice: string, ...remedies: Remedy[]): Status => ({
    ...say("refused", "bad", words, remedies),
    detail: `${sentence(reason)} ${advice}`.trim(),
  });
  switch (code) {
    case CLOSE.badRequest:
      return refuse("The address is not right", "Check what the address of this page asks for.", "new");
    case CLOSE.unauthenticated:
      // "The ticket was revoked": no login helps. A login that has run out is told as the token's.
      if (/\bticket\b/i.test(reason) && !/\btoken\b/i.test(reason)) {
        return refuse("The link does not count any more", "Ask whoever sent it for another.");
      }
      // "Log in, or give a token": no login was shown at all, and the server's words are for programs too.
      if (/^log in\b/i.test(reason)) {
        const detail = isByLink ? "This link is for people who log in." : "Log in: the session waits.";
        return { ...say("refused", "bad", "Not logged in", ["login"]), detail };
      }
      return refuse("Not logged in", "Log in again: the session waits.", "login");
    case CLOSE.forbidden:
      return refuse("Not allowed", "Ask whoever runs this for the right to use this sandbox.", "login");
    case CLOSE.notFound:
      return refuse("The session is gone", "A new one starts with a fresh shell.", "new");
    case CLOSE.conflict:
      return refuse("Disconnected", "Take it back, or start a session of another name.", "retry", "new");
    case CLOSE.cannotStart:
      return refuse("The command can't be started", "Check its name and the directory.", "new");
    case CLOSE.policy:
    case CLOSE.tooBig:
      return refuse("The server did not understand this page", "Reload it: it may be of another version.", "retry");
    default:
      return refuse(`Refused (${code})`, "", "retry", "new");
  }
}

function say(name: StateName, tone: Tone, words: string, remedies: readonly Remedy[] = []): Status {
  return { name, tone, words, remedies, isPassing: false };
}

/** "token expired" as "Token expired." */
function sentence(text: string): string {
  if (text === "") return "";
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}

/** How many key presses these bytes were: an escape sequence is one, else each character is. */
export function countKeys(bytes: Uint8Array): number {
  if (bytes[0] === 0x1b) return 1;
  let count = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) count += 1;
  return count;
}

const number = new Intl.NumberFormat("en");

export function unsentWords(keys: number): string {
  return `${number.format(keys)} ${keys === 1 ? "key" : "keys"} typed while disconnected: not sent`;
}

export function missedWords(bytes: number): string {
  return `${number.format(bytes)} bytes of output are missing: they came faster than they could be kept`;
}
