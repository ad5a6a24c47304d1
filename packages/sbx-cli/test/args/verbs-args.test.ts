// The words of the verbs of the HTTP interface, of contexts and of the small switches: what they mean.

import { describe, expect, test } from "vitest";
import { type CliCommand, describeProgram, parseArgs } from "../../src/args/args.ts";
import type { Defaults } from "../../src/args/cli-command.ts";
import { VERBS } from "../../src/args/first-word.ts";
import { CliError } from "../../src/base/outcome.ts";

const URL = "https://h.example";

function parse(words: string, defaults: Defaults = {}): CliCommand {
  return parseArgs(words.split(" "), "1.2.3", defaults);
}

function refusal(words: string): string {
  try {
    parse(words);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === 2) return error.message;
    throw error;
  }
  throw new Error(`Cannot find a refusal of ${words}`);
}

describe("http.md 11: verbs have the interface's words as options", () => {
  test("run", () => {
    const words = `run ${URL} --sandbox dev --session s --cwd /w --env A=1 --tty --cols 9 --rows 8 --mode exclusive --keep-seconds 5`;
    const more =
      "--keep-exited-seconds 6 --ended replace --attempt a --stdin hi --wait 2s --max-bytes 99 --json -- ls -l";
    expect(parse(`${words} ${more}`)).toMatchObject({
      kind: "run",
      sandbox: "dev",
      request: {
        session: "s",
        cmd: "ls",
        args: ["-l"],
        cwd: "/w",
        env: { A: "1" },
        tty: true,
        cols: 9,
        rows: 8,
        mode: "exclusive",
        keepSeconds: 5,
        keepExitedSeconds: 6,
        ended: "replace",
        attempt: "a",
        stdin: "hi",
        waitMs: 2_000,
        maxBytes: 99,
      },
      isJson: true,
      isDetached: false,
    });
    expect(parse(`run ${URL} --command ls --detach`)).toMatchObject({ request: { command: "ls" }, isDetached: true });
    expect(parse(`run ${URL} --stdin-open -- cat`)).toMatchObject({ request: { cmd: "cat", stdin: null } });
    expect(refusal(`run ${URL} --stdin-open --stdin a -- cat`)).toMatch(/^use only one of --stdin/);
    expect(refusal(`run ${URL}`)).toMatch(/^run needs one command/);
    expect(refusal(`run ${URL} --command ls -- ls`)).toMatch(/^run needs one command/);
  });

  test("read and write", () => {
    expect(
      parse(`read ${URL} --session s --from 5 --max-bytes 20 --wait-ms 7 --stream stderr --format plain`),
    ).toMatchObject({
      kind: "read",
      session: "s",
      query: { from: 5, maxBytes: 20, waitMs: 7, stream: "stderr", format: "plain" },
      follows: false,
    });
    expect(parse(`read ${URL} --session s --tail 9 --follow`)).toMatchObject({ query: { tail: 9 }, follows: true });
    expect(parse(`read ${URL} --session s --times`)).toMatchObject({ query: { times: 1 } });
    expect(parse(`write ${URL} --session s --keys C-c,Up --keys Enter --writer w --at 3`)).toMatchObject({
      kind: "write",
      request: { keys: ["C-c", "Up", "Enter"], writer: "w", at: 3 },
    });
    expect(refusal(`write ${URL} --session s --text a --paste b`)).toMatch(/^use only one of/);
    expect(refusal(`read ${URL}`)).toMatch(/--session/);
  });

  test("wait takes one condition", () => {
    const until = (words: string) => (parse(`wait ${URL} --session s ${words}`) as { until: unknown }).until;
    expect(until("--exit")).toEqual({ exit: true });
    expect(until("--match a.b --flags i")).toEqual({ match: "a.b", flags: "i" });
    expect(until("--text a")).toEqual({ text: "a" });
    expect(until("--idle-ms 500")).toEqual({ idleMs: 500 });
    expect(until("--idle 2s")).toEqual({ idleMs: 2_000 });
    expect(until("--command-end")).toEqual({ commandEnd: true });
    expect(until("--screen x")).toEqual({ screen: "x" });
    expect(until("--keyboard")).toEqual({ keyboard: true });
    expect(refusal(`wait ${URL} --session s`)).toMatch(/^use exactly one of/);
    expect(refusal(`wait ${URL} --session s --exit --text a`)).toMatch(/^use exactly one of/);
    expect(parse(`wait ${URL} --session s --exit --timeout 1m --from 4`)).toMatchObject({
      more: { timeoutMs: 60_000, from: 4 },
    });
  });

  test("screen, commands and signal", () => {
    expect(parse(`screen ${URL} --session s --format ansi --scrollback 5`)).toMatchObject({
      kind: "screen",
      query: { format: "ansi", scrollback: 5 },
    });
    expect(parse(`commands ${URL} --session s`)).toMatchObject({ kind: "commands", session: "s" });
    expect(parse(`signal ${URL} --session s --signal SIGTERM`)).toMatchObject({ kind: "signal", signal: "SIGTERM" });
    expect(parse(`signal ${URL} --session s hup`)).toMatchObject({ signal: "SIGHUP" });
    expect(refusal(`signal ${URL} --session s HUP --signal INT`)).toBe("use only one signal");
  });

  test("a duration is in seconds unless its unit, or its size, says otherwise", () => {
    const wait = (text: string) =>
      (parse(`run ${URL} --wait ${text} -- ls`) as { request: { waitMs: number } }).request.waitMs;
    expect(["1", "0.5", "250ms", "2m", "5000"].map(wait)).toEqual([1_000, 500, 250, 120_000, 5_000]);
    expect(refusal(`run ${URL} --wait 11m -- ls`)).toMatch(/duration/);
  });
});

