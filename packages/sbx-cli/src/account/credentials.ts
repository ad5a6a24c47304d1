// Where the access token comes from: an option, the environment, or a login that oauth.do stored; and logging in and out.

import path from "node:path";
import type { TokenStorage } from "oauth.do/node";
import type { Place, TokenCommandFrom } from "../args/cli-command.ts";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import type { Environment } from "../base/environment.ts";
import { fetchFailure, networkPhrase } from "../base/network-words.ts";
import { CliError } from "../base/outcome.ts";
import { NAME_KIND } from "../base/own-names.ts";
import { oneLine, plain } from "../base/plain-text.ts";
import { CONFIRMED_BY } from "../base/stdin.ts";
import {
  configDirectory,
  forgetLogin,
  forgetLogins,
  hasLogin,
  type Issuer,
  loginFor,
  rememberLogin,
} from "./logins.ts";

/** The client that an issuer other than oauth.do's knows us as. */
const OWN_CLIENT_ID = "sbx-stdio-cli";
/** A token is taken for good as long as it has this much life left: oauth.do's own rule. */
const TOKEN_COMMAND_MS = 60_000;
const MAX_SAID = 300;
const noToken = ({ httpBase }: Endpoint) =>
  `no access token: log in with \`sbx-stdio login ${httpBase}\`, or give one with SBX_TOKEN or --token`;

export type TokenSource = {
  /** A token that is good now. @throws {CliError} */
  readonly token: () => Promise<string>;
  /** Where it comes from, for a person. */
  readonly from: string;
  /** Whether a later call may give a fresher one. */
  readonly isRenewable: boolean;
  /** Why a credential that is there is not sent to this server, for a person. */
  readonly withheld?: string;
};

type Credentials = Omit<Place, "sandbox">;

/**
 * The first of: --token, --token-command or the line of the context that --context names, SBX_TOKEN, DO_TOKEN,
 * SBX_TOKEN_COMMAND, the context's line, the stored login; as far as they may be sent to this server.
 * @param hasTicket Whether the address came with a ticket. Unless it is the person's own server, another chose it: then only
 * what is typed now, or was made for it, is sent.
 */
export function tokenSource(place: Credentials, env: Environment, hasTicket = false): TokenSource {
  const { token: flag, tokenCommandFrom, endpoint, isOwnServer } = place;
  const isShared = (hasTicket && isOwnServer !== true) || endpoint.isFound === true;
  const option = flag?.trim();
  if (option) return { from: "--token", token: async () => sendable(option), isRenewable: false };
  const command = commandSource(place, isShared);
  const isSaidNow = tokenCommandFrom === "--token-command" || tokenCommandFrom === "--context";
  if (command !== undefined && isSaidNow) return command;
  const given = (env.SBX_TOKEN || env.DO_TOKEN)?.trim();
  const { origin } = endpoint;
  if (given && isForOrigin(env, origin, isShared)) {
    return { from: env.SBX_TOKEN ? "SBX_TOKEN" : "DO_TOKEN", token: async () => sendable(given), isRenewable: false };
  }
  if (command !== undefined) return command;
  if (given && !isShared && !hasTicket) {
    const error = new CliError(`SBX_TOKEN is for ${env.SBX_TOKEN_ORIGIN}, as SBX_TOKEN_ORIGIN says, not for ${origin}`);
    return { from: "SBX_TOKEN", token: () => Promise.reject(error), isRenewable: false };
  }
  return loginSource(place, env, { given, isShared, hasTicket });
}

function commandSource({ tokenCommand, tokenCommandFrom = "the context" }: Credentials, isShared: boolean) {
  if (tokenCommand === undefined || (isShared && tokenCommandFrom !== "--token-command")) return undefined;
  const from = FROM_COMMAND[tokenCommandFrom];
  return { from, token: async () => sendable(await tokenOf(tokenCommand)), isRenewable: true };
}

const FROM_COMMAND: Readonly<Record<TokenCommandFrom, string>> = {
  "--token-command": "--token-command",
  "--context": "the context's token command",
  SBX_TOKEN_COMMAND: "SBX_TOKEN_COMMAND",
  "the context": "the context's token command",
};

/** @param given A token of the environment that is not for this server. */
function loginSource(
  { endpoint, tokenCommand, tokenCommandElsewhere: elsewhere, tokenCommandFrom = "the context" }: Credentials,
  env: Environment,
  { given, isShared, hasTicket }: { given: string | undefined; isShared: boolean; hasTicket: boolean },
): TokenSource {
  const { origin, foundIn = ".sbx.json of this folder" } = endpoint;
  const issuer = loginFor(env, endpoint, isShared);
  const token = () =>
    storedToken(env, endpoint, issuer).catch((error: unknown) => {
      if (elsewhere === undefined || !(error instanceof CliError)) throw error;
      throw new CliError(`${error.message}; ${FROM_COMMAND[tokenCommandFrom]} is for ${elsewhere} alone`);
    });
  const login = { from: "the stored login", token, isRenewable: true };
  if (!isShared || issuer !== undefined || !(given || tokenCommand || hasLogin(env))) return login;
  const chooser = hasTicket ? "the ticket's sender" : foundIn;
  const line = `the token command is not used for ${origin}, which ${chooser} chose: --token-command sends what it prints`;
  const withheld = given
    ? `SBX_TOKEN is not sent to ${origin}, which ${chooser} chose: SBX_TOKEN_ORIGIN=${origin} or --token sends it`
    : tokenCommand
      ? line
      : `no login was made for ${origin}, which ${chooser} chose: \`sbx-stdio login ${origin}\` makes one`;
  return { ...login, withheld, ...(hasTicket ? {} : { token: () => Promise.reject(new CliError(withheld)) }) };
}

