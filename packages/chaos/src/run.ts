// A run: sessions side by side, connections that break as the seed says, Durable Objects that are restarted, until there
// have been enough cuts; then the sessions come to their end.

import { Random } from "../../local/src/base/random.ts";
import { describeDamage } from "./checker.ts";
import { CommandRun } from "./command-run.ts";
import { dial } from "./dial.ts";
import { DEFAULT_PROFILE, type FaultProfile, OPEN_PLAN, planConnection } from "./faults.ts";
import type { Ground, HopOptions } from "./ground.ts";
import { Guest } from "./guest.ts";
import { Calls } from "./programs/calls.ts";
import { Report } from "./programs/report.ts";
import { planSession } from "./session-plan.ts";
import { type Clock, clockOf, type SessionOutcome, type SessionPlan, SessionRun } from "./session-run.ts";
import { type Hop, Tally } from "./tally.ts";
import { typeByCalls } from "./typist.ts";
import type { Work } from "./work.ts";

export type RunOptions = {
  readonly seed: number;
  /** Connections to break, over both hops. */
  readonly cuts: number;
  /** Durable Objects to abort meanwhile, and kills of the whole Worker, as far as the ground can do that. */
  readonly aborts: number;
  readonly kills: number;
  /** Kills of the bridge, with which all processes are lost. */
  readonly losses: number;
  /** Times that a client is given up and made anew from its resume point. */
  readonly reloads: number;
  /** Sessions side by side. */
  readonly parallel: number;
  /** How much faster than the real one the clocks of clients and Worker are. */
  readonly speed: number;
  /** Bytes that one session moves, about. */
  readonly sessionBytes: number;
  /** The longest that it may take in all, and that a session may stand still, in real ms. */
  readonly limitMs: number;
  readonly stuckMs: number;
  /** How long a session's pauses are, in which it may be parked, in real ms; 0: it has none. */
  readonly pauseMs: number;
  /** As of {@link Wishes}. */
  readonly isMixed: boolean;
  readonly profile?: FaultProfile;
  /** The command line of another client, instead of ours. */
  readonly client?: string | undefined;
  readonly log: (line: string) => void;
  /** Told what the clients of whole sessions have seen, as steps of the model. */
  readonly traced?: ((seen: Seen) => void) | undefined;
};

/** A session's steps, in bytes of its output. */
export type Seen = { readonly output: number; readonly input: number; readonly steps: readonly string[] };

const PROGRESS_MS = 5_000;
const EVICT_MS = 40;
const CALL_MS = 3_000;
const SANDBOX = "chaos";
/** Sessions that fail, after which more of them say nothing new: a server may refuse them all, as fast as it can. */
const ENOUGH_FAILURES = 20;

/** Who is at a session beside its client. */
type Others = { guest?: Guest; typing?: Promise<void>; readonly wrong: string[] };

