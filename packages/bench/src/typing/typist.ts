// People who type, by seed: what they press in a shell, editors, a finder, a REPL and a pager, and how long they wait before each key.

import { Random } from "../../../local/src/base/random.ts";

export type Step = {
  readonly pauseMs: number;
  /** Sent in one piece: a key, or what is pasted. */
  readonly keys: string;
  readonly program: string;
  readonly isSecret: boolean;
};

export const SECRET = "Hunter-27xQ";
const WORDS =
  "the server keeps each line of output until a client has read it and nothing is lost when links break in between".split(
    " ",
  );
const COMMANDS = [
  "ls",
  "ls -1 | head -n 5",
  "wc -l notes.txt words.txt",
  "grep -n link notes.txt | head -n 4",
  "head -n 3 notes.txt",
  "sort words.txt | uniq | tail -n 3",
  "for i in 1 2 3; do echo item $i; done",
];
const NEIGHBOURS = "qwertyuiopasdfghjklzxcvbnm";
const [UP, DOWN, RIGHT, LEFT] = ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"] as const;
const [BACKSPACE, ENTER, ESCAPE, TAB] = ["\x7f", "\r", "\x1b", "\t"] as const;
const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) & 31);

/** What is in the folder in which they type. */
export const FILES: Readonly<Record<string, string>> = {
  "notes.txt": Array.from({ length: 60 }, (_, at) => `${at + 1} ${WORDS.slice(at % 9, (at % 9) + 9).join(" ")}\n`).join(
    "",
  ),
  "words.txt": WORDS.map((word) => `${word}\n`).join(""),
};

class Typist {
  readonly steps: Step[] = [];
  readonly #random: Random;
  #ms = 0;
  /** To be waited before the next key. */
  #pending = 0;
  program = "bash";

  constructor(seed: number) {
    this.#random = new Random(seed, "typing");
  }

  get ms(): number {
    return this.#ms;
  }

  get random(): Random {
    return this.#random;
  }

