// K5, K6: terminal queries over the real system, with stock emulators behind clients of every kind. What reaches the process
// is recorded, so that what is asked, and what is not, can be counted.
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { CLI, cliEnv } from "../support/clients/cli.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { EmulatedClient, KINDS } from "../support/clients/emulated.ts";
import { Tmux } from "../support/clients/tmux.ts";
import { api, fresh, type Person, person, system } from "../support/system/system.ts";
import { LIMIT_MS, until } from "../support/system/wait.ts";

/** Prints what is written to `out`, and keeps in `typed` what is typed. */
const RECORDER = "mkfifo out; exec 3<>out; stty raw -echo; : > typed; cat <&3 & echo ready; exec cat > typed 3<&-";

/** Device attributes, states, modes, settings, colours, name and version, answerback. */
const QUERIES =
  "\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[?6n\x1b[4$p\x1b[?2026$p\x1bP$qm\x1b\\\x1b]10;?\x07\x1b]11;?\x1b\\\x1b[>q\x05";

const FIRST = "!";

class Recorder {
  readonly who: Person;
  readonly sandbox: string;
  readonly creator: TestClient;
  readonly #out: TestClient;
  readonly #typed: TestClient;

  static async start(): Promise<Recorder> {
    const who = await person();
    const sandbox = fresh("box");
    const creator = await connect(who, {
      ...{ sandbox, session: "main", cmd: "bash", arg: ["-c", RECORDER], tty: 1, keep: 60 },
    });
    await creator.output("ready");
    // Both files are its sandbox's, in a container perhaps: two sessions beside it write the one and read the other.
    const beside = (script: string) =>
      connect(who, { sandbox, session: fresh("beside"), cmd: "sh", arg: ["-c", script], keep: 60 });
    const out = await beside("exec cat > out");
    const typed = await beside("exec tail -c +1 -s 0.02 -f typed");
    const recorder = new Recorder(who, sandbox, creator, out, typed);
    // The bridge answers until it has heard of the first driver. Of this input it hears later.
    creator.type(FIRST);
    await until("the first input", () => recorder.#record === FIRST);
    return recorder;
  }

  private constructor(who: Person, sandbox: string, creator: TestClient, out: TestClient, typed: TestClient) {
    this.who = who;
    this.sandbox = sandbox;
    this.creator = creator;
    this.#out = out;
    this.#typed = typed;
  }

  print(text: string): void {
    this.#out.type(text);
  }

  get #record(): string {
    return this.#typed.bytes().toString("latin1");
  }

  /** After the creator's first input. */
  get typed(): string {
    return this.#record.slice(FIRST.length);
  }

  /** Waits until what is typed is just this. */
  async hasTyped(expected: string): Promise<void> {
    try {
      await until("what is typed", () => this.typed === expected);
    } catch (error) {
      expect(this.typed).toBe(expected);
      throw error;
    }
  }

  get answers(): string[] {
    return this.typed.split(/(?<=R)/);
  }

  /** Waits until each {@link ask} of so many has been answered, and then none twice: the numbers say which are not so. */
  async hasAnswersTo(count: number): Promise<void> {
    const late = await until("all answers", () => this.answers.length >= count).catch((error: Error) => error.message);
    const seen = this.answers;
    const asked = Array.from({ length: count }, (_, n) => n);
    const missing = asked.filter((n) => !seen.includes(answerTo(n)));
    const twice = asked.filter((n) => seen.indexOf(answerTo(n)) !== seen.lastIndexOf(answerTo(n)));
    expect({ late, missing, twice, count: seen.length }).toEqual({ late: true, missing: [], twice: [], count });
  }

  async clients(): Promise<number> {
    const answer = await api(this.who, `/api/sandboxes/${this.sandbox}/sessions/main`);
    return ((await answer.json()) as { clients: number }).clients;
  }
}

/** Where the cursor is put and asked for: each answer is told from every other, of {@link MAX_ASKED}. */
const ask = (n: number) => `\x1b[${1 + (n % 20)};${1 + Math.floor(n / 20)}H\x1b[6n`;
const MAX_ASKED = 20 * 80;
const answerTo = (n: number) => `\x1b[${1 + (n % 20)};${1 + Math.floor(n / 20)}R`;

