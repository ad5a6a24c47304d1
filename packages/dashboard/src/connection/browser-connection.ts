// The protocol's client on a page: over reloads, refusals and the page's coming back, with its place and its input, and its
// one second chance: a place kept from before the reload that is gone is given up for a new one. Knows no terminal and no React.

import {
  CLOSE,
  type ClientEvents,
  type ClientSocket,
  type ClientState,
  followParticipants,
  type KeptInput,
  mayType,
  type Participants,
  PUT_ASIDE_CODE,
  participantsOf,
  type ServerMessage,
  StdioClient,
} from "sandbox-stdio/core";
import { ENGLISH, type Texts } from "../texts/texts.ts";
import { attachAddress, attachProtocols, ticketOf } from "./attach-address.ts";
import { openSocket, refuseAtOnce, setTimer } from "./browser-ports.ts";
import type { ResumeStore } from "./resume-store.ts";

export type BrowserConnectionOptions = {
  /** Address of `/attach` with the process's parameters in its query; relative to the page, http(s) or ws(s). */
  readonly url: string;
  /** The session's name. */
  readonly session: string;
  /** A bearer token; without one the browser's cookie speaks. */
  readonly token?: string | undefined;
  /** Where the place in the session is remembered over a reload. */
  readonly resumes?: ResumeStore | undefined;
  /** The window as it is now, in cells: a process that this attach creates starts with it. */
  readonly size?: () => { readonly cols: number; readonly rows: number } | undefined;
  /** The reasons that come from here, not from the server; default English. */
  readonly words?: Texts["connection"] | undefined;
};

export type BrowserConnectionEvents = ClientEvents & {
  /** The place from before the reload is gone, and why: a new one is being taken. */
  startedOver(reason: string): void;
  /** A new client attaches after an earlier one: it gets everything from the start, on an empty screen. */
  reset(): void;
  /** Keys were sent. */
  typed(): void;
  /** Keys were pressed that the session would not take from this client now: they are gone. */
  refused(bytes: Uint8Array): void;
};

/** No code was received. */
const CLOSED_ABNORMALLY = 1006;

export class BrowserConnection {
  readonly #options: BrowserConnectionOptions;
  readonly #listeners = new Set<Partial<BrowserConnectionEvents>>();
  #token: string | undefined;
  #client: StdioClient | undefined;
  #size: { cols: number; rows: number } | undefined;
  #people: Participants | undefined;
  #isLeft = false;
  /** Whether the client that is attaching uses no place from before: there is nothing to fall back to. */
  #isSecondChance = false;
  readonly #stopWatching = new AbortController();
  #socket: ClientSocket | undefined;
  /** The proof of the place in the session: for pages that remember none over a reload. */
  #place: string | undefined;
  /** What the client that has ended could not bring through: the next one sends it at the same place, or it is told. */
  #input: KeptInput | undefined;
  /** Gives up the connection that there is, which is known to be gone. */
  #drop: (reason: string) => void = () => undefined;

  constructor(options: BrowserConnectionOptions) {
    this.#options = options;
    this.#token = options.token;
  }

  /** The protocol's client; undefined until the connection has been started. */
  get client(): StdioClient | undefined {
    return this.#client;
  }

  get state(): ClientState {
    return this.#client?.state ?? { phase: "connecting", attempt: 0 };
  }

  /** The people here and who of them may type, as the server last said; undefined before the first greeting. */
  get people(): Participants | undefined {
    return this.#people;
  }

