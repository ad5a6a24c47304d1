// A run: sessions side by side, connections that break as the seed says, Durable Objects that are restarted, until there
// have been enough cuts; then the sessions come to their end.

import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { CLOSE, type ClientSocket, type ClientSocketEvents, OUTER_PROTOCOL } from "sandbox-stdio/core";
import WebSocket from "ws";
import { Random } from "../../local/src/base/random.ts";
import { describeDamage } from "./checker.ts";
import { CommandRun } from "./command-run.ts";
import { DEFAULT_PROFILE, type FaultProfile, OPEN_PLAN, planConnection } from "./faults.ts";
import type { Ground, HopOptions } from "./ground.ts";
import { type Clock, clockOf, type SessionOutcome, type SessionPlan, SessionRun } from "./session-run.ts";
import { type Hop, Tally } from "./tally.ts";
import { chunksOf, type Work } from "./work.ts";

export type RunOptions = {
  readonly seed: number;
  /** Connections to break, over both hops. */
  readonly cuts: number;
  /** Durable Objects to abort meanwhile, and kills of the whole Worker, as far as the ground can do that. */
  readonly aborts: number;
  readonly kills: number;
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
  readonly profile?: FaultProfile;
  /** The command line of another client, instead of ours. */
  readonly client?: string | undefined;
  readonly log: (line: string) => void;
};

