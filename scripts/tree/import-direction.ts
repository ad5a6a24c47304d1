// Which part of the tree may import which, and which room (folder) of a part: the rules of docs/rooms.json. Checks the imports of
// source files against them. Pure: it is handed the rules and the files.

export type SourceFile = { readonly path: string; readonly text: string };

/** By name: the names that may be imported. */
type Table = ReadonlyMap<string, ReadonlySet<string>>;

export type Directions = {
  /** By path from the top, as `packages/api`. */
  readonly parts: Table;
  /** By folder of sources, from the top: the rooms below it, by folder. Files beside the rooms may import all, and no room them. */
  readonly rooms: ReadonlyMap<string, Table>;
};

const CORE = "packages/sandbox-stdio";
/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`, types included. */
const IMPORT = /\bfrom\s*"([\w@.:/-]+)"|\bimport\s*\(\s*"([\w@.:/-]+)"|^import\s+"([\w@.:/-]+)"/gm;

/** What each part or room does, and what it may import. */
type Rules = Readonly<Record<string, { readonly does: string; readonly imports: readonly string[] }>>;

/** @param text docs/rooms.json. */
export function readDirections(text: string): Directions {
  const { parts, rooms } = JSON.parse(text) as { parts: Rules; rooms: Readonly<Record<string, Rules>> };
  const folders = Object.entries(rooms).map(([sources, rules]) => [sources, tableOf(rules)] as const);
  return { parts: tableOf(parts), rooms: new Map(folders) };
}

const tableOf = (rules: Rules): Table =>
  new Map(Object.entries(rules).map(([name, { imports }]) => [name, new Set(imports)]));

/**
 * One sentence for each import against the direction, and for each part or room without a rule.
 * @param packages The part by its package's name.
 */
export function directionFaults(
  files: readonly SourceFile[],
  directions: Directions,
  packages: ReadonlyMap<string, string>,
): string[] {
  return files.flatMap(({ path, text }) =>
    importsOf(text).flatMap((specifier) => faultOf(path, specifier, directions, packages) ?? []),
  );
}

/** The specifiers of all imports of a source text. */
export const importsOf = (text: string): string[] =>
  [...text.matchAll(IMPORT)].map(([, ...found]) => found.find((one) => one !== undefined) ?? "");

function faultOf(
  path: string,
  specifier: string,
  directions: Directions,
  packages: ReadonlyMap<string, string>,
): string | undefined {
  const { parts, rooms } = directions;
  const from = partOf(path, parts);
  if (from === undefined) return `${path}: its part has no rule`;
  const target = specifier.startsWith(".") ? resolveImport(path, specifier) : packages.get(packageOf(specifier));
  if (target === undefined) return from === CORE ? `${path}: the core imports no package: ${specifier}` : undefined;
  const to = partOf(`${target}/`, parts);
  if (to === undefined) return `${path}: ${specifier} is in no part`;
  if (from !== to) {
    return mayImport(parts, from, shortName(to)) ? undefined : `${path}: ${from} may not import ${to}`;
  }
  const sources = [...rooms.keys()].find((folder) => target.startsWith(folder)) ?? "";
  const table = rooms.get(sources);
  const room = roomOf(path, sources);
  if (table === undefined || room === undefined) return undefined;
  const other = roomOf(target, sources) ?? target.slice(sources.length);
  if (room === other) return undefined;
  if (!table.has(room)) return `${path}: the room ${room} has no rule`;
  return mayImport(table, room, other) ? undefined : `${path}: ${room} may not import ${other}`;
}

const mayImport = (table: Table, from: string, to: string): boolean => table.get(from)?.has(to) === true;

const partOf = (path: string, parts: Table): string | undefined =>
  [...parts.keys()].find((part) => path.startsWith(`${part}/`));

const shortName = (part: string): string => part.slice(part.lastIndexOf("/") + 1);

/** Undefined for a file that stands beside the rooms. */
function roomOf(path: string, sources: string): string | undefined {
  const [room, ...rest] = path.slice(sources.length).split("/");
  return path.startsWith(sources) && rest.length > 0 ? room : undefined;
}

/** `@scope/name` or `name` of `name/entry`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** A relative import's path from the top. */
export function resolveImport(path: string, specifier: string): string {
  const words = path.split("/").slice(0, -1);
  for (const word of specifier.split("/")) {
    if (word === "..") words.pop();
    else if (word !== ".") words.push(word);
  }
  return words.join("/");
}
