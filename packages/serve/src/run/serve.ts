// `sbx-stdio serve`: the bridge, the issuer, and workerd with the Worker, the page and the front, until it is told to stop.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isErrorCode, readTextIfPresent } from "../../../local/src/base/files.ts";
import { anyFreePort, isPortFree } from "../../../local/src/base/ports.ts";
import { abortOf, stopSignal } from "../../../local/src/base/stop-signals.ts";
import { type Issuer, startIssuer } from "../../../local/src/issuer/issuer.ts";
import { killMarked } from "../../../local/src/processes/proc.ts";
import { NotReadyError } from "../../../local/src/processes/ready.ts";
import { answers } from "../../../local/src/system/claim.ts";
import { type System, startSystem } from "../../../local/src/system/system.ts";
import { MODULES, programs, WORKER } from "../base/installed.ts";
import { type Reach, reachOf } from "../base/reach.ts";
import { ServeError } from "../base/refusal.ts";
import type { ServeRequest } from "../base/request.ts";
import { openState, readJson, type ServerFacts, type State, writeJson } from "../base/state.ts";
import { AccountFile, isRoot, owner, ROLES } from "../logins/accounts.ts";
import { KeptLogins } from "../logins/kept-logins.ts";
import { KeyOrPassword } from "../logins/key-or-password.ts";
import { OtherIssuer } from "../logins/other-issuer.ts";
import { findBridge, keepBridge, stopBridge } from "./bridge.ts";
import { noReader, tellLink } from "./link.ts";
import { type Api, exitOf, SANDBOX, startProgram } from "./program.ts";
import { endRemoved } from "./removed.ts";

const LOGIN_SCOPE = `openid profile email offline_access ${ROLES.admin.join(" ")}`;
/** Of the Worker's variables, those that may be set in the environment. None of them decides who comes in. */
const TAKEN_OVER =
  /^(AUDIT|AUDIT_\w+|RECORDING|RECORDING_\w+|LIMIT_\w+|METRICS_TOKEN|METRICS_SECONDS|LOGIN_RENEW_HOURS)$/;
/** Longer than guard.ts waits. */
const CRASHED_MS = 15_000;
const LOOK_MS = 50;
/** No program can have this path, whatever PATH a caller gives: people start none. */
const NOTHING = "/dev/null/nothing";

