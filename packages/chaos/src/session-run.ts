// One session of a run: a process far away that writes and reads f(n), the real client in front of it, and the checkers.
// Knows no proxy: faults on the way are none of its business.

import { createHash } from "node:crypto";
import {
  attachParams,
  CLOSE,
  type ClientEnd,
  type ClientSocket,
  type ClientSocketEvents,
  type ClientState,
  type Delivery,
  MAX_KEPT_INPUT_BYTES,
  type OutputStream,
  RESUME_GRACE_MS,
  STREAM_STDERR,
  StdioClient,
} from "sandbox-stdio/core";
import type { Random } from "../../local/src/base/random.ts";
import { type Damage, StreamChecker } from "./checker.ts";
import type { GuestDialect } from "./guest.ts";
import { patternBytes } from "./pattern.ts";
import { type InputReport, keyOf, lengthsOf, type Work } from "./work.ts";

export type SessionPlan = {
  readonly session: string;
  readonly tty: boolean;
  readonly delivery: Delivery;
  readonly work: Work;
  /** How long the client takes to deal with output at most; 0: none. */
  readonly lagMs: number;
  /** Whether a program types its input by calls. The client ends it when all of it has come back. */
  readonly isCalled?: boolean;
  /** How another client looks on. */
  readonly guest?: GuestDialect;
};

export type SessionPorts = {
  readonly clock: Clock;
  readonly random: Random;
  readonly sandbox: string;
  /** The command line that does this work. */
  readonly program: (work: Work, tty: boolean) => { readonly cmd: string; readonly args: readonly string[] };
  readonly dial: (params: Iterable<readonly [string, string]>, events: ClientSocketEvents) => ClientSocket;
  /**
   * Without a byte in either direction for so long, in real ms, its connections are left alone: so many may have been broken in
   * turn that none got far. Without one for as long again, it counts as stuck.
   */
  readonly stuckMs: number;
  readonly spare: (where: string) => void;
  /** Called once the process runs. */
  readonly attached: () => void;
  /** Told of each step of the client and its program, with how far it got: see test/model of sandbox-stdio. */
  readonly noted: (step: string) => void;
};

export type SessionOutcome = {
  readonly session: string;
  /** The faults beyond damage; none if all is well. */
  readonly problems: readonly string[];
  readonly damages: readonly (Damage & { readonly stream: "stdin" | "stdout" | "stderr" })[];
  readonly bytesOut: number;
  readonly bytesIn: number;
  /** Gaps that a live session rightly announced to a client that had been away for longer than its grace. */
  readonly gaps: readonly { readonly from: number; readonly to: number }[];
  /** Times that the client came back to the process. */
  readonly resumes: number;
  /** Times that the client itself was given up and made anew from its resume point. */
  readonly reloads: number;
  /** The process was killed with its bridge, and the client was told. */
  readonly isLost?: boolean;
};

type Output = { readonly stream: OutputStream; readonly bytes: Uint8Array; readonly end: number };

const MAX_INPUT_PIECE_BYTES = 48 * 1024;
/** The server may have lost sight of a client before the client's last output came. */
const SLACK_MS = 5_000;

export class SessionRun {
  readonly plan: SessionPlan;
  readonly #ports: SessionPorts;
  readonly #stdout: StreamChecker;
  readonly #stderr: StreamChecker;
  readonly #lengths: { readonly stdout: number; readonly stderr: number };
  readonly #inputHash = createHash("sha256");
  #report = "";
  #client: StdioClient;
  #isFed = false;
  #inputAt = 0;
  #hashedInput = 0;
  #unprocessed: Output[] = [];
  #isDealing = false;
  /** The log's offset after the last output that was processed. */
  #logAt = 0;
  #incarnation: string | undefined;
  #problems: string[] = [];
  #gaps: { readonly from: number; readonly to: number }[] = [];
  /** When output came last, by the clients' clock. */
  #outputAtMs: number;
  #resumes = 0;
  #reloads = 0;
  #progressAtMs = performance.now();
  #isSpared = false;
  #watch: NodeJS.Timeout | undefined;
  /** Whether its process may have been killed. */
  mayBeLost = false;
  #isLost = false;
  #settle: (outcome: SessionOutcome) => void = () => undefined;
  #isOver = false;

