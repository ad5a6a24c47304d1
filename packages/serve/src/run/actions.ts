// What can be asked of a server beside starting it: the next link, its state, its end, its accounts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Person, tokenMinter } from "../../../local/src/issuer/tokens.ts";
import { isAlive } from "../../../local/src/processes/proc.ts";
import { answers } from "../../../local/src/system/claim.ts";
import { ServeError } from "../base/refusal.ts";
import type { ServeCommand } from "../base/request.ts";
import { openState, readJson, type ServerFacts, type State } from "../base/state.ts";
import { AccountFile, isRoot, owner, personOf, ROLES } from "../logins/accounts.ts";
import { askPassword, confirm } from "./ask.ts";
import { findBridge, installedBridge, stopBridge } from "./bridge.ts";
import { install } from "./install.ts";
import { tellLink } from "./link.ts";
import { endRemoved, noteRemoved } from "./removed.ts";

const NOT_RUNNING = 3;
const STOP_MS = 20_000;
const LOOK_MS = 25;
const LEAST_CHARACTERS = 10;
const NAME = /^[A-Za-z0-9_][\w.@+-]{0,63}$/;

type Say = (text: string) => void;
type Action = Exclude<ServeCommand, { kind: "serve" }>;

/** @returns The exit code. @throws {ServeError} */
export async function act(action: Action, say: Say): Promise<number> {
  const state = openState(action);
  switch (action.kind) {
    case "link": {
      const { isTTY, columns } = process.stdout;
      const { linkFile, name, port } = action;
      const place = { state, linkFile, isTerminal: isTTY === true, columns: columns || 80 };
      const { origin, path, isShared } = await required(state, port);
      const account = name === undefined ? undefined : new AccountFile(state.accountsFile, { isShared }).find(name);
      if (name !== undefined && account === undefined) throw new ServeError(`There is no user ${name}`);
      say(tellLink(origin, path, name && account ? personOf(name, account) : owner(), place));
      return 0;
    }
    case "token": {
      const { secretsDir, origin } = await required(state, action.port);
      const mint = await tokenMinter({ keysDir: secretsDir, issuerUrl: origin });
      say(await mint({ ...owner(), scope: ROLES[action.role].join(" ") }));
      return 0;
    }
    case "install": {
      // Nobody reads a service's output at a terminal.
      const { port, dir, command } = action;
      const link = ["--link-file", join(state.dir, "link"), "--state", state.dir].flatMap((word, index, words) =>
        index % 2 === 1 || command.includes(word) ? [] : [word, words[index + 1] ?? ""],
      );
      const at = command.indexOf("--");
      const whole = at < 0 ? [...command, ...link] : [...command.slice(0, at), ...link, ...command.slice(at)];
      say(install({ port, dir, command: whole, isRoot: isRoot(), path: process.env.PATH ?? "" }));
      say(`Then sbx-stdio serve link${state.options} prints a link.`);
      return 0;
    }
    case "status":
      return status(state, say);
    case "stop":
      return stop(state, action.isNow, say);
    case "user":
      return setUser(state, action, say);
  }
}

/** The server that runs now: its process id may be another's, and its socket is not. */
async function serverOf({ serverFile, issuerSocket }: State): Promise<ServerFacts | undefined> {
  return (await answers(issuerSocket)) ? readJson<ServerFacts>(serverFile) : undefined;
}

async function required(state: State, port: number): Promise<ServerFacts> {
  const server = await serverOf(state);
  if (server === undefined) throw new ServeError(`No server runs at port ${port}: sbx-stdio serve starts one`);
  return server;
}

async function status(state: State, say: Say): Promise<number> {
  const server = await serverOf(state);
  const bridge = await findBridge(state);
  const installed = installedBridge();
  const change =
    bridge?.build === installed ? "" : `; ${installed} is installed, and follows soon after no session runs`;
  say(
    server === undefined
      ? "server  does not run"
      : `server  ${server.origin}, version ${server.version}, process ${server.pid}`,
  );
  say(
    bridge === undefined
      ? "bridge  does not run"
      : `bridge  build ${bridge.build}${change}, process ${bridge.pid}, ${bridge.isBusy ? "has sessions" : "has no sessions"}`,
  );
  say(`state   ${state.dir}`);
  return server === undefined || bridge === undefined ? NOT_RUNNING : 0;
}

async function stop(state: State, isNow: boolean, say: Say): Promise<number> {
  const bridge = await findBridge(state);
  if (bridge?.isBusy === true && !isNow && !(await confirm("Sessions run here. End them and their processes?")))
    throw new ServeError(
      "Nothing was ended: sessions run here, and --now ends them. Ctrl+C or SIGTERM ends the server alone",
    );
  const server = await serverOf(state);
  if (server !== undefined) {
    process.kill(server.pid, "SIGTERM");
    for (let waited = 0; isAlive(server.pid) && waited < STOP_MS; waited += LOOK_MS) await delay(LOOK_MS);
  }
  // The server has ended one without sessions itself.
  await stopBridge(state, await findBridge(state));
  say(server === undefined && bridge === undefined ? "Nothing ran" : "Stopped");
  return 0;
}

async function setUser(state: State, action: Extract<Action, { kind: "user" }>, say: Say): Promise<number> {
  const { name, role, as, hasPassword } = action;
  const accounts = new AccountFile(state.accountsFile);
  if (!NAME.test(name)) throw new ServeError("A user name is 1 to 64 letters, digits and . @ + - _");
  const before = accounts.find(name);
  if (role === undefined) {
    if (!accounts.remove(name)) throw new ServeError(`There is no user ${name}`);
    const when = before && (await endRights(state, personOf(name, before)));
    say(`What ${name} had ends${when ?? ""}: logins, links, tickets`);
    return 0;
  }
  if (isRoot() !== (as !== undefined))
    throw new ServeError(
      isRoot() ? "As root, say as whom its sessions run: --as USER" : "--as USER is for a server that root runs",
    );
  if (as !== undefined && !isUser(as)) throw new ServeError(`--as ${as}: this machine has no such user`);
  const password = hasPassword ? await askPassword(`Password for ${name}: `) : undefined;
  if (password !== undefined && password.length < LEAST_CHARACTERS)
    throw new ServeError(`A password has at least ${LEAST_CHARACTERS} characters; it is read from standard input`);
  const hasEnded = await accounts.set(name, { role, ...(as !== undefined && { as }) }, password);
  say(`${name} may log in, as ${role}${as === undefined ? "" : `; sessions run as ${as}`}`);
  // A link to a session shares its maker's rights, and would outlive them.
  if (before !== undefined && hasEnded)
    say(`What ${name} had as ${before.role} ends${await endRights(state, personOf(name, before))}: logins, links`);
  return 0;
}

/** @returns From when on. @throws {ServeError} */
async function endRights(state: State, person: Person): Promise<string> {
  noteRemoved(state, person);
  const server = await serverOf(state);
  if (server === undefined) return ", from the next start on";
  await endRemoved(state, server);
  return "";
}

const isUser = (name: string): boolean =>
  readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .some((line) => line.startsWith(`${name}:`));
