// C1 and C2: shells on a real PTY mark their commands, and nothing else about them changes.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { plainTextOf } from "sandbox-stdio/programs";
import { describe, expect, test } from "vitest";
import { withMarks } from "../../src/shell/integration.ts";
import { commandsOf, marksOf, PROMPT, sshTo, startShell, withoutMarks } from "../support/shell-harness.ts";

type Files = Record<string, string>;

const FISH_PROMPT = `function fish_prompt; echo -n '${PROMPT}'; end; set -g fish_greeting\n`;
const SHELLS: Record<string, { command: [string, ...string[]]; files: Files }> = {
  bash: { command: ["bash"], files: { ".bashrc": `PS1='${PROMPT}'\n` } },
  "bash -l": { command: ["bash", "-l"], files: { ".bash_profile": `PS1='${PROMPT}'\n` } },
  zsh: { command: ["zsh"], files: { ".zshrc": `PS1='${PROMPT}'\n` } },
  fish: {
    command: ["fish"],
    // Where this folder is missing, the first fish reads all manuals of the machine in the background, for minutes.
    files: { ".config/fish/config.fish": FISH_PROMPT, ".local/share/fish/generated_completions/none": "" },
  },
};
const shellOf = (name: string) => SHELLS[name] ?? { command: [name] as [string], files: {} };
const BASH = shellOf("bash");

/** Output without what differs between two runs of the same: the directory. */
const comparable = (output: string, home: string) => withoutMarks(output).replaceAll(home, "HOME");

async function transcript(name: string, lines: readonly string[], isMarked: boolean): Promise<string> {
  const { command, files } = shellOf(name);
  const shell = await startShell(command, files, { isMarked });
  for (const line of lines) await shell.line(line);
  await shell.end();
  return comparable(shell.output(), shell.home);
}

for (const name of Object.keys(SHELLS)) {
  describe(name, () => {
    test("C2: each of 50 commands is marked, with its line, its exact output and its status", async () => {
      const { command, files } = shellOf(name);
      const shell = await startShell(command, files);
      const expected: { line: string; output: string; status: number }[] = [];
      for (let i = 0; i < 50; i += 1) {
        const status = (i * 27) % 256;
        await shell.line(`sh -c 'echo out ${i}; exit ${status}'`);
        expected.push({ line: `sh -c 'echo out ${i}\\x3b exit ${status}'`, output: `out ${i}\r\n`, status });
      }
      await shell.end();
      const commands = commandsOf(shell.output());
      // fish sets its title behind mark C: its output is exact as `plain` has it.
      const isPlain = name === "fish";
      const seen = commands.map((of) => (isPlain ? { ...of, output: plainTextOf(Buffer.from(of.output)) } : of));
      const wanted = expected.map((of) => (isPlain ? { ...of, output: of.output.replace("\r", "") } : of));
      expect(seen).toEqual(wanted);
    });

    test("C2: nothing visible changes: the output without the marks is what the shell prints without us", async () => {
      const lines = ["echo one", "false", "", "printf 'no line end'", "cd /", "echo 'a;b'", "nonesuch-command"];
      expect(await transcript(name, lines, true)).toBe(await transcript(name, lines, false));
    });

    test("C2: ^C ends a command, with status 130, and the next one is marked as usual", async () => {
      const { command, files } = shellOf(name);
      const shell = await startShell(command, files);
      // A ^C between mark C and the command's start is the shell's own: zsh and fish then run it all the same.
      await shell.begin("sh -c 'echo be''gun; exec sleep 1000'\r", "begun");
      await shell.line("\x03");
      await shell.line("echo after");
      await shell.end();
      const commands = commandsOf(shell.output());
      expect(commands.map(({ line, status }) => [line, status])).toEqual([
        [expect.stringContaining("sleep 1000"), 130],
        ["echo after", 0],
      ]);
    });

    test("C2: an ssh inside is one command, whatever its shell is, and where its server dies", async () => {
      const { command, files } = shellOf(name);
      const shell = await startShell(command, files);
      const ssh = await sshTo(shell.home);
      await shell.line(`${ssh} 'echo far; exit 3'`);
      await shell.line(`${ssh} 'kill -9 $PPID'`);
      await shell.line("sh -c 'exit 4'");
      await shell.end();
      const seen = commandsOf(shell.output());
      expect(seen.map(({ status }) => status)).toEqual([3, 255, 4]);
      expect(plainTextOf(Buffer.from(seen[0]?.output ?? ""))).toMatch(/^far\n/);
    });

    test("C2: a tmux inside is one command, whatever runs in it", async () => {
      const { command, files } = shellOf(name);
      const shell = await startShell(command, files, { env: { TERM: "xterm-256color" } });
      await shell.line(`tmux -f /dev/null -S t.sock new-session '${name.split(" ")[0]} -c "echo inside; exit 3"'`);
      await shell.line("sh -c 'exit 4'");
      await shell.end();
      expect(commandsOf(shell.output()).map(({ status }) => status)).toEqual([0, 4]);
    });

    test("C2: a shell that starts a shell marks only its own commands", async () => {
      const { command, files } = shellOf(name);
      const shell = await startShell(command, files);
      await shell.line(name === "bash -l" ? "PS1=$'ready\\x3e ' bash --norc" : command[0]);
      await shell.line("echo inner");
      await shell.line("exit 3");
      await shell.end();
      expect(commandsOf(shell.output()).map(({ status }) => status)).toEqual([3]);
    });
  });
}

