// The words of `serve`: this machine's own server.

import path from "node:path";
import process from "node:process";
import type { ServeCommand, ServeOptions } from "@sbx/serve/request";
import { Argument, type Command, Option } from "commander";
import { usage } from "../base/outcome.ts";
import type { Words } from "./attach.ts";
import type { Done } from "./verb-options.ts";

const DEFAULT_PORT = "8787";
const ACTIONS = ["link", "status", "stop", "token", "user"] as const;
type Action = (typeof ACTIONS)[number];
const ROLES = ["viewer", "driver", "admin"] as const;

type ServeFlags = ServeOptions & {
  port: string;
  state?: string;
  dir?: string;
  role?: (typeof ROLES)[number];
  remove?: boolean;
  now?: boolean;
  install?: boolean;
  as?: string;
  password: boolean;
  exec?: string;
  limit?: string[];
};

export function addServe(program: Command, words: Words, done: Done): void {
  program
    .command("serve")
    .usage("[ACTION] [options] [-- PROGRAM [ARGUMENT…]]")
    .description("serve this machine's shells, or one program; prints a link with a one-time key")
    .addArgument(
      new Argument(
        "[action]",
        "link: the next link; status; stop; token: for SBX_TOKEN; user NAME: set a password, read from standard input",
      ).choices(ACTIONS),
    )
    .argument("[name]", "of the user")
    .option("--port <port>", "port to listen on", DEFAULT_PORT)
    .option("--state <folder>", "folder of its state (default: by port, below ~/.local/state)")
    .option(
      "--bind <address>",
      "address to listen on, * for any; beyond loopback with TLS, a proxy or --insecure",
      "localhost",
    )
    .option("--origin <url>", "the public address, as at a proxy")
    .option("--dir <folder>", "where processes start (default: the current folder)")
    .option("--readonly", "people can only view")
    .option("--once", "end with the program and its exit code")
    .option("--tls-cert <file>", "certificate chain, PEM")
    .option("--tls-key <file>", "its private key, PEM")
    .option("--trust-proxy <address...>", "believe this proxy's X-Forwarded-For")
    .option("--issuer <url>", "an OpenID Connect issuer: its people log in whom 'serve user' has listed")
    .option("--client-id <id>", "of this server at the issuer, which sends people to ORIGIN/oauth/back")
    .option("--client-secret-file <file>", "its secret, if it has one")
    .option("--settings <file>", "NAME=value lines for AUDIT…, RECORDING…, LIMIT_…, METRICS_…, as for deploy")
    .option("--insecure", "plain HTTP beyond this machine")
    .option("--link-file <file>", "write the link there")
    .addOption(
      new Option("--role <role>", "what the user (default: driver) or the token (default: admin) may do").choices(
        ROLES,
      ),
    )
    .option("--as <user>", "as root: the machine's user as whom the user's sessions run")
    .option("--no-password", "the user comes by links, or by the issuer")
    .option("--remove", "remove the user")
    .option("--exec <command>", "run all programs behind it, as 'docker exec -i NAME' or 'ssh NAME'; NAME: the sandbox")
    .option("--cgroup <folder>", "as root: a cgroup for each user in this one")
    .option("--limit <file=value...>", "its limits, such as pids.max=500 memory.max=2G")
    .option("--install", "write a service file for systemd or launchd")
    .option("--now", "stop: end sessions without a question")
    .action((action: Action | undefined, name: string | undefined, flags: ServeFlags) => {
      const { afterDashes } = words;
      if (action !== undefined && afterDashes !== undefined) throw usage(`serve ${action} takes no program`);
      if (action !== "user" && action !== "link" && name !== undefined) throw usage(`serve ${action} takes no name`);
      const command = action === undefined ? serveOf(flags, afterDashes) : actionOf(action, name, flags);
      done({ kind: "serve", command });
    });
}

/** @throws {CliError} */
function serverOf({ port: given, state }: ServeFlags) {
  const port = Number(given);
  if (/^\d{1,5}$/.test(given) && port >= 1 && port <= 65_535) return { port, state };
  throw usage(`--port is a number from 1 to 65535, not "${given}"`);
}

/** @throws {CliError} */
function actionOf(kind: Action, name: string | undefined, flags: ServeFlags): ServeCommand {
  const server = serverOf(flags);
  if (kind === "link") return { kind, ...server, linkFile: flags.linkFile, name };
  if (kind === "stop") return { kind, ...server, isNow: flags.now === true };
  if (kind === "token") return { kind, ...server, role: flags.role ?? "admin" };
  if (kind !== "user") return { kind, ...server };
  if (name === undefined) throw usage("serve user needs a name");
  const role = flags.remove === true ? undefined : (flags.role ?? "driver");
  return { kind, ...server, name, role, as: flags.as, hasPassword: flags.password };
}

/** @throws {CliError} */
function serveOf(flags: ServeFlags, afterDashes: readonly string[] | undefined): ServeCommand {
  const [cmd, ...args] = afterDashes ?? [];
  if (afterDashes !== undefined && cmd === undefined) throw usage("serve -- needs a program behind it");
  if (flags.install === true) {
    const [node = "", script = "", ...words] = process.argv;
    const own = words.filter((word, index) => word !== "--install" || words.lastIndexOf("--", index) >= 0);
    // Paths among the words are as from here.
    const command = [node, path.resolve(script), ...own];
    return { kind: "install", ...serverOf(flags), dir: process.cwd(), command };
  }
  if (flags.limit !== undefined && flags.cgroup === undefined) throw usage("--limit needs --cgroup");
  const { issuer, clientId, clientSecretFile } = flags;
  if ((issuer ?? clientId ?? clientSecretFile) !== undefined && (issuer === undefined || clientId === undefined))
    throw usage("--issuer and --client-id go together");
  return {
    ...flags,
    kind: "serve",
    ...serverOf(flags),
    dir: path.resolve(flags.dir ?? ""),
    program: cmd === undefined ? undefined : { cmd, args },
    exec: flags.exec === undefined ? undefined : execWords(flags.exec),
    limits: Object.fromEntries((flags.limit ?? []).map(limitOf)),
  };
}

/** @throws {CliError} */
function execWords(text: string): readonly string[] {
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length > 0 && !/["'`$\\;|&<>]/.test(text)) return words;
  throw usage("--exec is a program and its words, with spaces between them; no shell reads it. Put more into a script");
}

/** @throws {CliError} */
function limitOf(text: string): readonly [string, string] {
  const [, file, value] = /^([a-z_]+\.[a-z_.]+)=(.+)$/.exec(text) ?? [];
  if (file === undefined || value === undefined)
    throw usage(`--limit is FILE=VALUE, such as pids.max=500, not "${text}"`);
  return [file, value];
}
