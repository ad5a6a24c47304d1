// The query of /attach, read and written.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attachParams, isName, MAX_KEEP_SECONDS, parseAttachQuery } from "../../src/index.ts";
import { isDelayed, lifeName } from "../../src/wire/attempt.ts";
import { anyText } from "../support/any-text.ts";

const parse = (query: string) => parseAttachQuery(new URLSearchParams(query));

function read(query: string) {
  const result = parse(query);
  if (!result.ok) throw new Error(result.detail);
  return result.query;
}

describe("defaults", () => {
  test("A1: nothing said: a shell on a PTY in the sandbox default, for a driver", () => {
    expect(read("")).toEqual({
      sandbox: "default",
      process: { args: [], env: [], tty: true, mode: "collaborative", delivery: "live", keep: 1800 },
      name: "",
      role: "driver",
      delivery: undefined,
      wake: true,
    });
  });

  test("A3: with a command pipes, unless it says otherwise; without one a PTY, likewise", () => {
    const kind = (query: string) => [read(query).process.tty, read(query).process.delivery];
    expect([kind("cmd=ls"), kind("cmd=ls&tty=1"), kind("tty=0"), kind("tty=1")]).toEqual([
      [false, "lossless"],
      [true, "live"],
      [false, "lossless"],
      [true, "live"],
    ]);
  });

  test("B1 and B2: panes and pane are read and written, and tmux -CC is panes of the usual shell", () => {
    const { process } = read("panes=1&cmd=sh");
    expect([process.panes, process.cmd, process.tty, process.delivery]).toEqual([true, "sh", true, "live"]);
    expect(attachParams({ process })).toContainEqual(["panes", "1"]);
    const pane = read("pane=main.1:12").process;
    expect([pane.pane, pane.tty]).toEqual([{ session: "main.1", number: 12 }, true]);
    expect(attachParams({ process: pane })).toContainEqual(["pane", "main.1:12"]);
    for (const more of ["", "&arg=new", "&arg=attach-session", "&panes=1"]) {
      const control = read(`cmd=tmux&arg=-CC${more}`).process;
      expect([control.panes, control.cmd, control.args, control.tty]).toEqual([true, undefined, [], true]);
    }
    expect(read("cmd=tmux&arg=new").process).toMatchObject({ cmd: "tmux", args: ["new"], tty: false });
  });

  test("A13: tcp takes the place of a command, and of all that describes one", () => {
    const { process } = read("tcp=8080");
    expect([process.tcp, process.cmd, process.tty, process.delivery]).toEqual([8080, undefined, false, "lossless"]);
    expect(attachParams({ process })).toContainEqual(["tcp", "8080"]);
    for (const port of ["0", "65536", "8080x", "-1", "127.0.0.1:80"]) expect(parse(`tcp=${port}`).ok).toBe(false);
    const others = ["cmd=ls", "arg=a", "env=A=b", "cwd=/", "linger=1", "tty=1", "role=viewer"];
    for (const other of others) expect(parse(`tcp=80&${other}`)).toMatchObject({ ok: false });
  });

  test("A10: what a client wants of its output is its own, and a later one that says nothing has said nothing", () => {
    expect(read("delivery=lossless")).toMatchObject({ delivery: "lossless", process: { delivery: "lossless" } });
    expect(read("session=s").delivery).toBeUndefined();
  });
});

test("A1: everything said is read, in order", () => {
  expect(
    read(
      "sandbox=dev&session=build&cmd=sh&arg=-c&arg=echo+%22a%3Db%22&env=A=1&env=B=x%3Dy&cwd=/w&tty=1&cols=120&rows=40" +
        "&mode=exclusive&delivery=lossless&keep=0&name=Ada&role=viewer&wake=0&offset=7&stdin=9&resume=r.s&attempt=a1.3&token=t",
    ),
  ).toEqual({
    sandbox: "dev",
    session: "build",
    process: {
      cmd: "sh",
      args: ["-c", 'echo "a=b"'],
      env: Object.entries({ A: "1", B: "x=y" }),
      ...{ cwd: "/w", tty: true, mode: "exclusive", delivery: "lossless", keep: 0 },
    },
    size: { cols: 120, rows: 40 },
    ...{ name: "Ada", role: "viewer", delivery: "lossless", wake: false, offset: 7, stdin: 9, resume: "r.s" },
    attempt: { life: "a1", number: 3 },
  });
  expect(read("stdin=new").stdin).toBe("new");
  expect([read("cols=100").size, read("rows=10").size]).toEqual([
    { cols: 100, rows: 24 },
    { cols: 80, rows: 10 },
  ]);
});

