// Lists a folder's files, so that a resumed copy skips those with the same size and time, as rsync does.

import fs from "node:fs";
import { defined } from "sandbox-stdio/core";
import { bytesOfPath } from "./copy-path.ts";

type Listed = { readonly bytes: number; readonly seconds: number; readonly isSparse?: true };

/** By path from `./`, as latin1 bytes. Folders and symlinks are always copied: their time is -1. */
export type Listing = ReadonlyMap<string, Listed>;

const STAT_BLOCK_BYTES = 512;

/** Lists `name` in `folder` and everything below it; empty if it does not exist. */
export function listFolder(folder: string, name: string): Listing {
  const found = new Map<string, Listed>();
  const visit = (at: string) => {
    const path = bytesOfPath(`${folder}/${at}`);
    const stats = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const isSparse = stats.isFile() && stats.blocks * STAT_BLOCK_BYTES < stats.size;
    found.set(at, {
      bytes: stats.isFile() ? stats.size : 0,
      seconds: stats.isFile() ? Math.floor(stats.mtimeMs / 1_000) : -1,
      ...defined({ isSparse: isSparse || undefined }),
    });
    if (stats.isDirectory()) for (const child of fs.readdirSync(path, { encoding: "latin1" })) visit(`${at}/${child}`);
  };
  visit(`./${name}`);
  return found;
}

/** Parses find's `SIZE SECONDS PATH`, NUL-terminated since a name may contain anything else. */
export function parseListing(text: string): Listing {
  const entries = text.split("\0").flatMap((entry) => {
    const [, bytes, seconds, name] = /^(\d+) (-?\d+)(?:\.\d+)? ([\s\S]+)$/.exec(entry) ?? [];
    return name === undefined ? [] : [[name, { bytes: Number(bytes), seconds: Number(seconds) }] as const];
  });
  return new Map(entries);
}

/** The names in `wanted` that are not in `had` with the same size and time. */
export function missing(wanted: Listing, had: Listing): readonly string[] {
  return [...wanted].flatMap(([name, { bytes, seconds }]) => {
    const one = had.get(name);
    return seconds >= 0 && one?.bytes === bytes && one.seconds === seconds ? [] : [name];
  });
}

/** Total size of the names, or of all. */
export function bytesOf(listing: Listing, names: readonly string[] = [...listing.keys()]): number {
  return names.reduce((sum, name) => sum + (listing.get(name)?.bytes ?? 0), 0);
}