describe("what is left out comes from the context", () => {
  const defaults = { server: URL, sandbox: "dev", session: "work" };

  test("the server, the sandbox and the session; what is typed wins", () => {
    expect(parse("--sandbox other", defaults)).toMatchObject({
      request: { endpoint: { typed: URL }, sandbox: "other", session: "work", cmd: undefined },
    });
    expect(parse("kill", defaults)).toMatchObject({ kind: "kill", sandbox: "dev", sessions: ["work"] });
    expect(parse("login", defaults)).toMatchObject({ kind: "login", endpoint: { typed: URL } });
    expect(parse("login", { ...defaults, isServerFound: true })).toMatchObject({ endpoint: undefined });
    expect(parse("signal HUP", defaults)).toMatchObject({ kind: "signal", endpoint: { typed: URL }, signal: "SIGHUP" });
    expect(parse("signal web", defaults)).toMatchObject({ session: "web", signal: "SIGINT" });
    expect(parse("signal web term", defaults)).toMatchObject({ session: "web", signal: "SIGTERM" });
  });

  test("a command gets a session of its own, unless one is named", () => {
    expect(parse("-- npm test", defaults)).toMatchObject({
      request: { session: undefined, cmd: "npm", args: ["test"] },
    });
    expect(parse("--session s -- npm", defaults)).toMatchObject({ request: { session: "s", cmd: "npm" } });
  });

  test("an address that the current folder gives is marked as such", () => {
    expect(parse("ls", { server: URL, isServerFound: true })).toMatchObject({ endpoint: { isFound: true } });
  });
});

describe("--context", () => {
  const contexts: Record<string, Defaults> = {
    "": { server: URL, sandbox: "usual", session: "s" },
    work: { server: "https://work.example", sandbox: "dev", session: "w" },
  };
  const read = (words: string) => parseArgs(words.split(" "), "1", (name = "") => contexts[name] ?? {});
  const work = { endpoint: { httpBase: "https://work.example" }, sandbox: "dev" };

  test("chooses what is left out, of every verb that has a place", () => {
    for (const words of [
      "ls",
      "kill",
      "logs",
      "run -- ls",
      "share",
      "signal HUP",
      "cp a :b",
      "forward 80",
      "ssh-proxy",
    ]) {
      const [verb, ...rest] = words.split(" ");
      expect(read([verb, "--context", "work", ...rest].join(" "))).toMatchObject(work);
    }
    for (const words of ["--context work", "attach --context work", "exec --context work -- ls"]) {
      expect(read(words)).toMatchObject({ request: work });
    }
    expect(read("--context work ls")).toMatchObject(work);
    expect(read("kill --context work")).toMatchObject({ sessions: ["w"] });
    expect(read("kill")).toMatchObject({ sandbox: "usual", sessions: ["s"] });
    expect(read("ssh-config --context work")).toMatchObject({
      words: ["sbx-stdio", "ssh-proxy", "https://work.example", "--sandbox", "dev", "--context", "work"],
    });
  });

  test("is no option where it stands as a value, or after --", () => {
    expect(read("run --cmd echo --arg --context --arg work")).toMatchObject({ sandbox: "usual" });
    expect(read("run -- echo --context work")).toMatchObject({ sandbox: "usual" });
  });
});