  /** Text letter by letter; now and then a wrong one, seen one to three letters later. */
  write(text: string, isSecret = false): void {
    for (const letter of text) {
      if (!isSecret && this.#random.chance(0.03)) this.#mistake();
      this.#press(letter, this.#pace(), isSecret);
    }
  }

  key(key: string, times = 1): void {
    for (let i = 0; i < times; i += 1) this.#press(key, i === 0 ? this.#pace() * 1.5 : 90 + this.#pace() / 4);
  }

  line(text: string): void {
    this.write(text);
    this.key(ENTER);
  }

  /** Reads what is on the screen, and thinks. */
  think(medianMs = 1500): void {
    this.#pending += Math.min(10_000, Math.max(600, this.#logNormal(medianMs, 0.5)));
  }

  words(least: number, most: number): string {
    return Array.from({ length: this.#random.int(least, most) }, () => this.#random.pick(WORDS)).join(" ");
  }

  #press(keys: string, pauseMs: number, isSecret = false): void {
    const pause = Math.round(pauseMs + this.#pending);
    this.#pending = 0;
    this.#ms += pause;
    this.steps.push({ pauseMs: pause, keys, program: this.program, isSecret });
  }

  #mistake(): void {
    const more = this.#random.int(1, 3);
    for (let i = 0; i < more; i += 1) this.#press(this.#random.pick([...NEIGHBOURS]), this.#pace());
    this.#pending += this.#logNormal(350, 0.3);
    for (let i = 0; i < more; i += 1) this.#press(BACKSPACE, 110 + this.#pace() / 5);
  }

  /** Mostly 150 ms, and bursts of fingers that follow each other. */
  #pace(): number {
    return Math.max(35, this.#random.chance(0.2) ? this.#logNormal(70, 0.25) : this.#logNormal(160, 0.4));
  }

  #logNormal(median: number, sigma: number): number {
    const [one, other] = [1 - this.#random.next(), this.#random.next()];
    return median * Math.exp(sigma * Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * other));
  }
}

type Activity = (typist: Typist) => void;

const command: Activity = (typist) => {
  typist.line(typist.random.chance(0.5) ? typist.random.pick(COMMANDS) : `echo ${typist.words(2, 7)}`);
};

const history: Activity = (typist) => {
  typist.key(UP, typist.random.int(1, 3));
  typist.think(700);
  if (typist.random.chance(0.5)) typist.write(` # ${typist.words(1, 3)}`);
  typist.key(ENTER);
};

const search: Activity = (typist) => {
  typist.key(ctrl("r"));
  typist.write("echo");
  typist.think(700);
  typist.key(ENTER);
};

const completion: Activity = (typist) => {
  typist.write("wc -w not");
  typist.key(TAB);
  typist.think(500);
  typist.write("wor");
  typist.key(TAB);
  typist.key(ENTER);
};

/** A line is written, gone back in, and mended. */
const editing: Activity = (typist) => {
  typist.write(`echo ${typist.words(3, 6)}`);
  typist.key(LEFT, typist.random.int(3, 12));
  typist.think(500);
  typist.write(typist.words(1, 2));
  if (typist.random.chance(0.5)) typist.key(BACKSPACE, typist.random.int(1, 3));
  typist.key(typist.random.pick([ctrl("e"), RIGHT]));
  if (typist.random.chance(0.3)) {
    typist.key(ctrl("a"));
    typist.write("env ");
  }
  typist.key(ENTER);
};

const pasted: Activity = (typist) => {
  typist.write("echo ");
  typist.key(typist.words(4, 9));
  typist.key(ENTER);
};

/** Half of the time it is typed before the prompt is seen. */
const password: Activity = (typist) => {
  const ask = typist.random.pick([
    "read -rsp 'Password: ' word; echo",
    `/usr/bin/python3 -c 'import getpass; getpass.getpass()'`,
  ]);
  typist.line(ask);
  if (typist.random.chance(0.5)) typist.think();
  typist.write(SECRET, true);
  typist.key(ENTER);
};

const vim: Activity = (typist) => {
  typist.line("vim --clean notes.txt");
  typist.think(2500);
  typist.key("j", typist.random.int(2, 8));
  typist.key("w", typist.random.int(1, 4));
  typist.key(typist.random.pick(["A", "o", "i"]));
  typist.write(` ${typist.words(5, 10)}`);
  typist.key(ENTER);
  typist.write(typist.words(5, 10));
  typist.key(ESCAPE);
  typist.think();
  typist.line("/link");
  typist.think(800);
  typist.key("x", 3);
  typist.line(":q!");
};

const emacs: Activity = (typist) => {
  typist.line("emacs -nw -Q notes.txt");
  typist.think(3500);
  typist.key(ctrl("n"), typist.random.int(2, 8));
  if (typist.random.chance(0.7)) typist.key(ctrl("e"));
  typist.write(` ${typist.words(5, 10)}`);
  typist.key(ENTER);
  typist.write(typist.words(5, 10));
  typist.key(ctrl("b"), typist.random.int(2, 6));
  typist.key(ctrl("k"));
  typist.think();
  typist.key(ctrl("x"));
  typist.key(ctrl("c"));
  typist.think();
  typist.key("n");
  typist.think();
  typist.line("yes");
};

const fzf: Activity = (typist) => {
  typist.line("fzf < notes.txt");
  typist.think();
  typist.write(typist.words(1, 2));
  typist.key(BACKSPACE, typist.random.int(0, 3));
  typist.key(DOWN, typist.random.int(1, 2));
  typist.think(800);
  typist.key(typist.random.pick([ENTER, ctrl("c")]));
};

const repl: Activity = (typist) => {
  typist.line("/usr/bin/python3 -q");
  typist.think(2000);
  for (let i = typist.random.int(2, 4); i > 0; i -= 1) {
    typist.line(typist.random.pick(["sum(range(100))", `len('${typist.words(2, 5)}')`, "[n * n for n in range(9)]"]));
    typist.think();
  }
  typist.line("exit()");
};

const less: Activity = (typist) => {
  typist.line("less notes.txt");
  typist.think();
  for (let i = typist.random.int(3, 6); i > 0; i -= 1) typist.key(typist.random.pick([" ", "j", "j", "k"]));
  typist.line("/break");
  typist.think();
  typist.key("n", 2);
  typist.key("q");
};

const IN_SHELL = [command, command, command, history, search, completion, editing, editing, pasted] as const;
const FULL_SCREEN: readonly Activity[] = [vim, emacs, fzf, less];
const PROGRAMS: readonly (readonly [Activity, number])[] = [
  ...IN_SHELL.map((activity): [Activity, number] => [activity, 1]),
  [vim, 1.5],
  [emacs, 1.5],
  [fzf, 1],
  [repl, 1],
  [less, 0.7],
  [password, 0.7],
];

/** @returns What one person types for about so long, to the end of the shell. */
export function typed(seed: number, seconds: number): readonly Step[] {
  const typist = new Typist(seed);
  while (typist.ms < seconds * 1000) {
    const activity = typist.random.weighted(PROGRAMS);
    typist.program = (IN_SHELL as readonly Activity[]).includes(activity) ? "bash" : activity.name;
    typist.think();
    activity(typist);
    typist.think(2000);
    // mosh has one screen, on which a full-screen program's is left.
    if (FULL_SCREEN.includes(activity)) typist.key(ctrl("l"));
  }
  typist.program = "bash";
  typist.think(3000);
  typist.key(ctrl("d"));
  return typist.steps;
}
