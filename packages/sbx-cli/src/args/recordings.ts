// The commands about recordings: record, replay; and the places of a recording that options name.

import { type Command, InvalidArgumentError } from "commander";
import { defined } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import type { Defaults, RecordingsCommand, Since } from "./cli-command.ts";
import { readShareLink } from "./share-link.ts";
import { addSessionTarget, sessionTargetOf, type TargetFlags, targetOf } from "./target.ts";
import { type Done, withIncarnation, withJson } from "./verb-options.ts";

type RecordFlags = TargetFlags & {
  output?: string;
  stored?: boolean;
  follow?: boolean;
  idleLimit?: number;
  incarnation?: string;
};
type ReplayFlags = TargetFlags & { speed?: number; idleLimit?: number; from?: string; incarnation?: string };

const MAX_SPEED = 1_000_000;
const PLACE = "an offset or a time (14:03)";

function readIdle(value: string): number {
  if (/^\d{1,5}(\.\d{1,3})?$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a number of seconds, such as 2 or 0.5");
}

export function addRecordings(program: Command, defaults: Defaults, done: Done): void {
  addManagement(program, defaults, done);
  withIncarnation(addSessionTarget(program.command("record [url]")))
    .usage("[URL | NAME] -o FILE [options]")
    .description("record a session from now on, as an asciicast")
    .option("-o, --output <file>", "a new file (default: standard output)")
    .option("--stored", "the server's recording, from its beginning")
    .option("-f, --follow", "with --stored: while the process runs")
    .option("--idle-limit <seconds>", "shorten longer pauses", readIdle)
    .action((url: string | undefined, flags: RecordFlags) => {
      const { output, stored = false, follow, idleLimit, incarnation } = flags;
      const query = defined({ follow: follow === true ? "1" : undefined, incarnation });
      const [first] = Object.keys(query);
      if (!stored && first !== undefined) throw usage(`--${first} is about the server's recording: add --stored`);
      done({
        kind: "record",
        ...targetOrLink(url, flags, defaults),
        ...defined({ output, idleLimitSeconds: idleLimit, stored: stored ? query : undefined }),
      });
    });
  withIncarnation(addSessionTarget(program.command("replay [what]")))
    .usage("[FILE | URL | NAME] [options]")
    .description("play a recording in this terminal: a .cast file, or a session's")
    .option("--speed <factor>", "times as fast, or max (default: 1)", readSpeed)
    .option("--idle-limit <seconds>", "shorten longer pauses", readIdle)
    .option("--from <place>", `of a session: begin at ${PLACE}`, readPlace)
    .action((what: string | undefined, flags: ReplayFlags) => {
      const { speed = 1, idleLimit, from, incarnation } = flags;
      const common = { kind: "replay", speed, ...defined({ idleLimitSeconds: idleLimit }) } as const;
      if (what === undefined || !isFile(what)) {
        const query = defined({ from, incarnation });
        done({ ...common, ...targetOrLink(what, flags, defaults), query });
      } else if (from !== undefined || incarnation !== undefined) {
        throw usage("--from and --incarnation are about a session's recording, not about a file");
      } else done({ ...common, file: what });
    });
}

function addManagement(program: Command, defaults: Defaults, done: Done): void {
  const group = program.command("recordings").description("list, hold, release and remove the server's recordings");
  const add = (action: RecordingsCommand["action"], what: string) =>
    addSessionTarget(group.command(`${action} [url]`))
      .description(what)
      .action((url: string | undefined, flags: TargetFlags & RecordingsCommand["options"]) => {
        const { incarnation, reason, all, of, json } = flags;
        if (action === "remove" && [incarnation, all, of].filter((one) => one !== undefined).length !== 1)
          throw usage("remove needs one of --incarnation, --all and --of");
        const target = of === undefined ? sessionTargetOf(url, flags, defaults) : targetOf(url, flags, defaults);
        done({ kind: "recordings", ...target, action, options: defined({ incarnation, reason, all, of, json }) });
      });
  withJson(add("list", "list a session's recordings, newest first"));
  withIncarnation(add("hold", "keep a recording (admin)")).requiredOption("--reason <text>", "why it is kept");
  withIncarnation(add("release", "end a hold (admin)"));
  withIncarnation(add("remove", "remove recordings"))
    .option("--all", "all of the session")
    .option("--of <sub>", "all of this person, in every session (admin)");
}

/** @param word An address, a share link or a session's name. @throws {CliError} */
function targetOrLink(word: string | undefined, flags: TargetFlags, defaults: Defaults) {
  const link = word === undefined ? undefined : readShareLink(word);
  if (link === undefined) return sessionTargetOf(word, flags, defaults);
  if (flags.session !== undefined) throw usage("--session cannot be combined with a share link");
  const { address, sandbox, session, ticket } = link;
  return { ...targetOf(address, flags, defaults), sandbox, session, ticket };
}

/** A word that is neither an address nor can be a session's name. */
const isFile = (word: string) =>
  word === "-" || (!URL.canParse(word) && (word.includes("/") || word.endsWith(".cast")));

function readSpeed(value: string): number {
  if (value === "max") return Number.POSITIVE_INFINITY;
  const factor = /^\d{1,7}(\.\d{1,3})?$/.test(value) ? Number(value) : 0;
  if (factor > 0 && factor <= MAX_SPEED) return factor;
  throw new InvalidArgumentError(`It must be a factor up to ${MAX_SPEED}, such as 2 or 0.5, or max`);
}

function readPlace(value: string): string {
  const place = readMoment(value);
  if (place === undefined) throw new InvalidArgumentError(`It must be ${PLACE}`);
  return "offset" in place ? String(place.offset) : place.since;
}

const TIME_OF_DAY = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

/** An offset, a local date and time, or a local time of day: the last one that has been. */
export function readMoment(value: string): Exclude<Since, { agoMs: number }> | undefined {
  if (/^\d{1,15}$/.test(value)) return { offset: Number(value) };
  const [, hour, minute, second = "0"] = TIME_OF_DAY.exec(value) ?? [];
  if (hour !== undefined) {
    const time = new Date();
    const nowMs = time.getTime();
    time.setHours(Number(hour), Number(minute), Number(second), 0);
    if (time.getTime() > nowMs) time.setDate(time.getDate() - 1);
    return { since: time.toISOString() };
  }
  const ms = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : { since: new Date(ms).toISOString() };
}
