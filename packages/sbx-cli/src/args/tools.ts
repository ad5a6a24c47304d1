// The commands around sessions: context, completion, man, ssh, cp, forward, version.

import { Argument, type Command, Option } from "commander";
import { defined } from "sandbox-stdio/core";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import { usage } from "../base/outcome.ts";
import { versionText } from "../base/version.ts";
import type { Words } from "./attach.ts";
import type { CopyEnd, Defaults } from "./cli-command.ts";
import { completionFor, manualPage, SHELLS, type Shell } from "./completion.ts";
import { readProcess } from "./process-args.ts";
import { readName, readPorts } from "./readers.ts";
import { addTarget, isAddress, type TargetFlags, targetOf } from "./target.ts";
import type { Done } from "./verb-options.ts";

export function addTools(program: Command, words: Words, defaults: Defaults, version: string, done: Done): void {
  addContext(program, done);
  addSsh(program, words, defaults, done);
  addTarget(program.command("cp <words...>"))
    .usage("[URL] [options] FROM… TO")
    .description(
      "copy files or folders in or out, like cp -r; a path in the sandbox begins with a colon, - is standard input or output",
    )
    .option("-r, --recursive", "copy folders (the default; accepted for cp -r)")
    .option("-p, --preserve", "keep modes regardless of the umask (times are always kept)")
    .option("--resume", "skip files that already have the same size and time, as after an interrupted copy")
    .action((given: readonly string[], { resume = false, preserve = false, ...flags }: CopyFlags) => {
      const [url, ends] = isAddress(given[0]) ? [given[0], given.slice(1)] : [undefined, given];
      const [from, to] = copyEnds(ends);
      if (preserve && [...from, to].some(({ isStream }) => isStream)) throw usage("-p cannot be used with -");
      const keepsModes = preserve || undefined;
      done({ kind: "cp", ...targetOf(url, flags, defaults), from, to, isResumed: resume, ...defined({ keepsModes }) });
    });
  addForward(program, defaults, done);
  addCodex(program, defaults, done);
  program
    .command("completion")
    .description("print a completion script: source <(sbx-stdio completion bash)")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .action((shell: Shell) => done({ kind: "show", text: completionFor(shell, program) }));
  program
    .command("man")
    .description("print the manual page, as roff")
    .action(() => done({ kind: "show", text: manualPage(program, version) }));
  program
    .command("version")
    .description("print the version and the protocol")
    .option("--json", "as JSON")
    .action((flags: { json?: boolean }) => done({ kind: "show", text: versionText(flags.json === true) }));
}

const WHICH_END =
  "exactly one of FROM and TO must be in the sandbox; begin its path with a colon, as in cp --sandbox dev :/tmp/log .";

type ForwardFlags = TargetFlags & { json?: boolean; verbose?: boolean };

function addForward(program: Command, defaults: Defaults, done: Done): void {
  addTarget(program.command("forward <words...>"))
    .usage("[URL] [options] [[ADDRESS:]LOCAL:]PORT")
    .description("forward a local port to a TCP port of the sandbox; connections survive network failures")
    .option("--json", "print the local address as JSON")
    .option("-v, --verbose", "print progress to standard error")
    .action((given: readonly string[], { json = false, verbose = false, ...flags }: ForwardFlags) => {
      const [url, ports] = isAddress(given[0]) ? [given[0], given.slice(1)] : [undefined, given];
      const [first, ...more] = ports;
      if (first === undefined || more.length > 0) throw usage("forward takes one [LOCAL:]PORT");
      done({
        kind: "forward",
        ...targetOf(url, flags, defaults),
        ...readPorts(first),
        isJson: json,
        isVerbose: verbose,
      });
    });
}

function addCodex(program: Command, defaults: Defaults, done: Done): void {
  addTarget(program.command("codex [url]"))
    .description("speak codex' exec-server over standard input and output")
    .addOption(new Option("--print-config <way>", "print codex' environments.toml").choices(["url", "program"]))
    .addHelpText("after", "\nURL is the server's, or the address with a ticket that its API has made.")
    .action((url: string | undefined, flags: TargetFlags & { printConfig?: "url" | "program" }) => {
      const made = url === undefined ? undefined : madeAddress(url);
      const target = targetOf(made?.server ?? url, { ...flags, ...defined({ sandbox: made?.sandbox }) }, defaults);
      done({ kind: "codex", ...target, ticket: made?.ticket, printsConfig: flags.printConfig });
    });
}

/** The parts of `wss://HOST/codex/SANDBOX?ticket=…`. */
function madeAddress(text: string): { server: string; sandbox: string; ticket: string } | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const [, base = "", sandbox] = /^(.*)\/codex\/([\w.-]+)$/.exec(url?.pathname ?? "") ?? [];
  const ticket = url?.searchParams.get("ticket");
  if (url === undefined || sandbox === undefined || !ticket) return undefined;
  return { server: `${url.protocol}//${url.host}${base}`, sandbox, ticket };
}

