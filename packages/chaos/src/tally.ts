// The counts of a run, and how they are told.

import { countDamage, type DamageKind } from "./checker.ts";
import { BREAK_KINDS, type BreakKind } from "./faults.ts";
import type { SessionOutcome } from "./session-run.ts";

export type Hop = "outer" | "inner";

export class Tally {
  readonly #cuts = new Map<string, number>();
  readonly #outcomes: SessionOutcome[] = [];
  twins = { outer: 0, inner: 0 };
  /** Aborts of single Durable Objects. */
  aborts = 0;
  /** Kills of the whole Worker. */
  kills = 0;
  /** Kills of the bridge. */
  losses = 0;
  /** Connections of clients in dialects that were shown something, and sessions typed into by calls. */
  guests = 0;
  called = 0;
  /** Parked Durable Objects that were taken out of memory. */
  evictions = 0;
  cuts = 0;
  /** Sessions that were left alone in the end, since nothing had moved in them for long. */
  spared = 0;

  cut(hop: Hop, kind: BreakKind): void {
    this.cuts += 1;
    const key = `${hop} ${kind}`;
    this.#cuts.set(key, (this.#cuts.get(key) ?? 0) + 1);
  }

  cutsOf(hop: Hop, kind?: BreakKind): number {
    if (kind !== undefined) return this.#cuts.get(`${hop} ${kind}`) ?? 0;
    return BREAK_KINDS.reduce((sum, one) => sum + this.cutsOf(hop, one), 0);
  }

  add(outcome: SessionOutcome): void {
    this.#outcomes.push(outcome);
  }

  get outcomes(): readonly SessionOutcome[] {
    return this.#outcomes;
  }

  get damage(): Record<DamageKind, number> {
    return countDamage(this.#outcomes.flatMap((outcome) => outcome.damages));
  }

  get bytes(): { readonly out: number; readonly in: number } {
    return {
      out: this.#outcomes.reduce((sum, outcome) => sum + outcome.bytesOut, 0),
      in: this.#outcomes.reduce((sum, outcome) => sum + outcome.bytesIn, 0),
    };
  }

  get resumes(): number {
    return this.#outcomes.reduce((sum, outcome) => sum + outcome.resumes, 0);
  }

  get reloads(): number {
    return this.#outcomes.reduce((sum, outcome) => sum + outcome.reloads, 0);
  }

  /** For the ledger of long runs. */
  get counts(): Record<string, number> {
    const { cuts, resumes, reloads, aborts, kills, losses, evictions, called, guests } = this;
    const { out, in: into } = this.bytes;
    return {
      ...{ cuts, sessions: this.#outcomes.length, resumes, "clients made anew": reloads },
      ...{
        "aborts of objects": aborts,
        "kills of the Worker": kills,
        "kills of the bridge": losses,
        "evictions of parked objects": evictions,
      },
      ...{ "sessions typed into by calls": called, "connections in dialects": guests },
      "MB both ways": Math.round((out + into) / 1e6),
    };
  }

  /** Not one byte out of place, and nothing else wrong. */
  get isGood(): boolean {
    return this.#outcomes.every(({ problems, damages }) => problems.length === 0 && damages.length === 0);
  }

  /** All of it, for people. */
  report(seconds: number): string {
    const { lost, doubled, reordered, foreign } = this.damage;
    const bytes = this.bytes;
    const gaps = this.#outcomes.flatMap((outcome) => outcome.gaps);
    const gapBytes = gaps.reduce((sum, { from, to }) => sum + to - from, 0);
    const line = (hop: Hop) => {
      const kinds = BREAK_KINDS.map((kind) => `${kind} ${this.cutsOf(hop, kind)}`).join(", ");
      return `  ${hop} hop     ${this.cutsOf(hop)} cuts: ${kinds}; connections played twice ${this.twins[hop]}`;
    };
    const announced = `  gaps          ${gaps.length} announced (${gapBytes} bytes) to live clients away for longer than their grace`;
    return [
      `  sessions      ${this.#outcomes.length}, resumes ${this.resumes}, clients made anew ${this.reloads}`,
      line("outer"),
      line("inner"),
      `  restarts      ${this.aborts} of single Durable Objects, ${this.kills} of the whole Worker and ${this.losses} of the bridge (kill -9), told to ${this.#outcomes.filter(({ isLost }) => isLost).length} sessions`,
      `  beside them   ${this.guests} connections in dialects, ${this.called} sessions typed into by calls`,
      ...(this.evictions > 0 ? [`  evictions     ${this.evictions} of parked Durable Objects`] : []),
      ...(gaps.length > 0 ? [announced] : []),
      ...(this.spared > 0 ? [`  left alone    ${this.spared} sessions in which nothing had moved for long`] : []),
      `  bytes         ${bytes.out} of output, ${bytes.in} of input, in ${seconds.toFixed(0)} s`,
      `  lost ${lost}, doubled ${doubled}, reordered ${reordered}${foreign > 0 ? `, foreign ${foreign}` : ""}`,
    ].join("\n");
  }
}