  constructor(plan: SessionPlan, ports: SessionPorts) {
    this.plan = plan;
    this.#ports = ports;
    this.#stdout = new StreamChecker(keyOf(plan.work.seed, plan.work.input === "echo" ? "stdin" : "stdout"));
    this.#stderr = new StreamChecker(keyOf(plan.work.seed, "stderr"));
    this.#lengths = lengthsOf(plan.work);
    this.#client = this.#makeClient(undefined);
    this.#outputAtMs = ports.clock.now();
  }

  /** Runs it to its end. Never rejects. */
  run(): Promise<SessionOutcome> {
    this.#watch = setInterval(() => this.#lookForProgress(), 1_000);
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#client.start();
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Bytes of processed output, and of input that the process has taken. */
  get bytes(): { readonly out: number; readonly in: number } {
    return { out: this.#stdout.received + this.#stderr.received, in: this.#inputAt - this.#client.unackedInput };
  }

  /** Gives the client up and makes another from its resume point, as a program that was restarted would. */
  reload(): void {
    const point = this.#client.resumePoint;
    if (this.#isOver || point === undefined) return;
    this.#reloads += 1;
    this.#ports.noted("dies");
    this.#unprocessed = [];
    this.#isFed = false;
    const old = this.#client;
    this.#client = this.#makeClient(point);
    old.suspend();
    this.#client.start();
  }

  /** Something has come of those who are at it beside its client. */
  moved(): void {
    this.#progressAtMs = performance.now();
  }

  /** Ends it as a failure. */
  giveUp(why: string): void {
    if (this.#isOver) return;
    this.#problems.push(why);
    this.#finish();
  }

  // ---- The client ----------------------------------------------------------------------------------------------

  #makeClient(point: { resume: string; offset: number } | undefined): StdioClient {
    const { clock, random, dial } = this.#ports;
    const isCurrent = () => client === this.#client && !this.#isOver;
    const client: StdioClient = new StdioClient(
      { session: this.plan.session, bornAtMs: Date.now(), ...point },
      {
        connect: (resume, events) => {
          this.#ports.noted("connects");
          return dial(this.#params(resume), events);
        },
        now: () => clock.now(),
        setTimer: (ms, callback) => clock.setTimer(ms, callback),
        random: () => random.next(),
      },
      {
        state: (state) => isCurrent() && this.#stateChanged(state),
        output: (stream, bytes, end) => isCurrent() && this.#received({ stream, bytes, end }),
        snapshot: (_bytes, offset) => client.processed(offset),
        resize: () => undefined,
        gap: (from, to) => isCurrent() && this.#missed(from, to),
        message: (message) => {
          if (!isCurrent() || message.type !== "error") return;
          // An end of input, while an earlier connection of this client still counts as another driver: it is told again.
          // And input sent again to a session that has ended. The process itself reports the bytes that it has really read.
          if (message.code === "not_stdin_holder" || message.code === "stdin_closed") return;
          this.#problems.push(`error ${message.code}: ${message.message}`);
        },
        discarded: () => undefined,
        inputDrained: () => isCurrent() && this.#feed(),
      },
    );
    return client;
  }

  #params(resume: ReadonlyMap<string, string>): [string, string][] {
    const { sandbox } = this.#ports;
    // Without an offset a PTY's client is shown the screen; this one counts bytes, from the first on.
    const known: [string, string][] = resume.has("offset") ? [...resume] : [["offset", "0"], ...resume];
    const { work, tty, delivery } = this.plan;
    const wish = { sandbox, delivery, keeps: MAX_KEPT_INPUT_BYTES };
    if (resume.has("resume")) return [...attachParams(wish), ...known];
    const process = { ...this.#ports.program(work, tty), tty, delivery };
    return [...attachParams({ ...wish, process }), ...known];
  }

  #stateChanged(state: ClientState): void {
    if (state.phase === "attached") {
      const { hello } = state;
      this.#ports.noted(`greeted ${hello.offset}`);
      this.#ports.noted(`settled ${hello.stdin}`);
      if (this.#incarnation !== undefined) this.#resumes += 1;
      if (this.#incarnation === undefined) this.#ports.attached();
      this.#incarnation ??= hello.incarnation;
      if (hello.incarnation !== this.#incarnation) this.giveUp("the process was replaced by another");
      // A change of size is in the log too, and cuts frames in two.
      const { random } = this.#ports;
      if (this.plan.tty && random.chance(0.5)) this.#client.resize(random.int(1, 300), random.int(1, 100));
      if (!this.#isFed) {
        this.#isFed = true;
        this.#inputAt = hello.stdin;
        this.#feed();
      }
    } else if (state.phase === "ended") this.#ended(state.end);
  }

  #ended(end: ClientEnd): void {
    this.#isLost = this.mayBeLost && end.kind === "refused" && end.code === CLOSE.notFound;
    if (end.kind === "refused" && !this.#isLost) this.#problems.push(`refused with ${end.code}: ${end.reason}`);
    else if (end.kind === "exit" && end.code !== 0) this.#problems.push(`the process ended with ${end.code}`);
    this.#deal();
    this.#ports.noted("hears exit");
    this.#finish();
  }

  // ---- Output --------------------------------------------------------------------------------------------------

  #received(output: Output): void {
    this.#outputAtMs = this.#ports.clock.now();
    this.#unprocessed.push(output);
    this.#ports.noted(`hears ${output.end}`);
    if (this.plan.lagMs === 0) this.#deal();
    else if (!this.#isDealing) {
      this.#isDealing = true;
      setTimeout(() => {
        this.#isDealing = false;
        this.#deal();
      }, this.#ports.random.next() * this.plan.lagMs);
    }
  }

  #deal(): void {
    const outputs = this.#unprocessed;
    this.#unprocessed = [];
    for (const { stream, bytes, end } of outputs) {
      if (end - bytes.length !== this.#logAt) {
        this.#problems.push(`output at log offset ${end - bytes.length} came after ${this.#logAt}`);
      }
      this.#logAt = end;
      if (stream === STREAM_STDERR) this.#takeStderr(bytes);
      else this.#stdout.push(bytes);
      this.#progressAtMs = performance.now();
      this.#ports.noted(`processes ${end}`);
    }
    if (outputs.length === 0 || this.#isOver) return;
    this.#client.processed(this.#logAt);
    const { isCalled = false, work } = this.plan;
    if (isCalled || (work.input === "go" && this.#inputAt === 0)) this.#feed();
  }

  /** The pattern first, then the report. */
  #takeStderr(bytes: Uint8Array): void {
    const patternLeft = this.#lengths.stderr - this.#stderr.received;
    const pattern = bytes.subarray(0, Math.max(0, patternLeft));
    this.#stderr.push(pattern);
    this.#report += Buffer.from(bytes.subarray(pattern.length)).toString("latin1");
  }

  #missed(from: number, to: number): void {
    this.#deal();
    this.#logAt = to;
    const awayMs = this.#ports.clock.now() - this.#outputAtMs;
    // Whose grace has passed is not waited for in a live session, nor where another client is (W8); of one stream the output is the log.
    const { delivery, tty, guest } = this.plan;
    const isExcused = (delivery === "live" && tty) || guest !== undefined;
    if (isExcused && awayMs >= RESUME_GRACE_MS - SLACK_MS) {
      this.#gaps.push({ from, to });
      this.#stdout.skipTo(to);
    } else {
      this.#problems.push(`a gap of ${to - from} bytes was announced at log offset ${from}, away for ${awayMs} ms`);
    }
  }

  // ---- Input ---------------------------------------------------------------------------------------------------

  #feed(): void {
    const { work } = this.plan;
    if (work.input === "none") return;
    if (this.plan.isCalled === true) {
      if (this.#logAt >= work.inputBytes) this.#client.endInput();
      return;
    }
    // A terminal that has not been told to be raw yet would show it, or take it for a signal.
    if (work.input === "go" && this.#stdout.received === 0) return;
    this.#progressAtMs = performance.now();
    const key = keyOf(work.seed, "stdin");
    for (let hasRoom = true; hasRoom && this.#inputAt < work.inputBytes; ) {
      const length = Math.min(work.inputBytes - this.#inputAt, this.#ports.random.scale(1, MAX_INPUT_PIECE_BYTES));
      const bytes = patternBytes(this.#inputAt, this.#inputAt + length, key);
      if (work.input === "go") this.#ports.noted(`types ${this.#inputAt}`);
      // A client that was made anew begins where the process is: some of this has been counted before.
      this.#inputAt += length;
      if (this.#inputAt > this.#hashedInput) {
        this.#inputHash.update(bytes.subarray(bytes.length - Math.min(length, this.#inputAt - this.#hashedInput)));
        this.#hashedInput = this.#inputAt;
      }
      hasRoom = this.#client.write(bytes);
    }
    // On a terminal the end of input would be typed, and what waits for one byte reads no more.
    if (this.#inputAt >= work.inputBytes && work.input !== "go") this.#client.endInput();
  }

  // ---- The end -------------------------------------------------------------------------------------------------

  #lookForProgress(): void {
    const seconds = (performance.now() - this.#progressAtMs) / 1000;
    if (seconds * 1000 < this.#ports.stuckMs) return;
    if (!this.#isSpared) {
      this.#isSpared = true;
      this.#progressAtMs = performance.now();
      this.#ports.spare(this.#where);
      return;
    }
    this.giveUp(`stuck: nothing moved for ${Math.round(seconds)} s, ${this.#where}`);
  }

  get #where(): string {
    const { state, unackedInput, hello } = this.#client;
    const { out, in: taken } = this.bytes;
    const { phase } = state;
    const detail = phase === "waiting" ? `waiting (${state.reason}, attempt ${state.attempt})` : phase;
    return `client ${detail}, ${out} bytes out, ${taken} in, ${unackedInput} not acknowledged, hello at ${hello?.offset}`;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#deal();
    this.#isOver = true;
    clearInterval(this.#watch);
    this.#client.suspend();
    const bytes = this.bytes;
    this.#settle({
      session: this.plan.session,
      damages: [
        ...this.#endOf(this.#stdout, "stdout").map((damage) => ({ ...damage, stream: "stdout" as const })),
        ...this.#endOf(this.#stderr, "stderr").map((damage) => ({ ...damage, stream: "stderr" as const })),
        ...this.#inputDamages(),
      ],
      problems: this.#problems,
      isLost: this.#isLost,
      bytesOut: bytes.out,
      bytesIn: bytes.in,
      gaps: this.#gaps,
      resumes: this.#resumes,
      reloads: this.#reloads,
    });
  }

  /** What a lost process has still written is lost with it. What came may not be doubled, nor out of order. */
  #endOf(checker: StreamChecker, stream: "stdout" | "stderr"): readonly Damage[] {
    return checker.finish(this.#isLost ? checker.received : this.#lengths[stream]);
  }

  #inputDamages(): (Damage & { readonly stream: "stdin" })[] {
    const { input } = this.plan.work;
    if (input === "none" || input === "go" || this.#isLost) return [];
    let report: InputReport;
    try {
      report = JSON.parse(this.#report) as InputReport;
    } catch {
      this.#problems.push(`the process's report can't be read: ${JSON.stringify(this.#report.slice(0, 200))}`);
      return [];
    }
    const hash = this.plan.isCalled === true ? report.sha256 : this.#inputHash.digest("hex");
    if (report.damages.length === 0 && report.sha256 !== hash) {
      this.#problems.push("the process has read something else than was written");
    }
    return report.damages.map((damage) => ({ ...damage, stream: "stdin" as const }));
  }
}

export type Clock = {
  /** Milliseconds of this clock; never goes back. */
  now(): number;
  /** Calls back once, after so many ms of this clock. The result cancels it. */
  setTimer(ms: number, callback: () => void): () => void;
};

/** @param speed How many of its seconds pass in a real one. */
export function clockOf(speed: number): Clock {
  return {
    now: () => performance.now() * speed,
    setTimer: (ms, callback) => {
      const timer = setTimeout(callback, ms / speed);
      return () => clearTimeout(timer);
    },
  };
}
