// Sessions as such: made once, found again, refused, listed, ended, and read after their end.
import { describe, expect, test } from "vitest";
import { connect, type Message, refusedHttp, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { exitedSession, expectReadable } from "../support/clients/exited-session.ts";
import { isAliveIn, processesIn } from "../support/clients/sandbox-processes.ts";
import { api, fresh, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Prints its process id, then does this. */
const withPid = (script: string) => ({ cmd: "sh", arg: ["-c", `echo pid=$$.; ${script}`] });

async function pidOf(client: TestClient): Promise<number> {
  return Number(/pid=(\d+)\./.exec(await client.output(/pid=\d+\./))?.[1]);
}

async function incarnationOf(client: TestClient): Promise<unknown> {
  return (await client.hello()).incarnation;
}

const bye = (code: number, reason: string): { bye: Message; code: number; reason: string } => ({
  bye: { type: "bye", code, reason, retry: "never" },
  code,
  reason,
});

describe("get or create", () => {
  test("attaching twice by one name starts one process, at the same moment too", async () => {
    const alice = await person();
    const params = { session: fresh("s"), ...withPid("cat") };
    const clients = await Promise.all([1, 2, 3].map(() => connect(alice, params)));
    const later = await connect(alice, { session: params.session });
    const pids = await Promise.all([...clients, later].map(pidOf));
    expect(new Set(pids).size).toBe(1);
    const incarnations = await Promise.all([...clients, later].map(incarnationOf));
    expect(new Set(incarnations).size).toBe(1);
  });

  test("another command for a living session is a conflict: 4409, and HTTP 409 for a plain client", async () => {
    const alice = await person();
    const session = fresh("s");
    const first = await connect(alice, { session, cmd: "sh", arg: ["-c", "cat"] });
    await first.hello();
    const reason = `session "${session}" runs another command: choose another name, or give no command`;
    for (const other of [{ cmd: "cat" }, { cmd: "sh", arg: ["-c", "cat "] }, { cmd: "sh" }]) {
      expect(await refusedSocket(alice, { session, ...other })).toEqual(bye(4409, reason));
      const { status, body } = await refusedHttp(alice, { session, ...other });
      expect([status, JSON.parse(body)]).toEqual([409, { error: "conflict", message: reason }]);
    }
    const again = await connect(alice, { session, cmd: "sh", arg: ["-c", "cat"] });
    expect(await incarnationOf(again)).toBe(await incarnationOf(first));
  });

  test("what the creator said of the process counts, whatever a later client says", async () => {
    const alice = await person();
    const session = fresh("s");
    const first = await connect(alice, { session, cmd: "cat", tty: 1, mode: "exclusive", cols: 90, rows: 30 });
    await first.hello();
    const later = await connect(alice, { session, tty: 0, mode: "collaborative" });
    const { tty, mode, cols, rows } = await later.hello();
    expect([tty, mode, cols, rows]).toEqual([true, "exclusive", 90, 30]);
  });
});

describe("what can't be started", () => {
  const cases: [string, Record<string, string | string[]>, string][] = [
    ["an unknown cmd", { cmd: "no-such-program" }, "cmd_not_found: Cannot find no-such-program"],
    [
      "a file that is no program",
      { cmd: "/etc/passwd" },
      "cmd_not_executable: Cannot execute /etc/passwd: permission denied",
    ],
    ["a missing cwd", { cmd: "true", cwd: "/no/such" }, "bad_cwd: Cannot enter /no/such: no such file or directory"],
  ];

  test.each(cases)("%s is told as 4422, and as HTTP 422 to a plain client", async (_name, params, reason) => {
    const alice = await person();
    expect(await refusedSocket(alice, params)).toEqual(bye(4422, reason));
    const { status, body } = await refusedHttp(alice, params);
    expect([status, JSON.parse(body)]).toEqual([422, { error: reason.split(":")[0], message: reason }]);
    expect(await (await api(alice, "/api/sandboxes/default/sessions")).json()).toEqual({ sessions: [] });
  });

  test("the name is free for the next attach", async () => {
    const alice = await person();
    const session = fresh("s");
    await refusedSocket(alice, { session, cmd: "no-such-program" });
    const client = await connect(alice, { session, cmd: "true" });
    expect((await client.end()).exit).toEqual({ type: "exit", code: 0, offset: 0 });
  });
});

describe("the end of a session", () => {
  test("keep=1: it ends a second after its last client left, and no process is left", async () => {
    const alice = await person();
    const session = fresh("s");
    const client = await connect(alice, { session, keep: 1, ...withPid("sleep 1000 & cat") });
    const leader = await pidOf(client);
    const members = async () => (await processesIn(alice)).filter((facts) => facts.session === leader).length;
    await until("all three processes", async () => (await members()) === 3);
    await client.leave();
    await until("their end", async () => (await members()) === 0);
    // That they are gone is seen before the bridge has told it.
    const listing = await until("its exit on the list", async () => {
      const one = (await (await api(alice, `/api/sandboxes/default/sessions/${session}`)).json()) as { state: string };
      return one.state === "exited" && one;
    });
    expect(listing).toMatchObject({ state: "exited", clients: 0, exit: { code: 129, signal: "SIGHUP" } });
  });

  test("DELETE ends the whole process tree, also what ignores SIGHUP and SIGTERM, and tells the clients", async () => {
    const alice = await person();
    const session = fresh("s");
    const script = "trap '' HUP TERM; sleep 1000 & sh -c 'sleep 1001' & (setsid sleep 0.01; wait) & cat";
    const client = await connect(alice, { session, ...withPid(script) });
    const leader = await pidOf(client);
    const members = async () => (await processesIn(alice)).filter((facts) => facts.session === leader).length;
    await until("its processes", async () => (await members()) >= 4);
    const response = await api(alice, `/api/sandboxes/default/sessions/${session}`, { method: "DELETE" });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(await isAliveIn(alice, leader)).toBe(false);
    await until("the end of all", async () => (await members()) === 0);
    const { exit, code } = await client.end();
    expect([exit, code]).toEqual([{ type: "exit", code: 137, signal: "SIGKILL", offset: client.offset }, 1000]);
    expect((await api(alice, `/api/sandboxes/default/sessions/${session}`)).status).toBe(404);
  });

  test("its log and exit can be read again, by both kinds of client", async () => {
    const alice = await person();
    const session = await exitedSession(alice);
    await expectReadable(alice, session);
    const listing = await (await api(alice, `/api/sandboxes/default/sessions/${session}`)).json();
    expect(listing).toMatchObject({ state: "exited", offset: 8, exit: { code: 4 } });
  });
});

describe("the list of sessions", () => {
  test("says of each what it is, and of an exited one how it ended, newest first", async () => {
    const alice = await person();
    const living = await connect(alice, { sandbox: "dev", session: "b-living", cmd: "sh", arg: ["-c", "echo x; cat"] });
    await living.output("x\n");
    const shell = await connect(alice, { sandbox: "dev", session: "c-shell", tty: 1, cmd: "cat" });
    await shell.hello();
    const ended = await connect(alice, { sandbox: "dev", session: "a-ended", cmd: "sh", arg: ["-c", "kill $$"] });
    await ended.end();

    const response = await api(alice, "/api/sandboxes/dev/sessions");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const createdAt = expect.stringMatching(ISO_UTC);
    const text = expect.any(String);
    const participants = [{ id: text, name: text, role: "driver", kind: "person", person: text }];
    const here = { state: "running", clients: 1, participants };
    const pipes = { tty: false, cmd: "sh" };
    const own = async (client: TestClient) => ({ incarnation: await incarnationOf(client), createdAt, inputOffset: 0 });
    const exit = { code: 143, signal: "SIGTERM" };
    const gone = { state: "exited", clients: 0, offset: 0, exit };
    const terminal = { tty: true, cols: 80, rows: 24, cmd: "cat", args: [], offset: 0 };
    const expected = [
      { session: "a-ended", ...(await own(ended)), ...pipes, args: ["-c", "kill $$"], ...gone },
      { session: "c-shell", ...(await own(shell)), ...terminal, ...here },
      {
        session: "b-living",
        ...(await own(living)),
        ...pipes,
        args: ["-c", "echo x; cat"],
        ...here,
        offset: 2,
        lastOutputAt: createdAt,
      },
    ];
    expect(await response.json()).toEqual({ sessions: expected });
    const one = await api(alice, "/api/sandboxes/dev/sessions/b-living");
    expect([one.status, await one.json()]).toEqual([200, expected[2]]);
    // Another sandbox of the same person has none of them.
    expect(await (await api(alice, "/api/sandboxes/other/sessions")).json()).toEqual({ sessions: [] });
  });

  test("an unknown session is 404, a name that is none 400", async () => {
    const alice = await person();
    for (const method of ["GET", "DELETE"]) {
      const unknown = await api(alice, "/api/sandboxes/dev/sessions/none", { method });
      expect([unknown.status, await unknown.json()]).toEqual([
        404,
        { error: "not_found", message: 'no session "none" in sandbox "dev"' },
      ]);
      const bad = await api(alice, "/api/sandboxes/dev/sessions/.hidden", { method });
      expect([bad.status, ((await bad.json()) as { error: string }).error]).toEqual([400, "bad_name"]);
    }
  });
});
