// Decides what the page shows: login, the session that the address names, and whether a link may run something. No React.

import { defined, isRecord, type Role } from "sandbox-stdio/core";
import { callApi, textOf } from "../connection/api.ts";
import { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "../connection/resume-store.ts";
import type { SessionTarget } from "../connection/session-target.ts";
import { listSessions } from "../find/session-list.ts";
import { localStorageIfAllowed, PreferenceStore } from "../settings/preferences.ts";
import { attachTicket } from "../sharing/sharing.ts";
import { Store } from "../ui/store.ts";
import { focusedTarget, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { keep, readKept } from "../workspace/layout-kept.ts";
import { layoutApi } from "../workspace/layout-remote.ts";
import { type WindowTabs, Workspace } from "../workspace/workspace.ts";
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
import { stopPush } from "./push.ts";

export type PageState =
  | { readonly phase: "asking" }
  /** `reason`: why a link did not log in. */
  | { readonly phase: "anonymous"; readonly loginUrl: string; readonly reason?: string }
  | { readonly phase: "unreachable"; readonly reason: string }
  /** The link would run something. Anybody may have made it, so a person must agree. */
  | { readonly phase: "confirming"; readonly address: PageAddress }
  /** The person closed the session, and may reopen it. */
  | { readonly phase: "closed"; readonly address: PageAddress }
  | {
      readonly phase: "ready";
      readonly address: PageAddress;
      /** The logged-in person; undefined for a guest. */
      readonly user: string | undefined;
      /** The open sessions. */
      readonly workspace: Workspace;
      readonly rights: Rights;
    };

/** Rights beyond attaching, as far as the page knows. The server decides. */
export type Rights = {
  readonly isAdmin: boolean;
  readonly mayShare: boolean;
  /** Whether a new login also serves the open session: not one from a share link. */
  readonly mayRenew: boolean;
  /** Whether the person may start sessions. */
  readonly mayStart: boolean;
  /** Whether the person may open other sessions: not a guest of one session. */
  readonly mayOpenAnother: boolean;
  /** Path template of previews; undefined if there are none. */
  readonly previews: string | undefined;
};

/** How the page attaches to a session. */
export type Attachment = { readonly address: PageAddress; readonly resumes: ResumeStore };

type User = {
  readonly name: string;
  readonly key: string;
  readonly scopes: readonly string[];
  /** The person's default sandbox. */
  readonly home?: string | undefined;
  readonly hasPreviews?: boolean;
};

const PREVIEWS = "/preview/{sandbox}/{port}";
const CONFIRMED = "sbx.confirmed";
const LAST = "sbx.last.";

export class Page extends Store<PageState> {
  #user: User | undefined;
  /** The share ticket, if a link led here. */
  #ticket: string | undefined;
  readonly #storage = sessionStorageIfAllowed();
  /** For each pane that is or was on the page. */
  readonly #attachments = new Map<PaneId, Attachment>();
  readonly #login = new Login(navigator.locks);
  readonly #local = localStorageIfAllowed();
  readonly preferences = new PreferenceStore(this.#local);
  #keepsPreferences: Promise<void> | undefined;

  constructor() {
    super({ phase: "asking" });
  }

  async start(): Promise<void> {
    // First of all: the address bar is visible, copied and kept in the history.
    const key = takeKey(location, history);
    let wrongKey: string | undefined;
    this.#takeTicket();
    this.#set({ phase: "asking" });
    if (key !== undefined) {
      const reason = await exchangeKey(key);
      const loginUrl = loginAddress(location);
      if (reason === undefined) return location.replace(loginUrl);
      wrongKey = reason;
    }
    const me = await this.#login.now();
    if (me.kind === "unreachable") {
      this.#set({ phase: "unreachable", reason: me.reason });
      window.addEventListener("online", () => this.state.phase === "unreachable" && void this.start(), { once: true });
    }
    if (me.kind === "known") await this.#enter(me);
    if (me.kind !== "anonymous") return;
    // The server, which knows the ticket, decides whether guests are allowed.
    if (this.#ticket !== undefined) this.#open(undefined);
    else this.#set({ phase: "anonymous", loginUrl: loginAddress(location), ...defined({ reason: wrongKey }) });
  }

  /** Another link was entered into the address bar, which loads nothing by itself. */
  fragmentChanged(): void {
    if (hasKey(location) || this.#takeTicket()) location.reload();
  }

  /** The person agrees to the link's actions, in this tab. */
  confirm(): void {
    if (this.state.phase !== "confirming") return;
    this.#storage?.setItem(CONFIRMED, this.state.address.attachUrl);
    this.#show(this.state.address);
  }

  /** The same object for the same session. */
  attachmentOf(target: SessionTarget): Attachment {
    const id = paneIdOf(target);
    let found = this.#attachments.get(id);
    if (found === undefined) {
      const search = withTabs(location.search, target);
      const address = readPageAddress(search, randomSessionName, this.#ticket, this.#role);
      found = { address, resumes: this.#resumesOf(address) };
      this.#attachments.set(id, found);
    }
    return found;
  }

  /** Has a new session's shell begin in a directory. */
  startIn(target: SessionTarget, cwd: string): void {
    const { address, resumes } = this.attachmentOf(target);
    const attachUrl = `${address.attachUrl}&${new URLSearchParams({ cwd })}`;
    this.#attachments.set(paneIdOf(target), { address: { ...address, attachUrl }, resumes });
  }

  /** Puts the focused session into the address bar, for a reload or a bookmark. */
  focused(target: SessionTarget, isShared: boolean): void {
    if (this.state.phase !== "ready") return;
    const { address } = this.attachmentOf(target);
    const params = new URLSearchParams(address.search);
    params.delete("tabs");
    const among = address.hasTabs ? address.search : `${address.search}&tabs=1`;
    const search = isShared ? among : `?${params}`;
    if (search !== location.search) history.replaceState(null, "", search + location.hash);
  }

  /** Closes the session's terminal; the session keeps running. */
  close(): void {
    if (this.state.phase === "ready") this.#set({ phase: "closed", address: this.state.address });
  }

  /** Reopens the closed session. */
  open(): void {
    if (this.state.phase === "closed") this.#show(this.state.address);
  }

  /** Opens a shell in a new session. */
  newSession(): void {
    history.replaceState(null, "", withSession(location.search, randomSessionName()));
    this.#open(this.#user);
  }

  /** Opens a login window if sessions are open, else the login page. */
  login(): void {
    const isUsed = this.state.phase === "ready" && this.state.user !== undefined;
    if (!isUsed || !this.#login.open()) location.assign(loginAddress(location));
  }

  /** A ticket for a connection whose token expires; undefined until the login is renewed or the person logs in again. */
  async freshCredential(target: SessionTarget, role: Role): Promise<string | undefined> {
    const me = await this.#login.fresh();
    // Another person may have logged in in this browser.
    if (me === undefined || me.key !== this.#user?.key) return undefined;
    const answer = await attachTicket(target, role);
    return answer.ok ? answer.value : undefined;
  }

  async logout(): Promise<void> {
    await stopPush().catch(() => false);
    if (await logout()) this.#set({ phase: "anonymous", loginUrl: loginAddress(location) });
  }

  /** If the address names no session, shows this person's open tabs, from any device. */
  async #enter(user: User): Promise<void> {
    this.#keepsPreferences ??= syncPreferences(this.preferences, user, this.#local);
    if (this.#ticket === undefined && isBare(location.search)) {
      const there = await layoutApi.read();
      const target = there?.kept === undefined ? undefined : focusedTarget(there.kept.layout);
      if (target !== undefined) history.replaceState(null, "", withTabs(location.search, target) + location.hash);
    }
    const named = new URLSearchParams(location.search);
    if (this.#ticket === undefined && !hasScope(user, "sandbox:exec") && !named.has("session")) {
      const target = await newestSession(named.get("sandbox") ?? user.home);
      if (target !== undefined) history.replaceState(null, "", withTabs(location.search, target) + location.hash);
    }
    this.#open(user);
  }

  /** @returns Whether the address had a ticket. */
  #takeTicket(): boolean {
    const taken = takeTicket({ location, history, storage: this.#storage });
    this.#ticket = taken ?? keptTicket(location.search, this.#storage);
    return taken !== undefined;
  }

  #open(user: User | undefined): void {
    this.#user = user;
    const isOwn = this.#ticket === undefined && user !== undefined;
    const search = isOwn ? homeSearch(location.search, this.#last(user), user.home) : location.search;
    const address = readPageAddress(search, randomSessionName, this.#ticket, this.#role);
    // A reload or bookmark must lead to the same session.
    if (address.search !== location.search) history.replaceState(null, "", address.search + location.hash);
    const isConfirmed = this.#storage?.getItem(CONFIRMED) === address.attachUrl;
    if (address.actions.length > 0 && !isConfirmed) this.#set({ phase: "confirming", address });
    else this.#show(address);
  }

  #show(address: PageAddress): void {
    const user = this.#user;
    const isOwn = this.#ticket === undefined;
    const has = (scope: string) => isOwn && user !== undefined && hasScope(user, scope);
    const rights = {
      isAdmin: has("sandbox:admin"),
      mayShare: has("sandbox:exec"),
      mayRenew: isOwn,
      mayStart: has("sandbox:exec"),
      mayOpenAnother: isOwn,
      previews: has("sandbox:exec") && user?.hasPreviews === true ? PREVIEWS : undefined,
    };
    if (isOwn && user !== undefined) this.#remember(user, address);
    const workspace = new Workspace(layoutApi, address, windowTabs(this.#storage));
    this.#attachments.clear();
    this.#attachments.set(paneIdOf(address), { address, resumes: this.#resumesOf(address) });
    this.#set({ phase: "ready", address, user: user?.name, workspace, rights });
    if (address.hasTabs && isOwn) void workspace.join();
  }

  /** A resume is bound to the person or ticket, and to the role. */
  #resumesOf({ sandbox, session, role }: PageAddress): ResumeStore {
    const who = this.#user?.key;
    const key = this.#ticket === undefined ? who : `${who ?? "guest"}.${this.#ticket.slice(-12)}`;
    const name = `${key}.${sandbox}.${session}${role === "viewer" ? "\n" : ""}`;
    return tabResumeStore(name, this.#storage, navigator.locks);
  }

  /** The role if the address names none: without the scope to drive, a person views. */
  get #role(): Role {
    const mayDrive = this.#ticket !== undefined || this.#user === undefined || hasScope(this.#user, "sandbox:exec");
    return mayDrive ? "driver" : "viewer";
  }

  /** The last session of this person in this browser, as a query without a command. */
  #last(user: User): string | undefined {
    return this.#local?.getItem(LAST + user.key) ?? undefined;
  }

  #remember(user: User, { sandbox, session }: SessionTarget): void {
    this.#local?.setItem(LAST + user.key, `${new URLSearchParams({ sandbox, session })}`);
  }

  #set(state: PageState): void {
    if (this.state.phase === "ready") this.state.workspace.dispose();
    this.state = state;
  }
}

function hasScope({ scopes }: User, scope: string): boolean {
  return scopes.includes(scope);
}

/** The newest running session of a sandbox: for a person who may start none. */
async function newestSession(sandbox = "default"): Promise<SessionTarget | undefined> {
  const answer = await listSessions(sandbox);
  return answer.ok ? answer.value.find(({ state }) => state === "running")?.target : undefined;
}

const WINDOW = "sbx.window";

/** The tabs of a window that has its own. */
function windowTabs(storage: Storage | undefined): WindowTabs {
  return {
    read: () => readKept(JSON.parse(storage?.getItem(WINDOW) ?? "null")),
    write: (kept) => {
      if (kept === undefined) storage?.removeItem(WINDOW);
      else storage?.setItem(WINDOW, JSON.stringify(keep(kept)));
    },
  };
}

const KEY = /^#key=([\w-]{43})$/;

const hasKey = (location: Pick<Location, "hash">): boolean => KEY.test(location.hash);

/** Removes the key from the address bar. @returns It, if there was one. */
function takeKey(location: Location, history: Pick<History, "replaceState">): string | undefined {
  const key = KEY.exec(location.hash)?.[1];
  if (key !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return key;
}

/** Exchanges it for a cookie with which the next login asks nothing. @returns What was wrong, for a person. */
async function exchangeKey(key: string): Promise<string | undefined> {
  try {
    const response = await fetch("/key", { method: "POST", body: new URLSearchParams({ key }) });
    if (response.ok) return undefined;
    const answer: unknown = await response.json().catch(() => undefined);
    return textOf(answer, "message") ?? `HTTP ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A share ticket in the fragment: `#s.…`, `#ticket=s.…`. */
const TICKET = /(?:^#|[#&]ticket=)(s\.[\w.~-]+)/;
const SECRETS = ["token", "ticket", "resume"];
const STORED = "sbx.ticket";

/** The used parts of the browser. */
export type AddressBar = {
  readonly location: Pick<Location, "pathname" | "search" | "hash">;
  readonly history: Pick<History, "replaceState">;
  readonly storage: Pick<Storage, "getItem" | "setItem"> | undefined;
};

/** Moves the ticket from the address bar to the tab's storage, and removes other secrets. @returns The ticket, if there was one. */
export function takeTicket({ location, history, storage }: AddressBar): string | undefined {
  const ticket = TICKET.exec(location.hash)?.[1];
  const params = new URLSearchParams(location.search);
  const secrets = SECRETS.filter((name) => params.has(name));
  for (const name of secrets) params.delete(name);
  if (ticket === undefined && secrets.length === 0) return undefined;
  const search = params.size === 0 ? "" : `?${params}`;
  history.replaceState(null, "", location.pathname + search + (ticket === undefined ? location.hash : ""));
  if (ticket !== undefined) storage?.setItem(keyOf(search), ticket);
  return ticket;
}

/** This tab's ticket for a session. @param search The page's query, which names the session. */
export function keptTicket(search: string, storage: AddressBar["storage"]): string | undefined {
  return storage?.getItem(keyOf(search)) ?? undefined;
}

function keyOf(search: string): string {
  const params = new URLSearchParams(search);
  return [STORED, params.get("sandbox") || "default", params.get("session") || ""].join("/");
}

const PREFERENCES_PATH = "/api/preferences";
const SAVE_PAUSE_MS = 1_000;
/** Whose preferences of this browser the server has not confirmed. */
const UNSAVED = "sbx.preferences.unsaved";

/** Call once, for a logged-in person. */
async function syncPreferences(store: PreferenceStore, { key }: User, local: Storage | undefined): Promise<void> {
  let pause: ReturnType<typeof setTimeout> | undefined;
  let isChanged = false;
  let isUnsaved = false;
  /** Requests that have no answer yet. The next one waits for them: of two, the older could arrive last. */
  let underWay = 0;
  const send = async () => {
    const preferences = store.get();
    isUnsaved = false;
    underWay += 1;
    // The request outlives the page: a busy or dying browser closes a page without telling it.
    const { ok } = await callApi("PUT", PREFERENCES_PATH, { preferences }, { keepalive: true });
    underWay -= 1;
    if (ok && underWay === 0 && store.get() === preferences) local?.removeItem(UNSAVED);
    save();
  };
  const save = () => {
    if (!isUnsaved || pause !== undefined || underWay > 0) return;
    void send();
    pause = setTimeout(() => {
      pause = undefined;
      save();
    }, SAVE_PAUSE_MS);
  };
  store.onSet = () => {
    isChanged = true;
    isUnsaved = true;
    local?.setItem(UNSAVED, key);
    save();
  };
  window.addEventListener("pagehide", () => isUnsaved && void send());
  // A page that went before its answer came may have been faster than its request: this browser's are newer.
  if (local?.getItem(UNSAVED) === key) return void send();
  const answer = await callApi("GET", PREFERENCES_PATH);
  // Changes made meanwhile are newer.
  if (!answer.ok || isChanged || !isRecord(answer.value) || !isRecord(answer.value.preferences)) return;
  store.take(answer.value.preferences);
}