/** Whether SBX_TOKEN is for this server: SBX_TOKEN_ORIGIN's, else any that a person typed. @throws {CliError} */
function isForOrigin(env: Environment, origin: string, isShared: boolean): boolean {
  const { SBX_TOKEN_ORIGIN: bound } = env;
  return bound ? readEndpoint(bound).origin === origin : !isShared;
}

/** @throws {CliError} If no request could carry it. */
function sendable(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CliError("the access token has characters that it can't have");
  return token;
}

/** The same if a ticket lets in: a person without a token, or with none that can be sent, may be a guest. */
export function optionalToken(source: TokenSource): () => Promise<string | undefined> {
  return async () => {
    try {
      return await source.token();
    } catch (error) {
      if (error instanceof CliError) return undefined;
      throw error;
    }
  };
}

async function storedToken(env: Environment, endpoint: Endpoint, issuer: Issuer | undefined): Promise<string> {
  if (issuer === undefined) throw new CliError(noToken(endpoint));
  const storage = await openStorage(env, issuer);
  const stored = (await storage.getTokenData?.()) ?? null;
  if (stored === null) throw new CliError(noToken(endpoint));
  if (!endpoint.isPrivate) {
    throw new CliError(`the stored login is not sent to ${endpoint.origin}, where others can read it: use https`);
  }
  try {
    const { token } = await quietly(async () => {
      const { ensureLoggedIn } = await oauth(issuer);
      // It renews a token that has run out. Where it can't it would begin a login, and first of all print so.
      return ensureLoggedIn({ storage, openBrowser: false, print: () => refuseLogin(endpoint) });
    });
    return token;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`the stored login can't be used: ${phraseOf(error)}`, undefined, { cause: error });
  }
}

/** The output of a shell's line. @throws {CliError} If it fails, or prints nothing. */
async function tokenOf(line: string): Promise<string> {
  const { execFile } = await import("node:child_process");
  // The line may run this program, too: what confirms our input, and names our session, is not there for its.
  const { [CONFIRMED_BY]: _, [NAME_KIND]: __, ...env } = process.env;
  return new Promise((resolve, reject) => {
    execFile("sh", ["-c", line], { encoding: "utf8", timeout: TOKEN_COMMAND_MS, env }, (error, stdout, stderr) => {
      const said = oneLine(stderr.slice(-MAX_SAID));
      const why = said === "" && error !== null ? `it ended with ${error.code ?? error.signal}` : said;
      if (error !== null) reject(new CliError(`the token command failed: ${why}`));
      else if (stdout.trim() === "") reject(new CliError("the token command printed no token"));
      else resolve(stdout.trim());
    });
  });
}

function refuseLogin({ httpBase }: Endpoint): never {
  throw new CliError(`the stored login has run out: log in again with \`sbx-stdio login ${httpBase}\``);
}

/** Logs in by the device flow, unless a stored token is still good. @param say Lines for a person. */
export async function login(
  wish: Issuer & { endpoint: Endpoint | undefined; mayOpenBrowser: boolean; isForced: boolean },
  env: Environment,
  say: (line: string) => void,
): Promise<void> {
  const issuer = await issuerOf(wish, env, say);
  const storage = await openStorage(env, issuer);
  if (wish.isForced) await storage.removeToken();
  const print = (text: string) => {
    // The issuer's words are among them.
    for (const line of text.split("\n")) if (line.trim() !== "") say(plain(line.trimEnd()));
    const address = /Or open: (https?:\S+)/.exec(text)?.[1];
    if (address !== undefined && wish.mayOpenBrowser) void openBrowser(address, env);
  };
  try {
    const { isNewLogin } = await quietly(async () => {
      const { ensureLoggedIn } = await oauth(issuer);
      // Not its own way to open a browser: where there is none, it ends the program.
      return ensureLoggedIn({ storage, openBrowser: false, print });
    });
    if (!isNewLogin) say("Already logged in (log in again: --force)");
  } catch (error) {
    const why = fetchFailure(error);
    const message = why === undefined ? `cannot log in: ${phraseOf(error)}` : await unreachable(issuer, why);
    throw new CliError(message, undefined, { cause: error });
  }
  rememberLogin(env, issuer, wish.endpoint);
}

/**
 * What is not said is as at the last login for that server, so that logging in again needs nothing but its address. A server of
 * this machine may name an issuer of this machine; what any other names is only said, as its choice could cost a token.
 */
