// The command line at a terminal: a shell in tmux runs it, keys are pressed, the screen is read.

import { createHash } from "node:crypto";
import fs, { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerMessage } from "sandbox-stdio/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RUNTIME, scratch, until } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";
import { CLI, Terminal } from "../fixture/tmux.ts";
import { withoutWaits } from "../fixture/waits.ts";

const SHELL = "--cmd bash --arg --norc --arg --noprofile --env 'PS1=remote$ '";

let server: TestServer;
let terminal: Terminal;
beforeEach(async () => {
  server = await startServer();
  terminal = new Terminal();
  await terminal.shows(/^local\$/m);
});
afterEach(async () => {
  terminal.close();
  await server.close();
});

/** Starts a shell in session `main` and waits for its prompt. */
async function shell(options = ""): Promise<void> {
  terminal.runCli(`${server.url} --session main ${options} ${SHELL}`);
  await terminal.shows(/^remote\$/m);
}

/** The terminal's settings, as the local shell sees them. */
async function settings(): Promise<string> {
  terminal.run('clear; stty -g; echo set""tings');
  const screen = await terminal.shows(/^settings$/m);
  return screen.slice(0, screen.indexOf("settings")).trim();
}

describe("a shell", () => {
  test("has a prompt, the window's size, follows the window, and ends with its code", async () => {
    const before = await settings();
    terminal.run("clear");
    await shell();
    terminal.run("stty size");
    await terminal.shows(/^30 100$/m);
    terminal.resize(90, 25);
    await until(
      () => server.host().asked.includes("90x25"),
      () => server.host().asked.join(),
    );
    terminal.run("stty size");
    await terminal.shows(/^25 90$/m);
    terminal.run("exit 5");
    await terminal.shows(/^local\$ *$/m);
    terminal.run("echo code $?");
    await terminal.shows(/^code 5$/m);
    terminal.resize(100, 30);
    expect(await settings()).toBe(before);
  });

  test("gets ^C, ^Z and ^\\ as keys", async () => {
    await shell();
    // The program itself says that it is there: the shell in front ignores these keys.
    terminal.run("sh -c 'echo started; exec sleep 1000'");
    await terminal.shows(/^started$/m);
    terminal.press("C-c");
    await terminal.shows(/\^C\nremote\$ *$/);
    terminal.run("sh -c 'echo after $0; exec cat -v' $?; echo after $?");
    await terminal.shows(/^after 130$/m);
    terminal.press("C-\\");
    await terminal.shows(/^after 131$/m);
    terminal.run("sh -c 'echo again; exec sleep 1000'");
    await terminal.shows(/^again$/m);
    terminal.press("C-z");
    await terminal.shows(/\^Z\n.*Stopped.*\nremote\$ *$/);
    terminal.run("kill %1; echo gone");
    await terminal.shows(/^gone$/m);
  });

  test("gets what was typed before it was there", async () => {
    server.refusal = { status: 503, body: "" };
    terminal.runCli(`${server.url} --verbose --session main ${SHELL}`);
    await terminal.shows(/not connected/);
    terminal.run("echo typed $((40 + 2)) ahead");
    server.refusal = undefined;
    await terminal.shows(/^typed 42 ahead$/m);
  });

  test("~I and Ctrl+^ i say the round trip, what waits both ways, and in an outage that there is none", async () => {
    await shell();
    terminal.type("~I");
    await terminal.shows(/round trip \d+ ms · 0 bytes of output pending · 0 bytes of input pending/);
    terminal.press("C-c");
    terminal.run("clear; stty -icanon; echo stuck; sleep 1000");
    await terminal.shows(/^stuck$/m);
    terminal.press("C-^");
    terminal.type("i");
    await terminal.shows(/round trip \d+ ms/);
    server.refusal = { status: 503, body: "" };
    server.cut();
    await terminal.shows(/reconnecting/);
    terminal.press("C-^");
    terminal.type("i");
    await terminal.shows(/not connected: cannot measure the round trip/);
  });

  test("has line feeds that only feed lines, where its program asks for them", async () => {
    await shell();
    terminal.run("clear; stty -opost; printf 'one\\ntwo\\r\\n'; stty opost");
    await terminal.shows(/one\n {3}two/);
  });

  test("a full-screen program draws, and is left as it was entered", async () => {
    await shell();
    terminal.run("vim -u NONE -N");
    await terminal.shows(/VIM - Vi IMproved/);
    expect(terminal.ask("alternate_on")).toBe("1");
    terminal.type("ihello from vim");
    await terminal.shows(/^hello from vim$/m);
    terminal.press("Escape");
    terminal.run(":q!");
    await terminal.shows(/^remote\$/m);
    expect(terminal.ask("alternate_on")).toBe("0");
  });
});

