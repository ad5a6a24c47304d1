// The options of the parameters that sandbox-stdio's table gives to the command line.

import { type Command, Option } from "commander";
import { type AttachOptions, CLIENT_PARAMS, type Param, PROCESS_PARAMS, SIZE_PARAMS } from "sandbox-stdio/core";
import { readWhole } from "./readers.ts";

const TABLE: readonly (readonly [string, Param])[] = [CLIENT_PARAMS, PROCESS_PARAMS, SIZE_PARAMS].flatMap((table) =>
  Object.entries<Param>(table),
);

type Verb = "attachOption" | "runOption";
export function addParams(command: Command, verb: Verb): Command {
  for (const [, { [verb]: flags, field }] of TABLE) {
    if (flags === undefined) continue;
    const option = new Option(flags, field.about);
    if (field.kind === "choice") option.choices(field.values);
    if (field.kind === "integer") option.argParser(readWhole(field.min, field.max, unitOf(flags)));
    command.addOption(option);
  }
  return command;
}

/** `--keep <seconds>` counts seconds. */
function unitOf(flags: string): string {
  const [, unit = "n"] = /<(\w+)>/.exec(flags) ?? [];
  return unit === "n" ? "" : ` of ${unit}`;
}

/** Those of the values that were given. */
export function attachParamsOf(flags: AttachOptions): AttachOptions {
  return pick(flags, ([name, { attachOption }]) => (attachOption === undefined ? [] : name));
}

/** Those of the values that were given to `run`, by their names in a body. */
export function runParamsOf(flags: object): object {
  return pick(flags, ([, { runOption, body }]) => (runOption === undefined || body === undefined ? [] : body));
}

function pick<T extends object>(flags: T, nameOf: (param: readonly [string, Param]) => string | never[]): T {
  const given = flags as Readonly<Record<string, unknown>>;
  const entries = TABLE.flatMap(nameOf).map((name) => [name, given[name]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T;
}
