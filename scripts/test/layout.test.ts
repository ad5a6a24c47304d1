// The lint step "rules of the tree": folders and subjects of commits, over made-up files.
import { expect, test } from "vitest";
import { crowdedFolders, entangledFolders, longSubjects, sliceCopies } from "../tree/layout.ts";

const files = (folder: string, count: number) => Array.from({ length: count }, (_, i) => `${folder}/${i}.ts`);

test("a folder has at most 25 sources, or as many as its exception says, which goes as soon as it can", () => {
  expect(crowdedFolders([...files("a", 25), ...files("b", 26), "a/table.json"], {})).toEqual([
    "b: 26 files, at most 25",
  ]);
  expect(crowdedFolders(files("b", 27), { b: 27 })).toEqual([]);
  expect(crowdedFolders(files("b", 28), { b: 27 })).toEqual(["b: 28 files, at most 27"]);
  expect(crowdedFolders(files("b", 25), { b: 27 })).toEqual(["b: keeps to the rule: remove its exception"]);
});

test("folders that import each other are named, also over a third one and by types", () => {
  const circle = [
    { path: "x/a/one.ts", text: 'import { b } from "../b/two.ts";' },
    { path: "x/b/two.ts", text: 'import type { C } from "../c/three.ts";' },
    { path: "x/c/three.ts", text: 'export * from "../a/four.ts";\nimport { d } from "../d/five.ts";' },
    { path: "x/a/four.ts", text: 'import { d } from "../d/five.ts";' },
    { path: "x/d/five.ts", text: 'import "./six.ts";' },
    { path: "x/seven.ts", text: 'import { a } from "./a/one.ts";' },
  ];
  expect(entangledFolders(circle, [])).toEqual(["these folders import each other in a circle: x/a, x/b, x/c"]);
  expect(entangledFolders(circle, ["x"])).toEqual([]);
  expect(entangledFolders(circle.slice(2), [])).toEqual([]);
});

test("a commit's subject has at most 72 letters", () => {
  expect(longSubjects(["x".repeat(72)])).toEqual([]);
  expect(longSubjects(["x".repeat(73)])).toEqual([`a commit's subject has 73 letters, at most 72: ${"x".repeat(73)}`]);
});

test("bytes are not copied by slice()", () => {
  const text = "const rest = bytes.slice(2);\nkeep(bytes.slice());";
  expect(sliceCopies([{ path: "x/one.ts", text }])).toEqual(["x/one.ts:2: cloneBytes() for slice()"]);
});
