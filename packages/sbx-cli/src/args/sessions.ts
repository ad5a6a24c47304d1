// The commands about sessions and logins: ls, sessions, logs, kill, login, logout, whoami, doctor.

import { type Command, InvalidArgumentError } from "commander";
import { defined } from "sandbox-stdio/core";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import { usage } from "../base/outcome.ts";
import type { Defaults, Since } from "./cli-command.ts";
import { readWhole } from "./readers.ts";
import { readMoment } from "./recordings.ts";
import { addSessionTarget, addTarget, isSessionName, sessionTargetOf, type TargetFlags, targetOf } from "./target.ts";
import type { Done } from "./verb-options.ts";

export function addSessions(program: Command, defaults: Defaults, done: Done): void {
  type ListFlags = TargetFlags & { json?: boolean; all?: boolean; watch?: boolean; transfers?: boolean };
  for (const name of ["ls", "sessions"]) {
    addTarget(program.command(`${name} [url]`), name === "ls" ? "all" : undefined)
      .description(
        name === "ls"
          ? "list running sessions in all your sandboxes, or in --sandbox"
          : "list running sessions in one sandbox, newest first",
      )
      .option("-a, --all", "include ended sessions")
      .option("--transfers", "include sessions of cp and forward")
      .option("--watch", "refresh every two seconds, until q")
      .option("--json", "print the server's answer as JSON")
      .action((url: string | undefined, flags: ListFlags) => {
        const { json = false, all = false, watch = false, transfers = false } = flags;
        const isEverywhere = name === "ls" && flags.sandbox === undefined;
        const options = { isEverywhere, isJson: json, hasAll: all, isWatched: watch };
        done({
          kind: "sessions",
          ...targetOf(url, flags, defaults),
          ...options,
          ...defined({ hasTransfers: transfers || undefined }),
        });
      });
  }
  addSessionTarget(program.command("logs [url]"))
    .usage("[URL | NAME] [options]")
    .description("print a session's output so far")
    .option("-f, --follow", "follow the output until the process ends")
    .option("-n, --tail <lines>", "only the last lines", readWhole(0, 1_000_000, " of lines"))
    .option(
      "--since <time-or-offset>",
      "output since a duration (10m, 2h), a time (14:03, 2026-11-23T10:00) or a byte offset",
      readSince,
    )
    .option("--json", "print each line as JSON, with offset, time and text")
    .action((url: string | undefined, flags: LogsFlags) => {
      const { follow = false, tail, since, json = false } = flags;
      done({ kind: "logs", ...sessionTargetOf(url, flags, defaults), follows: follow, tail, since, isJson: json });
    });
  addSessionTarget(program.command("kill [words...]"))
    .usage("[URL] [options] [NAME…]")
    .description("end sessions: SIGHUP, then SIGTERM, then SIGKILL")
    .option("--json", "print a line of JSON for each ended session")
    .action((words: readonly string[], flags: TargetFlags & { json?: boolean }) => {
      const [first] = words;
      const hasTarget = first !== undefined && (flags.session !== undefined || !isSessionName(first));
      const [url, names] = hasTarget ? [first, words.slice(1)] : [undefined, words];
      const target = targetOf(url, flags, defaults);
      for (const name of names) {
        if (flags.session !== undefined) throw usage(`use names or --session, not both`);
        if (!isSessionName(name)) throw usage(`invalid session name "${name}"`);
      }
      const sessions = names.length > 0 ? [...new Set(names)] : [sessionTargetOf(url, flags, defaults).session];
      done({ kind: "kill", ...target, sessions, isJson: flags.json === true });
    });
  addTarget(program.command("whoami [url]"))
    .description("print who you are to the server, and until when")
    .option("--json", "print the server's answer as JSON")
    .option("-v, --verbose", "print the source of the token to standard error")
    .action((url: string | undefined, { json = false, verbose = false, ...flags }: WhoAmIFlags) => {
      done({ kind: "whoami", ...targetOf(url, flags, defaults), isJson: json, isVerbose: verbose });
    });
  addTarget(program.command("doctor [url]"))
    .description("check each step of a connection, and report what is wrong and what to do")
    .option("--start", "also start the sandbox and run true in it")
    .option("--json", "print the steps as JSON")
    .action((url: string | undefined, { json = false, start = false, ...flags }: DoctorFlags) => {
      done({ kind: "doctor", ...targetOf(url, flags, defaults), isJson: json, isStarted: start });
    });
}

type LogsFlags = TargetFlags & { follow?: boolean; tail?: number; since?: Since; json?: boolean };
type DoctorFlags = TargetFlags & { json?: boolean; start?: boolean };
type WhoAmIFlags = TargetFlags & { json?: boolean; verbose?: boolean };

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readSince(value: string): Since {
  const [, number, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(value) ?? [];
  if (number !== undefined) return { agoMs: Math.round(Number(number) * (UNITS[unit] ?? 1)) };
  const moment = readMoment(value);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError("It must be a duration (10m), a time (14:03, 2026-11-23T10:00) or an offset in bytes");
}

/** The context's server, but not one from a `.sbx.json`: a login for that must name it. */
function contextServer({ server, isServerFound }: Defaults): Endpoint | undefined {
  return server === undefined || isServerFound === true ? undefined : readEndpoint(server);
}

export function addLogin(program: Command, defaults: Defaults, done: Done): void {
  program
    .command("login [url]")
    .description("log in with a browser, here or on another device, and store the token")
    .option("--context <name>", "context that supplies the server (default: SBX_CONTEXT, or the current one)")
    .option("--issuer <url>", "issuer of the token (default: OAUTH_API_URL, or https://id.org.ai)")
    .option("--client-id <id>", "OAuth client id (default: OAUTH_CLIENT_ID, or the issuer's default)")
    .option("--no-browser", "do not open a browser")
    .option("--force", "log in even if a stored token is valid")
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
    .description("forget the login for a server, or without one every login")
    .action((url: string | undefined) => {
      done({ kind: "logout", endpoint: url === undefined ? undefined : readEndpoint(url) });
    });
}
