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
const NOTES = Array.from({ length: 60 }, (_, at) => `${at + 1} ${WORDS.slice(at % 9, (at % 9) + 9).join(" ")}\n`);
/** What is in the folder in which they type. */
export const FILES = { "notes.txt": NOTES.join(""), "words.txt": WORDS.map((word) => `${word}\n`).join("") };

const [BACKSPACE, ENTER] = ["\x7f", "\r"];
const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) & 31);
const KEYS: Readonly<Record<string, string>> = {
  ...{ up: "\x1b[A", down: "\x1b[B", right: "\x1b[C", left: "\x1b[D" },
  ...{ backspace: BACKSPACE, enter: ENTER, escape: "\x1b", tab: "\t", space: " " },
};

/**
 * By program, how often, and what is done: `'text` is typed, with words for `{LEAST-MOST}` and one of `<this|that>`, and ends with
 * Enter if it ends with `$`; `^x` is Ctrl; `paste`; `secret`; `~MS` thinks; else keys by name, with `LEAST-MOST` times. `?` before
 * it: half of the time.
 */
const ACTIVITIES: readonly (readonly [program: string, weight: number, does: readonly string[]])[] = [
  ["bash", 2, ["'<ls|wc -l notes.txt words.txt|head -n 3 notes.txt|sort words.txt | tail -n 3>$"]],
  ["bash", 2, ["'echo {2-7}$"]],
  ["bash", 1, ["up 1-3", "~700", "?' # {1-3}", "enter"]],
  ["bash", 1, ["^r", "'echo", "~700", "enter"]],
  ["bash", 1, ["'wc -w not", "tab", "~500", "'wor", "tab", "enter"]],
  ["bash", 2, ["'echo {3-6}", "left 3-12", "~500", "'{1-2}", "?backspace 1-3", "^e", "enter"]],
  ["bash", 1, ["'{2-4}", "^a", "'echo ", "right 1-3", "enter"]],
  ["bash", 1, ["'echo ", "paste", "enter"]],
  ["password", 0.4, ["'read -rsp 'Password: ' word; echo$", "?~1500", "secret", "enter"]],
  ["password", 0.4, ["'/usr/bin/python3 -c 'import getpass; getpass.getpass()'$", "?~1500", "secret", "enter"]],
  [
    ...(["vim", 1.5] as const),
    ["'vim --clean notes.txt$", "~2500", "j 2-8", "w 1-4", "'<A|o|i>", "' {5-10}$", "'{5-10}"].concat([
      "escape",
      "~1500",
      "'/link$",
      "~800",
      "x 1-3",
      "':q!$",
    ]),
  ],
  [
    ...(["emacs", 1.5] as const),
    ["'emacs -nw -Q notes.txt$", "~3500", "^n 2-8", "?^e", "' {5-10}$", "'{5-10}", "^b 2-6", "^k", "~1500"].concat([
      "^x",
      "^c",
      "~1500",
      "n",
      "~1500",
      "'yes$",
    ]),
  ],
  ["fzf", 1, ["'fzf < notes.txt$", "~1500", "'{1-2}", "?backspace 1-3", "down 1-2", "~800", "enter"]],
  [
    "repl",
    1,
    ["'/usr/bin/python3 -q$", "~2000", "'sum(range(<9|99>))$", "~1500", "'len('{2-5}')$", "~1500", "'exit()$"],
  ],
  ["less", 0.7, ["'less notes.txt$", "~1500", "space 1-3", "j 1-4", "k 1-2", "'/break$", "~1500", "n 1-2", "q"]],
];
/** mosh has one screen, on which theirs is left: it is cleared. */
const FULL_SCREEN = ["vim", "emacs", "fzf", "less"];

class Typist {
  readonly steps: Step[] = [];
  readonly random: Random;
  program = "bash";
  ms = 0;
  /** To be waited before the next key. */
  #thinkingMs = 0;

  constructor(seed: number) {
    this.random = new Random(seed, "typing");
  }

  does(what: string): void {
    if (what.startsWith("?")) {
      if (this.random.chance(0.5)) this.does(what.slice(1));
    } else if (what.startsWith("'")) {
      const text = what.slice(1).replace("$", ENTER);
      for (const letter of this.#filled(text)) this.#letter(letter);
    } else if (what.startsWith("~")) this.#think(Number(what.slice(1)));
    else if (what === "paste") this.#press(this.#words(4, 9), this.#pace());
    else if (what === "secret") for (const letter of SECRET) this.#press(letter, this.#pace(), true);
    else this.#keys(what);
  }

  #keys(what: string): void {
    const [, name = "", least = 1, most = least] = /^(\S+)(?: (\d+)-(\d+))?$/.exec(what) ?? [];
    const key = name.startsWith("^") ? ctrl(name.slice(1)) : (KEYS[name] ?? name);
    const times = this.random.int(Number(least), Number(most));
    for (let i = 0; i < times; i += 1) this.#press(key, i === 0 ? this.#pace() * 1.5 : 90 + this.#pace() / 4);
  }

  #filled(text: string): string {
    const chosen = text.replace(/<([^<>]+\|[^<>]+)>/, (_all, choices: string) =>
      this.random.pick(choices.split(/\|(?! )/)),
    );
    return chosen.replace(/\{(\d+)-(\d+)\}/, (_all, least, most) => this.#words(Number(least), Number(most)));
  }

  #words(least: number, most: number): string {
    return Array.from({ length: this.random.int(least, most) }, () => this.random.pick(WORDS)).join(" ");
  }

  /** Now and then one to three wrong ones come before it, are seen, and taken back. */
  #letter(letter: string): void {
    if (letter !== ENTER && this.random.chance(0.03)) {
      const wrong = this.random.int(1, 3);
      for (let i = 0; i < wrong; i += 1) this.#press(this.random.pick([..."aeiornstlk"]), this.#pace());
      this.#thinkingMs += this.#logNormal(350, 0.3);
      for (let i = 0; i < wrong; i += 1) this.#press(BACKSPACE, 110 + this.#pace() / 5);
    }
    this.#press(letter, this.#pace());
  }

  #press(keys: string, pauseMs: number, isSecret = false): void {
    const pause = Math.round(pauseMs + this.#thinkingMs);
    this.#thinkingMs = 0;
    this.ms += pause;
    this.steps.push({ pauseMs: pause, keys, program: this.program, isSecret });
  }

  #think(medianMs: number): void {
    this.#thinkingMs += Math.min(10_000, Math.max(600, this.#logNormal(medianMs, 0.5)));
  }

  /** Mostly 160 ms, and bursts of fingers that follow each other. */
  #pace(): number {
    return Math.max(35, this.random.chance(0.2) ? this.#logNormal(70, 0.25) : this.#logNormal(160, 0.4));
  }

  #logNormal(median: number, sigma: number): number {
    const [one, other] = [1 - this.random.next(), this.random.next()];
    return median * Math.exp(sigma * Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * other));
  }
}

/** @returns What one person types for about so long, to the end of the shell. */
export function typed(seed: number, seconds: number): readonly Step[] {
  const typist = new Typist(seed);
  while (typist.ms < seconds * 1000) {
    const [program, , does] = typist.random.weighted(ACTIVITIES.map((activity) => [activity, activity[1]] as const));
    typist.program = program;
    for (const what of ["~1500", ...does, "~2500"]) typist.does(what);
    if (FULL_SCREEN.includes(program)) typist.does("^l");
  }
  typist.program = "bash";
  for (const what of ["~3000", "^d"]) typist.does(what);
  return typist.steps;
}
