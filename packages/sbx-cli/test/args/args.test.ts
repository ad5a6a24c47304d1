// The command line's words, as a table: what they mean, and what is said of those that mean nothing.

import { describe, expect, test } from "vitest";
import { type CliCommand, parseArgs } from "../../src/args/args.ts";
import { VERBS } from "../../src/args/first-word.ts";
import { readEndpoint } from "../../src/base/endpoint.ts";
import { CliError } from "../../src/base/outcome.ts";

const URL = "https://h.example";

function requestOf(...argv: string[]) {
  const command = parseArgs(argv, "1.2.3");
  if (command.kind !== "attach") throw new Error(`Cannot read a request of ${command.kind}`);
  return command.request;
}

function refusalOf(...argv: string[]): { message: string; exitCode: number } {
  try {
    parseArgs(argv, "1.2.3");
  } catch (error) {
    if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
    throw error;
  }
  throw new Error(`Cannot find a refusal of ${argv.join(" ")}`);
}

describe("attaching", () => {
  test("a URL alone asks for the default sandbox, no name and no command", () => {
    expect(requestOf(URL)).toEqual({
      endpoint: readEndpoint(URL),
      sandbox: "default",
      session: undefined,
      cmd: undefined,
      args: [],
      env: [],
      cwd: undefined,
      tty: undefined,
      name: undefined,
      role: undefined,
      mode: undefined,
      delivery: undefined,
      keep: undefined,
      token: undefined,
      ticket: undefined,
      resumeFile: undefined,
      hasStatus: false,
      isVerbose: false,
    });
  });

  test("every option says what it says, before or after the URL", () => {
    const flags = "--sandbox dev --session build --env A=1 --env B= --cwd /w --tty --name Al --role viewer".split(" ");
    const more = "--mode exclusive --delivery lossless --keep 60 --token T --resume-file F --verbose".split(" ");
    const request = {
      sandbox: "dev",
      session: "build",
      env: [
        ["A", "1"],
        ["B", ""],
      ],
      cwd: "/w",
      tty: true,
      name: "Al",
      role: "viewer",
      mode: "exclusive",
      delivery: "lossless",
      keep: 60,
      token: "T",
      resumeFile: "F",
      isVerbose: true,
    };
    expect(requestOf(URL, ...flags, ...more)).toMatchObject(request);
    expect(requestOf(...flags, URL, ...more)).toMatchObject(request);
  });

  const commands: [string, string[], string | undefined, string[]][] = [
    ["the seed's form", ["--cmd", "bash", "--arg", "-lc", "--arg", "npm test"], "bash", ["-lc", "npm test"]],
    ["what follows --", ["--", "npm", "test", "--verbose", "--", "x"], "npm", ["test", "--verbose", "--", "x"]],
    ["an empty argument", ["--", "printf", ""], "printf", [""]],
    ["a command named like one of ours", ["--", "login"], "login", []],
    ["-- as a value of --arg", ["--cmd", "echo", "--arg", "--"], "echo", ["--"]],
    ["nothing", [], undefined, []],
  ];
  for (const [what, words, cmd, args] of commands) {
    test(`the command is taken from ${what}`, () => {
      expect(requestOf(URL, "--sandbox", "dev", ...words)).toMatchObject({ cmd, args });
    });
  }

  test("letters that docker and kubectl have mean the same here", () => {
    const long = requestOf(URL, "--env", "A=1", "--cwd", "/w", "--tty", "--verbose", "--", "sh");
    expect(requestOf("exec", URL, "-it", "-e", "A=1", "-w", "/w", "-v", "--", "sh")).toEqual(long);
    expect(requestOf(URL, "-ti", "-eA=1", "-w/w", "-v", "--", "sh")).toEqual(long);
    expect(requestOf(URL, "-i", "-t", "-w", "--", "-v", "-e", "A=1", "--", "sh").cwd).toBe("--");
  });

  test("a value that is given twice, the same each time, is one; what is repeatable adds up", () => {
    expect(requestOf(URL, "--session", "a", "--session", "a").session).toBe("a");
    expect(requestOf(URL, "--env", "A=1", "-e", "B=2").env).toEqual([
      ["A", "1"],
      ["B", "2"],
    ]);
  });

  test("attach takes a session whose name is that of a verb", () => {
    const command = parseArgs(["attach", "ls"], "1", { server: URL });
    expect(command).toMatchObject({ kind: "attach", request: { session: "ls" } });
  });

  test("--no-tty is told apart from saying nothing", () => {
    expect([requestOf(URL).tty, requestOf(URL, "--tty").tty, requestOf(URL, "--no-tty").tty]).toEqual([
      undefined,
      true,
      false,
    ]);
  });
});