export class Run {
  readonly tally = new Tally();
  readonly #options: RunOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #live = new Map<string, SessionRun | CommandRun>();
  /** Sessions whose connections are left alone from now on. */
  readonly #spared = new Set<string>();
  #started = 0;
  #failures = 0;
  #isGivenUp = false;
  #isEvicting = false;
  /** Restarts follow one another. */
  #acts: Promise<void> = Promise.resolve();
  #ground: Ground | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#clock = clockOf(options.speed);
    this.#random = new Random(options.seed, "run");
  }

  /** The orders for the proxy of a hop. */
  hop(hop: Hop): HopOptions {
    const { seed, profile = DEFAULT_PROFILE } = this.#options;
    return {
      seed,
      plan: (label, n) => {
        if (this.#isDone || this.#spared.has(label)) return OPEN_PLAN;
        return planConnection(new Random(seed, `${hop} ${label} ${n}`), profile);
      },
      mayBreak: (kind, label) => {
        if (this.#isDone || this.#spared.has(label)) return false;
        this.tally.cut(hop, kind);
        this.#restartSome();
        return true;
      },
      onTwin: () => {
        this.tally.twins[hop] += 1;
      },
    };
  }

  /** Runs it to its end. @returns Whether all was well, and all cuts were made. */
  async on(ground: Ground): Promise<boolean> {
    this.#ground = ground;
    const progress = setInterval(() => this.#options.log(this.#progress()), PROGRESS_MS);
    void ground.failed?.then((why) => this.giveUp(why));
    const evictions = setInterval(() => void this.#evict(ground), EVICT_MS);
    const limit = setTimeout(() => this.giveUp("the run has taken too long"), this.#options.limitMs);
    await Promise.all(Array.from({ length: this.#options.parallel }, () => this.#runSessions(ground)));
    await this.#acts;
    clearInterval(progress);
    clearInterval(evictions);
    clearTimeout(limit);
    return this.tally.isGood && this.#isDone;
  }

  /** Ends it early, as a failure. */
  giveUp(why: string): void {
    this.#isGivenUp = true;
    for (const run of this.#live.values()) run.giveUp(why);
  }

  get #isDone(): boolean {
    return this.tally.cuts >= this.#options.cuts;
  }

  async #runSessions(ground: Ground): Promise<void> {
    while (!this.#isGivenUp && (!this.#isDone || this.#started < this.#options.parallel)) {
      const outcome = await this.#runSession(ground);
      this.tally.add(outcome);
      const problems = problemsOf(outcome);
      for (const problem of problems) this.#options.log(`! session ${outcome.session}: ${problem}`);
      if (problems.length > 0) this.#failures += 1;
      if (this.#failures >= ENOUGH_FAILURES) this.giveUp(`${this.#failures} sessions have failed`);
    }
  }

  async #runSession(ground: Ground): Promise<SessionOutcome> {
    const { seed, sessionBytes: bytes, stuckMs, pauseMs, isMixed, client } = this.#options;
    const session = `s${seed}-${this.#started++}`;
    const random = new Random(seed, session);
    const plan = planSession(session, random, { bytes, pauseMs, isMixed });
    const common = {
      random,
      sandbox: SANDBOX,
      program: (work: Work, tty: boolean) => ground.program(work, tty),
      stuckMs,
      spare: (where: string) => {
        this.#options.log(`session ${session} is left alone: nothing has moved for long, ${where}`);
        this.#spared.add(session);
        this.tally.spared += 1;
      },
    };
    const others: Others = { wrong: [] };
    const steps: string[] = [];
    const run =
      client === undefined
        ? new SessionRun(plan, {
            ...common,
            clock: this.#clock,
            dial: (params, events) => dial(ground, params, events),
            noted: (step) => void steps.push(step),
            attached: () => this.#joinOthers(plan, ground, random, others),
          })
        : new CommandRun(plan, { ...common, command: client, proxyPort: ground.proxyPort, token: ground.token });
    this.#live.set(session, run);
    try {
      const outcome = await run.run();
      await others.typing;
      this.#trace(plan, outcome, steps);
      return { ...outcome, problems: [...outcome.problems, ...others.wrong] };
    } finally {
      this.#live.delete(session);
      others.guest?.stop();
      this.tally.guests += others.guest?.shown ?? 0;
    }
  }

  /** The model has no gaps and no viewers; the length of a report on input is not known. */
  #trace({ work, guest }: SessionPlan, { gaps, isLost }: SessionOutcome, steps: readonly string[]): void {
    const { input, outputBytes: output, inputBytes } = work;
    const isModelled = (input === "none" || input === "go") && gaps.length === 0 && guest === undefined;
    if (isModelled && isLost !== true) this.#options.traced?.({ output, input: inputBytes, steps });
  }

  /** Starts the guest and the program that share a session with its client, once its process runs. */
  #joinOthers(plan: SessionPlan, ground: Ground, random: Random, others: Others): void {
    const { session, work, guest: dialect, isCalled } = plan;
    const at = { sandbox: SANDBOX, session, work };
    const wrong = (what: string) => void others.wrong.push(what);
    if (dialect !== undefined) {
      others.guest = new Guest({ ...at, dialect, route: ground, wrong });
      others.guest.connect();
    }
    if (isCalled !== true || ground.scratch === undefined) return;
    const base = new URL(`http://localhost:${ground.proxyPort}`);
    const calls = new Calls({ base, tokens: [ground.token], report: new Report(), attemptMs: CALL_MS });
    const typed = typeByCalls({
      ...at,
      calls,
      scratch: ground.scratch,
      random: new Random(random.int(0, 1e9), session),
      moved: () => {
        const run = this.#live.get(session);
        if (run instanceof SessionRun) run.moved();
      },
    });
    others.typing = typed.then(
      () => {
        this.tally.called += 1;
      },
      (error: Error) => {
        const run = this.#live.get(session);
        if (run instanceof SessionRun && run.mayBeLost) return;
        wrong(error.message);
        run?.giveUp("its input was not typed");
      },
    );
  }

  /** Called at each cut: restarts are spread evenly over them. */
  #restartSome(): void {
    const { cuts, aborts, kills, losses, reloads } = this.#options;
    // Not at the last cut: sessions that end with a killed bridge show little.
    const due = (count: number, made: number) => Math.floor((made * count) / cuts + 0.5);
    const isTimeFor = (count: number) => due(count, this.tally.cuts) > due(count, this.tally.cuts - 1);
    if (isTimeFor(aborts)) this.#then((ground) => this.#abort(ground));
    if (isTimeFor(kills)) this.#then((ground) => this.#kill(ground));
    if (isTimeFor(losses)) this.#then((ground) => this.#lose(ground));
    if (!isTimeFor(reloads)) return;
    const run = this.#pickLive();
    if (run instanceof SessionRun) run.reload();
  }

  #then(act: (ground: Ground) => Promise<void>): void {
    const ground = this.#ground;
    if (ground !== undefined) this.#acts = this.#acts.then(() => act(ground));
  }

  async #abort(ground: Ground): Promise<void> {
    const run = this.#pickLive();
    if (run === undefined || ground.abort === undefined) return;
    if (await ground.abort(SANDBOX, run.plan.session)) this.tally.aborts += 1;
  }

  /** One of the sessions, if it is parked just now. */
  async #evict({ evict }: Ground): Promise<void> {
    const run = this.#pickLive(({ work }) => work.pause !== undefined);
    if (run === undefined || evict === undefined || this.#isEvicting) return;
    this.#isEvicting = true;
    try {
      if (await evict(SANDBOX, run.plan.session)) this.tally.evictions += 1;
    } catch {
      // The Worker is being restarted.
    } finally {
      this.#isEvicting = false;
    }
  }

  async #kill(ground: Ground): Promise<void> {
    if (ground.kill === undefined || this.#live.size === 0) return;
    this.#options.log("killing the Worker");
    await ground.kill("Worker");
    this.tally.kills += 1;
  }

  async #lose(ground: Ground): Promise<void> {
    if (ground.kill === undefined || this.#live.size === 0) return;
    this.#options.log("killing the bridge");
    const mayBeLost = () => {
      for (const run of this.#live.values()) if (run instanceof SessionRun) run.mayBeLost = true;
    };
    mayBeLost();
    await ground.kill("bridge");
    // One that has begun meanwhile may have asked the old one.
    mayBeLost();
    this.tally.losses += 1;
  }

  #pickLive(isWanted: (plan: SessionPlan) => boolean = () => true): SessionRun | CommandRun | undefined {
    const runs = [...this.#live.values()].filter(({ plan }) => !this.#spared.has(plan.session) && isWanted(plan));
    return runs[this.#random.int(0, Math.max(0, runs.length - 1))];
  }

  #progress(): string {
    const { cuts, aborts, kills, outcomes } = this.tally;
    const bytes = { ...this.tally.bytes };
    for (const run of this.#live.values()) {
      bytes.out += run.bytes.out;
      bytes.in += run.bytes.in;
    }
    const { lost, doubled, reordered } = this.tally.damage;
    const megabytes = (count: number) => (count / 1e6).toFixed(1);
    return (
      `${cuts} of ${this.#options.cuts} cuts, ${aborts + kills} restarts, ${outcomes.length} sessions done, ` +
      `${megabytes(bytes.out)} MB out, ${megabytes(bytes.in)} MB in, ` +
      `lost ${lost}, doubled ${doubled}, reordered ${reordered}`
    );
  }
}

const SHOWN = 5;

function problemsOf({ problems, damages }: SessionOutcome): string[] {
  const lines = [...problems, ...damages.map((damage) => `${damage.stream}: ${describeDamage(damage)}`)];
  if (lines.length <= SHOWN) return lines;
  return [...lines.slice(0, SHOWN), `… and ${lines.length - SHOWN} more`];
}
