// All sessions of this bridge, by qualified sandbox and name.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AttachQuery, CLOSE, defined, type FileOrder, LOG_BYTES, type PanesMessage } from "sandbox-stdio/core";
import type { StartOrder } from "sandbox-stdio/programs";
import type { ChildUser } from "../base/child-user.ts";
import { log, sessionTrace } from "../base/log.ts";
import { userOfSandbox } from "../base/logins.ts";
import { Namespace, WORKSPACE } from "../base/namespace.ts";
import type { BridgeSettings } from "../base/settings.ts";
import { type FileResult, Files, type HelperPlace } from "../files/files.ts";
import { SandboxPanes } from "../panes/sandbox-panes.ts";
import { SessionPanes } from "../panes/session-panes.ts";
import type { StartFault } from "../process/process.ts";
import { emulatorBytes } from "../screen/lines.ts";
import { BellLine } from "../session/bell.ts";
import { type HostNames, SessionHost, type Unattended } from "../session/host.ts";
import { environmentOf, type Surroundings } from "../session/surroundings.ts";
import { Homes } from "./homes.ts";

/** Few enough that a burst of starts does not grow the process; a collection takes 7 ms of CPU. */
const STARTS = 32;

/** Runs the garbage collector after many starts: each leaves 25 KB behind, and by itself the collector runs once a second. */
export class Leftovers {
  readonly #collect: () => void;
  #starts = 0;

  /** @param collect Asks for a collection without waiting: most of the work is done on other threads. */
  constructor(collect: () => void = () => Bun.gc(false)) {
    this.#collect = collect;
  }

  /** A session was started. */
  started(): void {
    this.#starts += 1;
    if (this.#starts % STARTS === 0) this.#collect();
  }
}

export type FindResult =
  | { readonly ok: true; readonly host: SessionHost }
  | {
      readonly ok: false;
      readonly fault: "not_found" | "conflict" | "stopping" | "logs_full" | StartFault["fault"];
      readonly detail: string;
    };

/** The close code of a session that was not found or not started. */
export function codeOf(fault: (FindResult & { ok: false })["fault"]): number {
  if (fault === "not_found") return CLOSE.notFound;
  if (fault === "stopping" || fault === "logs_full") return CLOSE.unavailable;
  return fault === "conflict" ? CLOSE.conflict : CLOSE.cannotStart;
}

/** One session in the answer to `GET /sessions`. */
export type SessionListing = {
  readonly session: string;
  readonly incarnation: string;
  readonly state: "running" | "exited";
  readonly tty: boolean;
  readonly cmd: readonly string[];
  readonly createdAt: string;
  readonly clients: number;
  /** Whether a Durable Object is connected to it. */
  readonly held: boolean;
  readonly offset: number;
  readonly exit?: { readonly code: number; readonly signal?: string };
  readonly title?: string;
  readonly lastOutputMs?: number;
};

/** The logs of all sessions together, with those of running processes at their full size. */
const MAX_LOGS_BYTES = 256 * 1024 * 1024;
/** The memory of ended sessions that is kept (X5). */
const KEPT_BYTES = 64 * 1024 * 1024;
/** About the memory of an ended session besides its output and its screen. */
const SESSION_BYTES = 20 * 1024;

export class Registry {
  readonly #settings: BridgeSettings;
  readonly #homes: Homes;
  readonly #keptBytes: number;
  /** Undefined: session objects can't be called. */
  readonly #bell: BellLine | undefined;
  readonly #hosts = new Map<string, SessionHost>();
  /** The panes of sessions that run under tmux. */
  readonly panes = new SandboxPanes();
  readonly #leftovers = new Leftovers();
  readonly files = new Files();
  readonly workspaces: Workspaces;
  /** One for each archive that is being made or unpacked. */
  readonly archives = new Set<Pick<HostNames, "sandbox">>();
  /** Sessions whose process runs. */
  readonly #running = new Set<SessionHost>();
  /** Sessions whose process has ended, in that order, with the memory that each had then. */
  readonly #ended = new Map<SessionHost, number>();
  /** The memory of all of these together. */
  #endedBytes = 0;
  /** When the running processes are ended, by the clock of `performance`; undefined unless the bridge was told to stop. */
  #stopsAtMs: number | undefined;
  /** Work on files that is under way. */
  #working = 0;
  /** When the last session was forgotten, or such work done, by the clock of `performance`. */
  #emptySinceMs = performance.now();