describe("wrong usage ends with 2 and says in one line what would be right", () => {
  const wrong: [string[], string][] = [
    [[], "missing server address; give a URL, or run sbx-stdio context set NAME URL"],
    [["--sandbox", "dev"], "missing server address; give a URL, or run sbx-stdio context set NAME URL"],
    [
      ["localhost:8787"],
      '"localhost:8787" is not a valid URL: it must begin with https://, http://, wss:// or ws://, as in http://localhost:8787',
    ],
    [[`${URL}/attach?sandbox=dev`], "the address must not contain ? or #; use options instead"],
    [["https://user:secret@h.example"], "the address must not contain a user name or password; use --token"],
    [["foo", URL], '"foo" is neither a command nor an address (https:// or http://); see sbx-stdio --help'],
    [["help", "foo"], 'unknown command "foo"; see sbx-stdio --help'],
    [["foo", URL, "--", "ls"], '"foo" is neither a command nor an address (https:// or http://); see sbx-stdio --help'],
    [
      ["echo", "a b"],
      `unknown command "echo" (see --help); a command for the sandbox goes after --: sbx-stdio -- echo 'a b'`,
    ],
    [["run", "echo", "hi"], "a command for the sandbox goes after --: sbx-stdio run -- echo hi"],
    [["run", "ls", "-l"], "a command for the sandbox goes after --: sbx-stdio run -- ls -l"],
    [
      ["run", "host", "--cmd", "ls"],
      '"host" is not a valid URL: it must begin with https://, http://, wss:// or ws://',
    ],
    [["exec", "./x", "hi"], "a command for the sandbox goes after --: sbx-stdio exec -- ./x hi"],
    [["run", URL, "echo", "hi"], "put -- before the command: sbx-stdio run URL [options] -- echo hi"],
    [
      ["run", "--session", "s", "echo", "hi"],
      "a command for the sandbox goes after --: sbx-stdio run [options] -- echo hi",
    ],
    [["exec", "-it", "bash"], "a command for the sandbox goes after --: sbx-stdio exec [options] -- bash"],
    [[URL, "--session", "a", "--session", "b"], "option '--session <name>' was given twice"],
    [["logs", URL, "-n", "1", "--tail", "2"], "option '-n, --tail <lines>' was given twice"],
    [
      ["context", "set", "dev"],
      "context set needs an address, --sandbox, --session or --token-command (to select a context: context use dev)",
    ],
    [["context", "set"], "missing required argument 'name'"],
    [["context", "set", "dev", "--sandbox", "a", "--sandbox", "b"], "option '--sandbox <id>' was given twice"],
    [[URL, "-i", "-n"], "give -i or -n, not both"],
    [["run", URL, "-it", "--", "sh"], "run sends no terminal and no standard input; use sbx-stdio exec -it"],
    [
      ["h.example", "ls"],
      '"h.example" is not a valid URL: it must begin with https://, http://, wss:// or ws://, as in https://h.example',
    ],
    [[URL, "npm", "test"], "put -- before the command: sbx-stdio URL [options] -- npm test"],
    [[URL, "npm", "--", "test"], 'unexpected argument "npm"; put it after the --'],
    [[URL, "--"], "no command after --"],
    [[URL, "--", "", "-rf"], "no command after --"],
    [[URL, "--cmd", "a", "--", "b"], "give the command with --cmd or after --, not both"],
    [[URL, "--arg", "a", "--", "b"], "--arg needs --cmd; after --, write the arguments directly"],
    [[URL, "--arg", "a"], "--arg needs --cmd"],
    [[URL, "--cmd", ""], "--cmd must not be empty"],
    [[URL, "--frobnicate"], "unknown option '--frobnicate'"],
    [[URL, "--sesion", "a"], "unknown option '--sesion' (Did you mean --session?)"],
    [[URL, "--env", "1A=2"], "option '-e, --env <name=value>' argument '1A=2' is invalid. It must be NAME=VALUE"],
    [[URL, "--role", "boss"], "option '--role <role>' argument 'boss' is invalid. Allowed choices are driver, viewer"],
    [
      [URL, "--keep", "-1"],
      "option '--keep <seconds>' argument '-1' is invalid. It must be a whole number of seconds from 0 to 86400",
    ],
    [
      [URL, "--sandbox", "a/b"],
      "option '--sandbox <id>' argument 'a/b' is invalid. It must be 1 to 64 letters, digits, dots, dashes or underscores, and not start with a dot or dash",
    ],
    [["--sandbox", "dev", "ls", URL], "--sandbox must follow the command: sbx-stdio ls --sandbox …"],
    [["--no-tty", "exec", URL, "--", "ls"], "--no-tty must follow the command: sbx-stdio exec --no-tty"],
    [["kill", URL], "missing session; give --session NAME, or NAME alone if a context has the server"],
    [["sessions"], "missing server address; give a URL, or run sbx-stdio context set NAME URL"],
  ];
  for (const [argv, message] of wrong) {
    test(`sbx-stdio ${argv.join(" ")}`, () => {
      expect(refusalOf(...argv)).toEqual({ message, exitCode: 2 });
    });
  }
});

