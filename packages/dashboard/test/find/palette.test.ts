// What the palette finds, and what it says of a session.

import { expect, test } from "vitest";
import { KEY_GROUPS, newSessionEntry, paletteCommands } from "../../src/find/palette-commands.ts";
import { ageOf, attachCommand, commandLineOf, found, sessionEntry } from "../../src/find/palette-model.ts";
import { type ListedSession, miniatureCols } from "../../src/find/session-list.ts";
import { ENGLISH } from "../../src/texts/texts.ts";
import { ALL_COMMANDS } from "../../src/workspace/layout-keys.ts";

const listed = (session: string, command: readonly string[] = ["bash"], sandbox = "dev"): ListedSession => ({
  target: { sandbox, session },
  state: "running",
  tty: true,
  command,
  createdAtMs: 0,
  clients: 0,
  people: session === "tests" ? ["Alice"] : [],
  lastOutputAtMs: Number.NaN,
  title: undefined,
  exitCode: undefined,
});
const sessions = [listed("main"), listed("tests", ["npm", "test"]), listed("main-2", ["vim", "a file"], "other")];
const commands = paletteCommands(ENGLISH, true, ["dev"], () => true);
const entries = [...sessions.map((one) => sessionEntry(one)), ...commands];
const sessionsFound = (query: string) =>
  found(entries, query).flatMap((entry) => (entry.kind === "session" ? [entry.id] : []));

test("finds by name, sandbox, command and state, each word anywhere, in any case", () => {
  expect(sessionsFound("")).toEqual(["dev/main", "dev/tests", "other/main-2"]);
  expect(sessionsFound("MAIN")).toEqual(["dev/main", "other/main-2"]);
  expect(sessionsFound("other main")).toEqual(["other/main-2"]);
  expect(sessionsFound("npm running")).toEqual(["dev/tests"]);
  expect(sessionsFound("alice")).toEqual(["dev/tests"]);
  expect(sessionsFound("nothing such")).toEqual([]);
});

test("what begins with the query comes first", () => {
  const one = listed("a-test", ["test"]);
  expect(
    found(
      [one, listed("test-b")].map((each) => sessionEntry(each)),
      "test",
    ).map(({ id }) => id),
  ).toEqual(["dev/test-b", "dev/a-test"]);
});

test("letters of one word with others between find a name, after those that have the word; of a whole sentence they don't", () => {
  const words = (query: string) => found(entries, query).map((entry) => (entry.kind === "command" ? entry.words : ""));
  expect(words(">nxt").slice(0, 2)).toEqual(["Next command", "Next tab"]);
  expect(words(">sp ri")[0]).toBe("Split right");
  expect(words(">key sh")[0]).toBe("Keyboard shortcuts");
  expect([words("font").filter((each) => /Focus|above|below/.test(each)), words("clear")]).toEqual([[], []]);
  expect([">qqq", ">a-b", ">(.*", ">[\\-"].map(words)).toEqual([[], [], [], []]);
});

test("words by which people look find a command that has another name", () => {
  const first = (query: string) => {
    const [entry] = found(entries, query);
    return entry?.kind === "command" ? entry.words : entry?.id;
  };
  for (const [query, words] of [
    ...[
      ["dracula", "Theme: Dracula"],
      ["font", "Settings"],
      ["zoom", "Maximize pane (on or off)"],
    ],
    ...[
      ["maximize", "Maximize pane (on or off)"],
      ["full screen", "Maximize pane (on or off)"],
    ],
    ...[
      ["paste", "Paste"],
      ["select all", "Select all"],
      ["log out", "Log out"],
      ["download", "Show or hide files"],
    ],
    ...[
      ["kill", "End session…"],
      ["dark", "Colours: dark"],
      ["password", "Secret input"],
      ["larger", "Larger text"],
    ],
  ] as const)
    expect([query, first(query)]).toEqual([query, words]);
});

