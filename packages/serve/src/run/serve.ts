// `sbx-stdio serve`: the bridge, the issuer, and workerd with the Worker, the page and the front, until it is told to stop.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, rmSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as util from "node:util";
import { isErrorCode, readTextIfPresent } from "../../../local/src/base/files.ts";
import { anyFreePort, isPortFree } from "../../../local/src/base/ports.ts";
import { abortOf, stopSignal } from "../../../local/src/base/stop-signals.ts";
import { anybody } from "../../../local/src/issuer/anybody.ts";
import { type Issuer, startIssuer } from "../../../local/src/issuer/issuer.ts";
import { killMarked } from "../../../local/src/processes/proc.ts";
import { NotReadyError } from "../../../local/src/processes/ready.ts";
import { answers } from "../../../local/src/system/claim.ts";
import { partsIn } from "../../../local/src/system/installed.ts";
import { type System, startSystem } from "../../../local/src/system/system.ts";
import { type Reach, reachOf } from "../base/reach.ts";
import { ServeError } from "../base/refusal.ts";
import type { ServeRequest } from "../base/request.ts";
import { openState, readJson, type ServerFacts, type State, writeJson } from "../base/state.ts";
import { AccountFile, isRoot, owner, ROLES } from "../logins/accounts.ts";
import { KeptLogins } from "../logins/kept-logins.ts";
import { KeyOrPassword } from "../logins/key-or-password.ts";
import { OtherIssuer } from "../logins/other-issuer.ts";
import { endOutdated, findBridge, installedBridge, PARTS, refuseOld, reusableBridge, stopBridge } from "./bridge.ts";
import { noReader, tellLink } from "./link.ts";
import { type Api, exitOf, SANDBOX, startProgram } from "./program.ts";
import { endRemoved } from "./removed.ts";

const LOGIN_SCOPE = `openid profile email offline_access ${ROLES.admin.join(" ")}`;
// What people have stays theirs under another address: TENANT_ISSUER.
const SERVED_VARS = {
  OAUTH_LOGIN_SCOPE: LOGIN_SCOPE,
  DEFAULT_SCOPES: "",
  TENANT_ISSUER: "serve",
  TENANT_CLAIM: "org_id",
  HOME_SANDBOX: SANDBOX,
};
/** Programs that try a checkout's own run may play people elsewhere. */
const LOCAL_CALLERS = { proxies: ["127.0.0.1"], addressHeader: "CF-Connecting-IP" };
// The address that the issuer of `npm start` once had.
const LOCAL_VARS = { TENANT_ISSUER: "http://127.0.0.1:8710", HOME_SANDBOX: "dev" };
/** Of the Worker's variables, those that the environment and the file of settings may set. None of them decides who comes in. */
const TAKEN_OVER =
  /^(AUDIT|AUDIT_\w+|RECORDING|RECORDING_\w+|LIMIT_\w+|METRICS_TOKEN|METRICS_SECONDS|LOGIN_RENEW_HOURS)$/;
/** Longer than guard.ts waits. */
const CRASHED_MS = 15_000;
const FAREWELL_MS = 1_000;
const LOOK_MS = 50;
/** No program can have this path, whatever PATH a caller gives: people start none. */
const NOTHING = "/dev/null/nothing";

/** @returns The exit code. @throws {ServeError} */
export async function serve(request: ServeRequest, version: string, say: (text: string) => void): Promise<number> {
  const { local, trustProxy: proxies = [] } = request;
  const startedAt = performance.now();
  const isTerminal = process.stdout.isTTY === true;
  const signal = stopSignal();
  const tls = tlsOf(request);
  const reach = reachOf(request, { addresses: ownAddresses(), certified: tls?.names ?? [] });
  if (!statSync(request.dir, { throwIfNoEntry: false })?.isDirectory())
    throw new ServeError(`--dir ${request.dir} is no folder`);
  if (local === undefined && request.linkFile === undefined && !isTerminal) throw new ServeError(noReader);
  const state = openState(request);
  await refuseOld(state);
  const crashed = readJson<ServerFacts>(state.serverFile);
  const issuer = await takeState(state, request, reach);
  // A workerd that is told to end may have given up its port, and not yet its objects' files.
  if (crashed !== undefined) killMarked(crashed.runId);
  rmSync(state.serverFile, { force: true });
  let system: System | undefined;
  try {
    if (!(await isPortFree(request.port)) && !(crashed && (await isFreeSoon(request.port))))
      throw new ServeError(`Port ${request.port} is in use: choose another one by --port`);
    const settings = bridgeSettings(request, state);
    const found = await reusableBridge(state, settings, say);
    const innerHost = `127.0.0.1:${await anyFreePort()}`;
    system = await startSystem({
      dir: state.dir,
      keysDir: secretsOf(state, request),
      parts: PARTS,
      bridgeEnv: settings,
      workerVars: workerVars(request, reach, innerHost),
      onRevival: say,
      signal,
      served: {
        origin: reach.origin,
        address: reach.address,
        issuer,
        bridge: found,
        endOutdated: () => endOutdated(state, settings),
        keepBridge: local
          ? undefined
          : {
              mark: state.bridgeMark,
              started: (own) => writeJson(state.bridgeFile, { ...own, build: installedBridge(), settings }),
            },
        front: {
          module: join(partsIn(PARTS).modules, "front-entry.mjs"),
          innerAddress: innerHost,
          settings: {
            origin: reach.origin,
            hosts: reach.hosts,
            innerHost,
            ...(local ? LOCAL_CALLERS : { proxies, addressHeader: "X-Forwarded-For" }),
          },
          tls: tls?.pair,
        },
      },
    });
    return await attend({ request, version, reach, state, system, innerHost, signal, say, startedAt });
  } catch (error) {
    throw signal.aborted ? new ServeError("Stopped before everything was up") : error;
  } finally {
    if (system === undefined) await issuer.close();
    else await system.stop();
    const left = await findBridge(state).catch(() => "silent" as const);
    if (left === "silent" || (left?.isBusy && !request.once))
      say(
        `Sessions run on: sbx-stdio serve${state.options} finds them again, and serve stop${state.options} ends them`,
      );
    else await stopBridge(state, left);
    rmSync(state.serverFile, { force: true });
  }
}

