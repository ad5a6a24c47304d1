// A folder's files, so that a copy that goes on leaves out those that are there already: as rsync, by size and time of each file.

import fs from "node:fs";

/** By path, beginning with `./`. A folder or a link is always copied: its time is -1. */
export type Listing = ReadonlyMap<string, { readonly bytes: number; readonly seconds: number }>;

/** Of `name` in `folder` and all below it; empty where there is none. */
export function listFolder(folder: string, name: string): Listing {
  const found = new Map<string, { bytes: number; seconds: number }>();
  const look = (at: string) => {
    const stats = fs.lstatSync(`${folder}/${at}`, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const isFile = stats.isFile();
    found.set(at, { bytes: isFile ? stats.size : 0, seconds: isFile ? Math.floor(stats.mtimeMs / 1_000) : -1 });
    if (stats.isDirectory()) for (const child of fs.readdirSync(`${folder}/${at}`)) look(`${at}/${child}`);
  };
  look(`./${name}`);
  return found;
}

/** Reads find's `SIZE SECONDS PATH` for each file, with a NUL behind it: a name may hold anything else. */
export function parseListing(text: string): Listing {
  const entries = text.split("\0").flatMap((entry) => {
    const [, bytes, seconds, name] = /^(\d+) (-?\d+)(?:\.\d+)? ([\s\S]+)$/.exec(entry) ?? [];
    return name === undefined ? [] : [[name, { bytes: Number(bytes), seconds: Number(seconds) }] as const];
  });
  return new Map(entries);
}

/** Those of `wanted` that are not among `had` with the same size and time. */
export function missing(wanted: Listing, had: Listing): readonly string[] {
  return [...wanted].flatMap(([name, { bytes, seconds }]) => {
    const one = had.get(name);
    return seconds >= 0 && one?.bytes === bytes && one.seconds === seconds ? [] : [name];
  });
}

/** Of the names, or of all. */
export function bytesOf(listing: Listing, names: readonly string[] = [...listing.keys()]): number {
  return names.reduce((sum, name) => sum + (listing.get(name)?.bytes ?? 0), 0);
}
