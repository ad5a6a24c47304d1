// Decides what the page shows: the logged-in person, the session that the address names, and whether a link may run what it
// asks for. No React.

import type { Role } from "sandbox-stdio/core";
import type { Place } from "../connection/place.ts";
import { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "../connection/resume-store.ts";
import { localStorageIfAllowed, PreferenceStore } from "../settings/preferences.ts";
import { keepPreferences } from "../settings/preferences-remote.ts";
import { keptTicket, takeTicket } from "../sharing/share-link.ts";
import { attachTicket } from "../sharing/sharing.ts";
import { Desk } from "../workspace/desk.ts";
import { focusedPlace, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { serverLayouts } from "../workspace/layout-remote.ts";
import { Login } from "./login.ts";
import { loginAddress, logout } from "./me.ts";
import {
  homeSearch,
  isBare,
  type PageAddress,
  randomSessionName,
  readPageAddress,
  withSession,
  withTabs,
} from "./page-address.ts";

export type PageState =
  | { readonly phase: "asking" }
  | { readonly phase: "anonymous"; readonly loginUrl: string }
  | { readonly phase: "unreachable"; readonly reason: string }
  /** The address wants something run. Any page may have led here, so a person has to agree. */
  | { readonly phase: "confirming"; readonly address: PageAddress }
  /** A person has closed it, and could open it again. */
  | { readonly phase: "closed"; readonly address: PageAddress }
  | {
      readonly phase: "ready";
      readonly address: PageAddress;
      /** The person who is logged in; undefined for a guest, whom a link has led here. */
      readonly user: string | undefined;
      /** The sessions that this person has open. */
      readonly desk: Desk;
      readonly rights: Rights;
    };

/** This person's rights beyond attaching, as far as the page knows: the server decides. */
export type Rights = {
  readonly isAdmin: boolean;
  readonly mayShare: boolean;
  /** A login made anew goes for the session that is open: not where a link let them in. */
  readonly mayRenew: boolean;
  /** A session of another name: a guest of one session has no place of their own beside it. */
  readonly mayStartAnother: boolean;
  /** The path at which servers in a sandbox can be looked at; undefined: nowhere. */
  readonly previews: string | undefined;
};

/** The values with which the page attaches to a session. */
export type Attachment = { readonly address: PageAddress; readonly resumes: ResumeStore };

type User = {
  readonly name: string;
  readonly key: string;
  readonly scopes: readonly string[];
  /** The sandbox to begin in, where the server names one. */
  readonly home?: string | undefined;
  readonly hasPreviews?: boolean;
};

const PREVIEWS = "/preview/{sandbox}/{port}";
const CONFIRMED = "sbx.confirmed";
const LAST = "sbx.last.";

export class Page {
  #state: PageState = { phase: "asking" };
  #user: User | undefined;
  /** The ticket with which the session was shared, if a link led here. */
  #ticket: string | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #storage = sessionStorageIfAllowed();
  /** Of the panes that are, or were, on the page. */
  readonly #attachments = new Map<PaneId, Attachment>();
  readonly #login = new Login(navigator.locks);
  readonly #local = localStorageIfAllowed();
  readonly preferences = new PreferenceStore(this.#local);
  #keepsPreferences: Promise<void> | undefined;

  readonly getState = (): PageState => this.#state;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async start(): Promise<void> {
    // Before anything else: people see and copy the address bar, and the history keeps it.
    this.#takeTicket();
    this.#set({ phase: "asking" });
    const me = await this.#login.now();
    if (me.kind === "unreachable") {
      this.#set({ phase: "unreachable", reason: me.reason });
      window.addEventListener("online", () => this.#state.phase === "unreachable" && void this.start(), { once: true });
    }
    if (me.kind === "known") await this.#enter(me);
    if (me.kind !== "anonymous") return;
    // Whether guests may come is for the server to say, which knows the ticket.
    if (this.#ticket !== undefined) this.#open(undefined);
    else this.#set({ phase: "anonymous", loginUrl: loginAddress(location) });
  }

  /** The fragment has changed: another link was put into this tab's address bar, which loads nothing by itself. */
  fragmentChanged(): void {
    if (this.#takeTicket()) location.reload();
  }

  /** A person agrees to the address's wishes: in this tab, for just that. */
  confirm(): void {
    if (this.#state.phase !== "confirming") return;
    this.#storage?.setItem(CONFIRMED, this.#state.address.attachUrl);
    this.#show(this.#state.address);
  }

  /** The same for the same session, as long as the page is there. */
  attachmentOf(place: Place): Attachment {
    const id = paneIdOf(place);
    let found = this.#attachments.get(id);
    if (found === undefined) {
      const address = readPageAddress(withTabs(location.search, place), randomSessionName, this.#ticket);
      found = { address, resumes: this.#resumesOf(place) };
      this.#attachments.set(id, found);
    }
    return found;
  }

  /** Puts the session that has the focus into the address bar, for a reload or a bookmark. */
  focused(place: Place): void {
    if (this.#state.phase !== "ready") return;
    const { address } = this.attachmentOf(place);
    const search = address.hasTabs ? address.search : `${address.search}&tabs=1`;
    if (search !== location.search) history.replaceState(null, "", search + location.hash);
  }

  /** Leaves the session to itself. */
  close(): void {
    if (this.#state.phase === "ready") this.#set({ phase: "closed", address: this.#state.address });
  }

  /** Comes back to the session that was closed. */
  open(): void {
    if (this.#state.phase === "closed") this.#show(this.#state.address);
  }

  /** A session of a new name, with a shell. */
  newSession(): void {
    history.replaceState(null, "", withSession(location.search, randomSessionName()));
    this.#open(this.#user);
  }

  /** Opened beside the page's sessions, if there are any. */
  login(): void {
    const isUsed = this.#state.phase === "ready" && this.#state.user !== undefined;
    if (!isUsed || !this.#login.open()) location.assign(loginAddress(location));
  }

  /** A ticket for a connection whose token runs out: undefined while the login can't be renewed and no person has logged in. */
  async freshCredential(place: Place, role: Role): Promise<string | undefined> {
    const me = await this.#login.fresh();
    // Another person in this browser is not this connection's.
    if (me === undefined || me.key !== this.#user?.key) return undefined;
    const answer = await attachTicket(place, role);
    return answer.ok ? answer.value : undefined;
  }

  async logout(): Promise<void> {
    if (await logout()) this.#set({ phase: "anonymous", loginUrl: loginAddress(location) });
  }

  /** If the address leaves it to the page, shows the tabs that this person has open, on any device. */
  async #enter(user: User): Promise<void> {
    this.#keepsPreferences ??= keepPreferences(this.preferences);
    if (this.#ticket === undefined && isBare(location.search)) {
      const there = await serverLayouts.read();
      const place = there?.kept === undefined ? undefined : focusedPlace(there.kept.layout);
      if (place !== undefined) history.replaceState(null, "", withTabs(location.search, place) + location.hash);
    }
    this.#open(user);
  }

  /** @returns Whether the address held one. */
  #takeTicket(): boolean {
    const taken = takeTicket({ location, history, storage: this.#storage });
    this.#ticket = taken ?? keptTicket(location.search, this.#storage);
    return taken !== undefined;
  }

  #open(user: User | undefined): void {
    this.#user = user;
    const isOwn = this.#ticket === undefined && user !== undefined;
    const search = isOwn ? homeSearch(location.search, this.#last(user), user.home) : location.search;
    const address = readPageAddress(search, randomSessionName, this.#ticket);
    // So that a reload, or a bookmark, comes back to the same session.
    if (address.search !== location.search) history.replaceState(null, "", address.search + location.hash);
    const isConfirmed = this.#storage?.getItem(CONFIRMED) === address.attachUrl;
    if (address.wishes.length > 0 && !isConfirmed) this.#set({ phase: "confirming", address });
    else this.#show(address);
  }

  #show(address: PageAddress): void {
    const user = this.#user;
    const isOwn = this.#ticket === undefined;
    const has = (scope: string) => isOwn && (user?.scopes.includes(scope) ?? false);
    const rights = {
      isAdmin: has("sandbox:admin"),
      mayShare: has("sandbox:exec"),
      mayRenew: isOwn,
      mayStartAnother: isOwn,
      previews: has("sandbox:exec") && user?.hasPreviews === true ? PREVIEWS : undefined,
    };
    if (isOwn && user !== undefined) this.#remember(user, address);
    const desk = new Desk(serverLayouts, address);
    this.#attachments.clear();
    this.#attachments.set(paneIdOf(address), { address, resumes: this.#resumesOf(address) });
    this.#set({ phase: "ready", address, user: user?.name, desk, rights });
    if (address.hasTabs && isOwn) void desk.join();
  }

  #resumesOf({ sandbox, session }: Place): ResumeStore {
    const who = this.#user?.key;
    // The ticket or login that let this person in tells two sessions of one name apart.
    const key = this.#ticket === undefined ? who : `${who ?? "guest"}.${this.#ticket.slice(-12)}`;
    return tabResumeStore(`${key}.${sandbox}.${session}`, this.#storage, navigator.locks);
  }

  /** Where this person was last, in this browser: the query without what it would run. */
  #last(user: User): string | undefined {
    return this.#local?.getItem(LAST + user.key) ?? undefined;
  }

  #remember(user: User, { sandbox, session }: Place): void {
    this.#local?.setItem(LAST + user.key, `${new URLSearchParams({ sandbox, session })}`);
  }

  #set(state: PageState): void {
    if (this.#state.phase === "ready") this.#state.desk.dispose();
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
