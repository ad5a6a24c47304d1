// One session on the page: its connection, screen and addon, and an immutable view of them for the components. No React.

import type { ClientState, Role, ServerMessage } from "sandbox-stdio/core";
import { BrowserConnection, type BrowserConnectionOptions } from "../connection/browser-connection.ts";
import { Latency } from "../connection/latency.ts";
import { Renewal } from "../connection/renewal.ts";
import { type ConnectionFacts, countKeys } from "../connection/status.ts";
import { Attention } from "../output/attention.ts";
import { flash, playBell, showNotice } from "../output/browser-alerts.ts";
import type { Progress } from "../output/program-notices.ts";
import { ServerOffer } from "../output/server-offer.ts";
import { NO_FACTS, type ShellFacts } from "../output/shell-facts.ts";
import { type Sign, withSign } from "../output/sign.ts";
import { TerminalTools } from "../output/terminal-tools.ts";
import { ParticipantsModel } from "../sharing/participants-model.ts";
import { EchoOverlay } from "../terminal/echo-overlay.ts";
import { Guard } from "../terminal/guard.ts";
import { StdioAddon } from "../terminal/terminal-addon.ts";
import type { Look } from "../terminal/terminal-look.ts";
import { type Renderer, type RendererChoice, TerminalView } from "../terminal/terminal-view.ts";
import { type LocalAddress, previewAddress } from "../terminal/text-links.ts";
import { handleTouch } from "../terminal/touch.ts";
import { ENGLISH, type Texts } from "../texts/texts.ts";
import { Files } from "../transfer/files.ts";
import { mayHaveClusters } from "../ui/clusters.ts";
import { type Modifiers, NO_MODIFIERS, withModifiers } from "../ui/modifiers.ts";
import { SessionPanes } from "./session-panes.ts";

/** Shown beside the state: the newest of each kind. */
export type Notice =
  | { readonly kind: "error" | "told"; readonly message: string }
  | { readonly kind: "stopping"; readonly seconds: number }
  | { readonly kind: "started-over"; readonly reason: string }
  | { readonly kind: "approximate" }
  /** Output from before this page's attach is missing. */
  | { readonly kind: "shortened" };

export type View = ConnectionFacts & {
  readonly sandbox: string;
  readonly session: string;
  /** The drawn size in cells: the PTY's. */
  readonly cols: number;
  readonly rows: number;
  /** Whether another size would fit the page. */
  readonly isFramed: boolean;
  readonly renderer: Renderer;
  /** The title that the process set; "" for none. */
  readonly title: string;
  /** The shell's directory, and the command that runs in it. */
  readonly shell: ShellFacts;
  /** What happened since the page last showed this session; undefined: nothing. */
  readonly sign: Sign | undefined;
  /** The progress that the process reports. */
  readonly progress: Progress | undefined;
  /** Address of the link under the pointer. */
  readonly link: string | undefined;
  /** When the login expires, by `performance.now()`; undefined: not soon, or it is renewed. */
  readonly loginEndsAtMs: number | undefined;
  /** Whether something was shown, which must stay visible. */
  readonly hasBegun: boolean;
  /** Whether the person has typed. */
  readonly hasTyped: boolean;
  /** Modifiers held for the next key. */
  readonly modifiers: Modifiers;
  readonly hasSelection: boolean;
  readonly missedBytes: number;
  /** Keys typed while disconnected, since the last sent one. */
  readonly unsentKeys: number;
  /** Whether the server records only the length of typed text. */
  readonly isSecret: boolean;
  /** Number of reconnects. */
  readonly resumes: number;
  readonly notices: readonly Notice[];
};

export type TerminalSessionOptions = Omit<BrowserConnectionOptions, "size" | "words"> & {
  readonly look?: Look | undefined;
  readonly texts?: Texts | undefined;
  readonly renderer?: RendererChoice | undefined;
  /** Whether files can be uploaded and downloaded, over a separate session. */
  readonly takesFiles?: boolean | undefined;
  /** Whether the terminal takes the process's size and sets none. */
  readonly isSized?: boolean | undefined;
  /** As in `TerminalProps`. */
  readonly previews?: string | undefined;
  /** As in `TerminalProps`; without it the connection ends when the token expires. */
  readonly freshCredential?: ((role: Role) => Promise<string | undefined>) | undefined;
};

