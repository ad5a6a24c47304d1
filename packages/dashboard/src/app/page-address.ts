// Parses the page's address: sandbox, session, a command to run, and how to show it. Pure.

import { isName, quote } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import type { Moment } from "../recording/recording-model.ts";

/** Something that a link would run or set. */
export type LinkAction = { readonly kind: "command" | "env" | "cwd"; readonly text: string };

export type PageAddress = {
  readonly sandbox: string;
  readonly session: string;
  /** Address of `/attach` without the session, which the client adds. */
  readonly attachUrl: string;
  /** The page's query with the session, for a reload. */
  readonly search: string;
  /** Empty if the link only opens a shell or an existing session. */
  readonly actions: readonly LinkAction[];
  /** The moment of the session's recording that the link shows. */
  readonly moment: Moment | undefined;
  readonly renderer: "auto" | "dom" | "webgl";
  readonly isDebug: boolean;
  /** Whether the session is one of this person's tabs. */
  readonly hasTabs: boolean;
};

const TABS = "tabs";
/** Parameters passed on to `/attach`. Never `offset`, `resume` or `token`, which must not come from a link. */
const ATTACH_PARAMS = [
  "cmd",
  "arg",
  "env",
  "cwd",
  "tty",
  "panes",
  "keep",
  "mode",
  "delivery",
  "record",
  "role",
  "name",
];
/** Parameters that hold for an existing session, such as a shared one. */
const SHARED_PARAMS = ["role", "name"];
/** Parameters of a link to a moment: a time, and the recorded process. */
const MOMENT_PARAMS = ["at", "of"];
const INCARNATION = /^[\w-]{1,64}$/;

/** @param makeName Names a session if the address does not. @param ticket The share ticket, if there is one. */
export function readPageAddress(search: string, makeName: () => string, ticket?: string): PageAddress {
  const params = new URLSearchParams(search);
  const sandbox = params.get("sandbox") || "default";
  const session = params.get("session") || makeName();
  params.set("session", session);
  const attach = new URLSearchParams({ sandbox });
  const names = ticket === undefined ? ATTACH_PARAMS : SHARED_PARAMS;
  for (const name of names) for (const value of params.getAll(name)) attach.append(name, value);
  // The server's default for a command is pipes; this page is a terminal.
  if (attach.has("cmd") && !attach.has("tty")) attach.set("tty", "1");
  if (ticket !== undefined) attach.set("ticket", ticket);
  return {
    sandbox,
    session,
    attachUrl: `/attach?${attach}`,
    search: `?${params}`,
    actions: actionsOf(attach),
    moment: momentOf(params),
    renderer: rendererOf(params.get("renderer")),
    isDebug: params.get("debug") === "1",
    hasTabs: ticket === undefined && params.get(TABS) === "1",
  };
}

function momentOf(params: URLSearchParams): Moment | undefined {
  const atMs = Date.parse(params.get("at") ?? "");
  const of = params.get("of") ?? "";
  return Number.isNaN(atMs) ? undefined : { atMs, incarnation: INCARNATION.test(of) ? of : undefined };
}

function rendererOf(request: string | null): PageAddress["renderer"] {
  return request === "dom" || request === "webgl" ? request : "auto";
}

/** The query for a new shell in the same sandbox, without the command. */
export function withSession(search: string, session: string): string {
  const params = new URLSearchParams(search);
  for (const name of [...ATTACH_PARAMS, ...MOMENT_PARAMS]) if (name !== "name") params.delete(name);
  params.set("session", session);
  return `?${params}`;
}

/** The query for a session among this person's tabs. */
export function withTabs(search: string, { sandbox, session }: SessionTarget): string {
  const params = new URLSearchParams(search);
  for (const name of [...ATTACH_PARAMS, ...MOMENT_PARAMS]) if (name !== "name") params.delete(name);
  for (const [name, value] of Object.entries({ sandbox, session, [TABS]: "1" })) params.set(name, value);
  return `?${params}`;
}

/** Whether the query names no session. */
export function isBare(search: string): boolean {
  const params = new URLSearchParams(search);
  return !["sandbox", "session", "cmd"].some((name) => params.has(name));
}

/** The query of the last session, or of the person's default sandbox, if the address names none. */
export function homeSearch(search: string, last: string | undefined, home: string | undefined): string {
  if (!isBare(search)) return search;
  const params = new URLSearchParams(search);
  const to = new URLSearchParams(last ?? (home === undefined ? "" : `sandbox=${encodeURIComponent(home)}`));
  for (const [name, value] of params) to.set(name, value);
  return to.size === 0 ? search : `?${to}`;
}

/** A unique name: 40 random bits in letters and digits that are hard to confuse. */
export function randomSessionName(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array = defaultRandom): string {
  const alphabet = "abcdefghjkmnpqrstuvwxyz123456789";
  const letters = [...random(new Uint8Array(8))].map((byte) => alphabet.charAt(byte % alphabet.length));
  const name = `web-${letters.join("")}`;
  if (!isName(name)) throw new Error(`Cannot use ${name} as a session's name`);
  return name;
}

function defaultRandom(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  return crypto.getRandomValues(bytes);
}

function actionsOf(params: URLSearchParams): LinkAction[] {
  const command = [...params.getAll("cmd"), ...params.getAll("arg")].map(quote).join(" ");
  const all = (kind: "env" | "cwd") => params.getAll(kind).map((text) => ({ kind, text }));
  return [...(command === "" ? [] : [{ kind: "command", text: command } as const]), ...all("env"), ...all("cwd")];
}
