// The words that say which server, sandbox and session, the same for every command; missing ones come from the context.

import type { Command } from "commander";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import { usage } from "../base/outcome.ts";
import type { Defaults, Place, SessionPlace } from "./cli-command.ts";
import { readName } from "./readers.ts";

export type PlaceFlags = {
  readonly context?: string;
  readonly sandbox?: string;
  readonly session?: string;
  readonly token?: string;
  readonly tokenCommand?: string;
};

const TOKEN = "access token (default: SBX_TOKEN, DO_TOKEN, the context's token command, or the stored login)";

export function addPlace(command: Command, usualSandbox = "default"): Command {
  return command
    .option("--context <name>", "the context that missing words come from (default: SBX_CONTEXT, or the current one)")
    .option("--sandbox <id>", `the sandbox (default: ${usualSandbox})`, readName)
    .option("--token <token>", TOKEN)
    .option("--token-command <line>", "a shell's line that prints the access token");
}

export function addSessionPlace(command: Command): Command {
  return addPlace(command).option("--session <name>", "the session", readName);
}

/** @throws {CliError} Where no address is known. */
export function endpointOf(url: string | undefined, { server, isServerFound, folderFile }: Defaults): Endpoint {
  if (url !== undefined) return readEndpoint(url);
  if (server === undefined) throw usage("which server? Give its address, or set one: sbx-stdio context set NAME URL");
  const endpoint = readEndpoint(server);
  if (isServerFound !== true) return endpoint;
  return { ...endpoint, isFound: true, ...(folderFile === undefined ? {} : { foundIn: folderFile }) };
}

/** @throws {CliError} */
export function placeOf(url: string | undefined, flags: PlaceFlags, defaults: Defaults): Place {
  const { sandbox = defaults.sandbox ?? "default", token } = flags;
  const endpoint = endpointOf(url, defaults);
  const isOwnServer = defaults.isServerFound !== true && originOf(defaults.server) === endpoint.origin;
  return {
    endpoint,
    sandbox,
    token,
    ...tokenCommandFor(endpoint, flags, defaults),
    ...(isOwnServer ? { isOwnServer } : {}),
  };
}

/** What prints the token for this server. That of a context which names a server, or of SBX_TOKEN_ORIGIN's, is for that one alone. */
function tokenCommandFor(
  { origin }: Endpoint,
  { tokenCommand: typed }: PlaceFlags,
  { tokenCommand, tokenCommandFrom: from = "the context", contextServer, tokenOrigin }: Defaults,
): Pick<Place, "tokenCommand" | "tokenCommandFrom" | "tokenCommandElsewhere"> {
  if (typed !== undefined) return { tokenCommand: typed, tokenCommandFrom: "--token-command" };
  if (tokenCommand === undefined) return {};
  const itsServer = from === "SBX_TOKEN_COMMAND" ? tokenOrigin : contextServer;
  const itsOrigin = itsServer === undefined ? origin : originOf(itsServer);
  if (itsOrigin === origin) return { tokenCommand, tokenCommandFrom: from };
  return { tokenCommandElsewhere: itsOrigin ?? "another server", tokenCommandFrom: from };
}

/** Of an address that nobody typed now: one that can't be read is no fault where another is given. */
function originOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  try {
    return readEndpoint(address).origin;
  } catch {
    return undefined;
  }
}

/**
 * @param word The address, or the session's name: `kill web`.
 * @throws {CliError} Also where no session is named.
 */
export function sessionPlaceOf(word: string | undefined, flags: PlaceFlags, defaults: Defaults): SessionPlace {
  const { url, session = defaults.session } = nameOrAddress(word, flags);
  if (session === undefined)
    throw usage("which session? Give --session NAME; where a context knows the server, NAME alone");
  return { ...placeOf(url, flags, defaults), session };
}

/** A word that can be no address is a session's name, if no option gives that. */
export function nameOrAddress(
  word: string | undefined,
  { session }: Pick<PlaceFlags, "session">,
): { readonly url: string | undefined; readonly session: string | undefined } {
  const isName = session === undefined && word !== undefined && isSessionName(word);
  return isName ? { url: undefined, session: word } : { url: word, session };
}

export const isSessionName = (word: string) => /^\w[\w.-]*$/.test(word);

/** Whether a word is an address, where another word may stand in its place. */
export function isAddress(word: string | undefined): word is string {
  return word !== undefined && /^[a-z]+:\/\//i.test(word);
}