type Running = {
  readonly request: ServeRequest;
  readonly version: string;
  readonly reach: Reach;
  readonly state: State;
  readonly system: System;
  readonly innerHost: string;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly startedAt: number;
};

/** Tells the link, and waits for the end. */
async function attend(running: Running): Promise<number> {
  const { request, version, reach, state, system, innerHost, signal, say, startedAt } = running;
  const { program, readonly: isReadonly, once: isOnce, linkFile, local } = request;
  const api: Api = {
    socketPath: state.innerSocket,
    token: () => system.mintToken({ ...owner(), scope: ROLES.admin.join(" ") }),
  };
  const shown = program ?? (isReadonly || isOnce ? { cmd: process.env.SHELL || "/bin/bash", args: [] } : undefined);
  const session = shown && (await startProgram(api, shown));
  const query = new URLSearchParams({
    sandbox: SANDBOX,
    ...(session && { session }),
    ...(isReadonly && { role: "viewer" }),
  });
  const { isTTY, columns } = process.stdout;
  const place = { state, linkFile, isTerminal: isTTY === true, columns: columns || 80 };
  const path = `/?${query}`;
  const { origin } = reach;
  const secretsDir = secretsOf(state, request);
  const { runId } = system;
  const facts: ServerFacts = {
    origin,
    path,
    pid: process.pid,
    runId,
    version,
    secretsDir,
    innerHost,
    isShared: isShared(request),
  };
  writeJson(state.serverFile, facts);
  await endRemoved(state, facts);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(local?.welcome(origin) ?? `sbx-stdio serves ${origin} (${seconds} s)\n${tellLink(origin, path, owner(), place)}`);
  if (reach.isPlain) say("  Without TLS: others in this network can read what passes, passwords too.");

  const exited = isOnce && session !== undefined ? exitOf(api, session, signal) : new Promise<never>(() => undefined);
  // Who is attached hears of the exit too, and callers get their answers.
  const told = exited.then((code) => delay(FAREWELL_MS, code, { signal }).catch(() => code));
  const end = await Promise.race([told, system.failed, abortOf(signal)]);
  if (typeof end === "string") throw new NotReadyError(end);
  return end ?? 0;
}

/** One server has a folder: whoever listens on its socket. */
async function takeState(state: State, request: ServeRequest, reach: Reach): Promise<Issuer> {
  const { issuerSocket: socketPath, keysDir, accountsFile } = state;
  const { local } = request;
  const dir = secretsOf(state, request);
  const { origin, hosts } = reach;
  const login = (): KeyOrPassword =>
    new KeyOrPassword({
      keysDir,
      options: state.options,
      accounts: new AccountFile(accountsFile, { isShared: isShared(request) }),
      scopes: mostScopes(request),
      origin,
      otherIssuer: issuerOf(request, origin),
    });
  const options = {
    port: 0,
    dir,
    publicOrigin: origin,
    behindFront: { socketPath, hosts },
    accessTokens: local?.accessTokens,
    admission: local ? anybody : login(),
    memory: local ? undefined : new KeptLogins(join(dir, "logins.json")),
  };
  try {
    return await startIssuer(options);
  } catch (error) {
    if (!isErrorCode(error, "EADDRINUSE")) throw error;
    if (await answers(socketPath))
      throw new ServeError(`A server runs here already (${state.dir}): sbx-stdio serve link${state.options}`);
    // Left by one that was killed.
    rmSync(socketPath, { force: true });
    return startIssuer(options);
  }
}

