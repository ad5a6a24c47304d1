// The options of `run`, named like the fields of the HTTP interface.

import { type Command, Option } from "commander";
import type { ProcessFields } from "sandbox-stdio/client";
import { defined } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import type { Words } from "./attach.ts";
import type { Defaults } from "./cli-command.ts";
import { addParams, runParamsOf } from "./params.ts";
import { readProcess, refuseMisplaced } from "./process-args.ts";
import { collect, collectEnv, readName, readWhole } from "./readers.ts";
import { addTarget, type TargetFlags, targetOf } from "./target.ts";
import { type Done, readMaxBytes, type Waiting, waitOf, withIncarnation, withJson, withWait } from "./verb-options.ts";

type RunFlags = TargetFlags &
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

const NO_INTERACTION = "run sends no terminal and no standard input; use sbx-stdio exec -it";

export function addRun(program: Command, words: Words, defaults: Defaults, done: Done): void {
  const command = addParams(addTarget(program.command("run [url] [command...]")), "run")
    .usage("[URL] [options] -- COMMAND [ARGUMENT…]")
    .description("run a command, print its output, and exit with its code")
    .option("--session <name>", "session name; repeating the call finds the same process", readName)
    .option("--cmd <command>", "the command, instead of --")
    .option("--arg <argument>", "argument of --cmd (repeatable)", collect)
    .option("--args <argument>", "the same", collect)
    .option("--command <line>", "command line for bash -lc, instead of --")
    .option("-e, --env <name=value>", "environment variable of the command (repeatable)", collectEnv)
    .option("-w, --cwd <directory>", "working directory of the command")
    .option("-t, --tty", "use a PTY (default: pipes)")
    .option("-T, --no-tty", "use pipes")
    .option("--no-shell-integration", "do not enable shell integration")
    .option("--keep-exited-seconds <n>", "how long to keep the session after the exit", readWhole(0, 86_400))
    .addOption(new Option("--ended <what>", "start a new process if the named one has ended").choices(["replace"]))
    .option("--attempt <id>", "id that makes --ended replace safe to repeat")
    .option("--stdin <text>", "input of the command; - reads standard input")
    .option("--stdin-base64 <text>", "input of the command, as base64")
    .option("--stdin-open", "keep the input open on pipes, for write (default: closed)")
    .option(
      "--max-bytes <n>",
      "at most this much output, without the middle (default: all; with --json 65536)",
      readMaxBytes,
    )
    .option("-d, --detach", "start the command, print its session and leave it running")
    // Accepted only to explain the alternative.
    .addOption(new Option("-i, --interactive").hideHelp());
  withJson(
    withWait(
      withIncarnation(command),
      "how long to wait; then the command goes on and the exit code is 124 (default: until it ends; with --json 10s)",
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
      throw usage("use only one of --stdin, --stdin-base64 and --stdin-open");
    }
    const attempt = flags.attempt ?? (flags.ended === undefined ? undefined : crypto.randomUUID());
    done({
      kind: "run",
      ...targetOf(url, flags, defaults),
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
