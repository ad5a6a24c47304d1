// The protocol's client on a page: resumes over reloads, retries after refusals, and starts anew once if the position from before a
// reload no longer exists. Knows no terminal and no React.

import {
  CLOSE,
  type ClientEvents,
  type ClientSocket,
  type ClientState,
  defined,
  followParticipants,
  type Hello,
  type KeptInput,
  mayType,
  type Participants,
  PUT_ASIDE_CODE,
  participantsOf,
  type ServerMessage,
  StdioClient,
  TypedInput,
} from "sandbox-stdio/core";
import { ENGLISH, type Texts } from "../texts/texts.ts";
import { attachAddress, attachProtocols, ticketOf } from "./attach-address.ts";
import { failSocket, openSocket, setTimer } from "./browser-socket.ts";
import type { ResumeStore } from "./resume-store.ts";

export type BrowserConnectionOptions = {
  /** Address of `/attach` with the process's parameters, relative to the page; http(s) or ws(s). */
  readonly url: string;
  /** The session's name. */
  readonly session: string;
  /** A bearer token; without one the browser's cookie authenticates. */
  readonly token?: string | undefined;
  /** Keeps the position in the session over a reload. */
  readonly resumes?: ResumeStore | undefined;
  /** The current size in cells, with which a new process starts. */
  readonly size?: () => { readonly cols: number; readonly rows: number } | undefined;
  /** Texts of local failures; default English. */
  readonly words?: Texts["connection"] | undefined;
};

export type BrowserConnectionEvents = ClientEvents & {
  /** The position from before the reload no longer exists, so a new client attaches. */
  startedOver(reason: string): void;
  /** A new client attaches after an earlier one: output begins again, on an empty screen. */
  reset(): void;
  /** Keys were sent. */
  typed(): void;
  /** The session does not accept these typed keys from this client now; they are dropped. */
  refused(bytes: Uint8Array): void;
};

/** WebSocket close code without a close frame. */
const CLOSED_ABNORMALLY = 1006;

export class BrowserConnection {
  readonly #options: BrowserConnectionOptions;
  readonly #listeners = new Set<Partial<BrowserConnectionEvents>>();
  #token: string | undefined;
  #client: StdioClient | undefined;
  #size: { cols: number; rows: number } | undefined;
  #people: Participants | undefined;
  #isLeft = false;
  /** In which folder the command was last started again. */
  #cwd: string | undefined;
  /** Whether the attaching client uses no earlier position: there is no second attempt. */
  #isSecondChance = false;
  readonly #stopWatching = new AbortController();
  #socket: ClientSocket | undefined;
  /** The resume token, for pages without a store. */
  #resume: string | undefined;
  /** Unsent input of the previous client: the next one sends it at the same position, or reports it as discarded. */
  #input: KeptInput | undefined;
  /** One for all clients: a key may go on with a line whose beginning came while there was none. */
  readonly #typed = new TypedInput(() => false);
  /** Drops a connection that is known to be gone. */
  #drop: (reason: string) => void = () => undefined;

  constructor(options: BrowserConnectionOptions) {
    this.#options = options;
    this.#token = options.token;
  }

  /** undefined until {@link start}. */
  get client(): StdioClient | undefined {
    return this.#client;
  }

  get state(): ClientState {
    return this.#client?.state ?? { phase: "connecting", attempt: 0 };
  }

  /** The participants, as last reported; undefined before the first greeting. */
  get people(): Participants | undefined {
    return this.#people;
  }

