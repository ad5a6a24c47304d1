// Which login is for which server, as `login` was told: which server may get it. Holds no token.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { isRecord } from "sandbox-stdio/core";
import type { Endpoint } from "../base/endpoint.ts";
import type { Environment } from "../base/environment.ts";
import { cannotRead, readJsonFile, writeJsonFile } from "../base/small-file.ts";
import { configFolder } from "./config-folder.ts";

/** The issuer of tokens, and our client id there. Absent: oauth.do's own. */
export type Issuer = { readonly issuer?: string | undefined; readonly clientId?: string | undefined };

type Logins = {
  /** The login that named no server: for any address that a person types. */
  readonly unbound?: Issuer;
  /** By origin. */
  readonly servers: Readonly<Record<string, Issuer>>;
};

/**
 * Whose token a server may be shown.
 * @param isShared Whether the address came with a ticket: another person chose it, so only a login made for it counts.
 * @returns undefined where no login is for it.
 */
export function loginFor(env: Environment, endpoint: Endpoint, isShared: boolean): Issuer | undefined {
  const { servers, unbound } = readLogins(env);
  const own = servers[endpoint.origin];
  if (isShared) return own;
  const { OAUTH_API_URL: issuer, OAUTH_CLIENT_ID: clientId } = env;
  if (issuer) return { issuer, clientId: clientId || undefined };
  const known = own ?? unbound;
  if (known !== undefined) return known;
  // oauth.do's own login, perhaps another program's: unless `login` bound it to a server.
  return Object.values(servers).some(({ issuer }) => issuer === undefined) ? undefined : {};
}

/** Whether any login is known here, for whatever server. */
export function hasLogin(env: Environment): boolean {
  const { servers, unbound } = readLogins(env);
  return unbound !== undefined || Object.keys(servers).length > 0;
}

/** @param endpoint The server that the login is for; undefined: whatever address a person types. */
export function rememberLogin(env: Environment, issuer: Issuer, endpoint: Endpoint | undefined): void {
  const logins = readLogins(env);
  if (endpoint === undefined) writeJsonFile(loginsFile(env), { ...logins, unbound: issuer });
  else writeJsonFile(loginsFile(env), { ...logins, servers: { ...logins.servers, [endpoint.origin]: issuer } });
}

/**
 * Forgets which login a server takes.
 * @returns The issuer, and whether another server still takes its token; undefined where no login was made for this server.
 */
export function forgetLogin(env: Environment, endpoint: Endpoint): { issuer: Issuer; isShared: boolean } | undefined {
  const { servers, unbound } = readLogins(env);
  const { [endpoint.origin]: issuer, ...others } = servers;
  if (issuer === undefined) return undefined;
  writeJsonFile(loginsFile(env), { servers: others, ...(unbound === undefined ? {} : { unbound }) });
  const rest = [...Object.values(others), ...(unbound === undefined ? [] : [unbound])];
  return { issuer, isShared: rest.some((one) => one.issuer === issuer.issuer) };
}

/** Forgets all logins. @returns Their issuers. */
export function forgetLogins(env: Environment): Issuer[] {
  const { servers, unbound } = readLogins(env);
  fs.rmSync(loginsFile(env), { force: true });
  return [...Object.values(servers), ...(unbound === undefined ? [] : [unbound])];
}

export function configDirectory(env: Environment): string {
  return configFolder({ platform: process.platform, home: env.HOME || os.homedir(), env });
}

/** @throws {CliError} Where the file is spoilt: with its bindings forgotten, a login would go to servers that it is not for. */
function readLogins(env: Environment): Logins {
  const file = loginsFile(env);
  const { unbound, servers = {} } = readJsonFile(file) ?? {};
  if (!isRecord(servers)) throw cannotRead(file, "it lists no logins");
  const known: Record<string, Issuer> = {};
  for (const [origin, entry] of Object.entries(servers)) {
    if (!isIssuer(entry)) throw cannotRead(file, "it lists no logins");
    known[origin] = entry;
  }
  if (unbound === undefined) return { servers: known };
  if (!isIssuer(unbound)) throw cannotRead(file, "it lists no logins");
  return { servers: known, unbound };
}

function isIssuer(value: unknown): value is Issuer {
  if (typeof value !== "object" || value === null) return false;
  const { issuer, clientId } = value as { issuer?: unknown; clientId?: unknown };
  return [issuer, clientId].every((field) => field === undefined || typeof field === "string");
}

function loginsFile(env: Environment): string {
  return path.join(configDirectory(env), "logins.json");
}