describe("switches", () => {
  test("-t, -T, -n, -q, --linger, --keep-keys and --escape", () => {
    expect(parse(`-t ${URL}`)).toMatchObject({ request: { tty: true } });
    expect(parse(`-T -n -q --linger 60 --keep-keys --escape tilde ${URL}`)).toMatchObject({
      request: {
        tty: false,
        hasNoInput: true,
        isQuiet: true,
        linger: 60,
        keepsKeys: true,
        escapes: { control: false, tilde: true },
      },
    });
  });

  test("a word that is no address is the session: kill web, logs web, attach web", () => {
    const defaults = { server: URL };
    for (const verb of ["logs", "screen", "commands", "tickets"]) {
      expect(parse(`${verb} web`, defaults)).toMatchObject({
        session: "web",
        endpoint: { origin: new globalThis.URL(URL).origin },
      });
    }
    expect(parse("attach web", defaults)).toMatchObject({ kind: "attach", request: { session: "web" } });
    expect(() => parse("kill h.example/attach", { ...defaults, session: "s" })).toThrow("is not a valid URL");
    expect(() => parse("kill web --session other", defaults)).toThrow('"web" is not a valid URL');
    expect(parse("kill web", defaults)).toMatchObject({ sessions: ["web"] });
    expect(parse(`kill ${URL} web worker web`)).toMatchObject({
      sessions: ["web", "worker"],
      endpoint: { typed: URL },
    });
    expect(() => parse("kill web a/b", defaults)).toThrow('invalid session name "a/b"');
    expect(() => parse("kill web")).toThrow("missing server address");
  });

  test("a name where ssh or kubectl has it is told how it is said here; each verb's help shows what it takes", () => {
    const hint = "use --context web for a context, --sandbox web for a sandbox, attach web for a session";
    expect(refusal("exec web -- ls")).toBe(`"web" is not an address; ${hint}`);
    expect(refusal("web")).toBe(
      `unknown command "web" (see --help); a command for the sandbox goes after --: sbx-stdio -- web; ${hint}`,
    );
    const help = (verb: string) => {
      const shown = parse(`${verb} --help`);
      return shown.kind === "show" ? shown.text.split("\n")[0] : "";
    };
    expect(help("wait")).toBe("Usage: sbx-stdio wait [URL | NAME] [options]");
    expect(help("ls")).toBe("Usage: sbx-stdio ls [URL] [options]");
  });

  test("run and logs have the letters of docker and kubectl; forward has -v", () => {
    expect(parse(`run ${URL} -d -e A=1 -w /w -- ls`)).toMatchObject({ request: { env: { A: "1" }, cwd: "/w" } });
    expect(parse(`logs ${URL} --session s -n 20`)).toMatchObject({ kind: "logs", tail: 20 });
    expect(parse(`forward ${URL} -v 80`)).toMatchObject({ isVerbose: true });
  });

  test("exec needs a command", () => {
    expect(parse(`exec ${URL} -- ls -l`)).toMatchObject({ kind: "attach", request: { cmd: "ls", args: ["-l"] } });
    expect(refusal(`exec ${URL}`)).toBe("exec needs a command after --");
  });

  test("cp takes paths here and one there, or the other way round", () => {
    expect(parse(`cp ${URL} src :/w`)).toMatchObject({
      from: [{ isRemote: false, path: "src" }],
      to: { isRemote: true, path: "/w" },
    });
    expect(parse(`cp -r ${URL} src :/w`)).toMatchObject({ kind: "cp", from: [{ path: "src" }] });
    expect(parse(`cp ${URL} :a :b d`)).toMatchObject({ from: [{ path: "a" }, { path: "b" }], to: { path: "d" } });
    expect(parse(`cp ${URL} :a -`)).toMatchObject({ to: { isStream: true } });
    expect(refusal(`cp ${URL} a :b c`)).toMatch(/begin its path with a colon/);
    for (const words of [":a :b -", "a - :b"]) expect(refusal(`cp ${URL} ${words}`)).toMatch(/^- is a single file/);
    for (const home of [":~/x", ":~", ":~bob/x"])
      expect(refusal(`cp ${URL} ${home} b`)).toMatch(/~ is not expanded in the sandbox/);
    expect(parse(`cp ${URL} :./~/x b`)).toMatchObject({ from: [{ path: "./~/x" }] });
    expect(parse(`cp ${URL} -p :a~ b`)).toMatchObject({ keepsModes: true, from: [{ path: "a~" }] });
    expect(refusal(`cp ${URL} -p :a -`)).toBe("-p cannot be used with -");
    expect(refusal(`cp ${URL} dev:/a b`)).toMatch(/colon, as in cp --sandbox dev/);
  });
});