const FIRST_VIEW = {
  upstream: "running",
  resumedAtMs: undefined,
  hasMissedOutput: false,
  isFramed: false,
  renderer: "dom",
  title: "",
  shell: NO_FACTS,
  sign: undefined,
  progress: undefined,
  link: undefined,
  loginEndsAtMs: undefined,
  hasBegun: false,
  hasTyped: false,
  modifiers: NO_MODIFIERS,
  hasSelection: false,
  missedBytes: 0,
  unsentKeys: 0,
  isSecret: false,
  resumes: 0,
  notices: [],
} satisfies Partial<View>;

export class TerminalSession {
  readonly connection: BrowserConnection;
  readonly screen: TerminalView;
  /** The participants, and who may type. */
  readonly room: ParticipantsModel;
  /** The panes of a session under tmux. */
  readonly panes: SessionPanes;
  /** Questions before risky steps. */
  readonly guard: Guard;
  /** Search, and the commands in the scrollback. */
  readonly tools: TerminalTools;
  /** Bells and notifications. */
  readonly attention: Attention;
  /** The web server that a program has just started. */
  readonly offer: ServerOffer;
  /** Predicted echo of typed keys. */
  readonly echo: EchoOverlay;
  /** Uploads and downloads; undefined if this person may start no session. */
  readonly files: Files | undefined;
  /** Round-trip time of a key, and bytes not drawn yet. */
  readonly latency: Latency;
  readonly #renewal: Renewal | undefined;
  readonly #stopWatching = new AbortController();
  readonly #stopFingers: () => void;
  #view: View;
  readonly #listeners = new Set<() => void>();
  /** Whether #view is set: the screen calls back during its construction. */
  #isMade = false;
  #isShown = true;

