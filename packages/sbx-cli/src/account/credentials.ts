// Chooses the access token: an option, the environment, a token command, or the login stored by oauth.do. Logs in and out.

import path from "node:path";
import type { TokenStorage } from "oauth.do/node";
import { defined } from "sandbox-stdio/core";
import type { Target, TokenCommandFrom } from "../args/cli-command.ts";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";
import type { Environment } from "../base/environment.ts";
import { fetchFailure, networkReason } from "../base/network-errors.ts";
import { CliError } from "../base/outcome.ts";
import { oneLine, plain } from "../base/plain-text.ts";
import { NAME_KIND } from "../base/session-names.ts";
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

/** Our client id at issuers other than oauth.do's. */
const OWN_CLIENT_ID = "sbx-stdio-cli";
/** Limit of a token command. */
const TOKEN_COMMAND_MS = 60_000;
const MAX_STDERR_LENGTH = 300;
const noToken = ({ httpBase }: Endpoint) =>
  `no access token; log in with \`sbx-stdio login ${httpBase}\`, or set SBX_TOKEN or --token`;

export type TokenSource = {
  /** A valid token. @throws {CliError} */
  readonly token: () => Promise<string>;
  /** The source as messages name it. */
  readonly from: string;
  /** Whether a later call may return a fresher token. */
  readonly isRenewable: boolean;
  /** Why an existing credential is not sent to this server. */
  readonly withheld?: string;
};

type Credentials = Omit<Target, "sandbox">;

/**
 * The first allowed one of: --token, --token-command or the token command of --context, SBX_TOKEN, DO_TOKEN, SBX_TOKEN_COMMAND, the
 * current context's token command, the stored login.
 * @param hasTicket Whether the address came with a share link. Unless it is the person's own server, only credentials given for it
 *   are sent.
 */
