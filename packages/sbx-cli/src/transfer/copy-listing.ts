// A folder's files, so that a copy that goes on leaves out those that are there already: as rsync, by size and time of each file.

import fs from "node:fs";
import { bytesOfPath } from "./copy-path.ts";

type Listed = { readonly bytes: number; readonly seconds: number; readonly isSparse?: true };

/** By path, beginning with `./`, of bytes, one a character. A folder or a link is always copied: its time is -1. */
export type Listing = ReadonlyMap<string, Listed>;

const STAT_BLOCK_BYTES = 512;

/** Of `name` in `folder` and all below it; empty where there is none. */
export function listFolder(folder: string, name: string): Listing {
  const found = new Map<string, Listed>();
  const look = (at: string) => {
    const path = bytesOfPath(`${folder}/${at}`);
    const stats = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const isSparse = stats.isFile() && stats.blocks * STAT_BLOCK_BYTES < stats.size;
    found.set(at, {
      bytes: stats.isFile() ? stats.size : 0,
      seconds: stats.isFile() ? Math.floor(stats.mtimeMs / 1_000) : -1,
      ...(isSparse ? { isSparse } : {}),
    });
    if (stats.isDirectory()) for (const child of fs.readdirSync(path, { encoding: "latin1" })) look(`${at}/${child}`);
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
