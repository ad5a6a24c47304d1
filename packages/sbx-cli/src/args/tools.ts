// The words of the commands around it: contexts, completions, the manual page, ssh, copying files, the version.

import { Argument, type Command } from "commander";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import { usage } from "../base/outcome.ts";
import { versionText } from "../base/version.ts";
import type { Words } from "./attach.ts";
import type { CopyEnd, Defaults } from "./cli-command.ts";
import { completionFor, manualPage, SHELLS, type Shell } from "./completion.ts";
import { addPlace, isAddress, type PlaceFlags, placeOf } from "./place.ts";
import { readProcess } from "./process-args.ts";
import { readName, readPorts } from "./readers.ts";
import type { Done } from "./verb-options.ts";

export function addTools(program: Command, words: Words, defaults: Defaults, version: string, done: Done): void {
  addContext(program, done);
  addSsh(program, words, defaults, done);
  addPlace(program.command("cp <words...>"))
    .usage("[URL] [options] FROM… TO")
    .description(
      "copy files or folders in or out, as cp -r: a path in the sandbox begins with a colon; - is standard input or output",
    )
    .option("-r, --recursive", "folders, too: what happens anyway, so that cp -r may be said")
    .option("-p, --preserve", "modes as they are, whatever the umask; times are kept anyway")
    .option("--resume", "leave out files that are there with the same size and time: after a copy that was killed")
    .action((given: readonly string[], { resume = false, preserve = false, ...flags }: CopyFlags) => {
      const [url, ends] = isAddress(given[0]) ? [given[0], given.slice(1)] : [undefined, given];
      const [from, to] = copyEnds(ends);
      if (preserve && [...from, to].some(({ isStream }) => isStream))
        throw usage("- is bytes without a mode: leave out -p");
      const how = { isResumed: resume, ...(preserve ? { keepsModes: true } : {}) };
      done({ kind: "cp", ...placeOf(url, flags, defaults), from, to, ...how });
    });
  addForward(program, defaults, done);
  program
    .command("completion")
    .description("print what makes a shell complete our words: source <(sbx-stdio completion bash)")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .action((shell: Shell) => done({ kind: "show", text: completionFor(shell, program) }));
  program
    .command("man")
    .description("print the manual page, in man's own language")
    .action(() => done({ kind: "show", text: manualPage(program, version) }));
  program
    .command("version")
    .description("print the version, and which protocol it speaks")
    .option("--json", "as JSON")
    .action((flags: { json?: boolean }) => done({ kind: "show", text: versionText(flags.json === true) }));
}

const WHICH_END =
  "one of FROM and TO is in the sandbox: begin that path with a colon, and name the sandbox with --sandbox, as in cp --sandbox dev :/tmp/log .";

type ForwardFlags = PlaceFlags & { json?: boolean; verbose?: boolean };

function addForward(program: Command, defaults: Defaults, done: Done): void {
  addPlace(program.command("forward <words...>"))
    .usage("[URL] [options] [[ADDRESS:]LOCAL:]PORT")
    .description("listen here, and pass each connection on to a TCP port of the sandbox; cuts do not end it")
    .option("--json", "say where it listens as JSON")
    .option("-v, --verbose", "say on standard error what goes on")
    .action((given: readonly string[], { json = false, verbose = false, ...flags }: ForwardFlags) => {
      const [url, ports] = isAddress(given[0]) ? [given[0], given.slice(1)] : [undefined, given];
      const [first, ...more] = ports;
      if (first === undefined || more.length > 0) throw usage("forward takes one [LOCAL:]PORT");
      done({
        kind: "forward",
        ...placeOf(url, flags, defaults),
        ...readPorts(first),
        isJson: json,
        isVerbose: verbose,
      });
    });
}

type CopyFlags = PlaceFlags & { resume?: boolean; preserve?: boolean };

/** @throws {CliError} */
function copyEnds(words: readonly string[]): [from: readonly CopyEnd[], to: CopyEnd] {
  const from = words.slice(0, -1).map(copyEnd);
  const to = words.length < 2 ? undefined : copyEnd(words.at(-1) ?? "");
  if (to === undefined) throw usage("cp takes FROM and TO");
  if (from.some(({ isRemote }) => isRemote === to.isRemote)) throw usage(WHICH_END);
  if (from.length > 1 && [...from, to].some(({ isStream }) => isStream)) {
    throw usage("- is the bytes of one file: give one FROM and TO");
  }
  return [from, to];
}

