// What each session is called, everywhere on the page: by its person, else by what runs and where. No two are called alike.

import type { SessionTarget } from "../connection/session-target.ts";
import { type PaneId, paneIdOf } from "./layout.ts";

/** What the shell and its programs say of themselves. */
export type PaneFacts = {
  /** The title that a program set; "" for none. */
  readonly title: string;
  /** The shell's directory, and the command that runs in it, if the shell marks them. */
  readonly cwd: string | undefined;
  readonly running: string | undefined;
};

const NO_FACTS: PaneFacts = { title: "", cwd: undefined, running: undefined };

/** Sessions that the page named itself: see `randomSessionName`. */
const GENERATED = /^web-[a-z1-9]{8}$/;
const MAX_COMMAND = 40;

/** Whether the page named the session, which then is called by its folder. */
export const isGenerated = ({ session }: SessionTarget): boolean => GENERATED.test(session);

/** What a session is called beside what runs. @param last Its folder when it was last open. */
export function placeOf(target: SessionTarget, cwd: string | undefined, last: string, own: string | undefined): string {
  if (own !== undefined) return own;
  if (!isGenerated(target)) return target.session;
  return cwd === undefined ? last : folderOf(cwd, target.sandbox);
}

/** @param place As it is told apart from others. @param isOwn Whether its person chose it. */
export function labelOf(place: string, isOwn: boolean, { title, cwd, running }: PaneFacts = NO_FACTS): string {
  if (isOwn) return place;
  // A marked shell's own title is its prompt once more.
  const what = cwd === undefined ? title : running === undefined ? "" : title || commandName(running);
  return what === "" ? place : `${what} · ${place}`;
}

/** Numbers equal places: the second "src" is "src 2" for as long as it stays there, whatever becomes of the first. */
export class Places {
  readonly #numbers = new Map<PaneId, { readonly place: string; readonly number: number }>();

  /** The same answer until the place changes. */
  apart(target: SessionTarget, place: string): string {
    const id = paneIdOf(target);
    const before = this.#numbers.get(id);
    let number = before?.place === place ? before.number : 1;
    if (before?.place !== place) {
      this.#numbers.delete(id);
      const taken = [...this.#numbers.values()].filter((other) => other.place === place).map((other) => other.number);
      while (taken.includes(number)) number += 1;
      this.#numbers.set(id, { place, number });
    }
    return number === 1 ? place : `${place} ${number}`;
  }

  /** Frees the numbers of all others. */
  keep(ids: ReadonlySet<PaneId>): void {
    for (const id of this.#numbers.keys()) if (!ids.has(id)) this.#numbers.delete(id);
  }
}

/** Home as the shells of containers and machines have it, and as a local server makes one for each sandbox. */
function isHome(path: string, sandbox: string): boolean {
  const [folder = ""] = path.split("/").slice(-1);
  const ofSandbox = folder.startsWith(`${sandbox}-`) && /^[\da-f]{12}$/.test(folder.slice(sandbox.length + 1));
  return ofSandbox || /^\/(?:root|(?:home|Users)\/[^/]+)$/.test(path);
}

function folderOf(path: string, sandbox: string): string {
  if (isHome(path, sandbox)) return "~";
  return path.split("/").findLast((part) => part !== "") ?? "/";
}

/** The first line of a command, as far as a tab has room. */
function commandName(line: string): string {
  const first = (line.split("\n")[0] ?? "").trim();
  return first.length <= MAX_COMMAND ? first : `${first.slice(0, MAX_COMMAND - 1).trimEnd()}…`;
}