export function tokenSource(target: Credentials, env: Environment, hasTicket = false): TokenSource {
  const { token: flag, tokenCommandFrom, endpoint, isOwnServer } = target;
  const isShared = (hasTicket && isOwnServer !== true) || endpoint.isFound === true;
  const option = flag?.trim();
  if (option) return { from: "--token", token: async () => sendable(option), isRenewable: false };
  const command = commandSource(target, isShared);
  const isExplicit = tokenCommandFrom === "--token-command" || tokenCommandFrom === "--context";
  if (command !== undefined && isExplicit) return command;
  const given = (env.SBX_TOKEN || env.DO_TOKEN)?.trim();
  const { origin } = endpoint;
  if (given && isForOrigin(env, origin, isShared)) {
    return { from: env.SBX_TOKEN ? "SBX_TOKEN" : "DO_TOKEN", token: async () => sendable(given), isRenewable: false };
  }
  if (command !== undefined) return command;
  if (given && !isShared && !hasTicket) {
    const error = new CliError(
      `SBX_TOKEN is not sent to ${origin}: SBX_TOKEN_ORIGIN restricts it to ${env.SBX_TOKEN_ORIGIN}`,
    );
    return { from: "SBX_TOKEN", token: () => Promise.reject(error), isRenewable: false };
  }
  return loginSource(target, env, { given, isShared, hasTicket });
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

/** @param given A token of the environment that is for another server. */
function loginSource(
  { endpoint, tokenCommand, tokenCommandElsewhere: elsewhere, tokenCommandFrom = "the context" }: Credentials,
  env: Environment,
  { given, isShared, hasTicket }: { given: string | undefined; isShared: boolean; hasTicket: boolean },
): TokenSource {
  const { origin, foundIn = ".sbx.json in this folder" } = endpoint;
  const issuer = loginFor(env, endpoint, isShared);
  const token = () =>
    storedToken(env, endpoint, issuer).catch((error: unknown) => {
      if (elsewhere === undefined || !(error instanceof CliError)) throw error;
      throw new CliError(`${error.message}; ${FROM_COMMAND[tokenCommandFrom]} is only for ${elsewhere}`);
    });
  const login = { from: "the stored login", token, isRenewable: true };
  if (!isShared || issuer !== undefined || !(given || tokenCommand || hasLogin(env))) return login;
  const chooser = hasTicket ? "a share link" : foundIn;
  const line = `the token command is not used for ${origin}, an address from ${chooser}; allow it with --token-command`;
  const withheld = given
    ? `SBX_TOKEN is not sent to ${origin}, an address from ${chooser}; allow it with SBX_TOKEN_ORIGIN=${origin} or --token`
    : tokenCommand
      ? line
      : `not logged in to ${origin}, an address from ${chooser}; log in with \`sbx-stdio login ${origin}\``;
  if (hasTicket) return { ...login, withheld };
  return { ...login, withheld, token: () => Promise.reject(new CliError(withheld)) };
}

/** Whether SBX_TOKEN is for this server: that of SBX_TOKEN_ORIGIN, else any that a person typed. @throws {CliError} */
function isForOrigin(env: Environment, origin: string, isShared: boolean): boolean {
  const { SBX_TOKEN_ORIGIN: bound } = env;
  return bound ? readEndpoint(bound).origin === origin : !isShared;
}

/** @throws {CliError} If an HTTP header can't carry the token. */
function sendable(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CliError("the access token contains invalid characters");
  return token;
}

/** The token if it is available: with a ticket, a person without one may be a guest. */
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
    throw new CliError(`the stored login is not sent to ${endpoint.origin} without encryption; use https`);
  }
  try {
    const { token } = await quietly(async () => {
      const { ensureLoggedIn } = await oauth(issuer);
      // Renews an expired token. If that fails it would start a login, and first print a text.
      return ensureLoggedIn({ storage, openBrowser: false, print: () => refuseLogin(endpoint) });
    });
    return token;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot use the stored login: ${phraseOf(error)}`, undefined, { cause: error });
  }
}

/** The output of a shell command. @throws {CliError} If it fails or prints nothing. */
async function tokenOf(line: string): Promise<string> {
  const { execFile } = await import("node:child_process");
  // The command may run this program, too: don't pass on what belongs to our own input and session.
  const { [CONFIRMED_BY]: _, [NAME_KIND]: __, ...env } = process.env;
  return new Promise((resolve, reject) => {
    execFile("sh", ["-c", line], { encoding: "utf8", timeout: TOKEN_COMMAND_MS, env }, (error, stdout, stderr) => {
      const reason = oneLine(stderr.slice(-MAX_STDERR_LENGTH));
      const why = reason === "" && error !== null ? `exit code or signal ${error.code ?? error.signal}` : reason;
      if (error !== null) reject(new CliError(`the token command failed: ${why}`));
      else if (stdout.trim() === "") reject(new CliError("the token command printed no token"));
      else resolve(stdout.trim());
    });
  });
}

function refuseLogin({ httpBase }: Endpoint): never {
  throw new CliError(`the stored login has expired; log in again with \`sbx-stdio login ${httpBase}\``);
}

/** Logs in by the device flow unless a stored token is valid. @param say Prints a line. */
export async function login(
  request: Issuer & { endpoint: Endpoint | undefined; mayOpenBrowser: boolean; isForced: boolean },
  env: Environment,
  say: (line: string) => void,
): Promise<void> {
  const issuer = await issuerOf(request, env, say);
  const storage = await openStorage(env, issuer);
  if (request.isForced) await storage.removeToken();
  const print = (text: string) => {
    // The text contains the issuer's words.
    for (const line of text.split("\n")) if (line.trim() !== "") say(plain(line.trimEnd()));
    const address = /Or open: (https?:\S+)/.exec(text)?.[1];
    if (address !== undefined && request.mayOpenBrowser) void openBrowser(address, env);
  };
  try {
    const { isNewLogin } = await quietly(async () => {
      const { ensureLoggedIn } = await oauth(issuer);
      // oauth.do would end the program if it can't open a browser.
      return ensureLoggedIn({ storage, openBrowser: false, print });
    });
    if (!isNewLogin) say("Already logged in; use --force to log in again");
  } catch (error) {
    const why = fetchFailure(error);
    const message = why === undefined ? `cannot log in: ${phraseOf(error)}` : await unreachable(issuer, why);
    throw new CliError(message, undefined, { cause: error });
  }
  rememberLogin(env, issuer, request.endpoint);
}

