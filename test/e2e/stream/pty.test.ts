// PandaStack's pty over the real system: a shell for one, a shell for many, and when each ends.
import { describe, expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { type ForeignClient, foreign, foreignRefused } from "../support/clients/foreign-client.ts";
import { isAliveIn } from "../support/clients/sandbox-processes.ts";
import { pty, ptyPath, shared, sharedPath, shows } from "../support/generators/foreign-routes.ts";
import { api, cutInnerHop, fresh, type Person, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

/** The process id of the shell that the client types in. */
async function shellOf(client: ForeignClient): Promise<number> {
  client.type("echo pid=$$.\r");
  return Number(/pid=(\d+)\./.exec(await shows(client, /pid=\d+\./))?.[1]);
}

async function sessionsOf(who: Person, sandbox: string): Promise<Record<string, unknown>[]> {
  const response = await api(who, `/api/sandboxes/${sandbox}/sessions`);
  return ((await response.json()) as { sessions: Record<string, unknown>[] }).sessions;
}

const idOf = async (client: ForeignClient) => ((await client.message("hello")).you as { id: string }).id;

describe("/exec/pty", () => {
  test("is a login shell, interactive, of the size that was asked for, and follows it", async () => {
    const client = await pty(await person(), fresh("box"), { rows: 40, cols: 120 });
    client.type("shopt -q login_shell && echo login=$?; echo flags=$-; stty size\r");
    await shows(client, "login=0");
    await shows(client, /flags=\w*i\w*/); // Not the echo of the line.
    await shows(client, "40 120");
    client.say({ type: "resize", rows: 31, cols: 77 });
    client.type("stty size\r");
    await shows(client, "31 77");
  });

  test("PandaStack's own dashboard: its size without a type, its token as access_token", async () => {
    const { token } = await person();
    const client = await foreign(undefined, ptyPath(fresh("box"), { access_token: token }));
    client.say({ resize: { cols: 91, rows: 33 } });
    client.type("stty size\r");
    await shows(client, "33 91");
  });

  test("a token beside the subprotocol is enough, and pds-pty is selected", async () => {
    const { token } = await person();
    const client = await foreign(undefined, ptyPath(fresh("box")), { protocols: ["pds-pty", `bearer.${token}`] });
    expect(client.socket.protocol).toBe("pds-pty");
    client.type("echo $((40 + 2))\r");
    await shows(client, "42");
  });

  test.each([
    ["echo a b; exit 3", /^a b\r\n$/, 3],
    ["no-such-program-here", /not found/, 127],
  ])("?cmd= is a full command line: %s", async (cmd, output, code) => {
    const client = await pty(await person(), fresh("box"), { cmd });
    expect(await client.message("exit")).toEqual({ type: "exit", code });
    expect(client.bytes().toString()).toMatch(output);
    expect((await client.end()).code).toBe(1000);
  });

  test.each([1000, "a cut"])("ends with its client, after %s: no process is left, and no session", async (how) => {
    const who = await person();
    const sandbox = fresh("box");
    const client = await pty(who, sandbox);
    const shell = await shellOf(client);
    if (typeof how === "number") client.socket.close(how);
    else client.socket.terminate();
    await until("the end of the shell", async () => !(await isAliveIn(who, shell, sandbox)));
    await until("an empty list", async () => (await sessionsOf(who, sandbox)).length === 0);
  });
});

describe("/exec/pty/shared", () => {
  test("the first is the holder; the keyboard is asked for, handed over, given back, and freed by who leaves", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const alice = await shared(who, sandbox, { name: "alice", rows: 40, cols: 120 });
    const you = { id: await idOf(alice), name: "alice", role: "driver", kind: "person" };
    expect(alice.received[0]).toBe(
      JSON.stringify({ type: "hello", you, holder: you.id, participants: [you], rows: 40, cols: 120 }),
    );

    const bob = await shared(who, sandbox, { name: "bob", rows: 20, cols: 50 });
    const his = { id: await idOf(bob), name: "bob", role: "driver", kind: "person" };
    expect(await bob.message("hello")).toMatchObject({ you: his, holder: you.id, participants: [you, his], rows: 40 });
    expect(await alice.message("join")).toEqual({ type: "join", participant: his });

    bob.type("echo bob\r");
    expect(await bob.message("error")).toEqual({ type: "error", message: "not stdin holder" });

    alice.say({ type: "grant_stdin", to: his.id });
    expect([await alice.message("stdin_holder"), await bob.message("stdin_holder")]).toEqual([
      { type: "stdin_holder", id: his.id },
      { type: "stdin_holder", id: his.id },
    ]);
    bob.type("echo from bob: $((1 + 1))\r");
    await Promise.all([shows(alice, "from bob: 2"), shows(bob, "from bob: 2")]);

    bob.say({ type: "release_stdin" });
    expect(await alice.message("stdin_holder", 1)).toEqual({ type: "stdin_holder", id: "" });
    alice.say({ type: "request_stdin" });
    expect(await bob.message("stdin_holder", 2)).toEqual({ type: "stdin_holder", id: you.id });

    alice.socket.terminate();
    expect(await bob.message("leave")).toEqual({ type: "leave", id: you.id });
    expect(await bob.message("stdin_holder", 3)).toEqual({ type: "stdin_holder", id: "" });
    bob.say({ type: "request_stdin" });
    expect(await bob.message("stdin_holder", 4)).toEqual({ type: "stdin_holder", id: his.id });
  });

  test("D9: in a main where everybody types, nobody types past a shared client that was told that it holds", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const ours = await connect(who, { sandbox, session: "main", tty: 1, cmd: "cat" });
    const plain = await connect(who, { sandbox, session: "main" }, { protocols: [] });
    await Promise.all([ours.hello(), plain.hello()]);
    const theirs = await shared(who, sandbox);
    expect(await theirs.message("hello")).toMatchObject({ holder: "" });
    ours.type("ours\r");
    await shows(theirs, "ours\r\nours");

    theirs.say({ type: "request_stdin" });
    expect(await theirs.message("stdin_holder")).toEqual({ type: "stdin_holder", id: await idOf(theirs) });
    for (const one of [ours, plain]) {
      one.type("past you\r");
      expect(await one.message("error")).toMatchObject({ code: "not_stdin_holder" });
    }
    // Who comes or stays can tell: of the others it is said who types alone.
    const marked = expect.objectContaining({ id: await idOf(theirs), alone: true });
    expect((await ours.message("join", 1)).participant).toEqual(marked);
    const late = await connect(who, { sandbox, session: "main", role: "viewer" });
    expect(await late.hello()).toMatchObject({ mode: "collaborative", holder: await idOf(theirs) });
    expect((await late.hello()).participants).toContainEqual(marked);
    await late.leave();
    // Also over a hop that was made again: the bridge is told who types.
    await cutInnerHop();
    theirs.type("theirs\r");
    await ours.output("theirs\r\ntheirs\r\n");
    ours.type("again\r");
    await ours.until("another refusal", () => ours.messages("error").length === 2);

    theirs.say({ type: "release_stdin" });
    await ours.until("a free keyboard", () => ours.messages("stdin_holder").at(-1)?.id === "");
    ours.type("ours once more\r");
    await shows(theirs, "ours once more\r\nours once more");
    expect(ours.text()).not.toMatch(/past you|again/);
  });

  test("the shell exits: everybody is told the code, and every connection is closed; the next gets a new shell", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const [one, other] = [await shared(who, sandbox), await shared(who, sandbox)];
    one.type("exit 9\r");
    for (const client of [one, other]) {
      expect(await client.message("exit")).toEqual({ type: "exit", code: 9 });
      expect((await client.end()).code).toBe(1000);
    }
    const next = await shared(who, sandbox);
    next.type("echo new: $((5 * 5))\r");
    await shows(next, "new: 25");
  });

  test("a client of another kind that is attached keeps it", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const one = await shared(who, sandbox);
    const shell = await shellOf(one);
    const ours = await connect(who, { sandbox, session: "main" });
    await ours.hello();
    one.socket.close(1000);
    await ours.message("leave");
    ours.say({ type: "request_stdin" });
    await ours.message("stdin_holder", 1);
    ours.type("echo kept: $((3 * 3))\r");
    await ours.output("kept: 9");
    expect(await isAliveIn(who, shell, sandbox)).toBe(true);
    await ours.leave();
    await until("the end of the shell", async () => !(await isAliveIn(who, shell, sandbox)));
  });
});

describe("refusals are HTTP statuses", () => {
  test("a sandbox with no such name; another command for a session that lives", async () => {
    const who = await person();
    expect((await foreignRefused(who, ptyPath("..%2Fx"))).status).toBe(400);
    const sandbox = fresh("box");
    await shared(who, sandbox, { cmd: "cat" });
    await shared(who, sandbox, { cmd: "cat" });
    expect((await foreignRefused(who, sharedPath(sandbox, { cmd: "htop" }))).status).toBe(409);
  });
});
