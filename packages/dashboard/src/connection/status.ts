// The text about a connection. Pure: state and time in, text out.

import { CLOSE, type ClientState } from "sandbox-stdio/core";
import { ENGLISH, type Texts } from "../texts/texts.ts";

/** What the text about the connection depends on. */
export type ConnectionFacts = {
  readonly client: ClientState;
  /** The sandbox's connection, as last reported by the server. */
  readonly upstream: "running" | "lost" | "sleeping";
  /** Time of the last reconnect, by `performance.now()`; undefined if it never broke. */
  readonly resumedAtMs: number | undefined;
  /** Whether output was lost during the reconnect. */
  readonly hasMissedOutput: boolean;
  /** Whether the browser reports no network. */
  readonly isOffline?: boolean;
};

/** Value of `data-state`. */
export type StateName = "connecting" | "starting" | "attached" | "waiting" | "asleep" | "exited" | "refused" | "left";

export type Tone = "busy" | "good" | "warn" | "bad" | "calm";
export type Remedy = "retry" | "login" | "again" | "new" | "close";

export type Status = {
  readonly name: StateName;
  readonly tone: Tone;
  readonly words: string;
  /** Countdown beside the text; not announced to screen readers. */
  readonly seconds?: number;
  /** The reason and what to do. */
  readonly detail?: string;
  /** Possible remedies, best first. */
  readonly remedies: readonly Remedy[];
  /** Whether the text changes within a second. */
  readonly isPassing: boolean;
};

/** How long "resumed" is shown. */
const RESUMED_MS = 5_000;

/** @param isByLink Whether a share link led here. */
export function describe(facts: ConnectionFacts, nowMs: number, isByLink = false, texts = ENGLISH): Status {
  const { client } = facts;
  const words = texts.status;
  switch (client.phase) {
    case "connecting":
      return say("connecting", "busy", client.attempt === 0 ? words.connecting : words.connectingAgain);
    case "starting":
      return say("starting", "busy", words.starting);
    case "attached":
      return describeAttached(facts, nowMs, words);
    case "waiting":
      return facts.isOffline === true && client.retryAtMs !== undefined
        ? { ...say("waiting", "warn", words.offline, ["retry"]), detail: client.reason }
        : describeWaiting(client, nowMs, words);
    case "ended":
      return describeEnd(client.end, isByLink, texts);
  }
}

function describeAttached(facts: ConnectionFacts, nowMs: number, words: Texts["status"]): Status {
  if (facts.upstream === "lost") return say("attached", "warn", words.reaching);
  if (facts.upstream === "sleeping") return say("asleep", "calm", words.asleep);
  const isJustBack = facts.resumedAtMs !== undefined && nowMs < facts.resumedAtMs + RESUMED_MS;
  if (!isJustBack) return say("attached", "good", words.connected);
  const resumed = facts.hasMissedOutput ? words.resumedWithGap : words.resumed;
  return { ...say("attached", facts.hasMissedOutput ? "warn" : "good", resumed), isPassing: true };
}

function describeWaiting(
  client: Extract<ClientState, { phase: "waiting" }>,
  nowMs: number,
  words: Texts["status"],
): Status {
  const { retryAtMs, reason } = client;
  if (retryAtMs === undefined) return { ...say("asleep", "calm", words.asleep), detail: reason };
  const seconds = Math.max(0, Math.ceil((retryAtMs - nowMs) / 1000));
  return { ...say("waiting", "warn", words.lost, ["retry"]), detail: reason, seconds, isPassing: true };
}

function describeEnd(end: Extract<ClientState, { phase: "ended" }>["end"], isByLink: boolean, texts: Texts): Status {
  if (end.kind === "left") return say("left", "calm", texts.status.left);
  if (end.kind === "refused") return describeRefusal(end.code, end.reason, isByLink, texts.refusal);
  const { exited, killed } = texts.status;
  const words = end.signal === undefined ? exited(end.code) : killed(end.signal, end.code);
  return say("exited", end.code === 0 ? "calm" : "bad", words, ["again", "new", "close"]);
}

/** Why nobody can type now, as a short text; undefined if input is accepted. */
export function obstacleText(client: ClientState, words = ENGLISH.obstacle): string | undefined {
  switch (client.phase) {
    case "attached":
      return undefined;
    case "connecting":
    case "starting":
      return words.connecting;
    case "waiting":
      return client.retryAtMs === undefined ? words.asleep : words.reconnecting;
    case "ended":
      return client.end.kind === "exit" ? words.exited : words.notConnected;
  }
}

/** What a refusal means for the person, and its remedies. Contains the server's reason. */
function describeRefusal(code: number, reason: string, isByLink: boolean, words: Texts["refusal"]): Status {
  const refuse = (title: string, advice: string, ...remedies: Remedy[]): Status => ({
    ...say("refused", "bad", title, remedies),
    detail: `${sentence(reason)} ${advice}`.trim(),
  });
  switch (code) {
    case CLOSE.badRequest:
      return refuse(words.badAddress, words.badAddressAdvice, "new");
    case CLOSE.unauthenticated:
      // "The ticket was revoked": a login does not help. An expired login is reported as the token's.
      if (/\bticket\b/i.test(reason) && !/\btoken\b/i.test(reason)) {
        return refuse(words.badTicket, words.badTicketAdvice);
      }
      // "Log in, or give a token": no credential was sent, and the server's text is for programs, too.
      if (/^log in\b/i.test(reason)) {
        const detail = isByLink ? words.linkNeedsLogin : words.logIn;
        return { ...say("refused", "bad", words.notLoggedIn, ["login"]), detail };
      }
      return refuse(words.notLoggedIn, words.logInAgain, "login");
    case CLOSE.forbidden:
      return refuse(words.forbidden, words.forbiddenAdvice, "login");
    case CLOSE.notFound:
      return refuse(words.gone, words.goneAdvice, "again", "new");
    case CLOSE.conflict:
      return refuse(words.conflict, words.conflictAdvice, "retry", "new");
    case CLOSE.cannotStart:
      return { ...refuse(words.cannotStart, words.cannotStartAdvice, "new"), detail: notStarted(reason, words) };
    case CLOSE.policy:
    case CLOSE.tooBig:
      return refuse(words.misunderstood, words.misunderstoodAdvice, "retry");
    default:
      return refuse(words.other(code), "", "retry", "new");
  }
}

/** "cmd_not_found: Cannot find nvim" as a sentence; any other reason without its code, which is for programs. */
function notStarted(reason: string, words: Texts["refusal"]): string {
  const [, code = "", said = reason] = /^([a-z]+(?:_[a-z]+)+): (.+)$/s.exec(reason) ?? [];
  const [, name = said, why = ""] = /^Cannot (?:find|execute|enter) (.+?)(?:: ([^:]+))?$/s.exec(said) ?? [];
  if (Object.hasOwn(words.cannotStartWhy, code)) {
    const text = words.cannotStartWhy[code as keyof typeof words.cannotStartWhy](name, why);
    return `${text} ${words.cannotStartAdvice}`;
  }
  return code === "" ? `${sentence(reason)} ${words.cannotStartAdvice}`.trim() : sentence(said);
}

/** A reason without the code in front, which is for programs. */
export function withoutCode(reason: string): string {
  return reason.replace(/^[a-z]+(?:_[a-z]+)+: /, "");
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

/** The number of key presses: an escape sequence is one, otherwise each character. */
export function countKeys(bytes: Uint8Array): number {
  if (bytes[0] === 0x1b) return 1;
  let count = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) count += 1;
  return count;
}
