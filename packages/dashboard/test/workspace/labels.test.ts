// What a session is called. No browser.

import { expect, test } from "vitest";
import { labelOf, type PaneFacts, Places, placeOf } from "../../src/workspace/labels.ts";

const at = (session: string) => ({ sandbox: "dev", session });
const GENERATED = at("web-ab3defgh");
const none = { title: "", cwd: undefined, running: undefined };
const titled = (target: ReturnType<typeof at>, own: string | undefined, facts: PaneFacts = none) =>
  labelOf(placeOf(target, facts.cwd, "shell", own), own !== undefined, facts);

test("a session is called by its person, else by what runs and where, and never by an id that the page made", () => {
  const cwd = "/srv/project";
  expect([
    titled(GENERATED, "logs", { ...none, cwd, running: "npm test" }),
    titled(GENERATED, undefined, { ...none, cwd, running: "npm test" }),
    titled(GENERATED, undefined, { ...none, cwd }),
    titled(GENERATED, undefined, { ...none, cwd: "/" }),
    titled(GENERATED, undefined),
    placeOf(GENERATED, undefined, "project", undefined),
  ]).toEqual(["logs", "npm test · project", "project", "/", "shell", "project"]);
});

test("a home folder is ~: a person's, and the one that a local server makes for a sandbox", () => {
  const named = ["/root", "/home/ann", "/Users/ann", "/tmp/x/dev-6a3462f643b8", "/home/ann/src", "/srv/dev-6a34"];
  expect(named.map((cwd) => placeOf(GENERATED, cwd, "shell", undefined))).toEqual([
    ...["~", "~", "~", "~", "src", "dev-6a34"],
  ]);
});

test("equal places are numbered, each keeps its number while it stays, and that of a closed one is free again", () => {
  const places = new Places();
  const names = (...sessions: string[]) => sessions.map((session) => places.apart(at(session), "src"));
  expect(names("a", "b", "c")).toEqual(["src", "src 2", "src 3"]);
  expect([places.apart(at("a"), "docs"), ...names("c", "b", "d")]).toEqual(["docs", "src 3", "src 2", "src"]);
  places.keep(new Set(["dev/a", "dev/c"]));
  expect(names("c", "e", "f")).toEqual(["src 3", "src", "src 2"]);
});

test("a session that somebody named keeps that name beside what runs", () => {
  expect(titled(at("build"), undefined, { ...none, cwd: "/srv" })).toBe("build");
  expect(titled(at("build"), undefined, { ...none, cwd: "/srv", running: "make -j8\nmake install" })).toBe(
    "make -j8 · build",
  );
});

test("a program's own title says more than its command, a prompt's says nothing new", () => {
  expect(titled(at("a"), undefined, { title: "main.ts - VIM", cwd: "/", running: "vim main.ts" })).toBe(
    "main.ts - VIM · a",
  );
  expect(titled(at("a"), undefined, { title: "root@dev: /", cwd: "/", running: undefined })).toBe("a");
  expect(titled(at("a"), undefined, { title: "vim", cwd: undefined, running: undefined })).toBe("vim · a");
  expect(titled(at("a"), undefined, { ...none, cwd: "/", running: "x".repeat(60) })).toBe(`${"x".repeat(39)}… · a`);
});
