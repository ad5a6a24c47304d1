// Several command lines on one session, each at a terminal of its own; and the commands that share one.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli, until } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";
import { Terminal } from "../fixture/tmux.ts";

const SHELL = "--cmd bash --arg --norc --arg --noprofile --env 'PS1=remote$ '";

let server: TestServer;
let terminals: Terminal[];
beforeEach(async () => {
  server = await startServer();
  terminals = [];
});
afterEach(async () => {
  for (const terminal of terminals) terminal.close();
  await server.close();
});

/** A terminal that is attached to the session, made by the first. */
async function attached(name: string, options = ""): Promise<Terminal> {
  const terminal = new Terminal();
  terminals.push(terminal);
  await terminal.shows(/^local\$/m);
  terminal.runCli(`${server.url} --session main --name ${name} ${options}${terminals.length === 1 ? ` ${SHELL}` : ""}`);
  await terminal.shows(/^remote\$/m);
  return terminal;
}

describe("a viewer", () => {
  test("is told once that keys go nowhere, and none of them does", async () => {
    const ann = await attached("Ann");
    const cleo = await attached("Cleo", "--role viewer");
    cleo.type("l");
    await cleo.shows(/^sbx-stdio: read only: You are a viewer \(Ctrl\+\] detaches\)$/m);
    cleo.type("s");
    ann.run("echo done");
    const screen = await cleo.shows(/^done$/m);
    expect(screen.match(/read only/g)).toHaveLength(1);
    const clients = [...server.host().session.clients];
    expect(clients.map((client) => [client.name, client.input.received])).toEqual([
      ["Ann", 10],
      ["Cleo", 0],
    ]);
    cleo.press("C-]");
    await cleo.shows(/detached/);
  });
});

test("who attaches to a recorded session is told", async () => {
  await attached("Ann");
  server.host().session.state.recording = { since: "2026-01-01T00:00:00.000Z", redacted: false };
  const bob = await attached("Bob");
  await bob.shows(/^sbx-stdio: the output of this session is recorded$/m);
});

describe("the keyboard", () => {
  test("is asked for and given with Ctrl+^ a and Ctrl+^ g, and released with r", async () => {
    const ann = await attached("Ann", "--mode exclusive");
    const bob = await attached("Bob");
    bob.type("x");
    await bob.shows(/^sbx-stdio: read only: Ann has the keyboard \(Ctrl\+\^ a asks for it\)$/m);
    bob.press("C-^");
    await bob.shows(
      /^sbx-stdio: a request the keyboard · t take the keyboard \(admin\) · p secret input on · w who is here/m,
    );
    bob.type("a");
    await bob.shows(/^sbx-stdio: You have asked Ann for the keyboard$/m);
    await ann.shows(/^sbx-stdio: Bob asks for the keyboard \(Ctrl\+\^ g gives it\)$/m);
    ann.press("C-^", "g");
    await bob.shows(/^sbx-stdio: You have the keyboard$/m);
    await ann.shows(/^sbx-stdio: Bob has the keyboard$/m);
    bob.run("echo from $((1 + 1))");
    await ann.shows(/^from 2$/m);
    ann.press("C-^", "a");
    await bob.shows(/^sbx-stdio: Ann asks for the keyboard \(Ctrl\+\^ g gives it\)$/m);
    bob.press("C-^", "r");
    await bob.shows(/^sbx-stdio: The keyboard is free$/m);
    // Who asked is told that it is to be had.
    await ann.shows(/^sbx-stdio: The keyboard is free \(Ctrl\+\^ a takes it\)$/m);
    bob.press("C-^", "t");
    await bob.shows(/^sbx-stdio: taking the keyboard needs the scope sandbox:admin$/m);
    expect(server.host().session.keyboard.holder).toBe("");
  });
});

describe("who is here", () => {
  test("is told when it is asked for, and as people come and go with --status, in the title too", async () => {
    const ann = await attached("Ann", "--status");
    await ann.shows(/^sbx-stdio: 1 here: Ann \(you\); everyone but viewers may type; connected$/m);
    const cleo = await attached("Cleo", "--role viewer");
    await ann.shows(/^sbx-stdio: Cleo joined as a viewer$/m);
    const title = (text: string) =>
      until(
        () => ann.ask("pane_title") === text,
        () => ann.ask("pane_title"),
      );
    await title("default/main: Ann, Cleo (viewer) · connected");
    ann.run("printf '\\033]0;build\\007'");
    await title("default/main: Ann, Cleo (viewer) · connected · build");
    cleo.press("C-^", "w");
    await cleo.shows(/^sbx-stdio: 2 here: Ann, Cleo \(you, viewer\); everyone but viewers may type; connected$/m);
    cleo.press("C-^", "d");
    await cleo.shows(/detached/);
    await ann.shows(/^sbx-stdio: Cleo left$/m);
    ann.press("C-^", "s");
    await ann.shows(/^sbx-stdio: status off$/m);
    await title("build");
  });

  test("Ctrl+^ twice sends it once, and in a paste it is text", async () => {
    const ann = await attached("Ann");
    ann.run("clear; stty -icanon -echo; echo ready; head -c 1 | od -An -tx1; stty sane");
    await ann.shows(/^ready$/m);
    ann.press("C-^", "C-^");
    await ann.shows(/^ 1e$/m);
  });
});

describe("links", () => {
  test("are made, listed and taken back", async () => {
    const where = [server.url, "--session", "main"];
    const made = await runCli(["share", ...where, "--role", "driver", "--seconds", "60", "--guests"]);
    expect(made.stdout).toBe(`${server.url}/?sandbox=default&session=main&role=driver#ticket=s.ticket-1\n`);
    expect(made.stderr).toBe(
      `sbx-stdio: anyone with the link may type until 2027-01-01T00:01:00.000Z; revoke the link with: sbx-stdio revoke ${server.url} 1 --sandbox default --session main\n`,
    );
    const listed = await runCli(["tickets", ...where]);
    expect(listed.stdout).toBe(
      "ID  ROLE    GUESTS  EXPIRES               CREATED BY\n1   driver  yes     2027-01-01T00:01:00Z  ann\n",
    );
    expect(await runCli(["revoke", server.url, "1", "--session", "main"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "sbx-stdio: link 1 is revoked, and everyone who used it is disconnected\n",
    });
    const again = await runCli(["revoke", server.url, "1", "--session", "main"]);
    expect([again.code, again.stderr]).toEqual([255, "sbx-stdio: no such ticket, or it has expired\n"]);
  });

  test("let in a guest, who shows the ticket and no token", async () => {
    const ann = await attached("Ann");
    server.isOpen = true;
    const guest = new Terminal();
    terminals.push(guest);
    await guest.shows(/^local\$/m);
    const link = `${server.url}/?sandbox=default&session=main&role=viewer#ticket=s.ticket-1`;
    guest.run("unset SBX_TOKEN; clear");
    guest.runCli(`attach '${link}' --name Guest`);
    await guest.shows(/^remote\$/m);
    ann.run("echo hello guest");
    await guest.shows(/^hello guest$/m);
    const query = server.queries.at(-1);
    expect(["ticket", "sandbox", "session", "role", "name"].map((name) => query?.get(name))).toEqual([
      null,
      "default",
      "main",
      "viewer",
      "Guest",
    ]);
    expect([server.shownTickets.at(-1), server.tokens.at(-1)]).toEqual(["s.ticket-1", ""]);
  });
});