describe("a log full of queries", () => {
  for (const kind of KINDS) {
    test(`types nothing when it is replayed to ${kind.name}`, async () => {
      const recorder = await Recorder.start();
      recorder.print(`${QUERIES.repeat(200)}\x1b[Hend of log`);
      await recorder.creator.output("end of log");
      const client = await EmulatedClient.attach(kind, recorder.who, recorder.sandbox);
      await client.shows("end of log");
      // After whatever it would have answered.
      client.type("x");
      await recorder.hasTyped("x");
    });
  }

  test("types nothing when it is replayed to the command line", async () => {
    const recorder = await Recorder.start();
    recorder.print(`${QUERIES.repeat(200)}\x1b[Hend of log`);
    await recorder.creator.output("end of log");
    const terminal = await cli(recorder);
    await terminal.shows(/end of log/);
    terminal.type("x");
    await recorder.hasTyped("x");
    terminal.close();
  });
});

async function cli({ who, sandbox }: Recorder): Promise<Tmux> {
  const terminal = new Tmux(80, 24, { ...cliEnv(who), SBX: `${process.execPath} ${CLI} ${system.origin}` });
  await terminal.shows(/^local\$$/);
  terminal.type(`clear; $SBX --sandbox ${sandbox} --session main`, "Enter");
  return terminal;
}

test("live queries are answered once by the longest attached driver, as one after the other leaves", async () => {
  const recorder = await Recorder.start();
  const clients: EmulatedClient[] = [];
  for (const kind of KINDS) {
    clients.push(await EmulatedClient.attach(kind, recorder.who, recorder.sandbox));
    await until(`${kind.name} is attached`, async () => (await recorder.clients()) === 1 + clients.length);
  }
  const terminal = await cli(recorder);
  await until("the command line is attached", async () => (await recorder.clients()) === 2 + clients.length);
  // One that answers nothing: it was the answerer until now.
  await recorder.creator.leave();
  let expected = "";
  for (const [n, client] of clients.entries()) {
    recorder.print(ask(n));
    expected += answerTo(n);
    await recorder.hasTyped(expected);
    await client.leave();
    await until("it has left", async () => (await recorder.clients()) === clients.length - n);
  }
  recorder.print(ask(100));
  await recorder.hasTyped(`${expected}${answerTo(100)}`);
  terminal.close();
  await until("nobody is attached", async () => (await recorder.clients()) === 0);
});

test("with nobody attached the bridge answers, each query once", async () => {
  const recorder = await Recorder.start();
  await recorder.creator.leave();
  await until("nobody is attached", async () => (await recorder.clients()) === 0);
  recorder.print(QUERIES);
  const expected = [
    "\x1b[?1;2c",
    "\x1b[>0;276;0c",
    "\x1b[0n",
    "\x1b[2;6R",
    "\x1b[?2;6R",
    "\x1b[4;2$y",
    "\x1b[?2026;2$y",
    "\x1bP1$r0m\x1b\\",
    "\x1b]10;rgb:e3e3/e4e4/e9e9\x1b\\",
    "\x1b]11;rgb:1717/1818/1c1c\x1b\\",
    "\x1bP>|sbx-stdio(1)\x1b\\",
  ].join("");
  await recorder.hasTyped(expected);
  // Somebody who comes now gets them as replay, and answers the next.
  const [plain] = KINDS;
  if (plain === undefined) throw new Error("Cannot find the plain kind");
  const client = await EmulatedClient.attach(plain, recorder.who, recorder.sandbox);
  await until("it is attached", async () => (await recorder.clients()) === 1);
  recorder.print(ask(7));
  await recorder.hasTyped(expected + answerTo(7));
  await client.leave();
});

test("clients that come and go at any time leave no query unanswered for ever, and none answered twice", async () => {
  const recorder = await Recorder.start();
  await recorder.creator.leave();
  const rounds = [...KINDS];
  const share = Math.floor((MAX_ASKED - 1) / (8 * rounds.length));
  let count = 0;
  const askSome = (many: number) => {
    for (let n = 0; n < many; n += 1, count += 1) recorder.print(ask(count));
  };
  for (const kind of rounds) {
    const coming = EmulatedClient.attach(kind, recorder.who, recorder.sandbox).then((client) => {
      // It is here, and the bridge may not have heard of it yet.
      askSome(share);
      return client;
    });
    const asking = async () => {
      for (let n = 0; n < share; n += 1) {
        askSome(2);
        await nextTurn();
      }
      // Less fast: some when those before have been answered.
      for (let left = share; left > 0; left -= 4) {
        askSome(Math.min(left, 4));
        await until(`answers to ${count}`, () => recorder.answers.length >= count, LIMIT_MS, 20);
      }
    };
    const [client] = await Promise.all([coming, asking()]);
    // What it was asked and had not answered nobody else would.
    await recorder.hasAnswersTo(count);
    await client.leave();
  }
  await until("nobody is attached", async () => (await recorder.clients()) === 0);
  // With its answer all that was typed twice has come too.
  askSome(1);
  await recorder.hasAnswersTo(count);
});