const PROGRESS_MS = 5_000;
const EVICT_MS = 40;
const SANDBOX = "chaos";
/** Sessions that fail, after which more of them say nothing new: a server may refuse them all, as fast as it can. */
const ENOUGH_FAILURES = 20;

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
    const { seed, sessionBytes, stuckMs, pauseMs, client } = this.#options;
    const session = `s${seed}-${this.#started++}`;
    const random = new Random(seed, session);
    const plan = planSession(session, random, sessionBytes, pauseMs);
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
    const run =
      client === undefined
        ? new SessionRun(plan, {
            ...common,
            clock: this.#clock,
            dial: (params, events) => dial(ground, params, events),
          })
        : new CommandRun(plan, { ...common, command: client, proxyPort: ground.proxyPort, token: ground.token });
    this.#live.set(session, run);
    try {
      return await run.run();
    } finally {
      this.#live.delete(session);
    }
  }

  /** Called at each cut: restarts are spread evenly over them. */
  #restartSome(): void {
    const { cuts, aborts, kills, reloads } = this.#options;
    const isTimeFor = (count: number) =>
      Math.floor((this.tally.cuts * count) / cuts) > Math.floor(((this.tally.cuts - 1) * count) / cuts);
    if (isTimeFor(aborts)) this.#then((ground) => this.#abort(ground));
    if (isTimeFor(kills)) this.#then((ground) => this.#kill(ground));
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
    const run = this.#pickLive();
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
    await ground.kill();
    this.tally.kills += 1;
  }

  #pickLive(): SessionRun | CommandRun | undefined {
    const runs = [...this.#live.values()].filter(({ plan }) => !this.#spared.has(plan.session));
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

type Mode = "terminal" | "streams" | "echo" | "both";

/** How many pauses a session has, about, where sessions are to be parked. */
const PAUSES = 60;

/** @param bytes About how many it moves. @param pauseMs How long its pauses are, in which it may be parked; 0: it has none. */
function planSession(session: string, random: Random, bytes: number, pauseMs = 0): SessionPlan {
  const mode = random.weighted<Mode>([
    ["terminal", 3],
    ["streams", 2],
    ["echo", 3],
    ["both", 3],
  ]);
  const length = () => random.int(Math.round(bytes / 2), Math.round(bytes * 1.5));
  const base = { seed: random.int(0, 0xffff_ffff), chunkBytes: random.scale(64, 65_536) };
  const lagMs = random.chance(0.3) ? random.scale(1, 30) : 0;
  // So slow that most breaks find it idle.
  const rate = random.chance(0.2) ? { bytesPerSecond: random.scale(100_000, 1_000_000) } : {};
  const work = (rest: Pick<Work, "outputBytes" | "stderrShare" | "input" | "inputBytes">): Work => {
    const all = { ...base, ...rate, ...rest };
    if (pauseMs === 0) return all;
    const chunks = Math.ceil([...chunksOf(all)].length / PAUSES);
    return { ...all, pause: { chunks: Math.max(1, chunks), ms: pauseMs } };
  };
  switch (mode) {
    case "terminal":
      return {
        session,
        tty: true,
        // A client that is alone paces its process either way. But no process waits for one of a live session that has not yet
        // said a word: so it says one at the beginning.
        delivery: random.chance(0.5) ? "live" : "lossless",
        work: work({ outputBytes: length(), stderrShare: 0, input: "go", inputBytes: 1 }),
        lagMs,
      };
    case "streams":
      return {
        session,
        tty: false,
        delivery: "lossless",
        work: work({ outputBytes: length(), stderrShare: random.next(), input: "none", inputBytes: 0 }),
        lagMs,
      };
    case "echo":
      return {
        session,
        tty: false,
        delivery: "lossless",
        work: work({ outputBytes: 0, stderrShare: 0, input: "echo", inputBytes: Math.round(length() / 2) }),
        lagMs,
      };
    case "both":
      return {
        session,
        tty: false,
        delivery: "lossless",
        work: work({
          outputBytes: Math.round(length() / 2),
          stderrShare: random.next() / 2,
          input: "check",
          inputBytes: Math.round(length() / 2),
        }),
        lagMs,
      };
  }
}

const HANDSHAKE_TIMEOUT_MS = 20_000;
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** The most of an answer without an upgrade that an error quotes. */
const MAX_SAID_CHARACTERS = 300;

type Route = {
  /** `http:`, `https:`, `ws:` or `wss:`, up to and with `/attach`. */
  readonly attachUrl: URL;
  readonly token: string;
  /** The proxy's port on loopback. */
  readonly proxyPort: number;
};

/** A client's WebSocket to `/attach`, made through the proxy while it names the real server. Knows nothing of the messages. */
function dial(route: Route, params: Iterable<readonly [string, string]>, events: ClientSocketEvents): ClientSocket {
  const url = new URL(route.attachUrl);
  url.protocol = url.protocol.replace("http", "ws");
  for (const [name, value] of params) url.searchParams.append(name, value);
  const socket = new WebSocket(url, [OUTER_PROTOCOL], {
    headers: { Authorization: `Bearer ${route.token}` },
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    // The server's name stays in the request and in the TLS handshake; only the TCP connection goes elsewhere.
    createConnection: () => connectVia(route.proxyPort, url),
  });
  let isOver = false;
  const over = (code: number, detail: string) => {
    if (isOver) return;
    isOver = true;
    events.closed(code, detail);
  };
  let failure = "";
  socket.on("open", () => isOver || events.open());
  socket.on("message", (message: Buffer, isBinary: boolean) => {
    if (isOver) return;
    if (isBinary) events.binary(message);
    else events.text(message.toString("utf8"));
  });
  socket.on("unexpected-response", (_request, response) => {
    const status = response.statusCode ?? 0;
    let said = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      said = `${said}${text}`.slice(0, MAX_SAID_CHARACTERS);
    });
    // Also where it breaks off.
    response.on("close", () => {
      // A proxy's own faults pass.
      over(status >= 500 && status !== 503 ? CLOSE.internal : 4000 + status, `HTTP ${status} ${said.trim()}`);
      socket.terminate();
    });
  });
  socket.on("error", (error) => {
    failure = error.message;
  });
  socket.on("close", (code, reason) => over(failure === "" ? code : 1006, failure || reason.toString("utf8")));
  return {
    send: (message) => socket.send(message, ignore),
    close: (code) => {
      isOver = true;
      if (socket.readyState === WebSocket.OPEN) socket.close(code);
      else socket.terminate();
    },
    abort: () => {
      isOver = true;
      socket.terminate();
    },
  };
}

function connectVia(port: number, url: URL): Socket {
  if (url.protocol === "wss:") return connectTls({ host: "127.0.0.1", port, servername: url.hostname });
  return connectTcp({ host: "127.0.0.1", port, noDelay: true });
}

function ignore(): void {
  // A send that fails is followed by a close.
}
