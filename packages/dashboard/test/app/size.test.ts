// The weight of the built page, as a server sends it. Measured on the files of the build, without a browser.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";

const LIMIT = 235_000;

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

test("the page's own code, React with it, is less than 235 KB compressed", async () => {
  const all = [...(await weights())];
  const own = all.filter(([path]) => !isXterm(path));
  const total = own.reduce((sum, [, bytes]) => sum + bytes, 0);
  expect(own.map(([path]) => path.replace(/-[\w-]{8}\./, ".")).sort()).toEqual(
    expect.arrayContaining(["assets/index.css", "assets/index.js", "assets/Palette.js", "service-worker.js"]),
  );
  expect(total).toBeLessThan(LIMIT);
});

test("what the page names at its start is its own code and the terminal's: addons and dialogs come when they are needed", async () => {
  const html = await readFile(join(dist, "index.html"), "utf8");
  const named = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  const names = named.map((path) => path.replace(/assets\/|-[\w-]{8}(?=\.)/g, ""));
  expect(names).toEqual(expect.arrayContaining(["index.css", "index.js", "xterm.js"]));
  expect(
    names.filter((name) => /^(?:addon|Palette|SettingsDialog|ShareDialog|KeySheet|RecordingPanel)/.test(name)),
  ).toEqual([]);
});