  /** Whether the process would receive typed keys now, as far as is known. */
  get mayType(): boolean {
    return this.state.phase === "attached" && (this.#people === undefined || mayType(this.#people));
  }

  /** @returns Unsubscribes. */
  subscribe(listener: Partial<BrowserConnectionEvents>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A connection to another session with the same credentials. */
  beside(url: string, session: string): BrowserConnection {
    return new BrowserConnection({ url, session, token: this.#token, words: this.#options.words });
  }

  async start(): Promise<void> {
    if (this.#isLeft) return;
    const resume = await this.#options.resumes?.claim();
    if (this.#isLeft) return;
    this.#input ??= this.#options.resumes?.takeInput();
    this.#attach(resume);
    const options = { signal: this.#stopWatching.signal };
    window.addEventListener("online", () => this.#hurry(), options);
    // A page can't tell a reload from its end, so the session keeps the position for as long as a reload takes.
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

  /** Retries at once while waiting, or after a refusal. */
  retryNow(): void {
    if (this.state.phase === "ended" && !this.#isLeft) void this.#attachAgain();
    else this.#client?.retryNow();
  }

  async #attachAgain(): Promise<void> {
    const ended = this.#client;
    const { resumes } = this.#options;
    const resume = resumes === undefined ? this.#resume : await resumes.claim();
    // Another attempt or the end may have come meanwhile.
    if (this.#isLeft || this.#client !== ended) return;
    this.#input ??= resumes?.takeInput();
    this.#attach(resume);
  }

  /** Restarts the command under the same session name after its exit. @param cwd Its folder, as far as it still is there. */
  startAgain(cwd?: string): void {
    this.#cwd = cwd;
    if (this.state.phase === "ended" && !this.#isLeft) this.#attach(undefined, true);
  }

  /** Detaches; the session keeps running. Nothing is reported afterwards. */
  leave(): void {
    this.#isLeft = true;
    this.#listeners.clear();
    this.#stopWatching.abort();
    this.#client?.leave();
    this.#options.resumes?.forget();
  }

  /** Sends a new token to the session, and uses it for later connections. */
  setToken(token: string | undefined): void {
    if (token === this.#token) return;
    this.#token = token;
    if (token !== undefined) this.#client?.send({ type: "auth", token });
  }

  /** Whether secret input is on. */
  get isSecret(): boolean {
    return this.#client?.isSecret ?? false;
  }

  /** Has the session record only the length of typed text, or all of it again. */
  setSecret(on: boolean): void {
    this.#client?.setSecret(on);
  }

  /** Sends typed keys. @returns Whether they were sent. */
  type(bytes: Uint8Array): boolean {
    const { state } = this;
    if (state.phase === "attached" && !this.mayType) {
      this.#each((listener) => listener.refused?.(bytes));
      return false;
    }
    // Before the first client, and after one that another may follow: a refusal is often over by itself.
    if (this.#client === undefined || (state.phase === "ended" && state.end.kind !== "exit")) {
      this.#typed.decide(bytes, false, performance.now());
      this.#events.discarded(bytes);
      return false;
    }
    const isSent = this.#client.type(bytes);
    if (isSent) this.#each((listener) => listener.typed?.());
    return isSent;
  }

  /** The window's size in cells: never the PTY's size that the server reports. */
  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#client?.resize(cols, rows);
  }

  // Called by the terminal; see StdioClient.

  processed(end: number): void {
    this.#client?.processed(end);
  }

  mayAnswer(offset: number): boolean {
    return this.#client?.mayAnswer(offset) ?? false;
  }

  nextAnswerChange(offset: number): number {
    return this.#client?.nextAnswerChange(offset) ?? Number.POSITIVE_INFINITY;
  }

  /** The facts of the session's recording, if it is recorded. */
  get recording(): Hello["recording"] {
    return this.#client?.hello?.recording;
  }

  /** Whether the output at `offset` was printed before this client attached. */
  isReplay(offset: number): boolean {
    return offset < (this.#client?.hello?.live ?? 0);
  }

  #putAside(): void {
    this.#socket?.close(PUT_ASIDE_CODE);
    if (this.state.phase !== "ended") this.#input = this.#client?.suspend();
    const { resumes } = this.#options;
    if (resumes === undefined || this.#input === undefined) return;
    resumes.keepInput(this.#input);
    // The next load of this page takes it.
    this.#input = undefined;
  }

  /** @param isStart Whether to replace a process that has ended. */
  #attach(resume: string | undefined, isStart = false): void {
    const keptInput = resume === undefined ? undefined : this.#input;
    if (resume !== undefined) this.#input = undefined;
    if (this.#client !== undefined) this.#each((listener) => listener.reset?.());
    const { isSecret } = this;
    const { session, url, size, words = ENGLISH.connection } = this.#options;
    const client = new StdioClient(
      { session, bornAtMs: Date.now(), typed: this.#typed, ...defined({ resume, keptInput }) },
      {
        connect: (query, events) => {
          const protocols = attachProtocols(this.#token, ticketOf(url, location.href));
          if (protocols === undefined) return failSocket(events, words.badCredential);
          const params = new Map(query);
          // A terminal of another size is shown scaled here.
          params.set("fit", "latest");
          if (isStart) params.set("ended", "replace");
          if (isStart && this.#cwd !== undefined) params.set("cwd", this.#cwd);
          // After a reload the screen is empty: replay the log if it is complete.
          if (resume !== undefined && client.hello === undefined) params.set("offset", "0");
          const address = attachAddress(url, location.href, params, this.#size ?? size?.());
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
    this.#reportInput();
  }

  /** A new client can't know how much of the kept input was taken, so all of it is reported as discarded. */
  #reportInput(): void {
    const input = this.#input;
    this.#input = undefined;
    if (input !== undefined) this.#events.discarded(input.bytes ?? new Uint8Array(input.length));
  }

  #stateChanged(state: ClientState): void {
    const { resumes } = this.#options;
    if (state.phase === "attached") {
      resumes?.keep(state.hello.resume);
      this.#resume = state.hello.resume;
      this.#people = participantsOf(state.hello);
    }
    if (state.phase === "ended") {
      const { end } = state;
      const isPlaceGone = end.kind === "refused" && end.code === CLOSE.notFound;
      // After an exit the close gives up the position; a reloaded page reads the ended session anew.
      if (end.kind === "exit" || isPlaceGone) {
        resumes?.forget();
        this.#resume = undefined;
      }
      if (end.kind === "refused") this.#input = this.#client?.suspend();
      if (isPlaceGone) this.#reportInput();
      if (this.#cwd !== undefined && end.kind === "refused" && end.reason.startsWith("bad_cwd:")) {
        this.#cwd = undefined;
        this.#attach(undefined, true);
        return;
      }
      if (isPlaceGone && !this.#isSecondChance && this.#client?.hello === undefined) {
        this.#each((listener) => listener.startedOver?.(end.reason));
        this.#attach(undefined, true);
        return;
      }
    }
    this.#each((listener) => listener.state?.(state));
  }

  #onMessage(message: ServerMessage): void {
    if (this.#people !== undefined) this.#people = followParticipants(this.#people, message);
    this.#each((listener) => listener.message?.(message));
  }

  readonly #events: ClientEvents = {
    state: (state) => this.#stateChanged(state),
    output: (...args) => this.#each((listener) => listener.output?.(...args)),
    snapshot: (...args) => this.#each((listener) => listener.snapshot?.(...args)),
    resize: (...args) => this.#each((listener) => listener.resize?.(...args)),
    gap: (...args) => this.#each((listener) => listener.gap?.(...args)),
    message: (message) => this.#onMessage(message),
    discarded: (...args) => this.#each((listener) => listener.discarded?.(...args)),
    inputDrained: () => this.#each((listener) => listener.inputDrained?.()),
  };

  #each(notify: (listener: Partial<BrowserConnectionEvents>) => void): void {
    for (const listener of this.#listeners) notify(listener);
  }

  /** The network or the person is back: end the wait. A sleeping session is left asleep. */
  #hurry(): void {
    if (this.state.phase === "waiting" && this.state.retryAtMs !== undefined) this.#client?.retryNow();
  }
}