describe("Ctrl+]", () => {
  test("detaches, says how to come back, and the session lives: attached to again it is as it was", async () => {
    await shell();
    terminal.run("X=kept; echo set");
    await terminal.shows(/^set$/m);
    terminal.press("C-]");
    const again = `sbx-stdio: detached; attach again with: sbx-stdio ${server.url} --sandbox default --session main`;
    const screen = await terminal.shows(/^local\$ *$/m);
    expect(screen).toContain(again);
    terminal.run("echo code $?");
    await terminal.shows(/^code 0$/m);
    await until(
      () => server.host().asked.at(-1) === "left",
      () => `not left: ${server.host().asked}`,
    );
    terminal.run("clear");
    terminal.runCli(`${server.url} --session main`);
    await terminal.shows(/^remote\$ *$/m);
    terminal.run("echo $X");
    await terminal.shows(/^kept$/m);
  });

  test("with a resume file keeps this client's place, and what is typed in the next run is new", async () => {
    const file = join(scratch(), "place");
    await shell(`--resume-file ${file}`);
    terminal.run("X=kept; echo set");
    await terminal.shows(/^set$/m);
    terminal.press("C-]");
    await terminal.shows(new RegExp(`--session main --resume-file ${file}$`, "m"));
    await terminal.shows(/^local\$ *$/m);
    const queries = server.queries.length;
    terminal.run("clear");
    terminal.runCli(`${server.url} --session main --resume-file ${file}`);
    await until(
      () => server.queries.length > queries && server.host().session.attachedCount === 1,
      () => "not attached again",
    );
    await terminal.shows(/^set$/m);
    terminal.run("echo $X");
    await terminal.shows(/^kept$/m);
    terminal.run("exit 3");
    await terminal.shows(/^local\$ *$/m);
    expect(existsSync(file)).toBe(false);
    // The same client came back, and its screen was sent again.
    expect(server.queries.at(-1)?.get("resume")).toMatch(/^.+\/client1$/);
    expect(["offset", "stdin"].map((name) => server.queries.at(-1)?.get(name))).toEqual([null, "new"]);
  });

  test("says that secret input goes on from an earlier run, and that it is not to be had", async () => {
    await shell();
    const say = (...messages: ServerMessage[]) => {
      for (const client of server.host().session.clients) for (const message of messages) client.peer?.send(message);
    };
    say({ type: "secret", on: true });
    await terminal.shows(/^sbx-stdio: secret input on: /m);
    terminal.press("C-^");
    await terminal.shows(/ p secret input off/);
    const message = "secret input is switched off here";
    say({ type: "error", code: "not_allowed", message }, { type: "secret", on: false });
    await terminal.shows(/^sbx-stdio: secret input is switched off here$/m);
    terminal.press("a");
    await terminal.shows(/^sbx-stdio: everyone may type here$/m);
    terminal.press("C-^");
    await terminal.shows(/ p secret input on/);
  });

  test("inside a full-screen program with the mouse on gives the terminal back as it was", async () => {
    const before = await settings();
    await shell();
    terminal.run("vim -u NONE -N -c 'set mouse=a'");
    await terminal.shows(/VIM - Vi IMproved/);
    await until(
      () => terminal.ask("mouse_any_flag") === "1",
      () => "no mouse",
    );
    terminal.press("C-]");
    await terminal.shows(/detached/);
    await terminal.shows(/^local\$ *$/m);
    const flags = ["alternate_on", "mouse_any_flag", "cursor_flag", "keypad_flag", "keypad_cursor_flag", "wrap_flag"];
    // bash itself sets application keys while it reads a line, hence no 0 for it.
    expect(flags.filter((flag) => !flag.startsWith("keypad")).map((flag) => terminal.ask(flag))).toEqual([
      "0",
      "0",
      "1",
      "1",
    ]);
    expect(await settings()).toBe(before);
  });
});

