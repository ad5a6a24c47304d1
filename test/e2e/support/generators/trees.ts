// Folders to be copied, and what they hold, for a comparison.
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Random } from "../../../../packages/local/src/base/random.ts";

/** Names that a shell, tar or an address might read otherwise. */
const ODD_NAMES = ["a b", "-rf", "$HOME", "quote'\"", "new\nline", "ünï", "*", ":colon", "back\\slash", ".hidden"];

/** Small files in folders, one large file, odd names, a link, an executable. */
export function makeTree(root: string, seed: number, largeBytes = 2_000_000): void {
  const random = new Random(seed);
  const put = (name: string, bytes: Uint8Array) => {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  };
  for (let i = 0; i < 40; i += 1) put(`folder-${i % 7}/file-${i}`, random.bytes(random.int(0, 4_000)));
  for (const name of ODD_NAMES) put(`odd/${name}`, random.bytes(100));
  put("large.bin", random.bytes(largeBytes));
  put("run.sh", Buffer.from("#!/bin/sh\necho ran\n"));
  chmodSync(join(root, "run.sh"), 0o755);
  mkdirSync(join(root, "empty"));
  symlinkSync("large.bin", join(root, "link"));
}

/** Each path with what it is: a sum, a link's target, a folder; and whether it may be run. */
export function treeOf(root: string, without: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (folder: string) => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = join(folder, name);
      if (without.includes(path)) continue;
      const stats = lstatSync(join(root, path));
      if (stats.isSymbolicLink()) found[path] = `link to ${readlinkSync(join(root, path))}`;
      else if (stats.isDirectory()) {
        found[path] = "folder";
        look(path);
      } else {
        const sum = createHash("sha256")
          .update(readFileSync(join(root, path)))
          .digest("hex");
        found[path] = `${(stats.mode & 0o100) === 0 ? "" : "runs "}${sum}`;
      }
    }
  };
  look("");
  return found;
}
