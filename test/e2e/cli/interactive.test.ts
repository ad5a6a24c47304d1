// The compiled program in shells: at a terminal, driven by tmux in bash and zsh, and by pexpect, with the terminal as it was found
// after every kind of death; and in a script's lines, as people write them for ssh.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPexpectPython } from "../../../packages/local/src/base/programs.ts";
import { buildBinary } from "../../../packages/local/src/build/binaries.ts";
import { cliEnv, withoutWords } from "../support/clients/cli.ts";
import { Tmux } from "../support/clients/tmux.ts";
import { cutRelay, fresh, type Person, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const scratch = mkdtempSync(join(system.dir, "interactive-"));
const SHELL = "--cmd bash --arg --norc --arg --noprofile --arg -i --env 'PS1=remote$ '";
/** What a full-screen program switches on: another screen, the mouse, bracketed paste, no cursor. */
const MODES = "\\033[?1049h\\033[?1000h\\033[?2004h\\033[?25l";

let binary = "";
let who: Person;
beforeAll(async () => {
  who = await person();
  binary = await buildBinary("linux-x64", scratch);
});

describe.each([
  ["bash", ""],
  ["zsh", "PS1='zsh$ ' exec zsh -f"],
])("in %s", (shell, start) => {
  let terminal: Tmux;
  const prompt = shell === "zsh" ? /^zsh\$$/ : /^local\$$/;
  const pidFile = join(scratch, `pid-${shell}`);

  beforeAll(async () => {
    terminal = new Tmux(100, 30, { ...cliEnv(who), SBX: binary, AT: system.relayOrigin, PID: pidFile });
    await terminal.endsWith(/^local\$$/);
    if (start !== "") terminal.type(start, "Enter");
    await terminal.endsWith(prompt);
  });
  afterAll(() => terminal.close());

  /** A remote shell in the foreground, with the modes of a full-screen program. @returns Our own process id. */
  async function begin(session: string): Promise<number> {
    writeFileSync(pidFile, "");
    const line = `sh -c 'echo $$ > $PID; exec $SBX $AT --session ${session} ${SHELL.replaceAll("'", '"')}'`;
    terminal.type(`clear; stty -g > ${scratch}/before; ${line}`, "Enter");
    await terminal.endsWith(/^remote\$$/);
    terminal.type(`printf '${MODES}'`, "Enter");
    await until("the other screen", () => terminal.value("#{alternate_on}") === "1");
    return Number(readFileSync(pidFile, "utf8"));
  }

  /** The local shell is back, and its terminal is as it was. */
  async function isAsFound(): Promise<void> {
    await terminal.endsWith(prompt);
    terminal.type(`stty -g > ${scratch}/after; echo checked`, "Enter");
    await terminal.shows(/^checked$/);
    const read = (name: string) => readFileSync(join(scratch, name), "utf8");
    expect(read("after")).toBe(read("before"));
  }

  test("after kill -9 the session is there to come back to, and bash, or stty, gives lines and echo", async () => {
    const session = fresh("s");
    const pid = await begin(session);
    process.kill(pid, "SIGKILL");
    await until("the end", () => /killed/i.test(terminal.screen().join("\n")));
    // Nobody could switch off what the program had switched on. bash puts back the terminal's own settings, zsh does not.
    const mend = `stty $(cat ${scratch}/before); printf '\\033[?1049l\\033[?1000l\\033[?2004l\\033[?25h'`;
    terminal.type(`${shell === "zsh" ? mend : mend.replace(/^.*?; /, "")}`, "C-j");
    await isAsFound();
    terminal.type(`clear; $SBX $AT --session ${session}`, "Enter");
    await until("the program's screen", () => terminal.value("#{alternate_on}") === "1");
    terminal.type("", "C-]");
    await isAsFound();
  });

  test("a cut in the middle is said, and the shell goes on", async () => {
    terminal.type(`clear; $SBX $AT --session ${fresh("s")} ${SHELL}`, "Enter");
    await terminal.endsWith(/^remote\$$/);
    await cutRelay();
    await terminal.shows(/resumed after .* nothing lost/);
    terminal.type("echo $((6 * 7))", "Enter");
    await terminal.shows(/^42$/);
    terminal.type("exit", "Enter");
    await terminal.endsWith(prompt);
  });

  test("~? helps, ~^Z stops it with the terminal as it was found, and fg goes on", async () => {
    terminal.type(`clear; stty -g > ${scratch}/before; $SBX $AT --session ${fresh("s")} ${SHELL}`, "Enter");
    await terminal.endsWith(/^remote\$$/);
    terminal.type("~", "?");
    await terminal.shows(/~\. detach/);
    // What comes all at once is text, and no escape.
    terminal.type("echo =$TERM", "Enter");
    await terminal.shows(/^=(screen|tmux)/);
    await terminal.endsWith(/^remote\$$/);
    terminal.type("~", "C-z");
    await isAsFound();
    terminal.type("clear; fg", "Enter");
    await terminal.shows(shell === "zsh" ? /continued/ : /^\$SBX /);
    terminal.type("echo $((6 * 7))", "Enter");
    await terminal.shows(/^42$/);
    terminal.type("exit", "Enter");
    await terminal.endsWith(prompt);
  });
});

describe("a line of a script", () => {
  test.each([
    ["standard output that is closed is none", "$A -- echo hi >&-; echo $?", "0\n"],
    ["standard input that is closed is empty", "$A -- sh -c 'cat; echo end' <&-; echo $?", "end\n0\n"],
    ["standard error that is closed is none", "$A -- sh -c 'echo out; echo err >&2' 2>&-; echo $?", "out\n0\n"],
    [
      "any bytes go both ways",
      "head -c 300000 /dev/urandom > $D/a; $A -- cat < $D/a | cmp - $D/a && echo same",
      "same\n",
    ],
    [
      "a child in the background does not hold its end",
      "$A -- sh -c '(sleep 3; echo late) & echo now'; echo $?",
      "now\n0\n",
    ],
    [
      "in the background it runs as well",
      "$A -- sh -c 'echo there; exit 3' </dev/null & wait $!; echo $?",
      "there\n3\n",
    ],
    ["LANG goes over, and what -e names", "LANG=C.UTF-8 X=1 $A -e Y=2 -- sh -c 'echo $LANG =$X $Y'", "C.UTF-8 = 2\n"],
    ["-w says where", "$A -w /usr -- pwd", "/usr\n"],
    ["the usual shell is bash, not at a login", "echo 'shopt -q login_shell; echo $? $0' | $A", "1 bash\n"],
  ])("%s", async (_what, line, stdout) => {
    const env = { ...cliEnv(who), A: `${binary} ${system.origin} --sandbox dev`, D: scratch };
    const result = await promisify(execFile)("bash", ["-c", line], { env });
    expect([result.stdout, withoutWords(result.stderr)]).toEqual([stdout, ""]);
  });
});

test("pexpect drives a shell through it, over a cut", async () => {
  const python = findPexpectPython();
  if (python === undefined) throw new Error("No python3 has pexpect: install python3-pexpect");
  const script = `
import os, pexpect, sys, urllib.request
child = pexpect.spawn(os.environ["SBX"], sys.argv[1:], encoding="utf-8", timeout=40, dimensions=(24, 90))
child.expect_exact("remote$ ")
child.sendline("stty size")
child.expect_exact("24 90")
for i in range(5):
    if i == 2:
        urllib.request.urlopen(urllib.request.Request(os.environ["CUT"], method="POST")).read()
        child.expect("resumed after .* nothing lost")
    child.sendline("echo sum=$((%d * 1000))" % i)
    child.expect_exact("sum=%d" % (i * 1000))
child.sendline("read -s secret; echo len=\${#secret}")
child.sendline("tell nobody")
child.expect_exact("len=11")
child.sendeof()
child.expect(pexpect.EOF)
child.close()
print("code", child.exitstatus)
`;
  const words = [system.relayOrigin, "--cmd", "bash", "--arg", "--norc", "--arg", "-i", "--env", "PS1=remote$ "];
  const env = { ...cliEnv(who), SBX: binary, CUT: `${system.controlUrl}/cut-relay`, TERM: "xterm-256color" };
  const { stdout } = await promisify(execFile)(python, ["-c", script, ...words], { env });
  expect(stdout).toBe("code 0\n");
});
