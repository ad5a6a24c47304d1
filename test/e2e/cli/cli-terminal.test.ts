// The command line in a terminal: a shell, a full-screen program, a window that changes, and leaving without ending.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { auditOf } from "../support/clients/audit.ts";
import { CLI, cliEnv } from "../support/clients/cli.ts";
import { isAliveIn } from "../support/clients/sandbox-processes.ts";
import { Tmux } from "../support/clients/tmux.ts";
import { fresh, type Person, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const SHELL = "--cmd bash --arg --norc --arg --noprofile --arg -i --env 'PS1=remote$ '";

let who: Person;
let terminal: Tmux;

beforeEach(async () => {
  who = await person();
  const env = { ...cliEnv(who), SBX: `${process.execPath} ${CLI} ${system.origin}` };
  terminal = new Tmux(100, 30, env);
  await terminal.shows(/^local\$$/);
});

afterEach(() => terminal.close());

/** Starts the command line with a remote shell in it. */
async function startShell(words: string): Promise<void> {
  terminal.type(`clear; $SBX ${words} ${SHELL}`, "Enter");
  await terminal.endsWith(/^remote\$$/);
}

async function remotePid(): Promise<number> {
  terminal.type('echo "pid=$$."', "Enter");
  return Number((await terminal.shows(/^pid=(\d+)\.$/))[1]);
}

test("a terminal of any size has a process: one column, more than there may be, and none that is known", async () => {
  const ends = [
    ["rows 1 cols 1", "1 1"],
    ["rows 9000 cols 65000", "500 1000"],
    ["rows 0 cols 0", "24 80"],
  ];
  for (const [given, size] of ends) {
    terminal.type(`clear; stty ${given}; $SBX -- stty size; echo code=$? of ${size}; stty rows 30 cols 100`, "Enter");
    await terminal.shows(new RegExp(`^code=0 of ${size}$`));
    expect(terminal.screen()).toContain(size);
  }
});

test("Ctrl+] detaches: the process lives, the terminal is whole, and --session attaches again", async () => {
  await startShell("--sandbox dev --session w");
  const pid = await remotePid();
  terminal.type("A=kept; cat", "Enter");
  await terminal.shows(/^remote\$ A=kept; cat$/);
  terminal.type("", "C-]");
  const again = await terminal.shows(/^sbx-stdio: detached; attach again with: (.+)$/);
  expect(again[1]).toContain("--session w");
  await terminal.shows(/^local\$$/);
  expect(await isAliveIn(who, pid, "dev")).toBe(true);
  // Raw mode is off: a line is edited and echoed by this side.
  terminal.type("stty -a | grep -o ' icanon' | tr -d ' '", "Enter");
  await terminal.shows(/^icanon$/);
  await terminal.endsWith(/^local\$$/);

  terminal.type("clear; echo cleared; $SBX --sandbox dev --session w", "Enter");
  await terminal.shows(/^cleared$/);
  // What was on the screen comes back.
  await terminal.shows(/^remote\$ A=kept; cat$/);
  terminal.type("", "C-c");
  await terminal.endsWith(/^remote\$$/);
  terminal.type('echo "$A, pid=$$."', "Enter");
  await terminal.shows(new RegExp(`^kept, pid=${pid}\\.$`));
  terminal.type("exit", "Enter");
  await terminal.shows(/^local\$$/);
  await until("the end of the shell", async () => !(await isAliveIn(who, pid, "dev")));
});

test("Ctrl+] is heard behind a paste of 600 KiB that the program does not read", async () => {
  await startShell("--sandbox dev --session stuck");
  terminal.type("clear; stty raw -echo; echo stuck; exec sleep 1000", "Enter");
  await terminal.shows(/^stuck$/);
  const file = join(system.dir, "paste");
  writeFileSync(file, "0123456789abcde\n".repeat(600 * 64));
  terminal.paste(file);
  terminal.type("", "C-]");
  await terminal.shows(/^sbx-stdio: detached/);
  await terminal.endsWith(/^local\$$/);
});

test("secret input: from Ctrl+^ p to the next, only the length of what is typed is on record", async () => {
  const session = fresh("s");
  await startShell(`--session ${session}`);
  terminal.type("", "C-^", "p");
  await terminal.shows(/^sbx-stdio: secret input on: /);
  terminal.type("echo hunter2", "Enter");
  await terminal.shows(/^hunter2$/);
  terminal.type("", "C-^", "p");
  await terminal.shows(/^sbx-stdio: secret input off: /);
  await until("the end of it on record", async () => {
    const records = await auditOf(who, session);
    return records.some(({ type, on }) => type === "secret" && on === false);
  });
  terminal.type("echo open", "Enter");
  await terminal.shows(/^open$/);
  const typed = "echo hunter2\r";
  await until("the rest on record", async () => {
    const records = (await auditOf(who, session)).filter(({ type }) => type === "input");
    return records.reduce((sum, { length }) => sum + Number(length), 0) === typed.length + "echo open\r".length;
  });
  const records = (await auditOf(who, session)).filter(({ type }) => type === "input" || type === "secret");
  expect(records.filter(({ type }) => type === "secret").map(({ on }) => on)).toEqual([true, false]);
  const secret = records.filter(({ secret }) => secret === true);
  expect(secret.reduce((sum, { length }) => sum + Number(length), 0)).toBe(typed.length);
  expect(secret.filter(({ text, base64 }) => text !== undefined || base64 !== undefined)).toEqual([]);
  expect(records.map(({ text }) => text ?? "").join("")).toBe("echo open\r");
});