type CopyFlags = TargetFlags & { resume?: boolean; preserve?: boolean };

/** @throws {CliError} */
function copyEnds(words: readonly string[]): [from: readonly CopyEnd[], to: CopyEnd] {
  const from = words.slice(0, -1).map(copyEnd);
  const to = words.length < 2 ? undefined : copyEnd(words.at(-1) ?? "");
  if (to === undefined) throw usage("cp needs FROM and TO");
  if (from.some(({ isRemote }) => isRemote === to.isRemote)) throw usage(WHICH_END);
  if (from.length > 1 && [...from, to].some(({ isStream }) => isStream)) {
    throw usage("- is a single file; give one FROM and TO");
  }
  return [from, to];
}

const homeWords = (word: string) =>
  `${word}: ~ is not expanded in the sandbox; give the whole path, as in :/root/x, or :./${word.slice(1)} for a file of that name`;

/** @throws {CliError} */
function copyEnd(word: string): CopyEnd {
  if (word === "-") return { isRemote: false, path: word, isStream: true };
  if (/^:~[\w.-]*(\/|$)/.test(word)) throw usage(homeWords(word));
  return word.startsWith(":") ? { isRemote: true, path: word.slice(1) || "." } : { isRemote: false, path: word };
}

function addContext(program: Command, done: Done): void {
  const context = program
    .command("context")
    .description("manage named defaults: list, set NAME URL, use NAME, remove NAME")
    .option("--json", "list contexts as JSON")
    .action(({ json = false }: { json?: boolean }) => done({ kind: "context", action: { do: "list", isJson: json } }));
  context
    .command("list")
    .description("list contexts; a star marks the current one")
    .option("--json", "as JSON")
    .action((flags: { json?: boolean }) => {
      // The option may also precede `list`.
      const isJson = flags.json === true || context.opts<{ json?: boolean }>().json === true;
      done({ kind: "context", action: { do: "list", isJson } });
    });
  context
    .command("set <name> [url]")
    .description("create or change a context, and use it")
    .option("--sandbox <id>", "the sandbox", readName)
    .option("--session <name>", "the session", readName)
    .option("--token-command <line>", "shell command that prints the access token")
    .action((name: string, url: string | undefined, flags: TargetFlags) => {
      const { sandbox, session, tokenCommand } = flags;
      const server = url === undefined ? undefined : readEndpoint(url).httpBase;
      if (![server, sandbox, session, tokenCommand].some(Boolean)) throw usage(nothingToKeep(name));
      done({ kind: "context", action: { do: "set", name, context: { server, sandbox, session, tokenCommand } } });
    });
  for (const action of ["use", "remove"] as const) {
    context
      .command(`${action} <name>`)
      .description(action === "use" ? "use a context from now on" : "remove a context")
      .action((name: string) => done({ kind: "context", action: { do: action, name } }));
  }
}

const nothingToKeep = (name: string) =>
  `context set needs an address, --sandbox, --session or --token-command (to select a context: context use ${name})`;

const foundWords = ({ httpBase, foundIn = ".sbx.json" }: Endpoint) =>
  `${httpBase} comes from ${foundIn}; give the address: ssh-config ${httpBase}`;

function addSsh(program: Command, words: Words, defaults: Defaults, done: Done): void {
  addTarget(program.command("ssh-proxy [url]"))
    .usage("[URL] [options] [-- SERVER [ARGUMENT…]]")
    .description("for ssh's ProxyCommand: start an ssh server in the sandbox for this connection (default: sshd -i)")
    .action((url: string | undefined, flags: TargetFlags) => {
      const { afterDashes } = words;
      const { cmd = "/usr/sbin/sshd", args } = readProcess(afterDashes, [], {});
      const target = targetOf(url, flags, defaults);
      done({ kind: "ssh-proxy", ...target, cmd, args: afterDashes === undefined ? ["-i"] : args });
    });
  addTarget(program.command("ssh-config [url]"))
    .description("print an entry for ~/.ssh/config that uses ssh-proxy")
    .option("--host <alias>", "host alias (default: the sandbox)")
    .option("--user <name>", "remote user (default: ssh's own)")
    .action((url: string | undefined, flags: TargetFlags & { host?: string; user?: string }) => {
      const { endpoint, sandbox, isOwnServer } = targetOf(url, flags, defaults);
      // In ssh's file the address would look typed by a person.
      if (endpoint.isFound === true) throw usage(foundWords(endpoint));
      // The entry keeps this context, whichever is used later.
      const context = flags.context ?? (isOwnServer === true ? defaults.contextName : undefined);
      const proxy = ["sbx-stdio", "ssh-proxy", endpoint.httpBase, "--sandbox", sandbox];
      if (context !== undefined) proxy.push("--context", context);
      const { host = sandbox, user } = flags;
      if ([...proxy, host, user ?? ""].some((text) => text.split(/[\r\n]/).length > 1)) {
        throw usage("the entry must not contain line breaks");
      }
      done({ kind: "ssh-config", endpoint, words: proxy, host, user });
    });
}