  /** Draws into `stage` and starts connecting. */
  constructor(stage: HTMLElement, options: TerminalSessionOptions) {
    const { texts = ENGLISH, look = {}, renderer = "auto", previews, takesFiles, isSized, ...rest } = options;
    this.connection = new BrowserConnection({ ...rest, words: texts.connection, size: () => this.screen.fits });
    const label = texts.terminal.sessionLabel(options.session);
    this.screen = new TerminalView(
      stage,
      { renderer, label, look, isSized },
      {
        fits: ({ cols, rows }) => this.#fits(cols, rows),
        changed: () => this.#screenChanged(),
        link: (link) => this.#change({ link }),
        follow: (uri, isDirect) => this.guard.followLink(uri, isDirect),
        followText: (link) => this.guard.followText(link),
      },
    );
    this.room = new ParticipantsModel(this.connection);
    this.room.words = texts.people;
    this.panes = SessionPanes.of(this.connection);
    const { freshCredential } = options;
    if (freshCredential !== undefined) {
      const ask = () => freshCredential(this.connection.client?.hello?.you.role ?? "viewer");
      this.#renewal = new Renewal(this.connection, ask, {
        needed: (seconds) => this.#loginEndsIn(seconds),
        renewed: () => this.#change({ loginEndsAtMs: undefined }),
      });
    }
    const { terminal } = this.screen;
    const { session } = options;
    const sandbox = new URL(options.url, location.href).searchParams.get("sandbox") ?? "default";
    const { cols, rows } = terminal;
    this.#view = {
      ...FIRST_VIEW,
      sandbox,
      session,
      cols,
      rows,
      client: this.connection.state,
      isOffline: !navigator.onLine,
    };
    this.#isMade = true;
    const addon = new StdioAddon(this.connection);
    addon.madeOfKey = (text) => this.#modified(text);
    this.#stopFingers = handleTouch(terminal, stage, (factor) => this.screen.zoomBy(factor));
    terminal.loadAddon(addon);
    const isReplay = () => addon.isDrawingReplay;
    if (takesFiles === true) {
      this.files = new Files(terminal, stage, { connection: this.connection, url: options.url, isReplay });
    }
    const previewOf = (local: LocalAddress) => previewAddress(local, sandbox, previews, location.origin);
    this.guard = new Guard(terminal, stage, {
      sandbox,
      isReplay,
      mayType: () => this.connection.mayType,
      previewOf,
    });
    this.offer = new ServerOffer(terminal, (server) => previewOf(server) !== undefined);
    addon.replayDrawn = () => this.offer.skip();
    this.attention = new Attention(terminal, {
      words: texts.attention,
      isReplay,
      isHidden: () => document.hidden || !document.hasFocus(),
      now: () => performance.now(),
      progressed: (progress) => this.#change({ progress }),
      notify: (title, text) => showNotice(title, text, `${sandbox}/${session}`),
      sound: playBell,
      flash: () => flash(stage),
      signed: (sign) => {
        if (!this.#isSeen) this.#change({ sign: withSign(this.#view.sign, sign) });
      },
    });
    const now = () => performance.now();
    this.echo = new EchoOverlay(terminal, now, () => this.screen.keyboard.flags !== 0);
    this.latency = new Latency(this.connection, now, (ms) => this.echo.measured(ms));
    this.tools = new TerminalTools(terminal, {
      words: texts.command,
      isReplay,
      commandEnded: (block) => {
        this.attention.commandEnded(block);
        this.offer.commandEnded();
      },
      factsChanged: (shell) => {
        // A title is of the command that set it.
        this.#change(shell.running === this.#view.shell.running ? { shell } : { shell, title: "" });
      },
      latencyText: () => texts.terminal.latency(this.latency),
    });
    this.#observe();
    // Wait for the size: a process created by this attach starts with it.
    void this.screen.ready.then(() => this.connection.start());
  }

  /** The same object until something changes. */
  readonly getView = (): View => this.#view;

  /** @returns Unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Shows a text beside the state. */
  tell(message: string): void {
    this.#notice({ kind: "told", message });
  }

  /** Opens a web server that was offered. */
  openPort(port: number): void {
    const local = this.offer.getState().known.find((server) => server.port === port);
    if (local === undefined) return;
    this.offer.dismiss();
    this.guard.followText({ kind: "local", local });
    this.screen.focus();
  }

  /** Whether the page shows this session. */
  set isShown(isShown: boolean) {
    this.#isShown = isShown;
    this.#looked();
  }

  dismissNotices(): void {
    this.#change({ notices: [], missedBytes: 0, unsentKeys: 0 });
  }

  setModifiers(modifiers: Modifiers): void {
    this.#change({ modifiers });
  }

  setSecret(isSecret: boolean): void {
    if (isSecret) this.echo.reset();
    this.connection.setSecret(isSecret);
    this.#change({ isSecret: this.connection.isSecret });
  }

  /** Leaves the session and removes the terminal from the page. */
  dispose(): void {
    this.#listeners.clear();
    this.#renewal?.dispose();
    this.#stopWatching.abort();
    this.#stopFingers();
    this.connection.leave();
    this.guard.dispose();
    this.tools.dispose();
    this.attention.dispose();
    this.offer.dispose();
    this.echo.dispose();
    this.files?.dispose();
    this.screen.dispose();
  }

  get #isSeen(): boolean {
    return this.#isShown && !document.hidden;
  }

  #looked(): void {
    if (this.#isSeen && this.#view.sign !== undefined) this.#change({ sign: undefined });
  }

  /** Follows the terminal, the connection and the network. */
  #observe(): void {
    const { terminal } = this.screen;
    terminal.onSelectionChange(() => this.#change({ hasSelection: terminal.hasSelection() }));
    terminal.onTitleChange((title) => this.#change({ title }));
    const join = (bytes: Uint8Array) => mayHaveClusters(bytes) && this.screen.joinClusters();
    this.connection.subscribe({
      output: (_stream, bytes) => join(bytes),
      snapshot: join,
      state: (client) => this.#stateChanged(client),
      gap: (from, to, isApproximate) => this.#gap(from, to, isApproximate),
      message: (message) => this.#onMessage(message),
      discarded: (bytes) => this.#change({ unsentKeys: this.#view.unsentKeys + countKeys(bytes) }),
      typed: () => {
        if (!this.#view.hasTyped || this.#view.unsentKeys > 0) this.#change({ unsentKeys: 0, hasTyped: true });
      },
      startedOver: (reason) => this.#notice({ kind: "started-over", reason }),
      inputDrained: () => this.echo.answered(this.connection.client?.unackedInput ?? 0),
    });
    const { signal } = this.#stopWatching;
    document.addEventListener("visibilitychange", () => this.#looked(), { signal });
    for (const event of ["online", "offline"]) {
      window.addEventListener(event, () => this.#change({ isOffline: !navigator.onLine }), { signal });
    }
  }

  /** @returns What a key sends with the held modifiers, which count for one key. */
  #modified(text: string): string {
    const { modifiers, isSecret } = this.#view;
    if (modifiers !== NO_MODIFIERS) this.setModifiers(NO_MODIFIERS);
    const sent = withModifiers(text, modifiers);
    const { mayType, client } = this.connection;
    if (mayType && client?.hello?.tty === true && !isSecret) this.echo.typed(sent);
    return sent;
  }

  /** Makes this window's size the terminal's. Only a size that changes counts as a use of the window (K4a). */
  useOwnSize(): void {
    const { cols, rows } = this.screen.fits ?? this.#view;
    this.connection.resize(cols, rows === 1 ? 2 : rows - 1);
    this.connection.resize(cols, rows);
    this.screen.focus();
  }

  #fits(cols: number, rows: number): void {
    // Not the PTY's size: two windows that send it back would change each other's size for ever.
    this.connection.resize(cols, rows);
    // Without a running PTY no message sets the size.
    const { client, state } = this.connection;
    if (this.#isMade && (client?.hello?.tty !== true || state.phase === "ended")) {
      this.screen.terminal.resize(cols, rows);
    }
  }

  #screenChanged(): void {
    if (!this.#isMade) return;
    const { terminal, isFramed, renderer } = this.screen;
    this.#change({ cols: terminal.cols, rows: terminal.rows, isFramed, renderer });
  }

  #stateChanged(client: ClientState): void {
    this.screen.isConnected = client.phase === "attached";
    if (client.phase !== "attached") {
      this.echo.reset();
      if (client.phase === "ended" && client.end.kind === "exit") this.tools.processEnded(client.end.code);
      this.#change({ client, loginEndsAtMs: undefined });
      return;
    }
    // A message follows the greeting if the terminal does not echo.
    this.echo.echoes(true);
    const { isResumed, hello } = client;
    if (hello.approximate === true) this.#notice({ kind: "approximate" });
    const change: Partial<View> = { client, upstream: "running", hasBegun: true, loginEndsAtMs: undefined };
    // A gap of this hello is reported afterwards.
    if (!isResumed) this.#change(change);
    else {
      const resumes = this.#view.resumes + 1;
      const hasMissedOutput = (hello.gap ?? 0) > 0;
      this.#change({ ...change, resumes, hasMissedOutput, resumedAtMs: performance.now() });
    }
  }

  #gap(from: number, to: number, isApproximate: boolean): void {
    const { client, missedBytes } = this.#view;
    if (client.phase === "attached" && !client.isResumed && to <= client.hello.offset) {
      this.#notice({ kind: "shortened" });
      return;
    }
    this.#change({ missedBytes: missedBytes + to - from, hasMissedOutput: true });
    if (isApproximate) this.#notice({ kind: "approximate" });
  }

  #onMessage(message: ServerMessage): void {
    if (message.type === "status" && message.status !== "starting") this.#change({ upstream: message.status });
    else if (message.type === "secret" || message.type === "ask_state")
      this.#change({ isSecret: this.connection.isSecret });
    else if (message.type === "echo") this.echo.echoes(message.on);
    else if (message.type === "error") this.#notice({ kind: "error", message: message.message });
    else if (message.type === "stopping") this.#notice({ kind: "stopping", seconds: message.seconds });
    else if (message.type === "expiring" && this.#renewal === undefined) this.#loginEndsIn(message.seconds);
  }

  #notice(notice: Notice): void {
    this.#change({ notices: [...this.#view.notices.filter(({ kind }) => kind !== notice.kind), notice] });
  }

  #loginEndsIn(seconds: number): void {
    this.#change({ loginEndsAtMs: performance.now() + seconds * 1000 });
  }

  #change(change: Partial<View>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}