describe("bash", () => {
  test("C2: a user's own PROMPT_COMMAND goes on, and sees the status; so do traps and `set -e`", async () => {
    const rc = `PS1='${PROMPT}'; PROMPT_COMMAND='echo "status $?"'; trap 'echo "err $?"' ERR\n`;
    const shell = await startShell(["bash"], { ".bashrc": rc });
    await shell.line("(exit 7)");
    await shell.line("trap - ERR; trap 'true' DEBUG");
    await shell.line("set -e");
    await shell.line("! true");
    await shell.line("echo still here");
    await shell.run.type("false\r");
    expect(await shell.run.exited).toEqual({ code: 1 });
    expect(withoutMarks(shell.output())).toContain("err 7\r\nstatus 7\r\n");
    expect(commandsOf(shell.output()).map(({ status }) => status)).toEqual([7, 0, 0, 1, 0]);
  });

  test("C2: a new PS1, and one that PROMPT_COMMAND makes each time, keep the marks", async () => {
    const rc = `PS1='${PROMPT}'; n=0; PROMPT_COMMAND='n=$((n+1)); PS1="[$n] ${PROMPT}"'\n`;
    const shell = await startShell(["bash"], { ".bashrc": rc });
    await shell.line("true");
    await shell.line("PROMPT_COMMAND=; PS1='$(echo new) ready'$'\\x3e '");
    await shell.line("(exit 4)");
    await shell.line("(exit 5)");
    await shell.end();
    expect(commandsOf(shell.output()).map(({ status }) => status)).toEqual([0, 0, 4, 5]);
    expect(withoutMarks(shell.output())).toContain("new ready> ");
  });

  test("C2: lines of more than one row, subshells and functions are one command each", async () => {
    const shell = await startShell(BASH.command, BASH.files);
    await shell.run.type("for i in 1 2; do\r");
    await shell.line("echo $i; done");
    await shell.line("(echo sub; exit 9)");
    await shell.line("f() { echo in f; return 8; }; f");
    await shell.line("a=$(echo x; exit 6)");
    await shell.end();
    expect(commandsOf(shell.output())).toEqual([
      { line: "for i in 1 2\\x3b do echo $i\\x3b done", output: "1\r\n2\r\n", status: 0 },
      { line: "(echo sub\\x3b exit 9)", output: "sub\r\n", status: 9 },
      { line: "f() { echo in f\\x3b return 8\\x3b }\\x3b f", output: "in f\r\n", status: 8 },
      { line: "a=$(echo x\\x3b exit 6)", output: "", status: 6 },
    ]);
  });

  test("C2: a line that the history leaves out is not told", async () => {
    const shell = await startShell(["bash"], { ".bashrc": `PS1='${PROMPT}'; HISTCONTROL=ignorespace\n` });
    await shell.line("echo known");
    await shell.line(" echo secret");
    await shell.end();
    expect(commandsOf(shell.output()).map(({ line, output }) => [line, output])).toEqual([
      ["echo known", "known\r\n"],
      ["", "secret\r\n"],
    ]);
  });

  test("C2: the user's files and history are as without us", async () => {
    const rc = `PS1='${PROMPT}'\n`;
    const shell = await startShell(["bash", "-l"], { ".bash_profile": rc, ".bash_logout": "echo bye\n" });
    await shell.line("echo one; shopt -q login_shell && echo login");
    await shell.line("echo $ENV$STDIO_SHELL_LOGIN$POSIXLY_CORRECT-$HISTFILE; shopt -o posix");
    await shell.run.type("\x04");
    await shell.run.exited;
    const output = withoutMarks(shell.output());
    expect(output).toContain("login\r\n");
    expect(output).toContain(`-${shell.home}/.bash_history\r\nposix          \toff\r\n`);
    expect(output).toContain("bye");
    expect(readFileSync(join(shell.home, ".bash_history"), "utf8").split("\n")[0]).toBe(
      "echo one; shopt -q login_shell && echo login",
    );
    expect(readFileSync(join(shell.home, ".bash_profile"), "utf8")).toBe(rc);
    expect(readdirSync(shell.home).sort()).toEqual([".bash_history", ".bash_logout", ".bash_profile"]);
  });

  test("C2: not where the shell has marks of its own", async () => {
    const own = `PS1='\\[\\e]133;A\\a\\]${PROMPT}\\[\\e]133;B\\a\\]'\n`;
    const shell = await startShell(["bash"], { ".bashrc": own });
    await shell.line("true");
    await shell.end();
    expect(marksOf(shell.output()).slice(0, 4)).toEqual(["133;A", "133;B", "133;A", "133;B"]);
  });
});

