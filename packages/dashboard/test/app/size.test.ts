// The weight of the built page, as a server sends it. Measured on the files of the build, without a browser.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";

const LIMIT = 160_000;
const TIMELINE_LIMIT = 6_000;

const dist = inject("dist");

/** Bytes of each file of code and style, compressed. */
async function weights(): Promise<Map<string, number>> {
  const names = await readdir(join(dist, "assets"));
  const files = [...names.map((name) => join("assets", name)), "service-worker.js"].filter((path) =>
    /\.(js|css)$/.test(path),
  );
  return new Map(
    await Promise.all(files.map(async (path) => [path, gzipSync(await readFile(join(dist, path))).length] as const)),
  );
}

const isXterm = (path: string) => /assets\/(?:xterm|addon-[a-z]+)-/.test(path);

/** Loaded when a recording is looked at. */
const isTimeline = (path: string) => /assets\/RecordingPanel-/.test(path);

test("the page's own code, React with it, is less than 160 KB compressed, and the timeline that comes later 6 KB", async () => {
  const all = [...(await weights())];
  const own = all.filter(([path]) => !isXterm(path) && !isTimeline(path));
  const timeline = all.filter(([path]) => isTimeline(path));
  const total = (of: typeof all) => of.reduce((sum, [, bytes]) => sum + bytes, 0);
  expect(own.map(([path]) => path.replace(/-[\w-]{8}\./, ".")).sort()).toEqual([
    "assets/index.css",
    "assets/index.js",
    "service-worker.js",
  ]);
  expect(total(own)).toBeLessThan(LIMIT);
  expect(timeline.length).toBe(2);
  expect(total(timeline)).toBeLessThan(TIMELINE_LIMIT);
});

test("what the page names at its start is its own code and the terminal's: addons come when they are needed", async () => {
  const html = await readFile(join(dist, "index.html"), "utf8");
  const named = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  expect(named.map((path) => path.replace(/-[\w-]{8}\./, ".")).sort()).toEqual([
    "assets/index.css",
    "assets/index.js",
    "assets/xterm.js",
  ]);
});
