// The words of `run`: a process, as the HTTP interface names its fields.

import { type Command, Option } from "commander";
import type { ProcessFields } from "sandbox-stdio/client";
import { defined } from "sandbox-stdio/core";
import type { Defaults } from "../cli-command.ts";
import { usage } from "../outcome.ts";
import { readProcess, refuseMisplaced } from "../process-args.ts";
import type { Words } from "./attach.ts";
import { addParams, runParamsOf } from "./params.ts";
import { addPlace, type PlaceFlags, placeOf } from "./place.ts";
import { collect, collectEnv, readName, readWhole } from "./readers.ts";
import { type Done, readMaxBytes, type Waiting, waitOf, withIncarnation, withJson, withWait } from "./verb-options.ts";

type RunFlags = PlaceFlags &
  Waiting & {
    incarnation?: string;
    cmd?: string;
    arg?: string[];
    args?: string[];
    command?: string;
    env?: [string, string][];
    cwd?: string;
    tty?: boolean;
    shellIntegration?: boolean;
    keepExitedSeconds?: number;
    ended?: "replace";
    attempt?: string;
    stdin?: string;
    stdinBase64?: string;
    stdinOpen?: boolean;
    maxBytes?: number;
    detach?: boolean;
    interactive?: boolean;
    json?: boolean;
  };

const NO_INTERACTION =
  "run prints what there is when the command ends: for its terminal or its input use sbx-stdio exec -it";

export function addRun(program: Command, words: Words, defaults: Defaults, done: Done): void {
  const command = addParams(addPlace(program.command("run [url] [command...]")), "run")
    .usage("[URL] [options] -- COMMAND [ARGUMENT…]")
    .description("run a command and print its output; its exit code is ours")
    .option("--session <name>", "a name: the same call again finds the same process", readName)
    .option("--cmd <command>", "the command, instead of --")
    .option("--arg <argument>", "an argument of --cmd, repeatable", collect)
    .option("--args <argument>", "the same", collect)
    .option("--command <line>", "one line for bash -lc, instead of a command")
    .option("-e, --env <name=value>", "a variable of its environment, repeatable", collectEnv)
    .option("-w, --cwd <directory>", "where it starts")
    .option("-t, --tty", "on a PTY (default: pipes)")
    .option("-T, --no-tty", "on pipes")
    .option("--no-shell-integration", "let a shell not mark its commands")
    .option("--keep-exited-seconds <n>", "how long it is kept after its exit", readWhole(0, 86_400))
    .addOption(new Option("--ended <what>", "start anew where the named process has ended").choices(["replace"]))
    .option("--attempt <id>", "what makes --ended replace repeatable")
    .option("--stdin <text>", "its input; - is standard input, read to its end")
    .option("--stdin-base64 <text>", "its input, as base64")
    .option("--stdin-open", "leave its input open on pipes, for write; without any of these it is at its end")
    .option(
      "--max-bytes <n>",
      "how much output at most: the middle is left out (default: all; with --json 65536)",
      readMaxBytes,
    )
    .option("-d, --detach", "start it, print its name and leave it running")
    // Only so that what is meant can be said.
    .addOption(new Option("-i, --interactive").hideHelp());
  withJson(
    withWait(
      withIncarnation(command),
      "how long at most; then it goes on, and the code is 124 (default: to its end; with --json 10s)",
    ),
  );
  command.action((url: string | undefined, rest: readonly string[], flags: RunFlags) => {
    if (flags.interactive === true) throw usage(NO_INTERACTION);
    if (flags.cmd === undefined && flags.command === undefined && url !== undefined)
      refuseMisplaced("run", [url, ...rest], words.afterDashes, ["[options]"]);
    const args = [...(flags.arg ?? []), ...(flags.args ?? [])];
    const given = defined({ cmd: flags.cmd, arg: args.length > 0 ? args : undefined });
    const process = readProcess(words.afterDashes, rest, given, "run");
    if ((process.cmd === undefined) === (flags.command === undefined)) {
      throw usage("run needs one command: after --, with --cmd, or with --command");
    }
    const { session = undefined, stdin, stdinBase64, stdinOpen, maxBytes } = flags;
    if ([stdin, stdinBase64, stdinOpen].filter((one) => one !== undefined).length > 1) {
      throw usage("give one of --stdin, --stdin-base64 and --stdin-open");
    }
    const attempt = flags.attempt ?? (flags.ended === undefined ? undefined : crypto.randomUUID());
    done({
      kind: "run",
      ...placeOf(url, flags, defaults),
      request: {
        ...processFields({ ...flags, ...defined({ attempt }) }, process),
        ...defined({
          session,
          stdinBase64,
          maxBytes,
          stdin: stdinOpen === true ? null : stdin === "-" ? undefined : stdin,
        }),
        ...waitOf(flags),
      },
      readsInput: stdin === "-",
      isDetached: flags.detach === true,
      isJson: flags.json === true,
    });
  });
}

function processFields(
  flags: RunFlags,
  { cmd, args }: { cmd: string | undefined; args: readonly string[] },
): ProcessFields {
  const { incarnation, command, cwd, env, tty, keepExitedSeconds, ended, attempt } = flags;
  return {
    ...runParamsOf(flags),
    ...defined({ incarnation, command, cwd, tty, keepExitedSeconds, ended, attempt, cmd }),
    ...defined({
      args: cmd === undefined ? undefined : [...args],
      env: env && Object.fromEntries(env),
      shellIntegration: flags.shellIntegration === false ? false : undefined,
    }),
  };
}