describe("forward, logs and attach", () => {
  const local = (address: string, port: number) => ({ local: { address, port } });

  test.each([
    ["8080", { port: 8080, ...local("127.0.0.1", 8080) }],
    ["9000:8080", { port: 8080, ...local("127.0.0.1", 9000) }],
    ["0:8080", { port: 8080, ...local("127.0.0.1", 0) }],
    [":8080", { port: 8080, ...local("127.0.0.1", 0) }],
    ["0.0.0.0:9000:80", { port: 80, ...local("0.0.0.0", 9000) }],
    ["[::1]:9000:80", { port: 80, ...local("::1", 9000) }],
    ["localhost:9000:80", { port: 80, local: { address: "127.0.0.1", port: 9000, isLocalhost: true } }],
  ])("forward %s", (ports, expected) => {
    expect(parse(`forward ${URL} ${ports}`)).toMatchObject({ kind: "forward", ...expected });
    expect(parse(`forward ${ports}`, { server: URL })).toMatchObject({ kind: "forward", ...expected });
  });

  test.each(["0", "65536", "80:", "a:80", "1:2:3:4", "80 81"])("forward %s is wrong usage", (ports) => {
    expect(refusal(`forward ${URL} ${ports}`)).toMatch(/\[LOCAL:\]PORT/);
  });

  test.each([
    ["12", { offset: 12 }],
    ["10m", { agoMs: 600_000 }],
    ["1.5h", { agoMs: 5_400_000 }],
    ["2026-11-23T10:00:00Z", { since: "2026-11-23T10:00:00.000Z" }],
    ["2026-11-23T10:00:00+02:00", { since: "2026-11-23T08:00:00.000Z" }],
  ])("logs --since %s", (since, expected) => {
    expect(parse(`logs ${URL} --session s --since ${since}`)).toMatchObject({ kind: "logs", since: expected });
  });

  test("attach alone offers what there is; with an address, a session or a command there is nothing to ask", () => {
    const offersSessions = (words: string, defaults: Defaults = { server: URL }) => {
      const command = parse(words, defaults);
      return command.kind === "attach" && command.offersSessions === true;
    };
    expect([offersSessions("attach"), offersSessions("attach --sandbox dev")]).toEqual([true, true]);
    for (const words of ["attach --session s", "attach -- ls", `attach ${URL}`])
      expect(offersSessions(words)).toBe(false);
    expect(offersSessions("attach", { server: URL, session: "s" })).toBe(false);
  });

  test("sharing takes its place from the context, as every verb does", () => {
    const defaults = { server: URL, sandbox: "dev", session: "main", tokenCommand: "print-token" };
    const place = { sandbox: "dev", session: "main", tokenCommand: "print-token" };
    expect(parse("share", defaults)).toMatchObject({ kind: "share", ...place });
    expect(parse("tickets", defaults)).toMatchObject({ kind: "tickets", ...place });
    expect(parse("revoke id-1", defaults)).toMatchObject({ kind: "revoke", id: "id-1", ...place });
  });

  test("the list of verbs is that of the description, so that a run without one need not describe them", () => {
    const program = describeProgram("1", { afterDashes: undefined }, {}, () => undefined);
    const described = program.commands.map((command) => command.name());
    expect([...VERBS].sort()).toEqual([...described].sort());
    expect(parse(`--sandbox dev ${URL} -- ls`)).toMatchObject({
      kind: "attach",
      request: { sandbox: "dev", cmd: "ls" },
    });
  });
});

describe("words after --", () => {
  test.each([
    ...[
      "ls",
      "sessions",
      "logs",
      "screen",
      "wait --exit",
      "kill",
      "whoami",
      "doctor",
      "share",
      "tickets",
      "login",
      "logout",
    ],
    ...["forward 80", "cp a", "context", "version", "man", "completion", "revoke", "ssh-config", "context set work"],
  ])("%s takes none, and says so", (verb) => {
    const [name] = verb.split(" ");
    expect(refusal(`${verb} -- foo`)).toBe(`${name} takes no command after --`);
  });
});
