// A shell on a real PTY, with the marks of command boundaries or without, driven line by line.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { withMarks, writeScripts } from "../../src/shell/integration.ts";
import { type Collector, ENV, type Run, start } from "./process-harness.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
const MARK = /\x1b\](133;[ABCD][^\x07]*|633;[EP];[^\x07]*)\x07/g;

export type Shell = {
  readonly run: Run<Collector>;
  readonly home: string;
  /** Types a line, with Enter unless it ends with ^C, and waits until a prompt came after it. */
  line(text: string): Promise<void>;
  /** Types this, and waits until it, or the command that it begins, shows that. */
  begin(text: string, says: string): Promise<void>;
  /** Ends the shell with ^D and waits for it. @returns Its exit code. */
  end(): Promise<number>;
  output(): string;
};

export const PROMPT = "ready> ";
/** A prompt, and behind it only what switches modes of the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
const AT_PROMPT = /ready> (?:\x1b(?:\[[0-9;?>]*[a-zA-Z]|[=>]|\(B)|\r)*$/;

/** The marks of an output, without their introducer. */
export function marksOf(output: string): string[] {
  return [...output.matchAll(MARK)].map(([, mark]) => mark ?? "");
}

export function withoutMarks(output: string): string {
  return output.replaceAll(MARK, "");
}

/** For each command that ran: its line, the text between C and D, and its status. */
export function commandsOf(output: string): { line: string; output: string; status: number }[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
  const command = /(?:\x1b\]633;E;([^\x07]*)\x07)?\x1b\]133;C\x07([\s\S]*?)\x1b\]133;D;(\d+)\x07/g;
  return [...output.matchAll(command)].map(([, line = "", text = "", status]) => ({
    line,
    output: withoutMarks(text),
    status: Number(status),
  }));
}

/**
 * Keys and a configuration for ssh to this very machine, without a port: the client runs the server itself.
 * @returns The words that begin such a command.
 */
export async function sshTo(home: string): Promise<string> {
  const directory = join(home, ".ssh-test");
  mkdirSync(directory, { mode: 0o700 });
  for (const key of ["host", "user"]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(directory, key)]);
  }
  const user = execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
  // The server wants this directory where it runs as root.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const server = [
    ...["StrictModes no", "UsePAM no", "PermitRootLogin yes", "PidFile none", "LogLevel QUIET", "PrintMotd no"],
    ...[`HostKey ${directory}/host`, `AuthorizedKeysFile ${directory}/user.pub`],
  ];
  writeFileSync(join(directory, "sshd_config"), `${server.join("\n")}\n`);
  const client = [
    "Host far",
    `ProxyCommand /usr/sbin/sshd -i -f ${directory}/sshd_config`,
    `IdentityFile ${directory}/user`,
    ...["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "LogLevel QUIET", `User ${user}`],
  ];
  writeFileSync(join(directory, "config"), `${client.join("\n")}\n`);
  return `ssh -tt -F ${directory}/config far`;
}

export async function startShell(
  command: readonly [string, ...string[]],
  files: Readonly<Record<string, string>> = {},
  options: { isMarked?: boolean; env?: Record<string, string> } = {},
): Promise<Shell> {
  const home = mkdtempSync(join(tmpdir(), "stdio-home-"));
  const directory = mkdtempSync(join(tmpdir(), "stdio-scripts-"));
  onTestFinished(() => {
    for (const path of [home, directory]) rmSync(path, { recursive: true, force: true });
  });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const env: Record<string, string> = { ...ENV, HOME: home, ...options.env };
  const [cmd, ...args] = command;
  const scripts = writeScripts(directory);
  const marked = options.isMarked === false ? undefined : withMarks(cmd, args, env, scripts);
  const run = start([cmd, ...(marked?.args ?? args)], {
    tty: true,
    cols: 200,
    cwd: home,
    env: { ...(marked?.env ?? env) },
  });
  const output = () => run.sink.text();
  /** Resolves once the output has a prompt behind `from`, marks not counted. @param isEntered Only behind the end of a line. */
  const promptAfter = (from: number, isEntered = false) =>
    new Promise<void>((resolve) => {
      const look = () => {
        const seen = withoutMarks(output()).slice(from);
        // A shell may draw its line anew while it is typed: then half of that looks like a prompt.
        if ((isEntered && !seen.includes("\n")) || !AT_PROMPT.test(seen.slice(seen.indexOf("\n") + 1))) return;
        run.sink.onFlush = () => undefined;
        resolve();
      };
      run.sink.onFlush = look;
      look();
    });
  const shown = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!output().includes(text)) return;
        run.sink.onFlush = () => undefined;
        resolve();
      };
      run.sink.onFlush = look;
      look();
    });
  await promptAfter(0);
  return {
    run,
    home,
    output,
    line: async (text) => {
      const from = withoutMarks(output()).length;
      const isInterrupt = text.endsWith("\x03");
      await run.type(isInterrupt ? text : `${text}\r`);
      await promptAfter(from, !isInterrupt);
    },
    begin: async (text, says) => {
      await run.type(text);
      await shown(says);
    },
    end: async () => {
      await run.type("\x04");
      const { code } = await run.exited;
      return code;
    },
  };
}
