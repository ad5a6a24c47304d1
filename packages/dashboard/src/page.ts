// What the page shows, and why: who is logged in, which session the address names, and whether a link may run what it
// asks for. No React.

import { fetchMe, loginAddress, logout } from "./me.ts";
import { type PageAddress, randomSessionName, readPageAddress, withSession } from "./page-address.ts";
import { type ResumeStore, sessionStorageIfAllowed, tabResumeStore } from "./resume-store.ts";

export type PageState =
  | { readonly phase: "asking" }
  | { readonly phase: "anonymous"; readonly loginUrl: string }
  | { readonly phase: "unreachable"; readonly reason: string }
  /** The address wants something run. Any page may have led here, so a person has to agree. */
  | { readonly phase: "confirming"; readonly address: PageAddress }
  | { readonly phase: "ready"; readonly address: PageAddress; readonly user: string; readonly resumes: ResumeStore };

const CONFIRMED = "sbx.confirmed";

export class Page {
  #state: PageState = { phase: "asking" };
  #user = { name: "", key: "" };
  readonly #listeners = new Set<() => void>();
  readonly #storage = sessionStorageIfAllowed();

  readonly getState = (): PageState => this.#state;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async start(): Promise<void> {
    this.#set({ phase: "asking" });
    const me = await fetchMe();
    if (me.kind === "unreachable") this.#set({ phase: "unreachable", reason: me.reason });
    else if (me.kind === "anonymous") this.#set({ phase: "anonymous", loginUrl: loginAddress(location) });
    else {
      this.#user = me;
      this.#open();
    }
  }

  /** A person agrees to what the address asks for: in this tab, for just that. */
  confirm(): void {
    if (this.#state.phase !== "confirming") return;
    this.#storage?.setItem(CONFIRMED, this.#state.address.attachUrl);
    this.#show(this.#state.address);
  }

  /** A session of a new name, for the same command. */
  newSession(): void {
    history.replaceState(null, "", withSession(location.search, randomSessionName()));
    this.#open();
  }

  login(): void {
    location.assign(loginAddress(location));
  }

  async logout(): Promise<void> {
    if (await logout()) this.#set({ phase: "anonymous", loginUrl: loginAddress(location) });
  }

  #open(): void {
    const address = readPageAddress(location.search, randomSessionName);
    // So that a reload, or a bookmark, comes back to the same session.
    if (address.search !== location.search) history.replaceState(null, "", address.search + location.hash);
    const isConfirmed = this.#storage?.getItem(CONFIRMED) === address.attachUrl;
    if (address.wishes.length > 0 && !isConfirmed) this.#set({ phase: "confirming", address });
    else this.#show(address);
  }

  #show(address: PageAddress): void {
    const { name, key } = this.#user;
    const place = `${key}.${address.sandbox}.${address.session}`;
    const resumes = tabResumeStore(place, this.#storage, navigator.locks);
    this.#set({ phase: "ready", address, user: name, resumes });
  }

  #set(state: PageState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
