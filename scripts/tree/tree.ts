// The tree as git sees it, for what asks which tests a change can break: files, changes, and a fingerprint of some of them.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { DependencyGraph } from "./affected.ts";
import { workspacePackages } from "./source-files.ts";

/** What `npm run prove` writes is no input of what it proves. */
const PROOF = "docs/proof/";
const hasRepository = existsSync(join(ROOT, ".git"));
const SOURCE = /\.(tsx?|mjs|toml|html)$/;

/** Lines that git prints. @throws {Error} With git's words. */
function git(...args: string[]): string[] {
  const text = execFileSync("git", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return text.split("\n").filter((line) => line !== "");
}

export const revision = (): string => git("rev-parse", "--short=12", "HEAD")[0] ?? "";

/** Whether a tracked file differs from HEAD. */
export const isDirty = (): boolean =>
  git("status", "--porcelain", "--untracked-files=no").some((line) => !line.slice(3).startsWith(PROOF));

/** Paths of all files but the ignored ones; none without a repository, as in an archive of the tree. */
export const trackedFiles = (): string[] =>
  hasRepository
    ? git("ls-files", "--cached", "--others", "--exclude-standard").filter((path) => existsSync(join(ROOT, path)))
    : [];

/** Subjects of a commit and of those after it; none where the history does not reach so far. */
export function subjectsSince(commit: string): string[] {
  const isKnown = hasRepository && spawnSync("git", ["cat-file", "-e", `${commit}^`], { cwd: ROOT }).status === 0;
  return isKnown ? git("log", "--format=%s", `${commit}^..HEAD`) : [];
}

export function readTree(): DependencyGraph {
  const paths = trackedFiles();
  const files = paths.map((path) => ({ path, text: SOURCE.test(path) ? readFileSync(join(ROOT, path), "utf8") : "" }));
  return new DependencyGraph(files, workspacePackages());
}

/** Paths that differ from `since`, with what is not committed. */
export function changedSince(since: string): string[] {
  return [...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")];
}

/** A hash of the committed contents of these files. */
export function fingerprint(paths: readonly string[]): string {
  const wanted = new Set(paths.filter((path) => !path.startsWith(PROOF)));
  const blobs = git("ls-tree", "-r", "HEAD").filter((line) => wanted.has(line.slice(line.indexOf("\t") + 1)));
  return createHash("sha256").update(blobs.join("\n")).digest("hex").slice(0, 16);
}
