// A terminal that a test can type into and look at: tmux, with a server of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMIT_MS, until } from "../system/wait.ts";

export class Tmux {
  readonly #directory = mkdtempSync(join(tmpdir(), "sbx-tmux-"));
  readonly #env: NodeJS.ProcessEnv;

  /** Starts a shell in a window of this size. */
  constructor(cols: number, rows: number, env: NodeJS.ProcessEnv) {
    this.#env = { ...env, TERM: "xterm-256color", LC_ALL: "C.UTF-8" };
    const size = ["-x", String(cols), "-y", String(rows)];
    this.#run([
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      ...size,
      "env",
      "PS1=local$ ",
      "bash",
      "--norc",
      "--noprofile",
      "-i",
      // One program for both: each costs 5 ms of work.
      ...[";", "set-option", "-g", "window-size", "manual"],
    ]);
  }

  /** Types text, and then keys by their tmux names. */
  type(text: string, ...keys: string[]): void {
    // To tmux a semicolon at a word's end parts commands.
    const typed = text === "" ? [] : ["send-keys", "-l", text.replace(/;$/, "\\;")];
    const pressed = keys.length === 0 ? [] : ["send-keys", ...keys];
    this.#run(text === "" || keys.length === 0 ? [...typed, ...pressed] : [...typed, ";", ...pressed]);
  }

  /** Pastes a file, as it is: without the marks that a program may ask for. */
  paste(file: string): void {
    this.#run(["load-buffer", file]);
    this.#run(["paste-buffer", "-r"]);
  }

  resize(cols: number, rows: number): void {
    this.#run(["resize-window", "-x", String(cols), "-y", String(rows)]);
  }

  /** The lines of the screen, without trailing spaces. With `escapes`, colours and attributes are in them. */
  screen(escapes = false): string[] {
    return this.#run(["capture-pane", "-p", ...(escapes ? ["-e"] : [])])
      .split("\n")
      .map((line) => line.trimEnd());
  }

  /** Waits until a line of the screen matches, and returns the match. */
  shows(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#matches(pattern, (lines) => lines);
  }

  /** Waits until the last line that is not empty matches: a prompt, whose shell takes what is typed now. */
  endsWith(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#matches(pattern, (lines) => lines.filter((line) => line !== "").slice(-1));
  }

  async #matches(pattern: RegExp, pick: (lines: string[]) => string[]): Promise<RegExpExecArray> {
    try {
      return await until(`${pattern} on the screen`, () => {
        for (const line of pick(this.screen())) {
          const match = pattern.exec(line);
          if (match !== null) return match;
        }
        return undefined;
      });
    } catch (error) {
      throw new Error(`No ${pattern} on the screen within ${LIMIT_MS} ms:\n${this.screen().join("\n")}`, {
        cause: error,
      });
    }
  }

  /** The value of a format, such as `#{cursor_y}` or `#{alternate_on}`. */
  value(format: string): string {
    return this.#run(["display-message", "-p", format]).trim();
  }

  close(): void {
    this.#run(["kill-server"]);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #run(args: string[]): string {
    return execFileSync("tmux", ["-S", join(this.#directory, "socket"), ...args], { env: this.#env, encoding: "utf8" });
  }
}
