// Options generated from sandbox-stdio's table of attach parameters.

import { type Command, Option } from "commander";
import { type AttachOptions, CLIENT_PARAMS, defined, PROCESS_PARAMS, rowsOf, SIZE_PARAMS } from "sandbox-stdio/core";
import { readWhole } from "./readers.ts";

type Verb = "attach" | "run";

/** The rows with an option, each with its name: `run` uses that of the JSON body. */
function rowsFor(verb: Verb) {
  return [CLIENT_PARAMS, PROCESS_PARAMS, SIZE_PARAMS]
    .flatMap(rowsOf)
    .flatMap(({ option, on = verb, key, body, field }) => {
      const name = verb === "run" ? body : key;
      return option === undefined || name === undefined || on !== verb ? [] : [{ name, option, field }];
    });
}

export function addParams(command: Command, verb: Verb): Command {
  for (const { name, option: value, field } of rowsFor(verb)) {
    const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const option = new Option(field.kind === "flag" ? `--${dashed}` : `--${dashed} <${value}>`, field.about);
    if (field.kind === "choice") option.choices(field.values);
    if (field.kind === "integer")
      option.argParser(readWhole(field.min, field.max, value === "n" ? "" : ` of ${value}`));
    command.addOption(option);
  }
  return command;
}

/** The given values. */
export function attachParamsOf(flags: AttachOptions): AttachOptions {
  return pick(flags, "attach");
}

/** The values for `run`, by their names in a JSON body. */
export function runParamsOf(flags: object): object {
  return pick(flags, "run");
}

function pick<T extends object>(flags: T, verb: Verb): T {
  const given = flags as Readonly<Record<string, unknown>>;
  return defined(Object.fromEntries(rowsFor(verb).map(({ name }) => [name, given[name]]))) as T;
}