test("sessions and commands stand apart, those of the best match first", () => {
  const kinds = (query: string) =>
    found(entries, query)
      .map(({ kind }) => kind)
      .join(" ")
      .replaceAll(/(\w+)( \1)+/g, "$1");
  expect(["", "split", "main"].map(kinds)).toEqual(["session command", "command", "session"]);
  expect(kinds("te")).toBe("session command");
  expect(kinds("next")).toBe("command");
});

test("where nothing is found, a session of that name is offered, if it is one", () => {
  const named = (query: string) => newSessionEntry(query, ENGLISH)?.id;
  expect([named(" zzzzq"), named("my build!"), named("../x"), named("  "), named("日本")]).toEqual([
    ">New session named zzzzq",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("every command is under one heading of the sheet of keys", () => {
  const grouped = KEY_GROUPS.flatMap(([, commands]) => commands);
  expect([...grouped].sort()).toEqual([...new Set(ALL_COMMANDS.map(({ do: what }) => what))].sort());
});

test("behind > are commands alone, with their keys", () => {
  const divide = found(entries, ">split");
  expect(divide.map((entry) => entry.kind === "command" && [entry.words, entry.keys])).toEqual([
    [ENGLISH.palette.command.divideRight, "Ctrl+Shift+D"],
    [ENGLISH.palette.command.divideBelow, "Ctrl+Shift+E"],
  ]);
  expect(found(entries, ">").length).toBe(commands.length);
});

test("offers only what can be done: nothing that may not be, no arranging of one pane", () => {
  expect(paletteCommands(ENGLISH, true, ["dev"], () => false)).toEqual([]);
  const names = (hasPanes: boolean) =>
    new Set(
      paletteCommands(ENGLISH, hasPanes, ["dev"], ({ do: what }) => what !== "share").flatMap((entry) =>
        entry.kind === "command" ? [entry.command.do] : [],
      ),
    );
  const always = [
    "new",
    "divide",
    "files",
    "upload",
    "rename",
    "terminal",
    "settings",
    "keys",
    "scheme",
    "theme",
    "reopen",
    "notify",
    "ask",
    "end",
    ...["paste", "select-all", "secret", "reader", "zoom", "log-out"],
  ];
  expect(names(false)).toEqual(new Set(always));
  const arranging = [
    "maximize",
    "equalize",
    "close",
    "close-tab",
    "close-others",
    "own-tab",
    "show-tab",
    "move-tab",
    "focus",
    "move",
    "grow",
  ];
  expect(names(true)).toEqual(new Set([...always, ...arranging]));
  const inOthers = paletteCommands(ENGLISH, false, ["dev", "far"], () => true).map(({ id }) => id);
  expect(inOthers.filter((id) => id.includes("sandbox"))).toEqual([
    ">New session in sandbox dev",
    ">New session in sandbox far",
  ]);
});

test("the command line that attaches names the server, the sandbox and the session, and holds no token", () => {
  expect(attachCommand("https://sbx.example", listed("main"))).toBe(
    "sbx-stdio https://sbx.example --sandbox dev --session main",
  );
});

test("a command is shown as one would type it, an age in its largest unit, a screen with the columns in use", () => {
  expect(commandLineOf(listed("s", ["sh", "-c", "echo 'x'; exit"]))).toBe("sh -c 'echo '\\''x'\\''; exit'");
  expect(commandLineOf(listed("s", ["x".repeat(5_000)]))).toBe(`${"x".repeat(300)}…`);
  const ages = [-5, 59, 60, 3_599, 3_600, 86_399, 200_000].map((seconds) => ageOf(0, seconds * 1000));
  expect(ages.map(({ count, unit }) => `${count} ${unit}`)).toEqual([
    ...["0 second", "59 second", "1 minute", "59 minute", "1 hour", "23 hour", "2 day"],
  ]);
  const width = (cols: number, ...lines: string[]) => miniatureCols({ cols, lines });
  expect([
    width(149, "$ ls", ""),
    width(149, `${"x".repeat(90)}   `),
    width(80, "日".repeat(99)),
    width(20, "a"),
  ]).toEqual([48, 90, 80, 20]);
});