describe("other commands", () => {
  const table: [string[], CliCommand][] = [
    [
      ["login"],
      {
        kind: "login",
        endpoint: undefined,
        issuer: undefined,
        clientId: undefined,
        mayOpenBrowser: true,
        isForced: false,
      },
    ],
    [
      ["login", URL, "--issuer", "http://127.0.0.1:9/", "--client-id", "c", "--no-browser", "--force"],
      {
        kind: "login",
        endpoint: readEndpoint(URL),
        issuer: "http://127.0.0.1:9",
        clientId: "c",
        mayOpenBrowser: false,
        isForced: true,
      },
    ],
    [["logout"], { kind: "logout", endpoint: undefined }],
    [
      ["sessions", URL, "--sandbox", "dev", "--json"],
      {
        kind: "sessions",
        endpoint: readEndpoint(URL),
        sandbox: "dev",
        token: undefined,
        isEverywhere: false,
        isJson: true,
        hasAll: false,
        isWatched: false,
      },
    ],
    [
      ["kill", URL, "--session", "s", "--token", "T"],
      { kind: "kill", endpoint: readEndpoint(URL), sandbox: "default", sessions: ["s"], token: "T", isJson: false },
    ],
  ];
  for (const [argv, command] of table) {
    test(`sbx-stdio ${argv.join(" ")}`, () => {
      expect(parseArgs(argv, "1.2.3")).toEqual(command);
    });
  }

  test("--version and --help are for standard output", () => {
    expect(parseArgs(["--version"], "1.2.3")).toEqual({ kind: "show", text: "1.2.3\n" });
    expect(parseArgs(["--help"], "1.2.3")).toMatchObject({
      kind: "show",
      text: expect.stringMatching(/^Usage: sbx-stdio \[URL\]/),
    });
  });

  test("--help lists every verb, attach and man among them", () => {
    const { text } = parseArgs(["--help"], "1") as { text: string };
    const listed = [...text.matchAll(/^ {2}([a-z][a-z-]+) .*/gm)].map(([, name]) => name);
    expect(listed).toEqual(expect.arrayContaining([...VERBS]));
  });

  test("help, with the name of a command or without, is its --help", () => {
    expect(parseArgs(["help", "share"], "1")).toMatchObject({
      kind: "show",
      text: expect.stringMatching(/^Usage: sbx-stdio share /),
    });
    expect(parseArgs(["help", "share"], "1")).toEqual(parseArgs(["share", "--help"], "1"));
    expect(parseArgs(["help"], "1")).toEqual(parseArgs(["--help"], "1"));
    expect(parseArgs(["help", "attach"], "1")).toMatchObject({
      kind: "show",
      text: expect.stringMatching(/^Usage: sbx-stdio attach \[URL \| NAME\]/),
    });
  });
});

describe("addresses", () => {
  const table: [string, string, string, boolean][] = [
    ["https://h.example", "wss://h.example/attach", "https://h.example", true],
    ["https://h.example/attach/", "wss://h.example/attach", "https://h.example", true],
    ["wss://h.example:8443/x/attach", "wss://h.example:8443/x/attach", "https://h.example:8443/x", true],
    ["http://h.example", "ws://h.example/attach", "http://h.example", false],
    ["ws://127.0.0.1:8787/", "ws://127.0.0.1:8787/attach", "http://127.0.0.1:8787", true],
    ["http://localhost:8787", "ws://localhost:8787/attach", "http://localhost:8787", true],
    ["http://[::1]:8787", "ws://[::1]:8787/attach", "http://[::1]:8787", true],
    ["http://127.0.0.1.example", "ws://127.0.0.1.example/attach", "http://127.0.0.1.example", false],
  ];
  for (const [typed, attachUrl, httpBase, isPrivate] of table) {
    test(typed, () => {
      expect(readEndpoint(typed)).toMatchObject({ typed, attachUrl, httpBase, isPrivate });
    });
  }
});

