// Waits for what others type: begun before it is typed, at the same time, or after. A wait that is not met is missed; one that is met
// before its text was typed, or in front of where it looks from, is early.

import type { Random } from "../../../local/src/base/random.ts";
import type { Answer, Calls, Cut } from "./calls.ts";
import type { Report } from "./report.ts";

export type WaitPorts = { readonly calls: Calls; readonly path: string; readonly report: Report };

/** One wait, placed around a write. */
export type Placed = {
  beforeWrite(): Promise<void>;
  /** The write's first byte leaves now. */
  writing(): void;
  /** @param outputOffset As the write's receipt said; undefined where a repeated call got it instead. */
  afterWrite(outputOffset: number | undefined): Promise<void>;
};

type Met = { readonly marker: string; readonly from: number; readonly answer: Answer };

const TIMEOUT_MS = 120_000;
const CONTROL_MS = 300;
const CUT = 0.2;

export class WaitCheck {
  readonly #ports: WaitPorts;
  readonly #met: Met[] = [];

  constructor(ports: WaitPorts) {
    this.#ports = ports;
  }

  /** @param end Where the output is known to end: later keys come behind it. */
  plan(marker: string, end: number, random: Random): Placed {
    const placement = (["before", "during", "after"] as const)[random.int(0, 2)] ?? "during";
    const own = { int: random.int(0, 1e9), regex: random.chance(0.5) };
    let writtenAtMs = Number.POSITIVE_INFINITY;
    let waiting: Promise<void> | undefined;
    const begin = (from: number) => {
      waiting = this.#wait(marker, from, own.regex, random, () => writtenAtMs).then(() => {
        this.#ports.report.count(`waits begun ${placement}`);
      });
      // Looked at when it is awaited.
      waiting.catch(() => undefined);
    };
    return {
      beforeWrite: async () => {
        if (placement !== "before") return;
        begin(end);
        await new Promise((resolve) => setTimeout(resolve, own.int % 20));
      },
      writing: () => {
        writtenAtMs = performance.now();
        if (placement === "during") begin(end);
      },
      afterWrite: async (outputOffset) => {
        if (placement === "after") begin(outputOffset ?? end);
        await waiting;
      },
    };
  }

  /** Waits for a text that is never typed: each ends by its time-out, which never looks like success. */
  async controls(count: number, random: Random): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      const body = { until: { text: `never typed ${i}` }, from: 0, timeoutMs: CONTROL_MS };
      const answer = await this.#call(body, random);
      this.#ports.report.count("waits for nothing");
      if (answer.body.outcome !== "timeout") this.#ports.report.wrong(`a wait for nothing: ${JSON.stringify(answer)}`);
    }
  }

  /** Whether the met text stands where it was said to. */
  check(output: string): void {
    for (const { marker, from, answer } of this.#met) {
      const match = answer.body.match as { from?: number; to?: number; text?: string } | undefined;
      const at = output.indexOf(marker, from);
      const isTrue = match?.from === at && match.to === at + marker.length && match.text === marker;
      if (!isTrue)
        this.#ports.report.wrong(`"${marker}" is at ${at}, and a wait was told ${JSON.stringify(answer.body)}`);
    }
  }

  async #wait(
    marker: string,
    from: number,
    isRegex: boolean,
    random: Random,
    writtenAtMs: () => number,
  ): Promise<void> {
    const { report } = this.#ports;
    const until = isRegex ? { match: marker.replace(/[.]/g, "\\.") } : { text: marker };
    const answer = await this.#call({ until, from, timeoutMs: TIMEOUT_MS, maxBytes: 64 }, random);
    if (performance.now() < writtenAtMs()) report.wrong(`a wait for "${marker}" was met before that was typed`);
    if (answer.status !== 200 || answer.body.outcome !== "met") {
      report.wrong(`a wait for "${marker}" from ${from} was missed: ${answer.status} ${JSON.stringify(answer.body)}`);
    } else this.#met.push({ marker, from, answer });
  }

  #call(body: object, random: Random): Promise<Answer> {
    const cutOf = (): Cut | undefined => {
      if (!random.chance(CUT)) return undefined;
      return (["before", "during", "after"] as const)[random.int(0, 2)];
    };
    return this.#ports.calls.call("POST", this.#ports.path, body, cutOf, random);
  }
}
