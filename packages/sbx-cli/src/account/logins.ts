// Which login belongs to which server. Holds no token.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { defined, isRecord } from "sandbox-stdio/core";
import type { Endpoint } from "../base/endpoint.ts";
import type { Environment } from "../base/environment.ts";
import { cannotRead, readJsonFile, writeJsonFile } from "../base/small-file.ts";

/** An issuer and our client id there. Without issuer: oauth.do's own. */
export type Issuer = { readonly issuer?: string | undefined; readonly clientId?: string | undefined };

type Logins = {
  /** The login without a server: for any address that a person types. */
  readonly unbound?: Issuer;
  /**
   * The login that a server may receive; undefined if there is none.
   * @param isShared Whether another person chose the address: then only a login for exactly that server counts.
   */
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
  // oauth.do's own login, perhaps of another program, unless `login` bound it to a server.
  return Object.values(servers).some(({ issuer }) => issuer === undefined) ? undefined : {};
}

/** Whether there is any login. */
export function hasLogin(env: Environment): boolean {
  const { servers, unbound } = readLogins(env);
  return unbound !== undefined || Object.keys(servers).length > 0;
}

/** @param endpoint The login's server; undefined for any address that a person types. */
export function rememberLogin(env: Environment, issuer: Issuer, endpoint: Endpoint | undefined): void {
  const logins = readLogins(env);
  if (endpoint === undefined) writeJsonFile(loginsFile(env), { ...logins, unbound: issuer });
  else writeJsonFile(loginsFile(env), { ...logins, servers: { ...logins.servers, [endpoint.origin]: issuer } });
}

/** @returns The forgotten login and whether another server shares its token; undefined if there was none. */
export function forgetLogin(env: Environment, endpoint: Endpoint): { issuer: Issuer; isShared: boolean } | undefined {
  const { servers, unbound } = readLogins(env);
  const { [endpoint.origin]: issuer, ...others } = servers;
  if (issuer === undefined) return undefined;
  writeJsonFile(loginsFile(env), { servers: others, ...defined({ unbound }) });
  const rest = [...Object.values(others), unbound].filter((one) => one !== undefined);
  return { issuer, isShared: rest.some((one) => one.issuer === issuer.issuer) };
}

/** @returns The issuers of the forgotten logins. */
export function forgetLogins(env: Environment): Issuer[] {
  const { servers, unbound } = readLogins(env);
  fs.rmSync(loginsFile(env), { force: true });
  return [...Object.values(servers), unbound].filter((one) => one !== undefined);
}

export function configDirectory(env: Environment): string {
  return configFolder({ platform: process.platform, home: env.HOME || os.homedir(), env });
}

/** @throws {CliError} If the file is invalid: without its bindings a login could go to the wrong server. */
function readLogins(env: Environment): Logins {
  const file = loginsFile(env);
  const { unbound, servers = {} } = readJsonFile(file) ?? {};
  if (!isRecord(servers)) throw cannotRead(file, "not a list of logins");
  const known: Record<string, Issuer> = {};
  for (const [origin, entry] of Object.entries(servers)) {
    if (!isIssuer(entry)) throw cannotRead(file, "not a list of logins");
    known[origin] = entry;
  }
  if (unbound !== undefined && !isIssuer(unbound)) throw cannotRead(file, "not a list of logins");
  return { servers: known, ...defined({ unbound }) };
}

function isIssuer(value: unknown): value is Issuer {
  if (typeof value !== "object" || value === null) return false;
  const { issuer, clientId } = value as { issuer?: unknown; clientId?: unknown };
  return [issuer, clientId].every((field) => field === undefined || typeof field === "string");
}

function loginsFile(env: Environment): string {
  return path.join(configDirectory(env), "logins.json");
}

const NAME = "sbx-stdio";
const MIGRATED: readonly NodeJS.Platform[] = ["darwin", "win32"];

type System = {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The folder. On macOS and Windows, what earlier versions kept in `~/.config` is moved there once. */
export function configFolder({ platform, home, env }: System): string {
  const folder = path.join(env.XDG_CONFIG_HOME || platformFolder({ platform, home, env }), NAME);
  if (env.XDG_CONFIG_HOME || !MIGRATED.includes(platform)) return folder;
  const early = path.join(home, ".config", NAME);
  if (folder === early || fs.existsSync(folder) || !fs.existsSync(early)) return folder;
  try {
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    fs.renameSync(early, folder);
  } catch {
    // Another run moved it just now, or it can't be moved: then the old folder stays in use.
    return fs.existsSync(folder) ? folder : early;
  }
  return folder;
}

function platformFolder({ platform, home, env }: System): string {
  if (platform === "darwin") return path.join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || path.join(home, "AppData", "Roaming");
  return path.join(home, ".config");
}