test("A1: of a command as a URL has it 14 KiB are taken, and one byte more is refused with both numbers", () => {
  const args = ["-c", "echo 'é' > \u{1f600}~*.-_\ud800"];
  const query = (...more: string[]) => {
    const process = { cmd: "sh", args: [...args, ...more], env: [["A", "(b c)\n"]] as [string, string][], cwd: "/w" };
    return `${new URLSearchParams(attachParams({ process }))}`;
  };
  const fill = "x".repeat(14 * 1024 - `&${query()}&arg=`.length);
  expect(parse(query(fill))).toMatchObject({ ok: true });
  const detail =
    "the command is too long: 14337 bytes in a URL with its arguments, environment and directory, at most 14336";
  expect(parse(query(`${fill}x`))).toEqual({ ok: false, detail });
});

describe("refusals", () => {
  /** By the parameter that the refusal names. */
  const REFUSED: Readonly<Record<string, readonly string[]>> = {
    sandbox: ["sandbox=", "sandbox=a/b"],
    session: ["session=.hidden", "session=-x", `session=${"x".repeat(65)}`],
    tty: ["tty=yes"],
    role: ["role=admin"],
    mode: ["mode=shared"],
    delivery: ["delivery=fast"],
    wake: ["wake=2"],
    cols: ["cols=0", "cols=1001", "cols=1e2", "cols=+80", "cols="],
    rows: ["rows=501"],
    keep: ["keep=-1", `keep=${MAX_KEEP_SECONDS + 1}`],
    offset: ["offset=-1", "offset=1.5", "offset=9007199254740992", "offset=NaN"],
    stdin: ["stdin=old", "stdin=9007199254740991"],
    attempt: ["attempt=1", "attempt=A.1"],
    name: [`name=${"é".repeat(33)}`, "name=a%07b", "name=a%C2%85b"],
    cmd: ["cmd=", "cmd=a%00b"],
    arg: ["cmd=a&arg=a%00b", "arg=a", `cmd=a${"&arg=b".repeat(1_025)}`],
    env: ["env=1A=2", "env=A", "env=A%00=1", "env=A=1&".repeat(257)],
    cwd: ["cwd=a%00b"],
    resume: [`resume=${"x".repeat(1_025)}`],
  };
  test.each(Object.entries(REFUSED))("A1: a wrong %s is refused and named", (name, queries) => {
    for (const query of queries) {
      const result = parse(query);
      expect(result.ok ? `accepted ${query}` : result.detail).toContain(`"${name}"`);
    }
  });

  test.each([
    ...["panes=2", "panes=1&tty=0", "panes=1&tcp=80", "panes=1&pane=main:0", "cmd=tmux&arg=-CC&tty=0", "pane=main"],
    ...["cmd=tmux&arg=-CC&arg=new&arg=-s&arg=other", "cmd=tmux&arg=-CC&arg=kill-server", "pane=main:%250"],
    ...[
      "pane=../x:0",
      "pane=main:0&cmd=sh",
      "pane=main:0&env=A%3Db",
      "pane=main:0&tty=0",
      "pane=main:0&delivery=lossless",
    ],
  ])("B1 and B2: %s is refused", (query) => {
    expect(parse(query).ok).toBe(false);
  });

  test("L2: at the limits everything is still accepted", () => {
    expect(read(`name=${"é".repeat(32)}`).name.length).toBe(32);
    // A zero width space, a turn of direction, a filler, a line separator: nobody passes for Ada with them.
    for (const unseen of ["\u200b", "\u202e", "\u3164", "\u2028", " "]) {
      expect(read(`name=${encodeURIComponent(`Ada${unseen}`)}`).name).toBe("Ada");
      expect(read(`name=${encodeURIComponent(unseen)}`).name).toBe("");
    }
    expect(read(`name=${encodeURIComponent("Ἀδα 👩🏽 نور")}`).name).toBe("Ἀδα 👩🏽 نور");
    expect(read(`cmd=a${"&arg=b".repeat(1_024)}`).process.args.length).toBe(1_024);
    expect(read("env=A=1&".repeat(256)).process.env.length).toBe(256);
    expect(read("offset=9007199254740991").offset).toBe(Number.MAX_SAFE_INTEGER);
    expect(read(`cols=1000&rows=500&keep=${MAX_KEEP_SECONDS}`).size).toEqual({ cols: 1000, rows: 500 });
    expect(read(`session=${"x".repeat(64)}`).session?.length).toBe(64);
  });
});

