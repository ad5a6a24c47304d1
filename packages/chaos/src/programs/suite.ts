// The exactly-once suite: programs and a person type at one session while calls are cut and repeated, and others wait for what they
// type. The suite checks the output, every receipt and every wait at the end.

import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../local/src/base/random.ts";
import { type Answer, Calls, type Cut } from "./calls.ts";
import { Report } from "./report.ts";
import type { Settings } from "./settings.ts";
import { PersonsTerminal } from "./terminal.ts";

/** The faults that can be caused in a server from inside, if it is ours. */
export type Disturbance = {
  /** Done again and again while calls are under way. */
  disturb(name: string, sandbox: string, session: string): Promise<void>;
  readonly names: readonly string[];
  readonly everyMs: number;
};

const SESSION = "typed";
/** Raw: typed bytes come out as they are, once. */
const PROCESS = {
  cmd: "sh",
  args: ["-c", "stty raw -echo; exec cat"],
  tty: true,
  cols: 80,
  rows: 24,
  keepSeconds: 600,
  shellIntegration: false,
};
const READ_MS = 20_000;
const REPEATED = 0.1;

export class Suite {
  readonly report = new Report();
  readonly #settings: Settings;
  readonly #calls: Calls;
  readonly #waits: WaitCheck;
  readonly #path: string;
  readonly #sent = new Map<string, string[]>();
  readonly #receipts: { readonly marker: string; readonly outputOffset: number }[] = [];
  #incarnation = "";
  #output = "";
  #personTyped = "";
  #isOver = false;
  #terminal: PersonsTerminal | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#path = `/api/sandboxes/${encodeURIComponent(settings.sandbox)}`;
    this.#calls = new Calls({ base: settings.url, tokens: settings.tokens, report: this.report });
    this.#waits = new WaitCheck({
      calls: this.#calls,
      path: `${this.#path}/sessions/${SESSION}/wait`,
      report: this.report,
    });
  }

  async run(disturbance?: Disturbance): Promise<void> {
    const { seed, programs, writes, sandbox, url, tokens } = this.#settings;
    const made = await this.#ask("PUT", `/sessions/${SESSION}`, PROCESS, new Random(seed, "create"));
    if (made.status !== 201 && made.status !== 200)
      throw new Error(`The session was not made: ${JSON.stringify(made)}`);
    this.#incarnation = String(made.body.incarnation);
    const reading = this.#readOn();
    // Looked at when it is awaited.
    reading.catch(() => undefined);
    const terminal = new PersonsTerminal({
      attachUrl: new URL("/attach", url),
      token: tokens[0],
      sandbox,
      session: SESSION,
      random: new Random(seed, "person"),
      report: this.report,
    });
    this.#terminal = terminal;
    await terminal.start();
    const disturbing = disturbance === undefined ? undefined : this.#disturb(disturbance);
    const share = (i: number) => Math.floor(writes / programs) + (i < writes % programs ? 1 : 0);
    const typed = Promise.all([
      ...Array.from({ length: programs }, (_, i) => this.#program(`p${i}`, share(i))),
      this.#person(terminal, Math.ceil(writes / programs)),
      this.#waits.controls(Math.ceil(writes / 20), new Random(seed, "controls")),
    ]);
    // What fails first is what is told: the end of the session fails the others, and close() brings that about.
    await Promise.race([typed, reading.then(() => typed)]);
    this.#isOver = true;
    await disturbing;
    await this.#finish(reading, terminal);
  }

  /** Ends the session, however the run went. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#terminal?.leave();
    await this.#ask("DELETE", `/sessions/${SESSION}`, undefined, new Random(0, "close"));
  }

  // ---- Those who type --------------------------------------------------------------------------------------------

  async #program(writer: string, count: number): Promise<void> {
    const random = new Random(this.#settings.seed, writer);
    const lines: string[] = [];
    this.#sent.set(writer, lines);
    let at = 0;
    for (let n = 0; n < count; n += 1) {
      const line = lineOf(writer, n, random);
      const placed = this.#waits.plan(markerOf(writer, n), this.#output.length, random);
      await placed.beforeWrite();
      const { outputOffset } = await this.#write(writer, line, at, random, placed);
      lines.push(line);
      at += line.length;
      await placed.afterWrite(outputOffset);
    }
  }

  async #write(writer: string, line: string, at: number, random: Random, placed: Placed) {
    const asText = random.chance(0.5);
    const body = {
      ...(asText ? { text: line } : { base64: Buffer.from(line).toString("base64") }),
      writer,
      at,
      incarnation: this.#incarnation,
    };
    const to = at + line.length;
    placed.writing();
    let outputOffset: number | undefined;
    for (let repeat = random.chance(REPEATED); ; repeat = false) {
      const { status, body: said } = await this.#ask("POST", `/sessions/${SESSION}/input`, body, random);
      this.#checkReceipt(writer, at, to, status, said);
      if (said.duplicate === true) this.report.count("writes told as duplicates");
      else if (typeof said.outputOffset === "number") outputOffset ??= said.outputOffset;
      if (status === 202) {
        // Not taken yet: the same again tells that it is known, and waits no longer.
        this.report.count("writes answered 202");
        break;
      }
      if (!repeat) break;
    }
    this.report.count("writes");
    this.report.count("bytes written", line.length);
    if (outputOffset !== undefined) this.#receipts.push({ marker: line, outputOffset });
    return { outputOffset };
  }

  #checkReceipt(writer: string, at: number, to: number, status: number, said: Answer["body"]): void {
    const isTrue = (status === 200 || status === 202) && said.writer === writer && said.from === at && said.to === to;
    if (!isTrue) this.report.wrong(`${writer} wrote ${at} to ${to} and was told ${status} ${JSON.stringify(said)}`);
  }

  async #person(terminal: PersonsTerminal, count: number): Promise<void> {
    const random = new Random(this.#settings.seed, "person's lines");
    for (let n = 0; n < count; n += 1) {
      const line = lineOf("person", n, random);
      await terminal.type(line);
      this.#personTyped += line;
      this.report.count("lines of the person");
    }
  }

  // ---- Those who look on -----------------------------------------------------------------------------------------

  /** Reads all output, from the start on. */
  async #readOn(): Promise<void> {
    const random = new Random(this.#settings.seed, "reader");
    while (!this.#isOver) await this.#readOnce(random);
  }

  async #readOnce(random: Random): Promise<boolean> {
    const query = new URLSearchParams({ from: String(this.#output.length), waitMs: "2000", format: "base64" });
    const { status, body } = await this.#ask("GET", `/sessions/${SESSION}/output?${query}`, undefined, random);
    if (status !== 200) throw new Error(`The output can't be read: ${status} ${JSON.stringify(body)}`);
    if (body.incarnation !== this.#incarnation) this.report.wrong("a read answered for another process");
    if (body.gap !== undefined) this.report.wrong(`a read that went on has a gap: ${JSON.stringify(body.gap)}`);
    if (body.from !== this.#output.length)
      this.report.wrong(`a read from ${this.#output.length} began at ${body.from}`);
    this.#output += Buffer.from(String(body.output), "base64").toString("latin1");
    return this.#output.length >= Number(body.end);
  }

  async #disturb({ disturb, names, everyMs }: Disturbance): Promise<void> {
    const random = new Random(this.#settings.seed, "disturbance");
    while (!this.#isOver) {
      await pause(everyMs * (0.5 + random.next()));
      if (this.#isOver) return;
      const name = names[random.int(0, names.length - 1)] ?? "";
      await disturb(name, this.#settings.sandbox, SESSION);
      this.report.count(name);
    }
  }

  // ---- The end ---------------------------------------------------------------------------------------------------

  async #finish(reading: Promise<void>, terminal: PersonsTerminal): Promise<void> {
    await reading;
    const expected = [...this.#sent.values()].flat().join("").length + this.#personTyped.length;
    const random = new Random(this.#settings.seed, "last reads");
    const untilMs = performance.now() + READ_MS;
    while (this.#output.length < expected && performance.now() < untilMs) await this.#readOnce(random);
    if (this.#output.length !== expected) {
      this.report.wrong(`${this.#output.length} bytes came out of ${expected} that were typed`);
    }
    checkLines(this.#output, this.#sent, this.#personTyped, this.report);
    for (const { marker, outputOffset } of this.#receipts) {
      const at = this.#output.indexOf(marker);
      if (at < outputOffset) this.report.wrong(`outputOffset ${outputOffset} is behind what was typed, at ${at}`);
    }
    this.#waits.check(this.#output);
    await terminal.untilOutput(this.#output.length);
    const { from, bytes } = terminal.output;
    if (bytes.toString("latin1") !== this.#output.slice(from)) {
      this.report.wrong("the person's terminal was shown something else than what was read");
    }
  }

  #ask(method: string, path: string, body: object | undefined, random: Random): Promise<Answer> {
    const { cutChance } = this.#settings;
    const cutOf = (): Cut | undefined => {
      if (!random.chance(cutChance)) return undefined;
      const cuts = body === undefined ? (["during", "after"] as const) : (["before", "during", "after"] as const);
      return cuts[random.int(0, cuts.length - 1)];
    };
    return this.#calls.call(method, `${this.#path}${path}`, body, cutOf, random);
  }
}

const MOST_FILLING = 2_000;

/** Line `n` of `writer`, with a line feed. No two lines are the same, and none is within another. */
function lineOf(writer: string, n: number, random: Random): string {
  return `<${writer}.${n}:${"x".repeat(random.scale(1, MOST_FILLING))}:${writer}.${n}>\n`;
}

/** A text that only line `n` of `writer` has. */
function markerOf(writer: string, n: number): string {
  return `:${writer}.${n}>`;
}

/** A program's line, wherever it begins. */
const LINE = /<(p\d+)\.(\d+):x+:\1\.\2>\n/g;

/**
 * Checks that each program's lines came out whole, once and in order. A person's keys are no unit: the rest without the
 * programs' lines must be just those keys.
 */
function checkLines(
  output: string,
  sent: ReadonlyMap<string, readonly string[]>,
  person: string,
  report: Report,
): void {
  const next = new Map<string, number>();
  const rest = output.replace(LINE, (line, writer: string, digits: string) => {
    const n = Number(digits);
    const due = next.get(writer) ?? 0;
    next.set(writer, n + 1);
    if (n < due) report.wrong(`line ${n} of ${writer} came out again or late, behind line ${due - 1}`);
    else if (n > due) report.wrong(`lines ${due} to ${n - 1} of ${writer} are missing`);
    if (sent.get(writer)?.[n] !== line) report.wrong(`line ${n} of ${writer} is not as it was typed`);
    return "";
  });
  for (const [writer, lines] of sent) {
    const due = next.get(writer) ?? 0;
    if (due < lines.length) report.wrong(`lines ${due} to ${lines.length - 1} of ${writer} are missing at the end`);
  }
  if (rest === person) return;
  let at = 0;
  while (rest[at] === person[at]) at += 1;
  report.wrong(
    `what the person typed differs from byte ${at} on: ${person.slice(at, at + 40)} came out as ${rest.slice(at, at + 40)}`,
  );
}

type WaitPorts = { readonly calls: Calls; readonly path: string; readonly report: Report };

/** One wait, placed around a write. */
type Placed = {
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

/**
 * Waits for what others type: begun before it is typed, at the same time, or after. A wait that is not met is missed; one that is
 * met before its text was typed, or in front of where it looks from, is early.
 */
class WaitCheck {
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