  constructor(settings: BridgeSettings, keptBytes = KEPT_BYTES) {
    this.#settings = settings;
    this.#homes = new Homes(settings);
    this.workspaces = new Workspaces(settings);
    this.#keptBytes = keptBytes;
    const { bellUrl: url, token } = settings;
    const opened = () => {
      for (const host of this.#hosts.values()) host.callable();
    };
    this.#bell = url === undefined ? undefined : new BellLine({ url, token }, opened);
  }

  get hosts(): IterableIterator<SessionHost> {
    return this.#hosts.values();
  }

  /** Milliseconds since the last process ended and its exit was told, or work on files; 0 while there is any of these. */
  get idleMs(): number {
    if (this.#working > 0) return 0;
    let sinceMs = this.#emptySinceMs;
    for (const { exitToldAtMs } of this.#hosts.values()) {
      if (exitToldAtMs === undefined) return 0;
      sinceMs = Math.max(sinceMs, exitToldAtMs);
    }
    return Math.round(performance.now() - sinceMs);
  }

  /** Starts nothing from here on. Running processes have this many seconds. */
  close(seconds: number): void {
    this.#stopsAtMs = performance.now() + seconds * 1000;
  }

  /** Seconds until the running processes are ended; undefined unless the bridge was told to stop. */
  get secondsLeft(): number | undefined {
    if (this.#stopsAtMs === undefined) return undefined;
    return Math.max(0, Math.ceil((this.#stopsAtMs - performance.now()) / 1000));
  }

  find(sandbox: string, session: string): SessionHost | undefined {
    return this.#hosts.get(keyOf(sandbox, session));
  }

  /**
   * The session, started if there is none.
   * @param incarnation If given, only this incarnation is found, and nothing is started.
   */
  findOrStart(names: HostNames, query: AttachQuery, incarnation: string | undefined, mayStart: boolean): FindResult {
    const existing = this.find(names.sandbox, names.session);
    if (incarnation !== undefined && existing?.session.facts.incarnation !== incarnation) {
      return { ok: false, fault: "not_found", detail: "process lost: this session's process is gone" };
    }
    if (existing !== undefined) {
      if (existing.matches(query)) return { ok: true, host: existing };
      return { ok: false, fault: "conflict", detail: `session "${names.session}" runs another command` };
    }
    if (!mayStart) return { ok: false, fault: "not_found", detail: `no session "${names.session}"` };
    return this.#start(names, query);
  }

  /** The process of an order: found by its name, or started (P2). `isNew`: it was started. */
  order(names: HostNames, order: StartOrder): FindResult & { readonly isNew?: boolean } {
    const existing = this.find(names.sandbox, names.session);
    if (existing !== undefined) {
      const isOver = existing.state === "exited" && order.replace !== undefined && existing.attempt !== order.replace;
      if (!isOver) {
        if (existing.isSame(order.process)) return { ok: true, host: existing };
        return { ok: false, fault: "conflict", detail: `session "${names.session}" is another process` };
      }
    }
    const { replace: attempt, keepExited, isStdinEnded } = order;
    const isAwaited = order.isAwaited === true || order.process.delivery === "lossless";
    const stdin = Uint8Array.from(Buffer.from(order.stdin, "base64"));
    const unattended = { attempt, keepExitedMs: keepExited * 1000, stdin, isStdinEnded, isAwaited };
    const started = this.#start(names, order, unattended, existing);
    return started.ok ? { ...started, isNew: true } : started;
  }

  /** @param replaced The session that has this name until the new process runs: it is forgotten then. */
  #start(
    names: HostNames,
    query: Pick<StartOrder, "process" | "size" | "envPolicy">,
    unattended?: Unattended,
    replaced?: SessionHost,
  ): FindResult {
    const { secondsLeft } = this;
    if (secondsLeft !== undefined) {
      const detail = `the sandbox stops within ${secondsLeft} s: nothing new is started in it, and a new one takes its place`;
      return { ok: false, fault: "stopping", detail };
    }
    if (!this.#makeLogRoom(query.process.logBytes ?? LOG_BYTES)) {
      const detail = `the logs of the sessions here would have more than ${MAX_LOGS_BYTES} bytes: end some, or give a smaller "logBytes"`;
      return { ok: false, fault: "logs_full", detail };
    }
    const user = this.#userOf(names);
    if (typeof user === "string") return { ok: false, fault: "start_failed", detail: user };
    const home = user?.login === undefined ? this.#homeOf(names) : (user.home ?? "/");
    if (home === undefined) {
      return { ok: false, fault: "start_failed", detail: "the sandbox's directory can't be made: is its disk full?" };
    }
    // The panes' own server runs outside.
    const namespace = query.process.panes === true ? undefined : this.workspaces.of(names.sandbox);
    const place = { user, home: namespace === undefined ? home : WORKSPACE, namespace };
    const surroundings = this.#surroundingsOf(names, query, place);
    const started = SessionHost.start(names, query, surroundings, (host) => this.#forgot(host), unattended);
    if ("fault" in started) return { ok: false, fault: started.fault, detail: started.detail };
    this.#leftovers.started();
    replaced?.remove();
    this.#hosts.set(keyOf(names.sandbox, names.session), started);
    this.#running.add(started);
    log.info(`session ${names.label}/${names.session} started`);
    void started.exited.then((exit) => {
      this.#running.delete(started);
      surroundings.panes?.ended();
      log.info(`session ${names.label}/${names.session} ended: ${exit.signal ?? `code ${exit.code}`}`);
      if (this.find(names.sandbox, names.session) !== started) return;
      const bytes = keptBytesOf(started);
      this.#ended.set(started, bytes);
      this.#endedBytes += bytes;
      this.#forgetEarliest();
    });
    return { ok: true, host: started };
  }

  /** The sandbox's folder, as the bridge sees it. @throws {Error} If it can't be made. */
  folderOf({ sandbox, label }: Pick<HostNames, "sandbox" | "label">): string {
    return this.#homes.of(sandbox, label);
  }

  /** @throws {Error} If the sandbox's directory can't be made. */
  askFiles(names: Pick<HostNames, "sandbox" | "label">, order: FileOrder, bytes: Uint8Array): Promise<FileResult> {
    return this.whileBusy(this.files.ask(names.sandbox, () => this.placeOf(names), order, bytes));
  }

  /** The container sleeps no sooner. */
  async whileBusy<T>(work: Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work;
    } finally {
      this.#working -= 1;
      this.#emptySinceMs = performance.now();
    }
  }

  /** Where helpers of a sandbox run: in its folder, as its processes see it. @throws {Error} If that can't be made. */
  placeOf(names: Pick<HostNames, "sandbox" | "label">): HelperPlace {
    const user = this.#userOf(names);
    if (typeof user === "string") throw new Error(user);
    const namespace = this.workspaces.of(names.sandbox);
    const folder = (user?.login && user.home) ?? this.folderOf(names);
    const cwd = namespace === undefined ? folder : WORKSPACE;
    // Our own program keeps no cache in the sandbox's home.
    const own = [["BUN_RUNTIME_TRANSPILER_CACHE_PATH", "0"]] as const;
    const env = environmentOf(this.#settings, cwd, { tty: false, env: own }, undefined, user);
    return { namespace, cwd, env, user };
  }

  /** @returns As whom its processes run, or why they can't. */
  #userOf(names: Pick<HostNames, "sandbox" | "label">): ChildUser | undefined | string {
    const { logins, childUser } = this.#settings;
    return logins === undefined ? childUser : userOfSandbox(logins, names);
  }

  #surroundingsOf(
    names: HostNames,
    { process, envPolicy }: Pick<StartOrder, "process" | "envPolicy">,
    { user, home, namespace }: Pick<Surroundings, "user" | "home" | "namespace">,
  ): Surroundings {
    const { sandbox, session } = names;
    const { exec: command, trace, unattendedBytesPerSecond } = this.#settings;
    const env = environmentOf(this.#settings, home, process, envPolicy, user);
    const surroundings = {
      env,
      home,
      user,
      namespace,
      exec: command && { command, sandbox: names.label },
      trace: sessionTrace(trace, names.label, session),
      bell: this.#bell,
      unattendedBytesPerSecond,
    };
    const { pane } = process;
    if (pane !== undefined) {
      const paneSize = this.panes.sizeOf(sandbox, pane);
      return { ...surroundings, openPane: (sink, events) => this.panes.open(sandbox, pane, sink, events), paneSize };
    }
    if (process.panes !== true) return surroundings;
    const place = { env, cwd: process.cwd ?? home, user };
    const changed = (message: PanesMessage) => this.find(sandbox, session)?.panesChanged(message);
    return { ...surroundings, panes: new SessionPanes(this.panes, names, place, changed) };
  }

  #forgot(host: SessionHost): void {
    this.#endedBytes -= this.#ended.get(host) ?? 0;
    this.#ended.delete(host);
    const key = keyOf(host.names.sandbox, host.names.session);
    if (this.#hosts.get(key) !== host) return;
    this.#hosts.delete(key);
    this.#emptySinceMs = performance.now();
  }

  /** @returns Whether a log of so many bytes has room beside those of the running processes. */
  #makeLogRoom(bytes: number): boolean {
    let room = MAX_LOGS_BYTES - bytes;
    for (const { session } of this.#running) room -= session.log.capacityBytes;
    if (room >= 0) this.#forgetEarliest(Math.min(room, this.#keptBytes));
    return room >= 0;
  }

  /** Makes room if ended sessions take too much memory. A session to which a client is attached may have to tell its end first. */
  #forgetEarliest(keptBytes = this.#keptBytes): void {
    if (this.#endedBytes <= keptBytes) return;
    const kept = [...this.#ended].filter(([host]) => host.clientCount === 0 && !host.isHeld);
    let bytes = kept.reduce((sum, [, each]) => sum + each, 0);
    for (const [host, each] of kept) {
      if (bytes <= keptBytes) return;
      bytes -= each;
      host.remove();
    }
  }

  #homeOf({ sandbox, label }: HostNames): string | undefined {
    try {
      return this.#homes.of(sandbox, label);
    } catch (error) {
      log.error("a sandbox's directory can't be made:", error);
      return undefined;
    }
  }

  /** The sessions of a sandbox: all, or the one with this name. */
  list(sandbox: string, session?: string): SessionListing[] {
    if (session === undefined)
      return [...this.#hosts.values()].filter(({ names }) => names.sandbox === sandbox).map(listingOf);
    const host = this.find(sandbox, session);
    return host === undefined ? [] : [listingOf(host)];
  }
}

function keptBytesOf({ session: { facts, log } }: SessionHost): number {
  const { startOffset, endOffset } = log;
  const screenBytes = facts.tty ? emulatorBytes(log.sizeAt(endOffset), endOffset) : 0;
  return SESSION_BYTES + endOffset - startOffset + screenBytes;
}

export function listingOf(host: SessionHost): SessionListing {
  const { facts, log, exit, title } = host.session;
  return {
    session: facts.session,
    incarnation: facts.incarnation,
    state: host.state,
    tty: facts.tty,
    ...host.facts,
    clients: host.clientCount,
    held: host.isHeld,
    offset: log.endOffset,
    ...defined({ exit, title: title || undefined }),
  };
}

/** A space is in no name. */
function keyOf(sandbox: string, session: string): string {
  return `${sandbox} ${session}`;
}

/**
 * The sandboxes whose folder is /workspace for their processes: in a container that is so anyway; on a machine with many
 * sandboxes those that the sandbox API has made have a mount namespace each, also after a restart of the bridge.
 */
class Workspaces {
  readonly #settings: Pick<BridgeSettings, "sandboxRoot" | "workspace">;
  readonly #made = new Map<string, Namespace>();
  readonly #making = new Map<string, Promise<string | undefined>>();

  constructor(settings: Pick<BridgeSettings, "sandboxRoot" | "workspace">) {
    this.#settings = settings;
  }

  /** Absent for a sandbox whose folder has no other name for its processes. */
  of(sandbox: string): Namespace | undefined {
    return this.#made.get(sandbox);
  }

  /** @param folderOf The sandbox's folder. @returns Why its processes can't have it as /workspace, if so. */
  async make(sandbox: string, folderOf: () => string): Promise<string | undefined> {
    const { sandboxRoot, workspace } = this.#settings;
    // The one folder of `serve` is nobody's to share with a new sandbox.
    if (sandboxRoot === undefined)
      return workspace === WORKSPACE && existsSync(workspace) ? undefined : `there is no ${WORKSPACE}`;
    const folder = folderOf();
    const fault = await this.#make(sandboxRoot, sandbox, folder);
    const mark = markOf(sandboxRoot, sandbox);
    if (fault === undefined) mkdirSync(dirname(mark), { recursive: true, mode: 0o700 });
    if (fault === undefined) writeFileSync(mark, folder);
    return fault;
  }

  /** To be awaited before anything is started in a sandbox; absent where nothing has to be made. */
  ready(sandbox: string): Promise<string | undefined> | undefined {
    const { sandboxRoot } = this.#settings;
    if (sandboxRoot === undefined || this.#made.has(sandbox)) return undefined;
    const mark = markOf(sandboxRoot, sandbox);
    return existsSync(mark) ? this.#make(sandboxRoot, sandbox, readFileSync(mark, "utf8")) : undefined;
  }

  drop(sandbox: string): void {
    const { sandboxRoot } = this.#settings;
    if (sandboxRoot !== undefined) rmSync(markOf(sandboxRoot, sandbox), { force: true });
    this.#made.get(sandbox)?.close();
    this.#made.delete(sandbox);
    this.#making.delete(sandbox);
  }

  #make(sandboxRoot: string, sandbox: string, folder: string): Promise<string | undefined> {
    const begun = this.#making.get(sandbox);
    if (begun !== undefined) return begun;
    const making = Namespace.make(join(sandboxRoot, ".root"), folder).then((made) => {
      if (typeof made !== "string") this.#made.set(sandbox, made);
      else this.#making.delete(sandbox);
      return typeof made === "string" ? made : undefined;
    });
    this.#making.set(sandbox, making);
    return making;
  }
}

/** The file that says that a sandbox has one, with its folder in it. A dot begins no sandbox's folder. */
function markOf(sandboxRoot: string, sandbox: string): string {
  return join(sandboxRoot, ".workspaces", sandbox);
}