test("A2: a name is 1 to 64 letters, digits, dots, dashes and underscores, and starts with none of dot and dash", () => {
  for (const name of ["a", "_", "0", "A.b-c_d", "x".repeat(64)]) expect(isName(name)).toBe(true);
  for (const name of ["", ".", "..", ".a", "-a", "a b", "a/b", "ä", "a\n", "x".repeat(65)])
    expect(isName(name)).toBe(false);
});

test("A1: what is written is read as it was meant", () => {
  const name = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/);
  const text = anyText(20).filter((value) => /^[^\0\p{Surrogate}]*$/u.test(value));
  const query = fc.record(
    {
      sandbox: name,
      session: name,
      process: fc.record({
        cmd: text.filter((value) => value !== ""),
        args: fc.array(text, { maxLength: 4 }),
        env: fc.array(fc.tuple(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,5}$/), text), { maxLength: 4 }),
        cwd: text.filter((value) => value !== ""),
        tty: fc.boolean(),
        mode: fc.constantFrom("collaborative" as const, "exclusive" as const),
        keep: fc.nat(86_400),
      }),
      size: fc.record({ cols: fc.integer({ min: 1, max: 1000 }), rows: fc.integer({ min: 1, max: 500 }) }),
      name: fc.stringMatching(/^[!-~]([ -~]{0,18}[!-~])?$/),
      role: fc.constantFrom("driver" as const, "viewer" as const),
      delivery: fc.constantFrom("live" as const, "lossless" as const),
      wake: fc.boolean(),
      offset: fc.nat(Number.MAX_SAFE_INTEGER),
      stdin: fc.oneof(fc.constant("new" as const), fc.nat(1_000_000)),
      resume: fc.stringMatching(/^[\w.-]{1,40}$/),
      attempt: fc.record({ life: fc.stringMatching(/^[0-9a-z]{1,7}$/), number: fc.nat(100) }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(query, (wish) => {
      const back = read(new URLSearchParams(attachParams(wish)).toString());
      const { process: process_, ...rest } = wish;
      expect(back).toMatchObject(rest);
      if (process_ !== undefined) expect(back.process).toMatchObject(process_);
    }),
    { seed: 6, numRuns: 100 },
  );
});

describe("R10: of two lives of one client", () => {
  const attempt = (life: string, number: number) => ({ life, number });
  const born = (ms: number, chance = 0.5) => lifeName(ms, chance);
  const T = 1_800_000_000_000;

  test.each([
    ["an earlier connection of the same life is held up", attempt("a", 1), attempt("a", 2), true],
    ["a later one is not", attempt("a", 3), attempt("a", 2), false],
    [
      "a life that began a moment before is held up, whatever its count",
      attempt(born(T), 9),
      attempt(born(T + 5), 1),
      true,
    ],
    ["one that began later is not", attempt(born(T + 5), 1), attempt(born(T), 9), false],
    ["nor one of the same moment", attempt(born(T, 0.1), 1), attempt(born(T, 0.9), 9), false],
    ["nor one a minute before, which had another clock", attempt(born(T), 1), attempt(born(T + 60_000), 1), false],
    ["nor one that does not say when it began", attempt("abc", 1), attempt(born(T), 1), false],
  ])("%s", (_name, one, newest, expected) => {
    expect(isDelayed(one, newest)).toBe(expected);
  });

  test("a life's name is 16 characters that a query may have", () => {
    expect([born(T, 0), born(T, 0.9999999999999999)]).toEqual([
      "0mywpiww00000000",
      expect.stringMatching(/^[0-9a-z]{9}zzzzzzz$/),
    ]);
    expect(lifeName(undefined, 0)).toBe("0000000");
  });
});
