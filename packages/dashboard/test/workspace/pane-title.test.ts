// What a pane is called. No browser.

import { expect, test } from "vitest";
import { paneTitle } from "../../src/app/WorkspacePage.tsx";

const at = (session: string) => ({ sandbox: "dev", session });
const facts = { title: "", cwd: undefined, running: undefined };
const GENERATED = at("web-ab3defgh");

test("a pane is called by its person, else by what runs and where, and by its id only if nothing else is known", () => {
  const cwd = "/srv/project";
  expect([
    paneTitle(GENERATED, "logs", { ...facts, cwd, running: "npm test" }),
    paneTitle(GENERATED, undefined, { ...facts, cwd, running: "npm test" }),
    paneTitle(GENERATED, undefined, { ...facts, cwd }),
    paneTitle(GENERATED, undefined, { ...facts, cwd: "/" }),
    paneTitle(GENERATED, undefined, undefined),
  ]).toEqual(["logs", "npm test · project", "project", "/", "web-ab3defgh"]);
});

test("a session that somebody named keeps that name beside what runs", () => {
  expect(paneTitle(at("build"), undefined, { ...facts, cwd: "/srv" })).toBe("build");
  expect(paneTitle(at("build"), undefined, { ...facts, cwd: "/srv", running: "make -j8\nmake install" })).toBe(
    "make -j8 · build",
  );
});

test("a program's own title says more than its command, a prompt's says nothing new", () => {
  expect(paneTitle(at("a"), undefined, { title: "main.ts - VIM", cwd: "/", running: "vim main.ts" })).toBe(
    "main.ts - VIM · a",
  );
  expect(paneTitle(at("a"), undefined, { title: "root@dev: /", cwd: "/", running: undefined })).toBe("a");
  expect(paneTitle(at("a"), undefined, { title: "vim", cwd: undefined, running: undefined })).toBe("vim · a");
  expect(paneTitle(at("a"), undefined, { ...facts, cwd: "/", running: "x".repeat(60) })).toBe(`${"x".repeat(39)}… · a`);
});