/** @returns The exit code. @throws {ServeError} */
export async function serve(request: ServeRequest, version: string, say: (text: string) => void): Promise<number> {
  const startedAt = performance.now();
  const isTerminal = process.stdout.isTTY === true;
  const signal = stopSignal();
  const tls = tlsOf(request);
  const reach = reachOf(request, { addresses: ownAddresses(), certified: tls?.names ?? [] });
  if (!statSync(request.dir, { throwIfNoEntry: false })?.isDirectory())
    throw new ServeError(`--dir ${request.dir} is no folder`);
  if (request.linkFile === undefined && !isTerminal) throw new ServeError(noReader);
  const state = openState(request);
  const crashed = readJson<ServerFacts>(state.serverFile);
  const { issuer, release } = await takeState(state, request, reach);
  // A workerd that is told to end may have given up its port, and not yet its objects' files.
  if (crashed !== undefined) killMarked(crashed.runId);
  let system: System | undefined;
  try {
    if (!(await isPortFree(request.port)) && !(crashed && (await isFreeSoon(request.port))))
      throw new ServeError(`Port ${request.port} is in use: choose another one by --port`);
    const { workerd, bun } = programs();
    const found = await findBridge(state);
    const innerPort = found?.innerPort ?? (await anyFreePort());
    const bridge = await keepBridge(state, found, { settings: bridgeSettings(request, state), bun, innerPort });
    const { port, token } = bridge.facts;
    const innerHost = `127.0.0.1:${innerPort}`;
    system = await startSystem({
      dir: state.dir,
      keysDir: secretsOf(state, request),
      bundle: WORKER,
      workerVars: workerVars(request, reach, innerHost),
      onRevival: say,
      signal,
      served: {
        origin: reach.origin,
        address: reach.address,
        issuer,
        bridge: { url: `http://127.0.0.1:${port}`, token },
        workerd: { program: workerd, modules: MODULES },
        front: {
          module: join(MODULES, "front-entry.mjs"),
          innerAddress: innerHost,
          issuerSocket: state.issuerSocket,
          settings: { origin: reach.origin, innerHost, proxies: request.proxies },
          tls: tls?.pair,
        },
      },
    });
    await bridge.ready;
    return await attend({ request, version, reach, state, system, innerHost, signal, say, startedAt });
  } catch (error) {
    throw signal.aborted ? new ServeError("Stopped before everything was up") : error;
  } finally {
    if (system === undefined) await issuer.close();
    else await system.stop();
    const left = await findBridge(state).catch(() => undefined);
    if (left !== undefined && (request.isOnce || !left.isBusy)) await stopBridge(state, left);
    else if (left !== undefined)
      say("Sessions run on: sbx-stdio serve finds them again, sbx-stdio serve stop ends them");
    release();
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
  const { program, isReadonly, isOnce, linkFile } = request;
  const api: Api = {
    url: `http://${innerHost}`,
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
    isShared: isShared(request),
  };
  writeJson(state.serverFile, facts);
  await endRemoved(state, facts);
  const link = tellLink(origin, path, owner(), place);
  say(`sbx-stdio serves ${reach.origin} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)\n${link}`);
  if (reach.isPlain) say("  Without TLS: others in this network can read what passes, passwords too.");

  const exited = isOnce && session !== undefined ? exitOf(api, session, signal) : new Promise<never>(() => undefined);
  const end = await Promise.race([exited, system.failed, abortOf(signal)]);
  if (typeof end === "string") throw new NotReadyError(end);
  return end ?? 0;
}

/** One server has a folder: whoever listens on its socket. */
async function takeState(
  state: State,
  request: ServeRequest,
  reach: Reach,
): Promise<{ readonly issuer: Issuer; readonly release: () => void }> {
  const { issuerSocket: socketPath, keysDir, accountsFile } = state;
  const secretsDir = secretsOf(state, request);
  const scopes = mostScopes(request);
  const { origin } = reach;
  const accounts = new AccountFile(accountsFile, { isShared: isShared(request) });
  const admission = new KeyOrPassword({
    keysDir,
    options: state.options,
    accounts,
    scopes,
    origin,
    otherIssuer: issuerOf(request, origin),
  });
  const options = {
    port: 0,
    dir: secretsDir,
    publicOrigin: reach.origin,
    behindFront: { socketPath, hosts: reach.hosts },
    admission,
    memory: new KeptLogins(join(secretsDir, "logins.json")),
  };
  const release = (): void => rmSync(state.serverFile, { force: true });
  try {
    return { issuer: await startIssuer(options), release };
  } catch (error) {
    if (!isErrorCode(error, "EADDRINUSE")) throw error;
    if (await answers(socketPath))
      throw new ServeError(`A server runs here already (${state.dir}): sbx-stdio serve link${state.options}`);
    // Left by one that was killed.
    rmSync(socketPath, { force: true });
    return { issuer: await startIssuer(options), release };
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

function issuerOf({ issuer }: ServeRequest, origin: string): OtherIssuer | undefined {
  if (issuer === undefined) return undefined;
  const { url, clientId, secretFile } = issuer;
  const secret = secretFile === undefined ? undefined : readFile(secretFile).trim();
  return new OtherIssuer({ url, clientId, secret }, `${origin}/oauth/back`);
}

const isShared = ({ program, isReadonly, isOnce }: ServeRequest): boolean =>
  program !== undefined || isReadonly || isOnce;

/** Who may less has nothing from when they might more: no login, token or link of one kind of server is good for another. */
function secretsOf({ dir }: State, request: ServeRequest): string {
  if (mostScopes(request) === ROLES.admin) return dir;
  return join(dir, request.isReadonly ? "viewers" : "drivers");
}

/** All that anybody who logs in may do. With one program nothing else is started, which is the command policy's matter. */
function mostScopes({ isReadonly, program }: ServeRequest): readonly string[] {
  if (isReadonly) return ROLES.viewer;
  return program === undefined ? ROLES.admin : ROLES.driver;
}

function workerVars(request: ServeRequest, reach: Reach, innerHost: string): Record<string, string> {
  const { origin, hosts, isPlain } = reach;
  const back = `http://${innerHost}`;
  const host = new URL(origin).host;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => TAKEN_OVER.test(name))),
    OAUTH_JWKS_URI: `${back}/.well-known/jwks.json`,
    OAUTH_TOKEN_URI: `${back}/oauth/token`,
    OAUTH_INTROSPECTION_URI: `${back}/oauth/introspect`,
    OAUTH_LOGIN_SCOPE: LOGIN_SCOPE,
    DEFAULT_SCOPES: "",
    // What people have stays theirs under another address.
    TENANT_ISSUER: "serve",
    TENANT_CLAIM: "org_id",
    HOME_SANDBOX: SANDBOX,
    ALLOWED_HOSTS: hosts.join(","),
    // Browsers lead all names below localhost to this machine, and no others.
    PREVIEW_HOST: host.startsWith("localhost:") && !(request.program ?? request.exec) ? `*.${host}` : "",
    ...(isPlain && { PLAIN_HTTP: "1" }),
    ...(request.program !== undefined && { COMMAND_ALLOW: NOTHING, COMMAND_ALLOW_ADMIN: "*" }),
  };
}

/** What the bridge is told of what it runs. */
function bridgeSettings({ dir, exec, cgroup, limits }: ServeRequest, state: State): Record<string, string> {
  if (cgroup !== undefined && !isRoot()) throw new ServeError("--cgroup is for a server that root runs");
  return {
    STDIO_WORKSPACE: dir,
    ...(isRoot() && { STDIO_LOGINS: JSON.stringify({ file: state.accountsFile, cgroup, limits }) }),
    ...(exec !== undefined && { STDIO_EXEC: JSON.stringify(exec) }),
  };
}

function tlsOf({ certificate, key }: ServeRequest) {
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