describe("however it ends, the terminal is given back", () => {
  for (const signal of ["TERM", "HUP", "INT", "QUIT"]) {
    test(`by SIG${signal}: the session lives`, async () => {
      const before = await settings();
      terminal.runCli(`${server.url} --session main ${SHELL}`);
      await terminal.shows(/^remote\$/m);
      const pid = findCli(server.port);
      process.kill(pid, `SIG${signal}`);
      await terminal.shows(/^local\$ *$/m);
      expect(await settings()).toBe(before);
      expect(server.host().session.exit).toBeUndefined();
      await until(
        () => server.host().asked.at(-1) === "left",
        () => `not left: ${server.host().asked}`,
      );
    });
  }

  test("before it could be taken, the terminal has gone: that is said, and is no fault of the program's", async () => {
    const directory = scratch();
    const [errors, code] = [join(directory, "errors"), join(directory, "code")];
    // In a session of its own, where no SIGHUP of the terminal reaches it.
    const cli = `${CLI} ${server.url} --session main ${SHELL} 2>${errors}; echo $? >${code}`;
    server.onConnection = () => {
      terminal.close();
      terminal = new Terminal();
    };
    writeFileSync(join(directory, "run"), cli);
    terminal.run(`setsid sh ${join(directory, "run")}`);
    await until(
      () => existsSync(code) && readFileSync(code, "utf8"),
      () => "it goes on",
    );
    const again = `sbx-stdio ${server.url} --sandbox default --session main`;
    expect([readFileSync(code, "utf8"), withoutWaits(readFileSync(errors, "utf8"))]).toEqual([
      "0\n",
      `sbx-stdio: detached; attach again with: ${again}\n`,
    ]);
  });

  test("refused for good in the middle: the reason is on a line of its own", async () => {
    const before = await settings();
    await shell();
    server.onConnection = (connection) => connection.bye(4401, "token expired", "never");
    server.cut();
    await terminal.shows(
      /^sbx-stdio: token expired \(log in again with `sbx-stdio login http:[^`]+`, or set a new SBX_TOKEN\); session main may/m,
    );
    await terminal.shows(/^local\$ *$/m);
    expect(await settings()).toBe(before);
  });
});

describe("a connection that is lost", () => {
  test("is told, keys are discarded and said to be, and afterwards the shell goes on", async () => {
    await shell();
    terminal.run("echo before");
    await terminal.shows(/^before$/m);
    const taken = () => [...server.host().session.clients].map((client) => client.input.received);
    const typedBefore = taken();
    server.refusal = { status: 503, body: "" };
    server.cut();
    await terminal.shows(/^sbx-stdio: connection lost \(.+\), reconnecting…$/m);
    terminal.type("rm -r");
    terminal.type("f /");
    await terminal.shows(
      /^sbx-stdio: not connected: typed keys are discarded \(Enter retries now, Ctrl\+\] detaches\)$/m,
    );
    server.refusal = undefined;
    await terminal.shows(/^sbx-stdio: resumed after [\d.]+ s, nothing lost$/m);
    expect(taken()).toEqual(typedBefore);
    // Where it comes at once it ends the line that was discarded, and is discarded with it.
    terminal.press("Enter");
    terminal.run("echo after");
    const screen = await terminal.shows(/^after$/m);
    expect(screen.match(/typed keys are discarded/g)).toHaveLength(1);
    expect(screen).not.toContain("rm -rf");
  });

  test("Enter tries again at once, however long the wait would be", async () => {
    await shell();
    server.refusal = { status: 503, body: "", headers: { "retry-after": "200" } };
    server.cut();
    await terminal.shows(/trying again in \d+ s$/m);
    server.refusal = undefined;
    terminal.press("Enter");
    await terminal.shows(/^sbx-stdio: resumed after [\d.]+ s, nothing lost$/m);
  });

  test("keys are kept with --keep-keys, and typed once when it is back", async () => {
    await shell("--keep-keys");
    server.refusal = { status: 503, body: "" };
    server.cut();
    await terminal.shows(/reconnecting/);
    terminal.run("echo kept $((1 + 1))");
    server.refusal = undefined;
    await terminal.shows(/^kept 2$/m);
    expect(terminal.screen().match(/^kept 2$/gm)).toHaveLength(1);
  });

  test("a paste that was begun is finished when it is back: each byte arrives once", async () => {
    await shell();
    const text = Buffer.alloc(200_000, "0123456789abcdefghij\n").toString();
    const pasted = `\x1b[200~${text}\x1b[201~`;
    terminal.run(`stty raw -echo; printf '\\033[?2004hgo'; head -c ${pasted.length} | sha256sum; stty sane`);
    // Its output, and not the echo of the command: only behind it are pastes in brackets.
    await terminal.shows(/^go$/m);
    const received = () => [...server.host().session.clients].reduce((sum, { input }) => sum + input.received, 0);
    const before = received();
    terminal.paste(text);
    for (const part of [1, 50_000, 120_000]) {
      await until(
        () => received() - before >= part,
        () => `${received() - before} bytes of the paste have arrived`,
      );
      server.cut();
    }
    await terminal.shows(new RegExp(createHash("sha256").update(pasted).digest("hex")));
  });

  test("can be given up with ~. at a line's start", async () => {
    await shell();
    server.refusal = { status: 503, body: "" };
    server.cut();
    await terminal.shows(/reconnecting/);
    terminal.type("~.");
    await terminal.shows(/detached/);
    await terminal.shows(/^local\$ *$/m);
    expect(server.host().session.exit).toBeUndefined();
  });

  test("can be given up with Ctrl+]", async () => {
    await shell();
    server.refusal = { status: 503, body: "" };
    server.cut();
    await terminal.shows(/reconnecting/);
    terminal.press("C-]");
    await terminal.shows(/detached/);
    await terminal.shows(/^local\$ *$/m);
  });
});

test("a terminal whose window is closed ends the program without a crash, and leaves the session running", async () => {
  const file = join(scratch(), "code");
  terminal.run(`trap '' HUP; (${CLI} ${server.url} --session main ${SHELL}; echo code=$? > ${file}); echo over`);
  await terminal.shows(/^remote\$/m);
  terminal.close();
  terminal = new Terminal(); // For whoever closes it after the test.
  const said = await until(
    () => existsSync(file) && readFileSync(file, "utf8"),
    () => "no exit code",
  );
  // Detached, or ended by the SIGHUP that came with it: not 134 or 139, which an abort leaves.
  expect(["code=0\n", "code=129\n"]).toContain(said);
  expect(server.host("main").session.exit).toBeUndefined();
});

describe("terminal queries", () => {
  const queries = "\\033[c\\033[>c\\033[6n\\033[?2026$p\\033]10;?\\007\\033]11;?\\033\\\\\\033[>q";

  test("are answered once, live, and never again in a replay", async () => {
    await shell();
    terminal.run(`clear; stty -echo -icanon; printf '${queries}'; cat -v; stty sane; echo; echo done`);
    await terminal.shows(/\^\[P>\|tmux/);
    // Whatever is answered twice is answered before this.
    terminal.type("Z");
    await terminal.shows(/Z/);
    terminal.press("C-\\");
    const screen = await terminal.shows(/^done$/m);
    // What tmux answers: primary and secondary attributes, where the cursor is, its name.
    for (const answer of ["^[[?1;2c", "^[[>84;0;0c", "^[[1;1R", "^[P>|tmux"]) {
      expect(screen.split(answer), `${answer} in ${screen}`).toHaveLength(2);
    }
    terminal.run("echo ready");
    await terminal.shows(/^ready$/m);
    terminal.press("C-]");
    await terminal.shows(/detached/);
    const length = server.host().session.log.endOffset;
    terminal.run("clear");
    terminal.runCli(`${server.url} --session main`);
    await terminal.shows(/^ready$/m);
    terminal.type("x");
    await until(
      () => server.host().session.log.endOffset > length,
      () => "no echo",
    );
    const clients = [...server.host().session.clients];
    expect(clients.map((client) => client.input.received)).toEqual([1]);
  });
});

describe("what is not wholly a terminal gets pipes", () => {
  test("output to a pipe", async () => {
    terminal.runCli(`${server.url} -- sh -c 'test -t 1 || echo no terminal' | cat; echo it is over`);
    await terminal.shows(/^no terminal\nit is over$/m);
    expect(server.queries.map((query) => query.get("tty"))).toEqual(["0"]);
  });

  test("--no-tty, typed at: lines go in, ^C stops the process", async () => {
    terminal.runCli(`${server.url} --no-tty -- sh -c 'read x; echo got $x; exec sleep 100'; echo code $?`);
    await until(
      () => [...server.hosts.values()].at(-1),
      () => "no session",
    );
    terminal.run("line");
    await terminal.shows(/^got line$/m);
    terminal.press("C-c");
    await terminal.shows(/code 130$/m);
  });
});

/** The process that is connected to the server: the command line in the terminal. */
function findCli(port: number): number {
  for (const entry of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const words = fs.readFileSync(`/proc/${entry}/cmdline`, "utf8").split("\0");
      if (words[0] === RUNTIME && words.includes(`http://127.0.0.1:${port}`)) return Number(entry);
    } catch {
      // It has ended meanwhile.
    }
  }
  throw new Error(`Cannot find the command line for port ${port}`);
}
