// The commands of a shell, by its marks (C1, C3): OSC 133 and 633. Gets their texts; knows no bytes.

import { clipUtf8, defined } from "sandbox-stdio/core";

/** The newest commands are kept: at most this many, with at most so many characters in their lines and directories. */
const MAX_COMMANDS = 1_000;
const MAX_LINE = 4_096;
const MAX_TEXTS = 512 * 1024;
/** Commands that run at one time, as a shell within a shell. */
const MAX_OPEN = 16;

export type Command = {
  readonly line?: string;
  readonly cwd?: string;
  /** Behind mark C, and where mark D begins: offsets of the log. */
  readonly from: number;
  to?: number;
  exit?: number;
  /** ISO 8601. */
  readonly startedAt: string;
  endedAt?: string;
};

/** A running command, and the id of its shell, if the shell gives one. */
type Begun = { readonly command: Command; readonly shell: string | undefined };

export type CommandEnd = { readonly to: number; readonly exit?: number };

export class Commands {
  readonly #ended: (end: CommandEnd) => void;
  readonly #now: () => Date;
  readonly #list: Command[] = [];
  #texts = 0;
  /** Running commands, the innermost last. */
  #open: Begun[] = [];
  /** The id of the shell that prompted last: the next command is its. */
  #shell: string | undefined;
  #lastEnded: Command | undefined;
  #line: string | undefined;
  #cwd: string | undefined;
  #isMarked = false;

  /** @param ended Called with each command that has ended. */
  constructor(ended: (end: CommandEnd) => void, now: () => Date = () => new Date()) {
    this.#ended = ended;
    this.#now = now;
  }

  /** Whether a shell has shown any mark. */
  get isMarked(): boolean {
    return this.#isMarked;
  }

  /** Newest last. */
  get list(): readonly Command[] {
    return this.#list;
  }

  /** @param text Of an OSC. @returns Whether it was a mark. */
  take(text: string, start: number, end: number): boolean {
    const isOurs = text.startsWith("133;");
    if (!isOurs && !text.startsWith("633;")) return false;
    const [kind, ...rest] = text.slice(4).split(";");
    switch (kind) {
      case "A":
      case "B":
        break;
      case "C":
        this.#begin(end, isOurs ? lineOf(rest) : undefined);
        break;
      case "D":
        this.#end(start, rest[0]);
        break;
      case "E":
        if (isOurs) return false;
        this.#line = clip(unescaped(rest[0] ?? ""));
        break;
      case "P":
        if (isOurs) return false;
        this.#property(rest.join(";"));
        break;
      default:
        return false;
    }
    this.#isMarked = true;
    return true;
  }

  /** The process has ended, and so have all commands. @param end Where its output ends. */
  close(end: number): void {
    for (const { command } of this.#open) finish(command, end, this.#now());
    this.#open = [];
  }

  #property(property: string): void {
    if (property.startsWith("Cwd=")) this.#cwd = clip(unescaped(property.slice("Cwd=".length)));
    if (property.startsWith("Shell=")) this.#prompted(clip(property.slice("Shell=".length)));
  }

  /**
   * This shell prompts: its own command has ended. If that command still counts as running, a shell within it has died without marks,
   * and the mark D that was just taken for an end of the inner shell's command was this one's.
   */
  #prompted(shell: string): void {
    this.#shell = shell;
    const own = this.#open.findIndex((begun) => begun.shell === shell);
    const wrong = this.#lastEnded;
    if (own === -1 || wrong?.to === undefined) return;
    const [mine, ...within] = this.#open.splice(own);
    for (const { command } of within) finish(command, wrong.to, this.#now());
    if (mine === undefined) return;
    finish(mine.command, wrong.to, this.#now());
    if (wrong.exit !== undefined) mine.command.exit = wrong.exit;
    delete wrong.exit;
  }

  /** @param ownLine The line, if the mark itself has it. */
  #begin(from: number, ownLine: string | undefined): void {
    const texts = defined({ line: ownLine ?? this.#line, cwd: this.#cwd });
    const command: Command = { ...texts, from, startedAt: this.#now().toISOString() };
    this.#line = undefined;
    this.#open.push({ command, shell: this.#shell });
    this.#shell = undefined;
    this.#lastEnded = undefined;
    if (this.#open.length > MAX_OPEN) this.#open.shift();
    this.#list.push(command);
    this.#texts += sizeOf(command);
    while (this.#list.length > MAX_COMMANDS || this.#texts > MAX_TEXTS) {
      const oldest = this.#list.shift();
      if (oldest === undefined) return;
      this.#texts -= sizeOf(oldest);
    }
  }

  #end(to: number, code: string | undefined): void {
    const command = this.#open.pop()?.command;
    if (command === undefined) return; // A shell's first prompt, or an abandoned line.
    finish(command, to, this.#now());
    this.#lastEnded = command;
    const exit = code !== undefined && /^-?\d{1,9}$/.test(code) ? Number(code) : undefined;
    if (exit !== undefined) command.exit = exit;
    this.#ended({ to, ...defined({ exit }) });
  }
}

function finish(command: Command, to: number, at: Date): void {
  command.to = to;
  command.endedAt = at.toISOString();
}

/** The line in the mark C of fish. */
function lineOf(fields: readonly string[]): string | undefined {
  const url = fields.find((field) => field.startsWith("cmdline_url="));
  if (url === undefined) return undefined;
  try {
    return clip(decodeURIComponent(url.slice("cmdline_url=".length)));
  } catch {
    return undefined; // Not UTF-8, or cut in the middle of a character.
  }
}

/** Resolves the escapes of OSC 633: `\\` and `\xHH`, a byte of UTF-8. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  const bytes: Buffer[] = [];
  for (const [, plain, hex] of text.matchAll(/([^\\]+)|\\x([0-9a-fA-F]{2})|\\\\|\\/g)) {
    if (plain !== undefined) bytes.push(Buffer.from(plain));
    else bytes.push(hex === undefined ? Buffer.from("\\") : Buffer.from(hex, "hex"));
  }
  return Buffer.concat(bytes).toString("utf8");
}

function clip(text: string): string {
  return clipUtf8(text, MAX_LINE);
}

function sizeOf({ line = "", cwd = "" }: Command): number {
  return line.length + cwd.length;
}