/**
 * The issuer to log in to. Without options it is that of the last login for the server. A server on this machine may name a local
 * issuer; one that any other server names is only suggested, since a wrong choice could leak a token.
 */
async function issuerOf(
  request: Issuer & { endpoint: Endpoint | undefined },
  env: Environment,
  say: (line: string) => void,
): Promise<Issuer> {
  const explicit = {
    issuer: request.issuer ?? (env.OAUTH_API_URL || undefined),
    clientId: request.clientId ?? (env.OAUTH_CLIENT_ID || undefined),
  };
  if (explicit.issuer !== undefined || explicit.clientId !== undefined || request.endpoint === undefined)
    return explicit;
  const before = loginFor(env, request.endpoint, true);
  if (before !== undefined) return before;
  const { issuersOf } = await import("./server-issuers.ts");
  const named = await issuersOf(request.endpoint);
  const here = request.endpoint.isLoopback ? named.find(({ isLoopback }) => isLoopback) : undefined;
  if (here !== undefined) return { issuer: here.httpBase };
  const issuer = loginFor(env, request.endpoint, false) ?? explicit;
  const chosen = issuer.issuer ?? (await import("./oauth.ts")).getConfig().apiUrl;
  if (named.length > 0 && !named.some(({ origin }) => origin === URL.parse(chosen)?.origin)) {
    const list = named.map(({ httpBase }) => httpBase).join(" or ");
    say(`The server's issuer is ${list}, but this login uses ${chosen}; choose with --issuer URL`);
  }
  return issuer;
}

async function unreachable({ issuer }: Issuer, why: Error): Promise<string> {
  const fallback = issuer === undefined ? (await import("./oauth.ts")).getConfig().apiUrl : "";
  return unreachableMessage(issuer, fallback, networkReason(why));
}

/** @param fallback The default issuer, used if none is named. */
export function unreachableMessage(named: string | undefined, fallback: string, why: string): string {
  if (named !== undefined) {
    return `cannot reach the issuer ${named} (${why}); choose another with --issuer and --client-id`;
  }
  return `cannot reach the default issuer ${fallback} (${why}); choose your server's with --issuer URL --client-id ID (\`npm start\` prints both)`;
}

/**
 * Forgets every login, or that for one server. A token that another server's login shares is kept.
 * @throws {CliError} If there is no login for the server.
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
    throw new CliError(
      `not logged in to ${endpoint.origin}; \`sbx-stdio logout\` without an address forgets every login`,
    );
  }
  if (!forgotten.isShared) await forget(forgotten.issuer);
}

// ---- oauth.do --------------------------------------------------------------------------------------------------

async function oauth(issuer: Issuer): Promise<typeof import("./oauth.ts")> {
  const module = await import("./oauth.ts");
  const clientId = issuer.clientId ?? (issuer.issuer === undefined ? undefined : OWN_CLIENT_ID);
  module.configure(defined({ apiUrl: issuer.issuer, clientId }));
  return module;
}

/** oauth.do's own storage for its own issuer, shared with other programs; a file for each other issuer. */
async function openStorage(env: Environment, issuer: Issuer): Promise<TokenStorage> {
  const { createSecureStorage, getConfig, SecureFileTokenStorage } = await import("./oauth.ts");
  if (issuer.issuer === undefined) return createSecureStorage(getConfig().storagePath);
  const { host, pathname } = new URL(issuer.issuer);
  const name = `${host}${pathname}`.replace(/\/+$/, "").replace(/[^A-Za-z0-9.-]/g, "_");
  return new SecureFileTokenStorage(path.join(configDirectory(env), "tokens", name));
}

/** Silences oauth.do, which also writes to standard output; its errors say enough. */
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
  // Without a browser the printed address is enough.
  child.once("error", () => undefined);
  child.unref();
}

function phraseOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  // fetch reports only a failure; the cause has the reason.
  const { cause } = error;
  return oneLine(cause instanceof Error && cause.message !== "" ? cause.message : error.message);
}
