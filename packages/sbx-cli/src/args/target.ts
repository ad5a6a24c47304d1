// The arguments that name a server, sandbox and session. The context supplies missing ones.

import type { Command } from "commander";
import { defined } from "sandbox-stdio/core";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import { usage } from "../base/outcome.ts";
import type { Defaults, SessionTarget, Target } from "./cli-command.ts";
import { readName } from "./readers.ts";

export type TargetFlags = {
  readonly context?: string;
  readonly sandbox?: string;
  readonly session?: string;
  readonly token?: string;
  readonly tokenCommand?: string;
};

const TOKEN = "access token (default: SBX_TOKEN, DO_TOKEN, the context's token command, or the stored login)";

export function addTarget(command: Command, defaultSandbox = "default"): Command {
  return command
    .option("--context <name>", "context that supplies missing values (default: SBX_CONTEXT, or the current one)")
    .option("--sandbox <id>", `the sandbox (default: ${defaultSandbox})`, readName)
    .option("--token <token>", TOKEN)
    .option("--token-command <line>", "shell command that prints the access token");
}

export function addSessionTarget(command: Command): Command {
  return addTarget(command).option("--session <name>", "the session", readName);
}

/** @throws {CliError} If no address is known. */
export function endpointOf(url: string | undefined, { server, isServerFound, folderFile }: Defaults): Endpoint {
  if (url !== undefined) return readEndpoint(url);
  if (server === undefined) throw usage("missing server address; give a URL, or run sbx-stdio context set NAME URL");
  const endpoint = readEndpoint(server);
  if (isServerFound !== true) return endpoint;
  return { ...endpoint, isFound: true, ...defined({ foundIn: folderFile }) };
}

/** @throws {CliError} */
export function targetOf(url: string | undefined, flags: TargetFlags, defaults: Defaults): Target {
  const { sandbox = defaults.sandbox ?? "default", token } = flags;
  const endpoint = endpointOf(url, defaults);
  const isOwnServer = defaults.isServerFound !== true && originOf(defaults.server) === endpoint.origin;
  return {
    endpoint,
    sandbox,
    token,
    ...tokenCommandFor(endpoint, flags, defaults),
    ...defined({ isOwnServer: isOwnServer || undefined }),
  };
}

/** The token command for this server. One of a context with a server, or with SBX_TOKEN_ORIGIN, is only for that server. */
function tokenCommandFor(
  { origin }: Endpoint,
  { tokenCommand: typed }: TargetFlags,
  { tokenCommand, tokenCommandFrom: from = "the context", contextServer, tokenOrigin }: Defaults,
): Pick<Target, "tokenCommand" | "tokenCommandFrom" | "tokenCommandElsewhere"> {
  if (typed !== undefined) return { tokenCommand: typed, tokenCommandFrom: "--token-command" };
  if (tokenCommand === undefined) return {};
  const itsServer = from === "SBX_TOKEN_COMMAND" ? tokenOrigin : contextServer;
  const itsOrigin = itsServer === undefined ? origin : originOf(itsServer);
  if (itsOrigin === origin) return { tokenCommand, tokenCommandFrom: from };
  return { tokenCommandElsewhere: itsOrigin ?? "another server", tokenCommandFrom: from };
}

/** The origin of a configured address; undefined if it is invalid, which only matters if it is used. */
function originOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  try {
    return readEndpoint(address).origin;
  } catch {
    return undefined;
  }
}

/** @param word The address, or the session's name: `kill web`. @throws {CliError} Also if no session is named. */
export function sessionTargetOf(word: string | undefined, flags: TargetFlags, defaults: Defaults): SessionTarget {
  const { url, session = defaults.session } = nameOrAddress(word, flags);
  if (session === undefined)
    throw usage("missing session; give --session NAME, or NAME alone if a context has the server");
  return { ...targetOf(url, flags, defaults), session };
}

/** A word that is no address is a session's name, unless an option gives that. */
export function nameOrAddress(
  word: string | undefined,
  { session }: Pick<TargetFlags, "session">,
): { readonly url: string | undefined; readonly session: string | undefined } {
  const isName = session === undefined && word !== undefined && isSessionName(word);
  return isName ? { url: undefined, session: word } : { url: word, session };
}

export const isSessionName = (word: string) => /^\w[\w.-]*$/.test(word);

/** Whether a word is an address where another word may take its place. */
export function isAddress(word: string | undefined): word is string {
  return word !== undefined && /^[a-z]+:\/\//i.test(word);
}
