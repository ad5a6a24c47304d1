// How the files lie in the tree: few in a folder, no folders that import each other in a circle, short subjects of commits, no copies that are views. Pure: it is
// handed the files and the subjects. How long functions may be is in biome.json, with its exceptions.
import { importsOf, resolveImport, type SourceFile } from "./import-direction.ts";

const MOST_FILES = 25;
const MOST_LETTERS = 72;
/** The commits before this one have longer subjects. */
export const FIRST_CHECKED_COMMIT = "6f9b692c";

/** Folders that still have more files, and how many at the most. A line goes as soon as the folder keeps to the rule. */
const CROWDED: Readonly<Record<string, number>> = {};

/** Folders whose subfolders, or they and their subfolders, still import each other. */
const ENTANGLED: readonly string[] = [];

/** @param paths Every file of the tree. @returns A sentence for each folder with too many sources, or without need of its exception. */
export function crowdedFolders(paths: readonly string[], exceptions = CROWDED): string[] {
  const sources = paths.filter((path) => /\.(tsx?|mjs|css)$/.test(path));
  const counts = new Map<string, number>();
  for (const folder of sources.map(folderOf)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  const crowded = [...counts].flatMap(([folder, count]) => {
    const most = exceptions[folder] ?? MOST_FILES;
    return count > most ? [`${folder}: ${count} files, at most ${most}`] : [];
  });
  const needless = Object.keys(exceptions).filter((folder) => (counts.get(folder) ?? 0) <= MOST_FILES);
  return [...crowded, ...needless.map((folder) => `${folder}: keeps to the rule: remove its exception`)];
}

/** @returns A sentence for each set of folders that import each other in a circle. */
export function entangledFolders(files: readonly SourceFile[], exceptions = ENTANGLED): string[] {
  const imports = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const from = folderOf(path);
    const targets = imports.get(from) ?? new Set();
    imports.set(from, targets);
    for (const specifier of importsOf(text)) {
      if (specifier.startsWith(".")) targets.add(folderOf(resolveImport(path, specifier)));
    }
  }
  // What is left when folders that import none of the others, or are imported by none, are taken away again and again.
  const left = new Set(imports.keys());
  const isFree = (folder: string): boolean => {
    const isOther = (other: string) => other !== folder && left.has(other);
    const leads = [...(imports.get(folder) ?? [])].some(isOther);
    return !leads || ![...left].some((other) => other !== folder && imports.get(other)?.has(folder));
  };
  for (let free = [...left].filter(isFree); free.length > 0; free = [...left].filter(isFree)) {
    for (const folder of free) left.delete(folder);
  }
  const bad = [...left].filter((folder) => !exceptions.some((one) => `${folder}/`.startsWith(`${one}/`))).sort();
  return bad.length === 0 ? [] : [`these folders import each other in a circle: ${bad.join(", ")}`];
}

/** @returns A sentence for each copy by `slice()`, which is a view of the same memory if the bytes are a Buffer's. */
export function sliceCopies(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, i) => (line.includes(".slice()") ? [`${path}:${i + 1}: cloneBytes() for slice()`] : [])),
  );
}

/** @returns A sentence for each subject that is too long. */
export function longSubjects(subjects: readonly string[]): string[] {
  return subjects
    .filter((subject) => subject.length > MOST_LETTERS)
    .map((subject) => `a commit's subject has ${subject.length} letters, at most ${MOST_LETTERS}: ${subject}`);
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
