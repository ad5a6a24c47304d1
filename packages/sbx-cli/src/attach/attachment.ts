// One run that is attached to a session: puts the parts together and decides how the run ends; it does not end the program.

import type { State } from "sandbox-stdio/client";
import {
  CLOSE,
  type ClientEnd,
  type ClientState,
  followParticipants,
  type Hello,
  LOST_REASON,
  mayType,
  type Participants,
  participantsOf,
  type ServerMessage,
  StdioClient,
  stoppingWords,
} from "sandbox-stdio/core";
import { optionalToken, type TokenSource } from "../account/credentials.ts";
import { renewInTime } from "../account/token-renewal.ts";
import type { AttachWish } from "../args/cli-command.ts";
import { processClock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import { isIgnoredFromStart } from "../base/ignored-signals.ts";
import { Notices } from "../base/notices.ts";
import { EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { Output } from "../base/output.ts";
import { safeJson } from "../base/plain-text.ts";
import { errorWords, expiryWords, refusalWords, startFailureCode } from "../base/server-words.ts";
import { SignalRelay } from "../base/signals.ts";
import { noInput, standardInput } from "../base/stdin.ts";
import { isInputTyped, sizeOf, terminalStreams } from "../base/tty.ts";
import { ConnectionReport } from "../connection/connection-report.ts";
import { type Ending, Endings, within } from "../connection/endings.ts";
import { Connector, GIVE_UP_SECONDS } from "../connection/socket.ts";
import { againWords } from "./again-command.ts";
import { attachQuery } from "./attach-query.ts";
import type { AttachmentParts, RunPart } from "./attachment-parts.ts";
import type { Front } from "./front.ts";
import { PipeFront } from "./pipe-front.ts";
import type { ResumePlace } from "./resume-place.ts";
import { SECRET_ON, TerminalFront } from "./terminal-front.ts";

/** Failed attempts before the first greeting: a wrong address is told soon. */
const FIRST_ATTEMPTS = 3;
/** How long a farewell may take, to the server and to a reader that has stopped reading. */
const FAREWELL_MS = 1_000;

export class Attachment {
  readonly #wish: AttachWish;
  readonly #token: TokenSource;
  readonly #keeper: ResumePlace | undefined;
  readonly #session: string;
  readonly #output: Output;
  /** A queue of their own for our own lines: they are to be read while standard output is stuck. */
  readonly #lines = new Output({ written: () => undefined, broken: () => undefined });
  readonly #notices: Notices;
  readonly #report: ConnectionReport;
  readonly #connector: Connector;
  readonly #client: StdioClient;
  readonly #signals: SignalRelay;
  readonly #repeatsInput: boolean;
  #front: Front | undefined;
  /** The people here, to know whether signals of ours reach the process. */
  #people: Participants | undefined;
  /** Output went missing while attached to pipes, or the process was given less input than there is: here, or in an earlier run. */
  #isIncomplete: boolean;
  /** Bytes of output that a run did not get. */
  #missing = 0;
  #greetings = 0;
  #isEnded = false;
  /** Whether the process was started for this client: only then signals that end us end it. */
  #isOurs: boolean;
  readonly #env: Environment;
  readonly #endings = new Endings();
  readonly #run: RunPart | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isTimeOver = false;
  /** Up to here a run's output has been written. */
  #written = 0;

  constructor(wish: AttachWish, { session, token, keeper, env, isOurs, run }: AttachmentParts) {
    this.#wish = wish;
    this.#token = token;
    this.#keeper = keeper;
    this.#session = session;
    this.#env = env;
    this.#isOurs = isOurs;
    this.#run = run;
    this.#output = new Output({
      written: (end) => {
        this.#client.dealtWith(end);
        this.#keeper?.moved(end);
        this.#written = end;
        this.#endInTime();
      },
      broken: (_fd, error) => this.#endings.add({ kind: "broken", error }),
    });
    this.#notices = new Notices(wish.isVerbose, { kind: "stream", output: this.#lines }, wish.isQuiet);
    this.#report = new ConnectionReport(this.#notices, processClock);
    const ask = wish.ticket === undefined ? token.token : optionalToken(token);
    const { attachUrl } = wish.endpoint;
    const stage = this.#report.stage.bind(this.#report);
    this.#connector = new Connector({ attachUrl, token: ask, ticket: wish.ticket, stage });
    const place = keeper?.resumeFrom(isInputTyped(), terminalStreams() !== undefined) ?? {};
    this.#repeatsInput = place.repeatsInput ?? false;
    this.#isIncomplete = keeper?.earlier?.isIncomplete ?? false;
    this.#client = new StdioClient(
      {
        session: this.#session,
        firstAttempts: FIRST_ATTEMPTS,
        giveUpMs: (wish.giveUp ?? Math.max(GIVE_UP_SECONDS, wish.keep ?? 0)) * 1_000,
        bornAtMs: Date.now(),
        keepsKeys: wish.keepsKeys === true,
        ...place,
      },
      {
        connect: (known, events) => this.#connector.connect([...this.#query(known), ...known], events),
        ...processClock,
        random: Math.random,
        isFullScreen: () => this.#front?.isFullScreen === true,
      },
      {
        state: (state) => this.#stateChanged(state),
        output: (stream, bytes, end) => this.#front?.output(stream, bytes, end),
        snapshot: (bytes, offset) => this.#front?.snapshot(bytes, offset),
        resize: () => undefined, // A terminal has the size that its person gave it.
        gap: (from, to) => this.#gap(from, to),
        message: (message) => this.#message(message),
        discarded: (_keys, isLineSent) => this.#front?.discarded(isLineSent === true),
        quiet: (isQuiet) => this.#report.quiet(isQuiet),
        inputDrained: () => this.#front?.inputDrained(),
      },
    );
    this.#signals = new SignalRelay({
      isForRemote: (signal) => this.#isForRemote(signal),
      isAllowed: () => this.#people === undefined || mayType(this.#people),
      send: (signal) => this.#client.send({ type: "signal", signal }),
      end: (signal) => this.#endings.add({ kind: "signal", signal }),
      isIgnored: (signal) => isIgnoredFromStart(signal, env),
    });
  }

  async run(): Promise<Outcome> {
    // Before the first attempt: a run that is killed in it must not start a second process the next time.
    this.#keeper?.begin(this.#session, this.#client, this.#output, (message) => this.#notices.say(message));
    this.#notices.detail(`session ${this.#session}`);
    const { withheld } = this.#token;
    if (withheld !== undefined && this.#wish.ticket !== undefined)
      this.#notices.say(`attaching as a guest: ${withheld}`);
    this.#signals.listen();
    this.#client.start();
    this.#limitTime();
    let ending = await this.#endings.next();
    this.#isEnded = true;
    clearTimeout(this.#timer);
    if (ending.kind === "time") this.#client.leave();
    if (ending.kind === "client" || ending.kind === "time") {
      // A slow reader may still have to take the end of the output; it may also go away, or be given up.
      this.#front?.finish();
      await Promise.race([this.#output.flushed(), this.#endings.come()]);
      ending = this.#endings.take() ?? ending;
    }
    const outcome = await this.#finish(ending);
    this.#signals.close();
    return outcome;
  }

  #query(known: ReadonlyMap<string, string>): [string, string][] {
    const streams = this.#streams;
    const hasPlace = this.#isOurs || this.#keeper?.earlier !== undefined;
    const query = attachQuery(
      this.#wish,
      streams !== undefined,
      streams && sizeOf(streams.output),
      this.#env,
      hasPlace,
    );
    if (this.#run === undefined) return query;
    // No other process is started (A2b); a terminal would begin with its screen (A9).
    const start: [string, string][] = known.has("offset") ? [] : [["offset", "0"]];
    return [...query, ...start, ["incarnation", this.#run.incarnation]];
  }

  /** A terminal without input from a person is none. */
  get #streams() {
    return this.#wish.hasNoInput === true ? undefined : terminalStreams();
  }

  // ---- What happens --------------------------------------------------------------------------------------------

  #stateChanged(state: ClientState): void {
    this.#report.state(state);
    if (this.#front instanceof TerminalFront) this.#front.company.state(state);
    if (state.phase === "attached") {
      if (this.#run !== undefined && state.hello.incarnation !== this.#run.incarnation) {
        this.#endings.add({ kind: "client", end: { kind: "refused", code: CLOSE.notFound, reason: LOST_REASON } });
        this.#isEnded = true;
        this.#client.leave();
        return;
      }
      this.#people = participantsOf(state.hello);
      this.#greetings += 1;
      // A run knows by its name whose the process is: the first client there counts as its creator.
      if (state.hello.creator === true && this.#run === undefined) this.#isOurs = true;
      if (this.#front === undefined) this.#begin(state.hello);
      else if (this.#front instanceof TerminalFront) this.#front.resumed();
      this.#signals.flush();
      this.#endInTime();
    } else if (state.phase === "ended" && !this.#isEnded) this.#endings.add({ kind: "client", end: state.end });
    else this.#endInTime();
  }

  // ---- A run's time --------------------------------------------------------------------------------------------

  #limitTime(): void {
    const { waitMs } = this.#run ?? {};
    if (waitMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#isTimeOver = true;
      this.#endInTime();
    }, waitMs);
  }

  /** A run whose time is over prints what there was when it came, and waits for no connection that broke. */
  #endInTime(): void {
    const { hello, state } = this.#client;
    if (!this.#isTimeOver || hello === undefined) return;
    if (state.phase !== "attached" || this.#written >= hello.live || hello.live === hello.offset)
      this.#endings.add({ kind: "time" });
  }

  /** The first greeting tells the session's kind: a terminal is only taken over for a PTY. */
  #begin(hello: Hello): void {
    const [client, output, notices] = [this.#client, this.#output, this.#notices];
    const isViewer = hello.you.role === "viewer";
    const streams = hello.tty && this.#wish.tty !== false ? this.#streams : undefined;
    if (streams === undefined) {
      const usual = () => (this.#wish.hasNoInput === true ? noInput() : standardInput());
      // A run's input was given at its start, or is left to others.
      const input = isViewer || this.#run !== undefined ? undefined : usual();
      const onInputCut = () => this.#incomplete();
      this.#front = new PipeFront({ client, output, notices, input, written: this.#keeper?.written, onInputCut });
    } else {
      const onDetach = () => this.#endings.add({ kind: "detach" });
      const { hasStatus, escapes } = this.#wish;
      this.#front = new TerminalFront({ client, output, notices, streams, hasStatus, escapes, onDetach });
    }
    this.#keeper?.greeted(isInputTyped() ? "typed" : "piped");
    this.#front.start(this.#repeatsInput ? hello.stdin : 0);
    if (this.#front instanceof TerminalFront) this.#front.company.state(client.state);
  }

  #gap(from: number, to: number): void {
    const length = to - from;
    this.#front?.gap();
    this.#missing += length;
    if (this.#run !== undefined) return;
    const { hello } = this.#client;
    const isLateComer = this.#greetings === 1 && this.#keeper?.earlier?.resume === undefined;
    if (isLateComer && hello?.offset === to) {
      this.#notices.say(`the first ${length} bytes of output are gone: the session runs since earlier`);
    } else if (this.#front instanceof PipeFront) {
      this.#incomplete();
      this.#notices.say(`${length} bytes of output were lost`);
    } else this.#notices.detail(`${length} bytes of output were skipped`);
  }

  #incomplete(): void {
    this.#isIncomplete = true;
    this.#keeper?.incomplete();
  }

  #message(message: ServerMessage): void {
    if (this.#people !== undefined) this.#people = followParticipants(this.#people, message);
    if (this.#front instanceof TerminalFront) this.#front.company.message(message);
    if (message.type === "error") this.#error(message);
    else if (message.type === "expiring") this.#expiring(message.seconds);
    else if (message.type === "stopping") this.#notices.say(stoppingWords(message.seconds));
    else if (message.type !== "secret") this.#notices.detail(`the server says ${safeJson(message)}`);
    // Asked for by an earlier run; that it is not to be had is said in an error.
    else if (message.on) this.#notices.say(SECRET_ON);
  }

  #error(error: Extract<ServerMessage, { type: "error" }>): void {
    if (error.code === "stdin_closed") {
      this.#front?.inputClosed();
      this.#notices.detail(error.message);
      return;
    }
    // A pipeline's next bytes would be refused as well, without end.
    if (error.code === "not_stdin_holder" && this.#front instanceof PipeFront && !this.#mayType)
      this.#front.inputClosed();
    this.#notices.say(errorWords(error));
  }

  get #mayType(): boolean {
    return this.#people === undefined || mayType(this.#people);
  }

  #expiring(seconds: number): void {
    if (!this.#token.isRenewable || this.#wish.ticket !== undefined) {
      this.#notices.say(expiryWords(seconds, this.#wish.ticket !== undefined));
      return;
    }
    renewInTime(
      this.#token,
      seconds,
      (token) => void (this.#isEnded || this.#client.send({ type: "auth", token })),
      (why) => this.#notices.say(why),
    );
  }

  /** A terminal's own keys go to the remote process as bytes; a signal is meant for this program then. */
  #isForRemote(signal: string): boolean {
    if (this.#isEnded || this.#front instanceof TerminalFront) return false;
    // Before the greeting nothing has been started, but by a run.
    if (this.#front === undefined && this.#run === undefined) return false;
    // A client that only visits another person's process does not end it by leaving.
    if (!this.#isOurs && signal !== "SIGUSR1" && signal !== "SIGUSR2") return false;
    // A run that keeps a place wants to come back to it: being ended by a supervisor must not end the process.
    const isPause = signal === "SIGTERM" || signal === "SIGHUP";
    return this.#keeper === undefined || !isPause;
  }

  // ---- The end -------------------------------------------------------------------------------------------------

  async #finish(ending: Ending): Promise<Outcome> {
    switch (ending.kind) {
      case "client":
        return this.#finishClient(ending.end);
      case "detach":
        await this.#depart();
        await this.#say(`detached${againWords(this.#wish, this.#session)}`);
        return exitWith(EXIT.ok);
      case "time":
        await this.#connector.closed(FAREWELL_MS);
        return this.#finishRun("running", EXIT.timeout);
      case "signal":
        this.#output.drop();
        await this.#depart();
        if (this.#run !== undefined) await this.#say(`it may still run, in session ${this.#session}`);
        // Nobody here has asked for it, but for SIGINT.
        else if (ending.signal !== "SIGINT" && this.#isKnown && this.#greetings > 0 && this.#wish.isQuiet !== true)
          await this.#say(`ended by ${ending.signal}${againWords(this.#wish, this.#session)}`);
        return { kind: "signal", signal: ending.signal };
      case "broken": {
        await this.#depart();
        const { code, message } = ending.error;
        if (this.#run !== undefined) await this.#leaveUnread(this.#run);
        // Its reader has had enough, as of any program's output: nothing to complain of.
        const isTerminalGone = code === "EIO" && this.#front instanceof TerminalFront;
        if (code === "EPIPE" || isTerminalGone) return exitWith(EXIT.brokenPipe);
        await this.#say(`cannot write the output: ${message}`);
        return exitWith(EXIT.failed);
      }
    }
  }

  async #finishClient(end: ClientEnd): Promise<Outcome> {
    this.#giveBack(end.kind !== "exit");
    if (this.#run !== undefined) {
      if (end.kind === "exit") return this.#finishRun("exited", end.code);
      if (end.kind === "refused" && end.code === CLOSE.notFound) return this.#finishRun("lost", EXIT.failed);
    }
    if (end.kind === "refused") {
      if (this.#client.resumePoint !== undefined) this.#keeper?.save();
      const session = this.#front === undefined ? undefined : this.#session;
      const hasPlace = session !== undefined || this.#keeper?.earlier?.resume !== undefined;
      const file = hasPlace ? this.#wish.resumeFile : undefined;
      const server = this.#wish.endpoint.httpBase;
      await this.#say(refusalWords(end, server, this.#wish.ticket !== undefined, session, file));
      return exitWith(startFailureCode(end.reason) ?? EXIT.failed);
    }
    if (end.kind === "left") {
      this.#keeper?.remove();
      return exitWith(EXIT.ok);
    }
    this.#keeper?.save();
    this.#notices.detail(`the process ended: ${end.signal ?? `code ${end.code}`}`);
    await within(FAREWELL_MS, this.#lines.flushed());
    // Last of all: the next run is told the exit again if this one is killed before it.
    this.#keeper?.remove();
    // Data that is not there must not pass for success.
    return exitWith(end.code === 0 && this.#isIncomplete ? EXIT.failed : end.code);
  }

  /** The code is the process's own wherever it is known: that output is missing is said. */
  async #finishRun(state: State, code: number): Promise<Outcome> {
    const missing = this.#missing;
    if (missing > 0) await this.#say(`${missing} bytes of output were no longer held when they were asked for`);
    if (state === "running") await this.#say(`it still runs, in session ${this.#session}`);
    if (state === "lost") await this.#say("the process was lost");
    return exitWith(code);
  }

  /** Nobody reads what it puts out: a process that nobody else has use for is ended, as a shell's would be by SIGPIPE. */
  async #leaveUnread({ end }: RunPart): Promise<void> {
    if (await end?.()) return;
    await this.#say(`${end === undefined ? "it still runs" : "it may still run"}, in session ${this.#session}`);
  }

  /**
   * Leaves the session while its process may live: for later, where there is a file to come back with; for good where the
   * name is our own and no client could find it again; else to clients that know the name.
   */
  async #depart(): Promise<void> {
    if (this.#keeper !== undefined) this.#client.suspend();
    else {
      if (!this.#isKnown) this.#client.send({ type: "kill" });
      this.#client.leave();
    }
    await within(FAREWELL_MS, this.#output.flushed());
    this.#giveBack(true);
    if (this.#client.resumePoint !== undefined) this.#keeper?.save();
    await this.#connector.closed(FAREWELL_MS);
  }

  /** Whether a person knows the name, or may be told it: the session goes on without us. */
  get #isKnown(): boolean {
    return this.#wish.session !== undefined || this.#run !== undefined || this.#front instanceof TerminalFront;
  }

  #giveBack(isSudden: boolean): void {
    this.#front?.close(isSudden);
    this.#notices.aim({ kind: "stream", output: this.#lines });
  }

  /** Says the last line. */
  async #say(text: string): Promise<void> {
    this.#notices.last(text);
    await within(FAREWELL_MS, this.#lines.flushed());
  }
}
