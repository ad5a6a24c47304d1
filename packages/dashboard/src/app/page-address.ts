// Reads the page's own address: the sandbox and session, the command to run there, and how to show it. Pure.

import { isName, quote } from "sandbox-stdio/core";
import type { Place } from "../connection/place.ts";

export type Wish = { readonly kind: "command" | "env" | "cwd"; readonly text: string };

export type PageAddress = {
  readonly sandbox: string;
  readonly session: string;
  /** Address of `/attach` for it, without the session, which the client adds. */
  readonly attachUrl: string;
  /** The page's query with the session in it, for a reload. */
  readonly search: string;
  /** The link's wishes to run or change something; empty if it only opens a shell or a session that is there already. */
  readonly wishes: readonly Wish[];
  readonly renderer: "auto" | "dom" | "webgl";
  readonly isDebug: boolean;
  /** Whether it stands among the other tabs of this person. */
  readonly hasTabs: boolean;
};

const TABS = "tabs";
/** The parameters that the page passes on to `/attach`. Not `offset`, `resume` or `token`: those are never taken from a link. */
const PASSED_ON = ["cmd", "arg", "env", "cwd", "tty", "panes", "keep", "mode", "delivery", "role", "name"];
/** Those of them that mean something to a session that is there already, as a shared one is. */
const PASSED_ON_WITH_TICKET = ["role", "name"];

/**
 * @param makeName For a session that the address does not name.
 * @param ticket The ticket with which the session was shared, if it was.
 */
export function readPageAddress(search: string, makeName: () => string, ticket?: string): PageAddress {
  const params = new URLSearchParams(search);
  const sandbox = params.get("sandbox") || "default";
  const session = params.get("session") || makeName();
  params.set("session", session);
  const attach = new URLSearchParams({ sandbox });
  const names = ticket === undefined ? PASSED_ON : PASSED_ON_WITH_TICKET;
  for (const name of names) for (const value of params.getAll(name)) attach.append(name, value);
  // A command gets pipes unless it asks for a PTY; this is a terminal.
  if (attach.has("cmd") && !attach.has("tty")) attach.set("tty", "1");
  if (ticket !== undefined) attach.set("ticket", ticket);
  return {
    sandbox,
    session,
    attachUrl: `/attach?${attach}`,
    search: `?${params}`,
    wishes: wishesOf(attach),
    renderer: rendererOf(params.get("renderer")),
    isDebug: params.get("debug") === "1",
    hasTabs: ticket === undefined && params.get(TABS) === "1",
  };
}

function rendererOf(wish: string | null): PageAddress["renderer"] {
  return wish === "dom" || wish === "webgl" ? wish : "auto";
}

/** The address of a shell of its own in the same sandbox: the new session does not repeat a command that failed. */
export function withSession(search: string, session: string): string {
  const params = new URLSearchParams(search);
  for (const name of PASSED_ON) if (name !== "name") params.delete(name);
  params.set("session", session);
  return `?${params}`;
}

/** The address of a session among this person's tabs. */
export function withTabs(search: string, { sandbox, session }: Place): string {
  const params = new URLSearchParams(search);
  for (const name of PASSED_ON) if (name !== "name") params.delete(name);
  for (const [name, value] of Object.entries({ sandbox, session, [TABS]: "1" })) params.set(name, value);
  return `?${params}`;
}

/** Whether it leaves the choice of sessions to the page. */
export function isBare(search: string): boolean {
  const params = new URLSearchParams(search);
  return !["sandbox", "session", "cmd"].some((name) => params.has(name));
}

/** The address where the page names neither sandbox nor session: the last one, else the sandbox that the server calls home. */
export function homeSearch(search: string, last: string | undefined, home: string | undefined): string {
  if (!isBare(search)) return search;
  const params = new URLSearchParams(search);
  const to = new URLSearchParams(last ?? (home === undefined ? "" : `sandbox=${encodeURIComponent(home)}`));
  for (const [name, value] of params) to.set(name, value);
  return to.size === 0 ? search : `?${to}`;
}

/** A name that no other session has: 40 random bits, in letters and digits that can't be mistaken for each other. */
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

function wishesOf(params: URLSearchParams): Wish[] {
  const command = [...params.getAll("cmd"), ...params.getAll("arg")].map(quote).join(" ");
  const all = (kind: "env" | "cwd") => params.getAll(kind).map((text) => ({ kind, text }));
  return [...(command === "" ? [] : [{ kind: "command", text: command } as const]), ...all("env"), ...all("cwd")];
}