/** The parts of a server that was killed end a moment after it. */
async function isFreeSoon(port: number): Promise<boolean> {
  for (let waited = 0; waited < CRASHED_MS; waited += LOOK_MS) {
    await delay(LOOK_MS);
    if (await isPortFree(port)) return true;
  }
  return false;
}

function issuerOf(
  { issuer: url, clientId = "", clientSecretFile }: ServeRequest,
  origin: string,
): OtherIssuer | undefined {
  if (url === undefined) return undefined;
  const secret = clientSecretFile === undefined ? undefined : readFile(clientSecretFile).trim();
  return new OtherIssuer({ url, clientId, secret }, `${origin}/oauth/back`);
}

const isShared = ({ program, readonly: isReadonly, once: isOnce }: ServeRequest): boolean =>
  program !== undefined || isReadonly === true || isOnce === true;

/** Who may less has nothing from when they might more: no login, token or link of one kind of server is good for another. */
function secretsOf({ dir }: State, request: ServeRequest): string {
  if (request.local) return request.local.keysDir;
  if (mostScopes(request) === ROLES.admin) return dir;
  return join(dir, request.readonly ? "viewers" : "drivers");
}

/** All that anybody who logs in may do. With one program nothing else is started, which is the command policy's matter. */
function mostScopes({ readonly: isReadonly, program }: ServeRequest): readonly string[] {
  if (isReadonly) return ROLES.viewer;
  return program === undefined ? ROLES.admin : ROLES.driver;
}

function workerVars(request: ServeRequest, reach: Reach, innerHost: string): Record<string, string> {
  const { origin, hosts, isPlain } = reach;
  const back = `http://${innerHost}`;
  const host = new URL(origin).host;
  return {
    RECORDING_BYTES: String(10 * 1024 ** 3),
    ...Object.fromEntries(
      Object.entries({ ...readSettings(request.settings), ...process.env }).filter(([name]) => TAKEN_OVER.test(name)),
    ),
    OAUTH_JWKS_URI: `${back}/.well-known/jwks.json`,
    OAUTH_TOKEN_URI: `${back}/oauth/token`,
    OAUTH_INTROSPECTION_URI: `${back}/oauth/introspect`,
    ALLOWED_HOSTS: hosts.join(","),
    // Browsers lead all names below localhost to this machine, and no others.
    PREVIEW_HOST: host.startsWith("localhost:") && !(request.program ?? request.exec) ? `*.${host}` : "",
    ...(request.local ? LOCAL_VARS : SERVED_VARS),
    ...(isPlain && { PLAIN_HTTP: "1" }),
    ...(request.program !== undefined && { COMMAND_ALLOW: NOTHING, COMMAND_ALLOW_ADMIN: "*" }),
  };
}

/** What the bridge is told of what it runs. */
function bridgeSettings({ dir, exec, cgroup, limits = {}, local }: ServeRequest, state: State): Record<string, string> {
  if (local) return {};
  if (cgroup !== undefined && !isRoot()) throw new ServeError("--cgroup is for a server that root runs");
  if (cgroup !== undefined && !existsSync(join(cgroup, "cgroup.procs")))
    throw new ServeError(`--cgroup ${cgroup} is no cgroup's folder: it has no cgroup.procs`);
  return {
    STDIO_WORKSPACE: dir,
    ...(isRoot() && { STDIO_LOGINS: JSON.stringify({ file: state.accountsFile, cgroup, limits }) }),
    ...(exec !== undefined && { STDIO_EXEC: JSON.stringify(exec) }),
  };
}

function tlsOf({ tlsCert: certificate, tlsKey: key }: ServeRequest) {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) throw new ServeError("--tls-cert and --tls-key go together");
  const pair = { certificateChain: readFile(certificate), privateKey: readFile(key) };
  try {
    const read = new X509Certificate(pair.certificateChain);
    if (!read.checkPrivateKey(createPrivateKey(pair.privateKey)))
      throw new ServeError(`${key} is not the key of ${certificate}`);
    const { subjectAltName = "" } = read;
    return { pair, names: [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name = ""]) => name) };
  } catch (error) {
    if (error instanceof ServeError) throw error;
    throw new ServeError(`${certificate} and ${key} are no certificate and key in PEM`);
  }
}

/** The lines NAME=value that `npm run deploy -- --settings` reads too. */
function readSettings(file: string | undefined): NodeJS.Dict<string> {
  if (file === undefined) return {};
  if (util.parseEnv === undefined) throw new ServeError("--settings needs Node 20.12 or later");
  return util.parseEnv(readFile(file));
}

function readFile(file: string): string {
  const text = readTextIfPresent(file);
  if (text === undefined) throw new ServeError(`There is no ${file}`);
  return text;
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flat()
    .flatMap((one) => (one === undefined || one.internal || one.family !== "IPv4" ? [] : [one.address]));
}