describe("sharing", () => {
  const place = { endpoint: readEndpoint(URL), sandbox: "dev", session: "main", token: undefined };
  const where = [URL, "--sandbox", "dev", "--session", "main"];

  test("a link is made for viewers, unless it is said otherwise", () => {
    const made = { kind: "share", ...place, role: "viewer", seconds: undefined, guests: false, isJson: false };
    expect(parseArgs(["share", ...where], "1")).toEqual(made);
    const flags = ["--role", "driver", "--seconds", "60", "--guests", "--max-clients", "3", "--json"];
    expect(parseArgs(["share", ...where, ...flags], "1")).toEqual({
      ...made,
      role: "driver",
      seconds: 60,
      guests: true,
      maxClients: 3,
      isJson: true,
    });
  });

  test("links are listed and taken back", () => {
    expect(parseArgs(["tickets", ...where, "--json"], "1")).toEqual({ kind: "tickets", ...place, isJson: true });
    expect(parseArgs(["revoke", URL, "id-1", "--sandbox", "dev", "--session", "main"], "1")).toEqual({
      kind: "revoke",
      ...place,
      id: "id-1",
    });
  });

  test.each([
    [["share", URL], "missing session; give --session NAME, or NAME alone if a context has the server"],
    [
      ["share", ...where, "--seconds", "0"],
      "option '--seconds <n>' argument '0' is invalid. It must be a whole number of seconds from 1 to 2592000",
    ],
    [
      ["share", ...where, "--max-clients", "65"],
      "option '--max-clients <n>' argument '65' is invalid. It must be a whole number from 1 to 64",
    ],
    [
      ["share", ...where, "--role", "admin"],
      "option '--role <role>' argument 'admin' is invalid. Allowed choices are viewer, driver",
    ],
    [["revoke", ...where], "revoke needs the ID of one link; see sbx-stdio tickets"],
  ])("%j is refused", (argv, message) => expect(refusalOf(...argv)).toEqual({ message, exitCode: 2 }));

  test("attach may be said, and a link is an address that says which session, as whom, and by what right", () => {
    expect(requestOf("attach", URL, "--status")).toEqual({ ...requestOf(URL), hasStatus: true });
    const link = `${URL}/?sandbox=dev&session=main&role=viewer#ticket=s.abc-_1`;
    const request = { ...requestOf(`${URL}/`), sandbox: "dev", session: "main", role: "viewer", ticket: "s.abc-_1" };
    expect(requestOf(link)).toEqual(request);
    expect(requestOf("attach", link, "--name", "Ann")).toEqual({ ...request, name: "Ann" });
    expect(requestOf(URL, "--session", "main", "--ticket", "s.x")).toMatchObject({ session: "main", ticket: "s.x" });
  });

  test("a ticket may be read from a file or from standard input, where no list of processes shows it", () => {
    const from = (...words: string[]) => {
      const { ticket, ticketFrom } = requestOf(URL, "--session", "main", ...words);
      return { ticket, ticketFrom };
    };
    expect(from("--ticket", "-")).toEqual({ ticketFrom: { from: "stdin" } });
    expect(from("--ticket-file", "t")).toEqual({ ticketFrom: { from: "file", path: "t" } });
  });

  test("a logout may name a server", () => {
    expect(parseArgs(["logout"], "1")).toEqual({ kind: "logout", endpoint: undefined });
    expect(parseArgs(["logout", `${URL}/attach`], "1")).toMatchObject({ kind: "logout", endpoint: { origin: URL } });
  });

  test.each([
    [[`${URL}/?sandbox=dev#ticket=s.abc`], "the share link is incomplete; copy all of it"],
    [[`${URL}/?session=a#ticket=s.abc`, "--session", "b"], "--session cannot be combined with a share link"],
    [[`${URL}/?session=a#ticket=s.abc`, "--", "ls"], "a shared session already has a command"],
    [[URL, "--ticket", "s.x"], "--ticket needs --session"],
    [[URL, "--ticket-file", "t"], "--ticket needs --session"],
    [
      [URL, "--session", "a", "--ticket", "s.x", "--ticket-file", "t"],
      "use only one of a share link, --ticket and --ticket-file",
    ],
    [[`${URL}/?session=a#ticket=s.abc`, "--ticket", "-"], "use only one of a share link, --ticket and --ticket-file"],
    [[`${URL}/?session=a#elsewhere`], "the address must not contain ? or #; use options instead"],
  ])("%j is refused", (argv, message) => expect(refusalOf(...argv)).toEqual({ message, exitCode: 2 }));
});