async function issuerOf(
  wish: Issuer & { endpoint: Endpoint | undefined },
  env: Environment,
  say: (line: string) => void,
): Promise<Issuer> {
  const said = {
    issuer: wish.issuer ?? (env.OAUTH_API_URL || undefined),
    clientId: wish.clientId ?? (env.OAUTH_CLIENT_ID || undefined),
  };
  if (said.issuer !== undefined || said.clientId !== undefined || wish.endpoint === undefined) return said;
  const before = loginFor(env, wish.endpoint, true);
  if (before !== undefined) return before;
  const { issuersOf } = await import("./server-issuers.ts");
  const named = await issuersOf(wish.endpoint);
  const here = wish.endpoint.isLoopback ? named.find(({ isLoopback }) => isLoopback) : undefined;
  if (here !== undefined) return { issuer: here.httpBase };
  const issuer = loginFor(env, wish.endpoint, false) ?? said;
  const asked = issuer.issuer ?? (await import("./oauth.ts")).getConfig().apiUrl;
  if (named.length > 0 && !named.some(({ origin }) => origin === URL.parse(asked)?.origin)) {
    const list = named.map(({ httpBase }) => httpBase).join(" or ");
    say(`The server names ${list} as its issuer, and this login is at ${asked}: --issuer URL chooses`);
  }
  return issuer;
}

async function unreachable({ issuer }: Issuer, why: Error): Promise<string> {
  const usual = issuer === undefined ? (await import("./oauth.ts")).getConfig().apiUrl : undefined;
  return unreachableWords(issuer, usual ?? "", networkPhrase(why));
}

/** @param usual The issuer that is asked where none is named. */
export function unreachableWords(named: string | undefined, usual: string, why: string): string {
  if (named !== undefined) {
    return `cannot reach the issuer ${named} (${why}); choose another with --issuer and --client-id`;
  }
  return `cannot reach ${usual} (${why}), the issuer where none is named; name your server's: --issuer URL --client-id ID (\`npm start\` prints both)`;
}

/**
 * Forgets the tokens of every issuer that was logged in to; or the login for one server, with its token unless another
 * server's login has the same.
 * @param endpoint The one server.
 * @throws {CliError} Where no login was made for it.
 */
export async function logout(env: Environment, endpoint?: Endpoint): Promise<void> {
  const forget = async (issuer: Issuer) => (await openStorage(env, issuer)).removeToken();
  if (endpoint === undefined) {
    await forget({});
    for (const issuer of forgetLogins(env)) await forget(issuer);
    return;
  }
  const forgotten = forgetLogin(env, endpoint);
  if (forgotten === undefined) {
    throw new CliError(`no login was made for ${endpoint.origin}; \`sbx-stdio logout\` alone forgets all there are`);
  }
  if (!forgotten.isShared) await forget(forgotten.issuer);
}

// ---- oauth.do --------------------------------------------------------------------------------------------------

async function oauth(issuer: Issuer): Promise<typeof import("./oauth.ts")> {
  const module = await import("./oauth.ts");
  const clientId = issuer.clientId ?? (issuer.issuer === undefined ? undefined : OWN_CLIENT_ID);
  module.configure({
    ...(issuer.issuer === undefined ? {} : { apiUrl: issuer.issuer }),
    ...(clientId === undefined ? {} : { clientId }),
  });
  return module;
}

/** oauth.do's own place for its own issuer, shared with other programs; a file for each other one. */
async function openStorage(env: Environment, issuer: Issuer): Promise<TokenStorage> {
  const { createSecureStorage, getConfig, SecureFileTokenStorage } = await import("./oauth.ts");
  if (issuer.issuer === undefined) return createSecureStorage(getConfig().storagePath);
  const { host, pathname } = new URL(issuer.issuer);
  const name = `${host}${pathname}`.replace(/\/+$/, "").replace(/[^A-Za-z0-9.-]/g, "_");
  return new SecureFileTokenStorage(path.join(configDirectory(env), "tokens", name));
}

/** oauth.do tells the console of its troubles, at length and on standard output too; what it throws says enough. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const saved = { log: console.log, warn: console.warn, error: console.error };
  const silent = () => undefined;
  Object.assign(console, { log: silent, warn: silent, error: silent });
  try {
    return await work();
  } finally {
    Object.assign(console, saved);
  }
}

async function openBrowser(address: string, env: Environment): Promise<void> {
  const { spawn } = await import("node:child_process");
  const hasDesktop = process.platform === "darwin" || env.DISPLAY || env.WAYLAND_DISPLAY;
  if (!hasDesktop) return;
  const child = spawn(process.platform === "darwin" ? "open" : "xdg-open", [address], {
    stdio: "ignore",
    detached: true,
  });
  // No browser: the address has been printed.
  child.once("error", () => undefined);
  child.unref();
}

function phraseOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  // fetch says only that it failed; why is the cause.
  const { cause } = error;
  return oneLine(cause instanceof Error && cause.message !== "" ? cause.message : error.message);
}