  /** Whether keys would reach the process now, as far as is known here. */
  get mayType(): boolean {
    return this.state.phase === "attached" && (this.#people === undefined || mayType(this.#people));
  }

  /** @returns How to stop listening. */
  subscribe(listener: Partial<BrowserConnectionEvents>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Another connection, as the same person, to another session. */
  beside(url: string, session: string): BrowserConnection {
    return new BrowserConnection({ url, session, token: this.#token, words: this.#options.words });
  }

  async start(): Promise<void> {
    if (this.#isLeft) return;
    const resume = await this.#options.resumes?.claim();
    if (this.#isLeft) return;
    this.#takeInput(resume);
    this.#attach(resume);
    const options = { signal: this.#stopWatching.signal };
    window.addEventListener("online", () => this.#hurry(), options);
    // Else no side would notice before a ping goes unanswered.
    // The page can't tell a reload from its end: the session keeps the place for as long as a reload takes.
    window.addEventListener("pagehide", () => this.#putAside(), options);
    window.addEventListener("pageshow", ({ persisted }) => persisted && this.retryNow(), options);
    const { offline } = this.#options.words ?? ENGLISH.connection;
    window.addEventListener("offline", () => this.#drop(offline), options);
    document.addEventListener(
      "visibilitychange",
      () => document.visibilityState === "visible" && this.#hurry(),
      options,
    );
  }

  /** Comes back at once if it is waiting, and tries again if it was refused. */
  retryNow(): void {
    if (this.state.phase === "ended" && !this.#isLeft) void this.#attachAgain();
    else this.#client?.retryNow();
  }

  async #attachAgain(): Promise<void> {
    const ended = this.#client;
    const { resumes } = this.#options;
    const resume = resumes === undefined ? this.#place : await resumes.claim();
    // Meanwhile it may have been asked for again, or left.
    if (this.#isLeft || this.#client !== ended) return;
    this.#takeInput(resume);
    this.#attach(resume);
  }

  /** Input is remembered with the place only: where that could not be claimed, another tab has both. */
  #takeInput(resume: string | undefined): void {
    const remembered = resume === undefined ? undefined : this.#options.resumes?.takeInput();
    this.#input ??= remembered;
  }

  /** Starts the session's command anew, under the same name, where its process has ended. */
  startAgain(): void {
    if (this.state.phase === "ended" && !this.#isLeft) this.#attach(undefined, true);
  }

  /** Leaves the session, which lives on. Nothing is reported afterwards. */
  leave(): void {
    this.#isLeft = true;
    this.#listeners.clear();
    this.#stopWatching.abort();
    this.#client?.leave();
    this.#options.resumes?.forget();
  }

  /** A fresh token: told to the session at once, and used from the next connection on. */
  setToken(token: string | undefined): void {
    if (token === this.#token) return;
    this.#token = token;
    if (token !== undefined) this.#client?.send({ type: "auth", token });
  }

  /** Whether only the length of typed text is to be on record, as was last asked for or told. */
  get isSecret(): boolean {
    return this.#client?.isSecret ?? false;
  }

  /** Asks the session to put only the length of later typed text on record, or all of it again. */
  setSecret(on: boolean): void {
    this.#client?.setSecret(on);
  }

  /** Keys that a person pressed. @returns Whether they were sent. */
  type(bytes: Uint8Array): boolean {
    if (this.state.phase === "attached" && !this.mayType) {
      this.#each((listener) => listener.refused?.(bytes));
      return false;
    }
    const isSent = this.#client?.type(bytes) ?? false;
    if (this.#client === undefined) this.#events.discarded(bytes);
    if (isSent) this.#each((listener) => listener.typed?.());
    return isSent;
  }

  /** The window's size in cells, whenever it changes: never the PTY's size as the server told it. */
  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#client?.resize(cols, rows);
  }

  // The terminal's requests to the client; see there.

  dealtWith(end: number): void {
    this.#client?.dealtWith(end);
  }

  mayAnswer(offset: number): boolean {
    return this.#client?.mayAnswer(offset) ?? false;
  }

  nextAnswerChange(offset: number): number {
    return this.#client?.nextAnswerChange(offset) ?? Number.POSITIVE_INFINITY;
  }

  /** Whether the output at `offset` was printed before this client was there to see it. */
  isReplay(offset: number): boolean {
    return offset < (this.#client?.hello?.live ?? 0);
  }

  #putAside(): void {
    this.#socket?.close(PUT_ASIDE_CODE);
    if (this.state.phase !== "ended") this.#input = this.#client?.suspend();
    const { resumes } = this.#options;
    if (resumes === undefined || this.#input === undefined) return;
    resumes.keepInput(this.#input);
    // Another load of this page may take it: only one of them has it.
    this.#input = undefined;
  }

  /** @param isStart Whether a process that has ended makes way for a new one. */
  #attach(resume: string | undefined, isStart = false): void {
    const keptInput = resume === undefined ? undefined : this.#input;
    if (resume !== undefined) this.#input = undefined;
    if (this.#client !== undefined) this.#each((listener) => listener.reset?.());
    const { isSecret } = this;
    const { session, url, size, words = ENGLISH.connection } = this.#options;
    const client = new StdioClient(
      { session, bornAtMs: Date.now(), ...(resume === undefined ? {} : { resume, keptInput }) },
      {
        connect: (query, events) => {
          const protocols = attachProtocols(this.#token, ticketOf(url, location.href));
          if (protocols === undefined) return refuseAtOnce(events, words.badCredential);
          const wish = new Map(query);
          if (isStart) wish.set("ended", "replace");
          // After a reload the screen is empty: all that the log holds, where it holds everything.
          if (resume !== undefined && client.hello === undefined) wish.set("offset", "0");
          const address = attachAddress(url, location.href, wish, this.#size ?? size?.());
          const socket = openSocket(address, protocols, events, words.unreachable);
          this.#socket = socket;
          this.#drop = (reason) => {
            socket.abort();
            events.closed(CLOSED_ABNORMALLY, reason);
          };
          return socket;
        },
        setTimer,
        now: () => performance.now(),
        random: () => Math.random(),
        areTimersLate: () => document.hidden,
      },
      this.#events,
    );
    this.#client = client;
    this.#isSecondChance = resume === undefined;
    client.setSecret(isSecret);
    if (this.#size !== undefined) client.resize(this.#size.cols, this.#size.rows);
    client.start();
    this.#tellInput();
  }

  /** A new place does not tell how much of it was taken: all of it is said to be unsent. */
  #tellInput(): void {
    const input = this.#input;
    this.#input = undefined;
    if (input !== undefined) this.#events.discarded(input.bytes ?? new Uint8Array(input.length));
  }

  #stateChanged(state: ClientState): void {
    const { resumes } = this.#options;
    if (state.phase === "attached") {
      resumes?.keep(state.hello.resume);
      this.#place = state.hello.resume;
      this.#people = participantsOf(state.hello);
    }
    if (state.phase === "ended") {
      const { end } = state;
      const isPlaceGone = end.kind === "refused" && end.code === CLOSE.notFound;
      // After an exit the place is given up with the closing; a reloaded page reads the ended session anew.
      if (end.kind === "exit" || isPlaceGone) {
        resumes?.forget();
        this.#place = undefined;
      }
      if (end.kind === "refused") this.#input = this.#client?.suspend();
      if (isPlaceGone) this.#tellInput();
      if (isPlaceGone && !this.#isSecondChance && this.#client?.hello === undefined) {
        this.#each((listener) => listener.startedOver?.(end.reason));
        this.#attach(undefined, true);
        return;
      }
    }
    this.#each((listener) => listener.state?.(state));
  }

  #told(message: ServerMessage): void {
    if (this.#people !== undefined) this.#people = followParticipants(this.#people, message);
    this.#each((listener) => listener.message?.(message));
  }

  readonly #events: ClientEvents = {
    state: (state) => this.#stateChanged(state),
    output: (...args) => this.#each((listener) => listener.output?.(...args)),
    snapshot: (...args) => this.#each((listener) => listener.snapshot?.(...args)),
    resize: (...args) => this.#each((listener) => listener.resize?.(...args)),
    gap: (...args) => this.#each((listener) => listener.gap?.(...args)),
    message: (message) => this.#told(message),
    discarded: (...args) => this.#each((listener) => listener.discarded?.(...args)),
    inputDrained: () => this.#each((listener) => listener.inputDrained?.()),
  };

  #each(tell: (listener: Partial<BrowserConnectionEvents>) => void): void {
    for (const listener of this.#listeners) tell(listener);
  }

  /** The network is back, or the person is: no reason to sit out the rest of a wait. A sleeping session is left alone. */
  #hurry(): void {
    if (this.state.phase === "waiting" && this.state.retryAtMs !== undefined) this.#client?.retryNow();
  }
}
