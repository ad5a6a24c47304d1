// `ls` and `sessions`: what there is in one sandbox, in all, and over and over.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { age, sessionTable } from "../../src/programs/session-table.ts";
import { cleanEnv, collect, runCli, startCli, until } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";
import { CLI, Terminal } from "../fixture/tmux.ts";

type Answer = { status: number; body: unknown };

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A server whose answers are told by path; what it has none for is not found. */
async function serve(answers: () => Readonly<Record<string, Answer | "broken">>): Promise<string> {
  const server = createServer((request, response) => {
    const missing = { status: 404, body: { error: "not_found", message: "no such page" } };
    const answer = answers()[request.url ?? ""] ?? missing;
    if (answer === "broken") response.destroy();
    else response.writeHead(answer.status).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const good = (body: unknown): Answer => ({ status: 200, body });
const running = (session: string, more: object = {}) => ({
  session,
  state: "running",
  tty: true,
  cmd: "bash",
  ...more,
});
const rows = (text: string) => text.split("\n").map((line) => line.split(/ {2,}/));

test("ls asks for every sandbox of the person, and says which session is where", async () => {
  const url = await serve(() => ({
    "/api/sandboxes": good({ sandboxes: [{ sandbox: "a" }, { sandbox: "b" }] }),
    "/api/sandboxes/a/sessions": good({ sessions: [running("one"), { session: "old", state: "exited" }] }),
    "/api/sandboxes/b/sessions": good({ sessions: [running("two")] }),
    "/api/sandboxes/default/sessions": good({ sessions: [] }),
  }));
  const table = await runCli(["ls", url]);
  expect(rows(table.stdout).map((row) => row.slice(0, 3))).toEqual([
    ["SANDBOX", "SESSION", "STATE"],
    ["a", "one", "running"],
    ["b", "two", "running"],
    [""],
  ]);
  const json = await runHere(["ls", url, "--json"]);
  const listed = JSON.parse(json.stdout) as { sessions: { sandbox: string; session: string }[] };
  // The same as without --json.
  expect(listed.sessions.map(({ sandbox, session }) => `${sandbox}/${session}`)).toEqual(["a/one", "b/two"]);
  const all = await runHere(["ls", url, "--json", "--all"]);
  expect(JSON.parse(all.stdout).sessions).toHaveLength(3);
});

test("ls --all shows what has ended in the usual sandbox, though nothing runs there", async () => {
  const url = await serve(() => ({
    "/api/sandboxes": good({ sandboxes: [] }),
    "/api/sandboxes/default/sessions": good({ sessions: [{ session: "old", state: "exited", exit: { code: 7 } }] }),
  }));
  expect(rows((await runHere(["ls", url, "--all"])).stdout)[1]?.slice(0, 3)).toEqual(["default", "old", "exited 7"]);
  expect(rows((await runHere(["ls", url])).stdout)).toHaveLength(2);
});

test("what only carries a copy or a forwarded connection is left out, unless it is asked for", async () => {
  const moved = [
    running("cp-0123abcd", { state: "exited" }),
    running("tcp-abcd0123", { cmd: "tcp:80" }),
    running("cp-notes"),
  ];
  const url = await serve(() => ({
    "/api/sandboxes/default/sessions": good({ sessions: [...moved, running("web")] }),
  }));
  const shown = async (...words: string[]) => {
    const { stdout } = await runHere(["sessions", url, ...words]);
    if (words.includes("--json"))
      return (JSON.parse(stdout) as { sessions: { session: string }[] }).sessions.map(({ session }) => session);
    return rows(stdout)
      .slice(1, -1)
      .map(([name]) => name);
  };
  for (const json of [[], ["--json"]]) {
    expect(await shown("--all", ...json)).toEqual(["cp-notes", "web"]);
    expect(await shown("--all", "--transfers", ...json)).toEqual(["cp-0123abcd", "tcp-abcd0123", "cp-notes", "web"]);
  }
});

test("a refusal is JSON, too, where JSON is asked for: the server's code and its words", async () => {
  const missing = JSON.stringify({ error: "not_found", message: "no such page" });
  const url = await serve(() => ({
    "/api/sandboxes": { status: 403, body: { error: "forbidden", message: "not you" } },
  }));
  expect(await runHere(["ls", url, "--json"])).toMatchObject({
    code: 255,
    stdout: '{"error":"forbidden","message":"not you"}\n',
    stderr: "sbx-stdio: not you\n",
  });
  const screen = await runHere(["screen", url, "--session", "s", "--json"]);
  expect(screen).toMatchObject({ code: 255, stdout: `${missing}\n`, stderr: "sbx-stdio: no such page\n" });
  expect((await runHere(["screen", url, "--session", "s"])).stdout).toBe("");
});

test("ls of a server that can't say which sandboxes there are lists the usual one", async () => {
  const url = await serve(() => ({ "/api/sandboxes/default/sessions": good({ sessions: [running("one")] }) }));
  const { code, stdout } = await runHere(["ls", url]);
  expect([code, rows(stdout)[1]?.[0]]).toEqual([0, "one"]);
});

test("a refusal of the list of sandboxes is told", async () => {
  const url = await serve(() => ({
    "/api/sandboxes": { status: 401, body: { error: "expired", message: "expired" } },
  }));
  expect(await runHere(["ls", url])).toMatchObject({
    code: 255,
    stdout: "",
    stderr: `sbx-stdio: expired (log in again with \`sbx-stdio login ${url}\`, or set a new SBX_TOKEN)\n`,
  });
});

test("--watch goes on over a network that was away, and shows what is there afterwards", async () => {
  let answer: Answer | "broken" = good({ sessions: [running("before")] });
  const url = await serve(() => ({ "/api/sandboxes/default/sessions": answer }));
  const child = startCli(["sessions", url, "--watch"]);
  let shown = "";
  const ended = collect(child);
  const show = (text: string) =>
    new Promise<void>((resolve) => {
      const look = (chunk = "") => {
        shown += chunk;
        if (shown.includes(text)) resolve();
        else child.stdout?.once("data", (more: Buffer) => look(more.toString()));
      };
      look();
    });
  await show("before");
  answer = "broken";
  await show("cannot connect");
  answer = good({ sessions: [running("after")] });
  await show("after");
  child.kill("SIGINT");
  expect((await ended).signal).toBe("SIGINT");
});

test("--watch at a terminal ends with q, and with Ctrl+C by the signal; the terminal is as it was", async () => {
  const url = await serve(() => ({ "/api/sandboxes/default/sessions": good({ sessions: [running("web")] }) }));
  const terminal = new Terminal();
  try {
    for (const [key, code] of [
      ["q", 0],
      ["C-c", 130],
    ] as const) {
      terminal.run(`clear; ${CLI} sessions ${url} --watch`);
      await terminal.shows(/^SESSION .*\nweb +running/m);
      terminal.press(key);
      await terminal.shows(/^local\$$/m);
      terminal.run("echo ended=$? raw=$(stty -a | grep -cE -- '-(icanon|isig|opost|echo) ')");
      await terminal.shows(new RegExp(`^ended=${code} raw=0$`, "m"));
    }
  } finally {
    terminal.close();
  }
});

test("--watch of what never was there ends", async () => {
  const url = await serve(() => ({}));
  const child = startCli(["sessions", url, "--watch"]);
  const [code] = await once(child, "exit");
  expect(code).toBe(255);
});

test("the table names who is there, three at most, and says when the last output came", () => {
  const nowMs = Date.parse("2026-11-23T12:00:00Z");
  const at = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString();
  const people = ["Ann", "Bob", "Eve\u001b[31m", "Max"].map((name, i) => ({
    name,
    role: i === 1 ? "viewer" : "driver",
  }));
  const sessions = [
    running("s", { participants: people, offset: 7, lastOutputAt: at(3), createdAt: at(180), args: ["-l"] }),
    running("old-server", { clients: 2, offset: 1, createdAt: at(1), tty: false }),
    running("alone", { clients: 0, offset: 0, createdAt: at(1) }),
  ];
  const shown = sessionTable({ sessions }, { hasAll: false, isEverywhere: false, nowMs });
  expect(shown).toBe(
    [
      "SESSION     STATE    KIND   WHO                                  OUTPUT  LAST  AGE  COMMAND",
      "s           running  pty    Ann, Bob (viewer), Eve [31m, 1 more  7       3m    3h   bash -l",
      "old-server  running  pipes  2                                    1             60s  bash",
      "alone       running  pty                                         0             60s  bash",
      "",
    ].join("\n"),
  );
  expect(age("never", nowMs)).toBe("");
});

test("a command that is longer than the terminal is wide is cut, and whole in a pipe", () => {
  const sessions = [running("a", { args: ["-c", "x".repeat(100)] }), running("b", { args: ["-l"] })];
  const shown = (columns?: number) => {
    const options = { hasAll: false, isEverywhere: false, ...(columns === undefined ? {} : { columns }) };
    return sessionTable({ sessions }, options).split("\n").slice(1, 3);
  };
  const before = "a        running  pty                           ";
  const start = `${before}bash -c x`;
  expect(shown(70)).toEqual([`${start}${"x".repeat(69 - start.length)}…`, expect.stringMatching(/ bash -l$/)]);
  expect(shown(20)[0]).toBe(`${before}bash -…`);
  expect(shown()[0]).toBe(`${start}${"x".repeat(99)}`);
});

test("attach alone offers what runs, and neither a forward's connections nor what has ended", async () => {
  const sessions = [running("web"), running("tcp-abcdefgh", { cmd: "tcp:8080" }), running("old", { state: "exited" })];
  const url = await serve(() => ({ "/api/sandboxes/dev/sessions": { status: 200, body: { sessions } } }));
  const { code, stderr } = await runCli(["attach", "--sandbox", "dev"], "", cleanEnv({ SBX_URL: url }));
  expect([code, stderr]).toEqual([2, "sbx-stdio: which session of sandbox dev? Give --session NAME; running: web\n"]);
});

/** A server of one session, or none, and what it is asked by those who attach, whom it refuses. */
async function attachServer(found: () => object | undefined) {
  const asked: URL[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://a.example");
    const isList = url.pathname.endsWith("/sessions");
    if (url.pathname === "/attach") asked.push(url);
    const known = isList ? { sessions: [found()] } : (found() ?? { error: "not_found" });
    const body = url.pathname === "/attach" ? { error: "not here" } : known;
    response.writeHead("error" in body ? 404 : 200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  open.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
const requestOf = ({ searchParams }: URL) => [searchParams.get("session"), searchParams.get("ended")];

test("attach replaces only what was seen to have ended, not what ends while it attaches", async () => {
  let found: object | undefined = running("web");
  const { url, asked } = await attachServer(() => found);
  const env = cleanEnv({ SBX_URL: url });
  const told = async (...words: string[]) => {
    await runHere(["attach", ...words], "", env);
    return requestOf(asked.pop() ?? new URL(url));
  };
  const waysToStart = [
    ["web", "--create"],
    [url, "--session", "web"],
  ];
  for (const words of [["web"], ...waysToStart]) expect(await told(...words)).toEqual(["web", null]);
  found = undefined;
  for (const words of waysToStart) expect(await told(...words)).toEqual(["web", null]);
  found = running("web", { state: "exited" });
  for (const words of waysToStart) expect(await told(...words)).toEqual(["web", "replace"]);
  expect(await told("web", "--", "true")).toEqual(["web", "replace"]);
});

test("of those that attach offers, the one that is chosen is not replaced", async () => {
  const { url, asked } = await attachServer(() => running("web"));
  const terminal = new Terminal();
  try {
    terminal.run(`SBX_URL=${url} ${CLI} attach`);
    await terminal.shows(/attach to which session\?/);
    terminal.run("1");
    await until(
      () => asked.length > 0,
      () => terminal.screen(),
    );
    expect(requestOf(asked[0] ?? new URL(url))).toEqual(["web", null]);
  } finally {
    terminal.close();
  }
});
