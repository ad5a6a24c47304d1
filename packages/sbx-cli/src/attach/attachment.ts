// One attached client, from its first connection to the command's exit code. Does not end the program.

import type { State } from "sandbox-stdio/client";
import {
  CLOSE,
  type ClientEnd,
  type ClientState,
  defined,
  followParticipants,
  type Hello,
  LOST_REASON,
  mayType,
  type Participants,
  participantsOf,
  quote,
  type ServerMessage,
  StdioClient,
  stoppingWords,
} from "sandbox-stdio/core";
import { optionalToken, type TokenSource } from "../account/credentials.ts";
import { renewInTime } from "../account/token-renewal.ts";
import type { AttachRequest } from "../args/cli-command.ts";
import { processClock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import { isIgnoredFromStart } from "../base/ignored-signals.ts";
import { Notices } from "../base/notices.ts";
import { EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { Output } from "../base/output.ts";
import { safeJson } from "../base/plain-text.ts";
import { expiryMessage, refusalMessage, serverErrorMessage, startFailureCode } from "../base/server-errors.ts";
import { SignalRelay } from "../base/signals.ts";
import { noInput, standardInput } from "../base/stdin.ts";
import { isInputTyped, sizeOf, terminalStreams } from "../base/tty.ts";
import { ConnectionReport } from "../connection/connection-report.ts";
import { Connector, GIVE_UP_SECONDS } from "../connection/connector.ts";
import { type Ending, Endings, within } from "../connection/endings.ts";
import { attachQuery } from "./attach-query.ts";
import type { Front } from "./front.ts";
import { PipeFront } from "./pipe-front.ts";
import type { ResumeState } from "./resume-state.ts";
import { SECRET_ON, TerminalFront } from "./terminal-front.ts";

/** Failed attempts before the first greeting: few, so that a wrong address is reported soon. No limit once it has started a process. */
const FIRST_ATTEMPTS = 3;
/** Limit of a clean close towards the server, and towards a reader that stopped reading. */
const FAREWELL_MS = 1_000;

/** How `run` attaches to the process that it started or found. */
export type RunOptions = {
  /** Other processes of the same session name are not read. */
  readonly incarnation: string;
  /** Absent: until the process ends. */
  readonly waitMs: number | undefined;
  /** Ends the process if nobody reads its output; absent: it goes on. @returns Whether it has ended. */
  readonly end: (() => Promise<boolean>) | undefined;
};

export type AttachmentOptions = {
  readonly session: string;
  readonly token: TokenSource;
  readonly resume: ResumeState | undefined;
  readonly env: Environment;
  /** Whether the process was started for this client before it attaches. */
  readonly isOurs: boolean;
  readonly run?: RunOptions;
  /** Makes the local side at the first greeting. Absent: this terminal, or a pipeline. */
  readonly front?: (output: Output, hello: Hello) => Front;
};

export class Attachment {
  readonly #request: AttachRequest;
  readonly #token: TokenSource;
  readonly #resume: ResumeState | undefined;
  readonly #session: string;
  readonly #output: Output;
  /** Notices have their own queue, so that they appear while standard output is stuck. */
  readonly #lines = new Output({ written: () => undefined, broken: () => undefined });
  readonly #notices: Notices;
  readonly #report: ConnectionReport;
  readonly #connector: Connector;
  readonly #client: StdioClient;
  readonly #signals: SignalRelay;
  readonly #repeatsInput: boolean;
  #front: Front | undefined;
  /** Tells whether the process would take our signals. */
  #people: Participants | undefined;
  /** Output or input was lost on pipes, in this run or an earlier one. */
  #isIncomplete: boolean;
  /** Bytes of output that `run` missed. */
  #missing = 0;
  #greetings = 0;
  #isEnded = false;
  /** Whether the process was started for this client: only then do ending signals end it. */
  #isOurs: boolean;
  readonly #env: Environment;
  readonly #endings = new Endings();
  readonly #run: RunOptions | undefined;
  readonly #makeFront: AttachmentOptions["front"];
  #timer: NodeJS.Timeout | undefined;
  #isTimeOver = false;
  /** End offset of the output written so far. */
  #writtenTo = 0;

  constructor(request: AttachRequest, { session, token, resume, env, isOurs, run, front }: AttachmentOptions) {
    this.#request = request;
    this.#token = token;
    this.#resume = resume;
    this.#session = session;
    this.#env = env;
    this.#isOurs = isOurs;
    this.#run = run;
    this.#makeFront = front;
    this.#output = new Output({
      written: (end) => {
        this.#client.processed(end);
        this.#resume?.file.moved(end);
        this.#writtenTo = end;
        this.#endInTime();
      },
      broken: (_fd, error) => this.#endings.add({ kind: "broken", error }),
    });
    this.#notices = new Notices(request.isVerbose, { kind: "stream", output: this.#lines }, request.isQuiet);
    this.#report = new ConnectionReport(this.#notices, processClock);
    const ask = request.ticket === undefined ? token.token : optionalToken(token);
    const { attachUrl } = request.endpoint;
    const stage = this.#report.stage.bind(this.#report);
    this.#connector = new Connector({ attachUrl, token: ask, ticket: request.ticket, stage });
    const position = resume?.resumeFrom(isInputTyped(), terminalStreams() !== undefined) ?? {};
    this.#repeatsInput = position.repeatsInput ?? false;
    this.#isIncomplete = resume?.earlier?.isIncomplete ?? false;
    this.#client = new StdioClient(
      {
        session: this.#session,
        ...defined({ firstAttempts: isOurs || run !== undefined ? undefined : FIRST_ATTEMPTS }),
        giveUpMs: (request.giveUp ?? Math.max(GIVE_UP_SECONDS, request.keep ?? 0)) * 1_000,
        bornAtMs: Date.now(),
        keepsKeys: request.keepsKeys === true,
        ...position,
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
        resize: (cols, rows) => this.#front?.resize?.(cols, rows),
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
    // Before the first attempt, so that a run killed during it does not start a second process next time.
    this.#resume?.begin(this.#session, this.#client, this.#output, (message) => this.#notices.say(message));
    this.#notices.detail(`session ${this.#session}`);
    const { withheld } = this.#token;
    if (withheld !== undefined && this.#request.ticket !== undefined)
      this.#notices.say(`attaching as a guest: ${withheld}`);
    this.#signals.listen();
    this.#client.start();
    this.#limitTime();
    let ending = await this.#endings.next();
    this.#isEnded = true;
    clearTimeout(this.#timer);
    if (ending.kind === "time") this.#client.leave();
    if (ending.kind === "client" || ending.kind === "time") {
      // A slow reader may still take the end of the output, go away, or be given up on.
      this.#front?.finish(ending.kind === "client" ? ending.end : undefined);
      await Promise.race([this.#output.flushed(), this.#endings.come()]);
      ending = this.#endings.take() ?? ending;
    }
    const outcome = await this.#finish(ending);
    this.#signals.close();
    return outcome;
  }

  #query(known: ReadonlyMap<string, string>): [string, string][] {
    const streams = this.#streams;
    const hasStarted = this.#isOurs || this.#resume?.earlier !== undefined;
    const query = attachQuery(
      this.#request,
      streams !== undefined,
      streams && sizeOf(streams.output),
      this.#env,
      hasStarted,
    );
    if (this.#run === undefined) return query;
    // Start no other process (A2b). Without an offset a terminal would begin with a snapshot (A9).
    const start: [string, string][] = known.has("offset") ? [] : [["offset", "0"]];
    return [...query, ...start, ["incarnation", this.#run.incarnation]];
  }

  /** The terminal, if a person types at it. */
  get #streams() {
    return this.#request.hasNoInput === true ? undefined : terminalStreams();
  }

  // ---- What happens --------------------------------------------------------------------------------------------

  #stateChanged(state: ClientState): void {
    this.#report.state(state);
    if (this.#front instanceof TerminalFront) {
      this.#front.participants.state(state);
      if (state.phase !== "attached") this.#front.disconnected();
    }
    if (state.phase === "attached") {
      if (this.#run !== undefined && state.hello.incarnation !== this.#run.incarnation) {
        this.#giveUp(CLOSE.notFound, LOST_REASON);
        return;
      }
      this.#people = participantsOf(state.hello);
      this.#greetings += 1;
      // The first client that attaches to the process of `run` counts as its creator, whoever started it.
      if (state.hello.creator === true && this.#run === undefined) this.#isOurs = true;
      if (this.#front === undefined) this.#begin(state.hello);
      else if (this.#front instanceof TerminalFront) this.#front.resumed();
      this.#signals.flush();
      this.#endInTime();
    } else if (state.phase === "ended" && !this.#isEnded) this.#endings.add({ kind: "client", end: state.end });
    else this.#endInTime();
  }

  #giveUp(code: number, reason: string): void {
    this.#endings.add({ kind: "client", end: { kind: "refused", code, reason } });
    this.#isEnded = true;
    this.#client.leave();
  }

  // ---- Time limit of `run` -----------------------------------------------------------------------------------------

  #limitTime(): void {
    const { waitMs } = this.#run ?? {};
    if (waitMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#isTimeOver = true;
      this.#endInTime();
    }, waitMs);
  }

  /** After the limit, prints the output that existed at the greeting, and does not wait for a lost connection. */
  #endInTime(): void {
    const { hello, state } = this.#client;
    if (!this.#isTimeOver || this.#isEnded) return;
    if (hello === undefined) {
      if (state.phase === "waiting") this.#giveUp(CLOSE.tryLater, state.reason);
    } else if (state.phase !== "attached" || this.#writtenTo >= hello.live || hello.live === hello.offset)
      this.#endings.add({ kind: "time" });
  }

  /** Chooses by the first greeting: only a PTY takes over the terminal. */
  #begin(hello: Hello): void {
    const [client, output, notices] = [this.#client, this.#output, this.#notices];
    const isViewer = hello.you.role === "viewer";
    const streams = hello.tty && this.#request.tty !== false ? this.#streams : undefined;
    if (this.#makeFront !== undefined) this.#front = this.#makeFront(output, hello);
    else if (streams === undefined) {
      // The input of `run` is sent at its start, or left to others.
      const isWithoutInput = isViewer || this.#run !== undefined;
      const input = isWithoutInput ? undefined : this.#request.hasNoInput === true ? noInput() : standardInput();
      const onInputCut = () => this.#incomplete();
      this.#front = new PipeFront({ client, output, notices, input, written: this.#resume?.written, onInputCut });
    } else {
      const onDetach = () => this.#endings.add({ kind: "detach" });
      const { hasStatus, escapes, prediction } = this.#request;
      this.#front = new TerminalFront({ client, output, notices, streams, hasStatus, escapes, prediction, onDetach });
    }
    this.#resume?.greeted(isInputTyped() ? "typed" : "piped");
    this.#front.start(this.#repeatsInput ? hello.stdin : 0);
    if (this.#front instanceof TerminalFront) this.#front.participants.state(client.state);
  }

  #gap(from: number, to: number): void {
    const length = to - from;
    this.#front?.gap(from, to);
    this.#missing += length;
    if (this.#run !== undefined) return;
    const { hello } = this.#client;
    const isLateComer = this.#greetings === 1 && this.#resume?.earlier?.resume === undefined;
    if (isLateComer && hello?.offset === to) {
      this.#notices.say(`the first ${length} bytes of output are no longer available`);
    } else if (this.#front instanceof PipeFront) {
      this.#incomplete();
      this.#notices.say(`${length} bytes of output were lost`);
    } else this.#notices.detail(`${length} bytes of output were skipped`);
  }

  #incomplete(): void {
    this.#isIncomplete = true;
    this.#resume?.incomplete();
  }

  #message(message: ServerMessage): void {
    if (this.#people !== undefined) this.#people = followParticipants(this.#people, message);
    if (this.#front instanceof TerminalFront) this.#front.participants.message(message);
    if (message.type === "echo" && this.#front instanceof TerminalFront) this.#front.echoes(message.on);
    else if (message.type === "error") this.#error(message);
    else if (message.type === "expiring") this.#expiring(message.seconds);
    else if (message.type === "stopping") this.#notices.say(stoppingWords(message.seconds));
    else if (message.type !== "secret") this.#notices.detail(`server message: ${safeJson(message)}`);
    // An earlier run asked for it; if it is unavailable, an error says so.
    else if (message.on) this.#notices.say(SECRET_ON);
  }

  #error(error: Extract<ServerMessage, { type: "error" }>): void {
    if (error.code === "stdin_closed") {
      this.#front?.inputClosed();
      this.#notices.detail(error.message);
      return;
    }
    // The next bytes of a pipeline would be refused as well.
    if (error.code === "not_stdin_holder" && this.#front instanceof PipeFront && !this.#mayType)
      this.#front.inputClosed();
    this.#notices.say(serverErrorMessage(error));
  }

  get #mayType(): boolean {
    return this.#people === undefined || mayType(this.#people);
  }

  #expiring(seconds: number): void {
    if (!this.#token.isRenewable || this.#request.ticket !== undefined) {
      this.#notices.say(expiryMessage(seconds, this.#request.ticket !== undefined));
      return;
    }
    renewInTime(
      this.#token,
      seconds,
      (token) => void (this.#isEnded || this.#client.send({ type: "auth", token })),
      (why) => this.#notices.say(why),
    );
  }

  /** In a terminal keys such as Ctrl+C arrive as bytes, so a signal is meant for this program. */
  #isForRemote(signal: string): boolean {
    if (this.#isEnded || this.#front instanceof TerminalFront) return false;
    // Before the greeting only `run` has started a process.
    if (this.#front === undefined && this.#run === undefined) return false;
    // A client must not end another person's process by leaving.
    if (!this.#isOurs && signal !== "SIGUSR1" && signal !== "SIGUSR2") return false;
    // With a resume file, a supervisor that ends this run must not end the process.
    const isPause = signal === "SIGTERM" || signal === "SIGHUP";
    return this.#resume === undefined || !isPause;
  }

  // ---- The end -------------------------------------------------------------------------------------------------

  async #finish(ending: Ending): Promise<Outcome> {
    switch (ending.kind) {
      case "client":
        return this.#finishClient(ending.end);
      case "detach":
        await this.#depart();
        await this.#say(`detached${this.#attachAgain}`);
        return exitWith(EXIT.ok);
      case "time":
        await this.#connector.closed(FAREWELL_MS);
        return this.#finishRun("running", EXIT.timeout);
      case "signal":
        this.#output.drop();
        await this.#depart();
        if (this.#run !== undefined) await this.#say(`the process may still be running, in session ${this.#session}`);
        // SIGINT comes from a person here, who needs no explanation.
        else if (ending.signal !== "SIGINT" && this.#isKnown && this.#greetings > 0 && this.#request.isQuiet !== true)
          await this.#say(`ended by ${ending.signal}${this.#attachAgain}`);
        return { kind: "signal", signal: ending.signal };
      case "broken": {
        await this.#depart();
        const { code, message } = ending.error;
        if (this.#run !== undefined) await this.#leaveUnread(this.#run);
        // A reader that stops early is normal, as for any program.
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
      if (this.#client.resumePoint !== undefined) this.#resume?.file.save();
      const isKnown = this.#front !== undefined || this.#run !== undefined;
      const session = isKnown ? this.#session : undefined;
      const hasPosition = session !== undefined || this.#resume?.earlier?.resume !== undefined;
      const file = hasPosition ? this.#request.resumeFile : undefined;
      const server = this.#request.endpoint.httpBase;
      await this.#say(refusalMessage(end, server, this.#request.ticket !== undefined, session, file));
      return exitWith(startFailureCode(end.reason) ?? EXIT.failed);
    }
    if (end.kind === "left") {
      this.#resume?.file.remove();
      return exitWith(EXIT.ok);
    }
    this.#resume?.file.save();
    this.#notices.detail(`the process ended: ${end.signal ?? `code ${end.code}`}`);
    await within(FAREWELL_MS, this.#lines.flushed());
    // Last: if this run is killed before, the next one receives the exit again.
    this.#resume?.file.remove();
    // Lost data must not pass for success.
    return exitWith(end.code === 0 && this.#isIncomplete ? EXIT.failed : end.code);
  }

  /** Keeps the process's exit code even if output is missing. */
  async #finishRun(state: State, code: number): Promise<Outcome> {
    const missing = this.#missing;
    if (missing > 0) await this.#say(`${missing} bytes of output were discarded before they could be read`);
    if (state === "running") await this.#say(`the process is still running, in session ${this.#session}`);
    if (state === "lost") await this.#say("the process was lost");
    return exitWith(code);
  }

  /** Ends an unread process that nobody else uses, as SIGPIPE would. */
  async #leaveUnread({ end }: RunOptions): Promise<void> {
    if (await end?.()) return;
    await this.#say(
      `${end === undefined ? "the process is still running" : "the process may still be running"}, in session ${this.#session}`,
    );
  }

  /** Leaves the session. Its process ends if no client could find it again: neither by a known name nor by a resume file. */
  async #depart(): Promise<void> {
    if (this.#resume !== undefined) this.#client.suspend();
    else {
      if (!this.#isKnown) this.#client.send({ type: "kill" });
      this.#client.leave();
    }
    await within(FAREWELL_MS, this.#output.flushed());
    this.#giveBack(true);
    if (this.#client.resumePoint !== undefined) this.#resume?.file.save();
    await this.#connector.closed(FAREWELL_MS);
  }

  /** Whether a person knows the session's name, or can be told it. */
  get #isKnown(): boolean {
    return this.#request.session !== undefined || this.#run !== undefined || this.#front instanceof TerminalFront;
  }

  /** The notice's end with the command that attaches again. */
  get #attachAgain(): string {
    const { endpoint, sandbox, role, ticket, ticketFrom, resumeFile } = this.#request;
    const words = ["sbx-stdio", endpoint.typed, "--sandbox", sandbox, "--session", this.#session];
    if (role === "viewer") words.push("--role", role);
    if (ticketFrom?.from === "file") words.push("--ticket-file", ticketFrom.path);
    else if (ticket !== undefined) words.push("--ticket", ticketFrom === undefined ? ticket : "-");
    if (resumeFile !== undefined) words.push("--resume-file", resumeFile);
    return `; attach again with: ${words.map(quote).join(" ")}`;
  }

  #giveBack(isSudden: boolean): void {
    this.#front?.close(isSudden);
    this.#notices.aim({ kind: "stream", output: this.#lines });
  }

  /** Prints the final notice. */
  async #say(text: string): Promise<void> {
    this.#notices.last(text);
    await within(FAREWELL_MS, this.#lines.flushed());
  }
}
