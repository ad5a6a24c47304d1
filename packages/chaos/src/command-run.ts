// One session of a run through another client: a program that is given the URL of an attach and a command, and whose stdin,
// stdout, stderr and exit code must then be the far process's own. Knows nothing of how it does that.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { finished } from "node:stream/promises";
import type { Random } from "../../local/src/base/random.ts";
import { type Damage, StreamChecker } from "./checker.ts";
import { patternBytes } from "./pattern.ts";
import type { SessionOutcome, SessionPlan } from "./session-run.ts";
import { type InputReport, keyOf, lengthsOf, type Work } from "./work.ts";

export type CommandPorts = {
  readonly random: Random;
  readonly sandbox: string;
  readonly program: (work: Work, tty: boolean) => { readonly cmd: string; readonly args: readonly string[] };
  /** The client, for the shell. */
  readonly command: string;
  readonly proxyPort: number;
  readonly token: string;
  /** As of a {@link SessionRun}. */
  readonly stuckMs: number;
  readonly spare: (where: string) => void;
};

const MAX_INPUT_PIECE_BYTES = 48 * 1024;

export class CommandRun {
  readonly plan: SessionPlan;
  readonly #ports: CommandPorts;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #stdout: StreamChecker;
  readonly #stderr: StreamChecker;
  readonly #inputHash = createHash("sha256");
  readonly #problems: string[] = [];
  /** Behind the pattern on stderr: the process's report, or what the client itself says. */
  #report = "";
  #inputAt = 0;
  #isStarted = false;
  #progressAtMs = performance.now();
  #isSpared = false;

  constructor(plan: SessionPlan, ports: CommandPorts) {
    this.plan = plan;
    this.#ports = ports;
    this.#stdout = new StreamChecker(keyOf(plan.work.seed, plan.work.input === "echo" ? "stdin" : "stdout"));
    this.#stderr = new StreamChecker(keyOf(plan.work.seed, "stderr"));
    const { sandbox, command, proxyPort, token } = ports;
    // A client on a terminal would else begin with a screen, and one that is live may be told of gaps.
    const query = { sandbox, session: plan.session, tty: plan.tty ? "1" : "0", delivery: "lossless", offset: "0" };
    const url = `http://localhost:${proxyPort}/attach?${new URLSearchParams(query)}`;
    const { cmd, args } = ports.program(plan.work, plan.tty);
    this.#child = spawn("sh", ["-c", `exec ${command} "$@"`, "sh", url, "--", cmd, ...args], {
      env: { ...process.env, SBX_TOKEN: token },
    });
  }

  /** Runs it to its end. Never rejects. */
  async run(): Promise<SessionOutcome> {
    const { stdin, stdout, stderr } = this.#child;
    const lengths = lengthsOf(this.plan.work);
    const watch = setInterval(() => this.#lookForProgress(), 1_000);
    // A process that has ended takes no more.
    stdin.on("error", () => undefined);
    stdout.on("data", (bytes: Uint8Array) => {
      this.#stdout.push(bytes);
      this.#moved();
    });
    stderr.on("data", (bytes: Uint8Array) => {
      const pattern = bytes.subarray(0, Math.max(0, lengths.stderr - this.#stderr.received));
      this.#stderr.push(pattern);
      this.#report += Buffer.from(bytes.subarray(pattern.length)).toString("latin1");
      this.#moved();
    });
    if (this.plan.work.input !== "go") this.#feed();
    const ended = new Promise<string>((resolve) => {
      this.#child.on("error", (error) => resolve(error.message));
      this.#child.on("exit", (code, signal) => resolve(String(signal ?? code)));
    });
    const [status] = await Promise.all([ended, finished(stdout), finished(stderr)]);
    clearInterval(watch);
    if (status !== "0") this.#problems.push(`the client ended with ${status}: ${this.#report.slice(-300)}`);
    return {
      ...{ session: this.plan.session, problems: this.#problems, gaps: [], resumes: 0, reloads: 0 },
      ...{ bytesOut: this.bytes.out, bytesIn: this.bytes.in },
      damages: [
        ...this.#stdout.finish(lengths.stdout).map((damage) => ({ ...damage, stream: "stdout" as const })),
        ...this.#stderr.finish(lengths.stderr).map((damage) => ({ ...damage, stream: "stderr" as const })),
        ...this.#inputDamages(),
      ],
    };
  }

  get bytes(): { readonly out: number; readonly in: number } {
    return { out: this.#stdout.received + this.#stderr.received, in: this.#inputAt };
  }

  /** Ends it as a failure. */
  giveUp(why: string): void {
    if (this.#child.killed) return;
    this.#problems.push(why);
    this.#child.kill("SIGKILL");
  }

  #moved(): void {
    this.#progressAtMs = performance.now();
    // What waits for one byte, on a terminal, has made it raw now.
    if (this.plan.work.input === "go" && !this.#isStarted) this.#feed();
  }

  #feed(): void {
    this.#isStarted = true;
    const { work } = this.plan;
    const { stdin } = this.#child;
    if (work.input === "none") return;
    for (let hasRoom = true; hasRoom && this.#inputAt < work.inputBytes; ) {
      const length = Math.min(work.inputBytes - this.#inputAt, this.#ports.random.scale(1, MAX_INPUT_PIECE_BYTES));
      const bytes = patternBytes(this.#inputAt, this.#inputAt + length, keyOf(work.seed, "stdin"));
      this.#inputAt += length;
      this.#inputHash.update(bytes);
      hasRoom = stdin.write(bytes);
    }
    if (this.#inputAt < work.inputBytes) stdin.once("drain", () => this.#feed());
    // On a terminal the end of input would be typed, and what waits for one byte reads no more.
    else if (work.input !== "go") stdin.end();
  }

  #lookForProgress(): void {
    const seconds = (performance.now() - this.#progressAtMs) / 1000;
    if (seconds * 1000 < this.#ports.stuckMs) return;
    const where = `${this.bytes.out} bytes out, ${this.bytes.in} in`;
    if (this.#isSpared) {
      this.giveUp(`stuck: nothing moved for ${Math.round(seconds)} s, ${where}`);
      return;
    }
    this.#isSpared = true;
    this.#progressAtMs = performance.now();
    this.#ports.spare(where);
  }

  #inputDamages(): (Damage & { readonly stream: "stdin" })[] {
    const { input } = this.plan.work;
    if (input === "none" || input === "go") return [];
    try {
      const report = JSON.parse(this.#report) as InputReport;
      if (report.damages.length === 0 && report.sha256 !== this.#inputHash.digest("hex")) {
        this.#problems.push("the process has read something else than was written");
      }
      return report.damages.map((damage) => ({ ...damage, stream: "stdin" as const }));
    } catch {
      this.#problems.push(`the process's report can't be read: ${JSON.stringify(this.#report.slice(0, 200))}`);
      return [];
    }
  }
}