/** In each shell's own words: a loop over rows, a subshell or what stands for it, a function, and a trap or hook. */
const CONSTRUCTS: Record<string, { rows: [string, string]; lines: string[]; says: string[]; statuses: number[] }> = {
  zsh: {
    rows: ["for i in 1 2; do", "echo row $i; done"],
    lines: [
      "(echo sub; exit 9)",
      "f() { echo in f; return 8; }; f",
      "trap 'echo trapped' USR1; kill -USR1 $$",
      "! true",
    ],
    says: ["row 1", "row 2", "sub", "in f", "trapped"],
    statuses: [0, 9, 8, 0, 1],
  },
  fish: {
    rows: ["for i in 1 2", "echo row $i; end"],
    lines: [
      "fish -c 'echo sub; exit 9'",
      "function f; echo in f; return 8; end; f",
      "function caught --on-signal USR1; echo trapped; end; kill -USR1 $fish_pid; true",
      "not true",
    ],
    says: ["row 1", "row 2", "sub", "in f", "trapped"],
    statuses: [0, 9, 8, 0, 1],
  },
};

describe.each(Object.entries(CONSTRUCTS))("%s", (name, { rows, lines, says, statuses }) => {
  test("C2: rows, subshells, functions and traps: one command each, with its status; ^D ends with the last one", async () => {
    const { command, files } = shellOf(name);
    const shell = await startShell(command, files);
    await shell.run.type(`${rows[0]}\r`);
    await shell.line(rows[1]);
    for (const line of lines) await shell.line(line);
    await shell.line("sh -c 'exit 5'");
    expect(await shell.end()).toBe(name === "fish" ? 0 : 5);
    expect(commandsOf(shell.output()).map(({ status }) => status)).toEqual([...statuses, 5]);
    const plain = plainTextOf(Buffer.from(withoutMarks(shell.output()))).split("\n");
    expect(plain.filter((line) => says.includes(line))).toEqual(says);
  });

  test("C2: the user's files are as they were, and no file of ours is left there", async () => {
    const { command, files } = shellOf(name);
    const filesOf = (home: string) =>
      readdirSync(home, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
        .sort();
    const seen: string[][] = [];
    for (const isMarked of [false, true]) {
      const shell = await startShell(command, files, { isMarked });
      await shell.line("echo one");
      await shell.end();
      seen.push(filesOf(shell.home));
      for (const [file, text] of Object.entries(files)) expect(readFileSync(join(shell.home, file), "utf8")).toBe(text);
    }
    expect(seen[1]).toEqual(seen[0]);
  });
});

test("zsh: C2: the user's ZDOTDIR, hooks and prompt are theirs again", async () => {
  const rc = `PS1='${PROMPT}'; precmd() { echo "mine $?" }\n`;
  const shell = await startShell(["zsh"], { ".zshenv": "export FROM_ENV=1\n", ".zshrc": rc });
  await shell.line('echo "[$ZDOTDIR$STDIO_ZDOTDIR] $FROM_ENV $PS1".; (exit 4)');
  await shell.end();
  expect(withoutMarks(shell.output())).toContain(`[] 1 ${PROMPT}.\r\n`);
  expect(withoutMarks(shell.output())).toContain("mine 4\r\n");
  expect(commandsOf(shell.output()).map(({ status }) => status)).toEqual([4]);
});

test("C2: a shell with a script of its own, and any other program, is started as it is", () => {
  const env = { HOME: "/root" };
  for (const args of [
    ["-c", "true"],
    ["script.sh"],
    ["-lc", "true"],
    ["--norc"],
    ["--rcfile", "x"],
    ["-s"],
    ["--posix"],
  ]) {
    expect([args, withMarks("/usr/bin/bash", args, env, "/d")]).toEqual([args, undefined]);
  }
  expect(withMarks("sh", [], env, "/d")).toBe(undefined);
  expect(withMarks("python3", ["-i"], env, "/d")).toBe(undefined);
  expect(withMarks("bash", ["-l"], { ...env, ENV: "/own" }, "/d")).toBe(undefined);
  expect(withMarks("/bin/bash", ["-i"], env, "/d")).toEqual({ args: ["--rcfile", "/d/stdio.bash", "-i"], env });
  expect(withMarks("zsh", ["-l"], { ZDOTDIR: "/z" }, "/d")).toEqual({
    args: ["-l"],
    env: { ZDOTDIR: "/d/zsh", STDIO_ZDOTDIR: "/z" },
  });
});
