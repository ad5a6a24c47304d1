// The words of the commands about sessions and logins as a whole: ls, sessions, logs, kill, login, logout, whoami, doctor.

import { type Command, InvalidArgumentError } from "commander";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import { usage } from "../base/outcome.ts";
import type { Defaults, Since } from "./cli-command.ts";
import { addPlace, addSessionPlace, isSessionName, type PlaceFlags, placeOf, sessionPlaceOf } from "./place.ts";
import { readWhole } from "./readers.ts";
import type { Done } from "./verb-options.ts";

export function addSessions(program: Command, defaults: Defaults, done: Done): void {
  type ListFlags = PlaceFlags & { json?: boolean; all?: boolean; watch?: boolean; transfers?: boolean };
  for (const name of ["ls", "sessions"]) {
    addPlace(program.command(`${name} [url]`), name === "ls" ? "all of them" : undefined)
      .description(
        name === "ls"
          ? "list what runs in all your sandboxes, or in the one that --sandbox names"
          : "list what runs in one sandbox, newest first",
      )
      .option("-a, --all", "also what has ended")
      .option("--transfers", "also what only carries files or a connection: those of cp and forward")
      .option("--watch", "draw it anew every two seconds, until q")
      .option("--json", "as the server says it, with every field")
      .action((url: string | undefined, flags: ListFlags) => {
        const { json = false, all = false, watch = false, transfers = false } = flags;
        const isEverywhere = name === "ls" && flags.sandbox === undefined;
        const how = {
          isEverywhere,
          isJson: json,
          hasAll: all,
          isWatched: watch,
          ...(transfers ? { hasTransfers: true } : {}),
        };
        done({ kind: "sessions", ...placeOf(url, flags, defaults), ...how });
      });
  }
  addSessionPlace(program.command("logs [url]"))
    .usage("[URL | NAME] [options]")
    .description("print what a session has put out so far; never starts or stops anything")
    .option("-f, --follow", "go on as output comes, until the process has ended")
    .option("-n, --tail <lines>", "only so many last lines", readWhole(0, 1_000_000, " of lines"))
    .option("--since <time-or-offset>", "what came since 10m, 2h or 2026-11-23T10:00; or from this byte on", readSince)
    .option("--json", "each line as JSON: its offset, the next one's, its time, its text")
    .action((url: string | undefined, flags: LogsFlags) => {
      const { follow = false, tail, since, json = false } = flags;
      done({ kind: "logs", ...sessionPlaceOf(url, flags, defaults), follows: follow, tail, since, isJson: json });
    });
  addSessionPlace(program.command("kill [words...]"))
    .usage("[URL] [options] [NAME…]")
    .description("end sessions: SIGHUP, then SIGTERM, then SIGKILL to their processes")
    .option("--json", "say what was ended as JSON, a line for each")
    .action((words: readonly string[], flags: PlaceFlags & { json?: boolean }) => {
      const [first] = words;
      const hasPlace = first !== undefined && (flags.session !== undefined || !isSessionName(first));
      const [url, names] = hasPlace ? [first, words.slice(1)] : [undefined, words];
      const place = placeOf(url, flags, defaults);
      for (const name of names) {
        if (flags.session !== undefined) throw usage(`"${name}" and --session: name them all in one way`);
        if (!isSessionName(name)) throw usage(`"${name}" is no session's name`);
      }
      const sessions = names.length > 0 ? [...new Set(names)] : [sessionPlaceOf(url, flags, defaults).session];
      done({ kind: "kill", ...place, sessions, isJson: flags.json === true });
    });
  addPlace(program.command("whoami [url]"))
    .description("who you are to the server, and until when")
    .option("--json", "as the server says it")
    .option("-v, --verbose", "say on standard error where the token comes from")
    .action((url: string | undefined, { json = false, verbose = false, ...flags }: WhoAmIFlags) => {
      done({ kind: "whoami", ...placeOf(url, flags, defaults), isJson: json, isVerbose: verbose });
    });
  addPlace(program.command("doctor [url]"))
    .description("try every step of a connection, and say what is wrong and what to do")
    .option("--start", "start the sandbox too, and run true in it")
    .option("--json", "the steps as JSON")
    .action((url: string | undefined, { json = false, start = false, ...flags }: DoctorFlags) => {
      done({ kind: "doctor", ...placeOf(url, flags, defaults), isJson: json, isStarted: start });
    });
}

type LogsFlags = PlaceFlags & { follow?: boolean; tail?: number; since?: Since; json?: boolean };
type DoctorFlags = PlaceFlags & { json?: boolean; start?: boolean };
type WhoAmIFlags = PlaceFlags & { json?: boolean; verbose?: boolean };

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readSince(value: string): Since {
  if (/^\d{1,15}$/.test(value)) return { offset: Number(value) };
  const [, number, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(value) ?? [];
  if (number !== undefined) return { agoMs: Math.round(Number(number) * (UNITS[unit] ?? 1)) };
  const time = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(time)) return { since: new Date(time).toISOString() };
  throw new InvalidArgumentError("It must be a duration (10m), a time (2026-11-23T10:00) or an offset in bytes");
}

/** Not the address of a file that anybody may have put into the folder: a login for it is asked for by name. */
function contextServer({ server, isServerFound }: Defaults): Endpoint | undefined {
  return server === undefined || isServerFound === true ? undefined : readEndpoint(server);
}

export function addLogin(program: Command, defaults: Defaults, done: Done): void {
  program
    .command("login [url]")
    .description("log in with a browser, here or on another device, and store the token")
    .option("--context <name>", "the context whose server is meant (default: SBX_CONTEXT, or the current one)")
    .option("--issuer <url>", "who issues the token (default: OAUTH_API_URL, or https://id.org.ai)")
    .option("--client-id <id>", "the client to log in as (default: OAUTH_CLIENT_ID, or the issuer's usual one)")
    .option("--no-browser", "open no browser here")
    .option("--force", "log in again even if a stored token is good")
    .action(
      (url: string | undefined, flags: { issuer?: string; clientId?: string; browser: boolean; force?: boolean }) => {
        done({
          kind: "login",
          endpoint: url === undefined ? contextServer(defaults) : readEndpoint(url),
          issuer: flags.issuer === undefined ? undefined : readEndpoint(flags.issuer).httpBase,
          clientId: flags.clientId,
          mayOpenBrowser: flags.browser,
          isForced: flags.force === true,
        });
      },
    );
  program
    .command("logout [url]")
    .description("forget the login for that server; without one, every stored token")
    .action((url: string | undefined) => {
      done({ kind: "logout", endpoint: url === undefined ? undefined : readEndpoint(url) });
    });
}