const homeWords = (word: string) =>
  `${word}: no shell reads a path of the sandbox, so ~ is no home there: say the folder, as in :/root/x, or :./${word.slice(1)} for a file of that name`;

/** @throws {CliError} */
function copyEnd(word: string): CopyEnd {
  if (word === "-") return { isRemote: false, path: word, isStream: true };
  if (/^:~[\w.-]*(\/|$)/.test(word)) throw usage(homeWords(word));
  return word.startsWith(":") ? { isRemote: true, path: word.slice(1) || "." } : { isRemote: false, path: word };
}

function addContext(program: Command, done: Done): void {
  const context = program
    .command("context")
    .description("servers, sandboxes and sessions by name: list, set NAME URL, use NAME, remove NAME")
    .option("--json", "list them as JSON")
    .action(({ json = false }: { json?: boolean }) => done({ kind: "context", action: { do: "list", isJson: json } }));
  context
    .command("list")
    .description("list them; the current one has a star")
    .option("--json", "as JSON")
    .action((flags: { json?: boolean }) => {
      // The word may stand before `list`, too.
      const isJson = flags.json === true || context.opts<{ json?: boolean }>().json === true;
      done({ kind: "context", action: { do: "list", isJson } });
    });
  context
    .command("set <name> [url]")
    .description("make or change one, and use it")
    .option("--sandbox <id>", "the sandbox", readName)
    .option("--session <name>", "the session", readName)
    .option("--token-command <line>", "a shell's line that prints the access token")
    .action((name: string, url: string | undefined, flags: PlaceFlags) => {
      const { sandbox, session, tokenCommand } = flags;
      const server = url === undefined ? undefined : readEndpoint(url).httpBase;
      if (![server, sandbox, session, tokenCommand].some(Boolean)) throw usage(nothingToKeep(name));
      done({ kind: "context", action: { do: "set", name, context: { server, sandbox, session, tokenCommand } } });
    });
  for (const action of ["use", "remove"] as const) {
    context
      .command(`${action} <name>`)
      .description(action === "use" ? "use it from now on" : "forget it")
      .action((name: string) => done({ kind: "context", action: { do: action, name } }));
  }
}

const nothingToKeep = (name: string) =>
  `context set needs what it is to keep: an address, --sandbox, --session or --token-command (to use a context: context use ${name})`;

const foundWords = ({ httpBase, foundIn = ".sbx.json" }: Endpoint) =>
  `${httpBase} stands in ${foundIn}: say the address, as in ssh-config ${httpBase}`;

function addSsh(program: Command, words: Words, defaults: Defaults, done: Done): void {
  addPlace(program.command("ssh-proxy [url]"))
    .usage("[URL] [options] [-- SERVER [ARGUMENT…]]")
    .description("for ssh's ProxyCommand: an ssh server in the sandbox, started for this connection (default: sshd -i)")
    .action((url: string | undefined, flags: PlaceFlags) => {
      const { afterDashes } = words;
      const { cmd = "/usr/sbin/sshd", args } = readProcess(afterDashes, [], {});
      const place = placeOf(url, flags, defaults);
      done({ kind: "ssh-proxy", ...place, cmd, args: afterDashes === undefined ? ["-i"] : args });
    });
  addPlace(program.command("ssh-config [url]"))
    .description("print the entry for ~/.ssh/config that goes through ssh-proxy")
    .option("--host <alias>", "what ssh is to call it (default: the sandbox)")
    .option("--user <name>", "who to log in as there (default: ssh's own, which is your name here)")
    .action((url: string | undefined, flags: PlaceFlags & { host?: string; user?: string }) => {
      const { endpoint, sandbox, isOwnServer } = placeOf(url, flags, defaults);
      // Written down, it would be one that a person typed.
      if (endpoint.isFound === true) throw usage(foundWords(endpoint));
      // The entry goes on meaning this context, whichever is used later.
      const context = flags.context ?? (isOwnServer === true ? defaults.contextName : undefined);
      const proxy = ["sbx-stdio", "ssh-proxy", endpoint.httpBase, "--sandbox", sandbox];
      if (context !== undefined) proxy.push("--context", context);
      const { host = sandbox, user } = flags;
      if ([...proxy, host, user ?? ""].some((text) => text.split(/[\r\n]/).length > 1)) {
        throw usage("each word of the entry must be on one line, as ssh reads a file line by line");
      }
      done({ kind: "ssh-config", endpoint, words: proxy, host, user });
    });
}
