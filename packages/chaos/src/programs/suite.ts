// The exactly-once suite: programs and a person type at one session while calls are cut and repeated, and others wait for what they
// type. The suite checks the output, every receipt and every wait at the end.

import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../local/src/base/random.ts";
import { type Answer, Calls, type Cut } from "./calls.ts";
import { checkLines, lineOf, markerOf } from "./lines.ts";
import { Report } from "./report.ts";
import type { Settings } from "./settings.ts";
import { PersonsTerminal } from "./terminal.ts";
import { type Placed, WaitCheck } from "./waits.ts";

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
