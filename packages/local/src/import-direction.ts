// Which part of the tree, and which room of the core or of the Worker, may import which: three tables of docs/architecture.md. Holds
// the imports of source files against them. Pure: it is handed the page and the files.

export type SourceFile = { readonly path: string; readonly text: string };

/** By name: the names that may be imported. */
type Table = ReadonlyMap<string, ReadonlySet<string>>;

export type Directions = {
  /** By path from the top, as `packages/api`. */
  readonly parts: Table;
  /** By folder below the core's `src`. */
  readonly rooms: Table;
  /** The Worker's rooms, by name. */
  readonly workerRooms: Table;
  /** The Worker's room by where a file stands below its `src`: a file's path, the end of its name after `*`, or a folder. */
  readonly workerPlaces: ReadonlyMap<string, string>;
};

const CORE = "packages/sandbox-stdio";
const CORE_SOURCES = `${CORE}/src/`;
const WORKER_SOURCES = "worker/src/";
const WORKER_HEADING = "### Rooms of the Worker";
/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`, types included. */
const IMPORT = /\bfrom\s*"([\w@.:/-]+)"|\bimport\s*\(\s*"([\w@.:/-]+)"|^import\s+"([\w@.:/-]+)"/gm;

/** @throws {Error} If the page has no such table. */
export function readDirections(page: string): Directions {
  const places = rowsUnder(page, WORKER_HEADING).flatMap(([room = "", where = ""]) =>
    quotedIn(where).map((place) => [place, quotedIn(room)[0] ?? ""] as const),
  );
  return {
    parts: tableUnder(page, "## Parts, and"),
    rooms: tableUnder(page, "### Rooms of the core"),
    workerRooms: tableUnder(page, WORKER_HEADING),
    workerPlaces: new Map(places),
  };
}

/** The first table under a heading: the name in its first column, what it imports in its last. */
function tableUnder(page: string, heading: string): Table {
  const namesIn = (cell: string) => new Set(cell.split(", ").filter((name) => name !== "nothing"));
  return new Map(
    rowsUnder(page, heading).flatMap((cells) =>
      quotedIn(cells[0] ?? "").map((name) => [name, namesIn(cells.at(-1) ?? "")] as const),
    ),
  );
}

/** The cells of the rows whose first cell is a name. */
function rowsUnder(page: string, heading: string): string[][] {
  const [, after] = page.split(`\n${heading}`);
  const section = after?.split(/\n#/)[0] ?? "";
  const rows = [...section.matchAll(/^\| (`.+) \|$/gm)].map(([, row = ""]) => row.split(" | "));
  if (rows.length === 0) throw new Error(`no table under "${heading}"`);
  return rows;
}

const quotedIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

/**
 * One sentence for each import against the direction, and for each part or room without a row.
 * @param packages The part by its package's name.
 */
export function directionFaults(
  files: readonly SourceFile[],
  directions: Directions,
  packages: ReadonlyMap<string, string>,
): string[] {
  return files.flatMap(({ path, text }) => {
    const specifiers = [...text.matchAll(IMPORT)].map(([, ...found]) => found.find((one) => one !== undefined) ?? "");
    return specifiers.flatMap((specifier) => faultOf(path, specifier, directions, packages) ?? []);
  });
}

function faultOf(
  path: string,
  specifier: string,
  directions: Directions,
  packages: ReadonlyMap<string, string>,
): string | undefined {
  const { parts, rooms } = directions;
  const from = partOf(path, parts);
  if (from === undefined) return `${path}: its part has no row`;
  const target = specifier.startsWith(".") ? resolve(path, specifier) : packages.get(packageOf(specifier));
  if (target === undefined) return from === CORE ? `${path}: the core imports no package: ${specifier}` : undefined;
  const to = partOf(`${target}/`, parts);
  if (to === undefined) return `${path}: ${specifier} is in no part`;
  if (from !== to) {
    return mayImport(parts, from, shortName(to)) ? undefined : `${path}: ${from} may not import ${to}`;
  }
  if (target.startsWith(WORKER_SOURCES)) return workerFaultOf(path, target, directions);
  if (from !== CORE) return undefined;
  const room = roomOf(path);
  // Files beside the rooms stand in none. No room imports them.
  const other = roomOf(target) ?? target.slice(CORE_SOURCES.length);
  if (room === undefined || room === other) return undefined;
  if (!rooms.has(room)) return `${path}: the room ${room} has no row`;
  return mayImport(rooms, room, other) ? undefined : `${path}: ${room} may not import ${other}`;
}

function workerFaultOf(path: string, target: string, { workerRooms, workerPlaces }: Directions): string | undefined {
  const [room, other] = [path, target].map((file) => workerRoomOf(file, workerPlaces));
  if (room === undefined) return `${path}: its room has no row`;
  if (other === undefined) return `${path}: ${target} is in no room`;
  return room === other || mayImport(workerRooms, room, other) ? undefined : `${path}: ${room} may not import ${other}`;
}

/** A row that names the file wins over one that names the end of its name, and that over its folder's. */
function workerRoomOf(path: string, places: ReadonlyMap<string, string>): string | undefined {
  const below = path.slice(WORKER_SOURCES.length);
  const ending = [...places.keys()].find((place) => place.startsWith("*") && `/${below}`.endsWith(place.slice(1)));
  return places.get(below) ?? places.get(ending ?? "") ?? places.get(below.split("/")[0] ?? "");
}

const mayImport = (table: Table, from: string, to: string): boolean => table.get(from)?.has(to) === true;

const partOf = (path: string, parts: Table): string | undefined =>
  [...parts.keys()].find((part) => path.startsWith(`${part}/`));

const shortName = (part: string): string => part.slice(part.lastIndexOf("/") + 1);

/** Undefined for a file that stands beside the rooms. */
function roomOf(path: string): string | undefined {
  const [room, ...rest] = path.slice(CORE_SOURCES.length).split("/");
  return path.startsWith(CORE_SOURCES) && rest.length > 0 ? room : undefined;
}

/** `@scope/name` or `name` of `name/entry`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** A relative import's path from the top. */
function resolve(path: string, specifier: string): string {
  const words = path.split("/").slice(0, -1);
  for (const word of specifier.split("/")) {
    if (word === "..") words.pop();
    else if (word !== ".") words.push(word);
  }
  return words.join("/");
}
