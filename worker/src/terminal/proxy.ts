// The clients of the ttyds that run in one sandbox's container: lets each in, and knows who is there.

import { CLOSE, dialectNamed, MAX_CLIENTS, type SocketQueue } from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { Pass } from "../attach/entry-limits.ts";
import { kindOf } from "../attach/grant.ts";
import { InputBatch, type InputKeeping } from "../audit/input-batch.ts";
import type { Actor, AttachDeed } from "../audit/record.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import { type Refusal, upgradeHeaders } from "../refusal/refusal.ts";
import type { Idling } from "../sockets/idle.ts";
import type { Bounded } from "../sockets/lifetimes.ts";
import type { Watches } from "../sockets/watches.ts";
import { NOT_RUNNING, TtydRelay } from "./relay.ts";
import { readTerminalSettings, type TerminalEnv } from "./settings.ts";
import { ttydAddress } from "./ttyd-address.ts";
import { askTtyd, openTtyd } from "./upstream.ts";

/** The variables that the way to a ttyd needs. */
export type TtydEnv = BridgeEnv & TerminalEnv;

/** A client's connection to a ttyd. */
export type PassedOn = Bounded &
  Idling & {
    /** The bytes that wait in the client's socket; undefined if the runtime does not tell. */
    readonly queue: SocketQueue | undefined;
  };

export interface ProxyPorts {
  readonly env: TtydEnv;
  /** Absent if no audit is kept. */
  readonly audit: SessionAudit | undefined;
  /** How much of typed input the audit keeps. */
  readonly keeping: InputKeeping;
  readonly watches: Watches;
  /** A connection with this pass has ended. */
  ended(pass: Pass): void;
}

export class TtydProxy {
  readonly #ports: ProxyPorts;
  readonly #relays = new Set<TtydRelay>();

  constructor(ports: ProxyPorts) {
    this.#ports = ports;
  }

  /** Whether a client is connected to one. */
  get isActive(): boolean {
    return this.#relays.size > 0;
  }

  /**
   * Connects a client to the ttyd in its sandbox: only how long it may stay is decided here.
   * @param signal Says that the client has gone.
   * @returns The answer to the upgrade, or why there is none.
   * @throws {AuthFault} `misconfigured`.
   */
  async attach(spec: AttachSpec, signal: AbortSignal): Promise<Response | Refusal> {
    const { env, audit, keeping, watches } = this.#ports;
    const relays = this.#relays;
    const { ttyd } = readTerminalSettings(env);
    if (ttyd === undefined) throw new Error("Cannot attach to a ttyd: TERMINAL_UPSTREAM names none");
    if (relays.size >= MAX_CLIENTS) return { code: CLOSE.tryLater, error: "full", message: "the terminal is full" };
    const address = ttydAddress(ttyd, spec.sandboxKey);
    const socket = await openTtyd(env, address);
    if (socket === undefined) return { code: NOT_RUNNING.code, error: "not_running", message: NOT_RUNNING.reason };
    const { who, actor, query } = spec;
    const named = { name: query.name || who.name, kind: kindOf(who) };
    const record = audit && new ConnectionRecord(audit, keeping, actor, named);
    const pair = new WebSocketPair();
    const relay = new TtydRelay(pair[1], socket, {
      input: (content) => record?.input(content),
      ended: (code) => {
        relays.delete(relay);
        record?.ended(code);
        ended();
      },
      isTtydThere: async () => {
        const answer = await askTtyd(env, address, "/token");
        await answer?.body?.cancel();
        return answer !== undefined;
      },
    });
    relays.add(relay);
    const connection: PassedOn = {
      get isEnded() {
        return !relays.has(relay);
      },
      get activity() {
        return relay.activity;
      },
      get queue() {
        return relay.queue;
      },
      dismiss: (code, reason, retry) => {
        const dialect = dialectNamed(spec.dialect);
        const { frames } = dialect.encode({ type: "bye", code, reason, retry }, dialect.start);
        relay.close(code, dialect.reasons?.[code] ?? reason, frames);
      },
    };
    const ended = () => {
      const pass = watches.remove(connection);
      if (pass !== undefined) this.#ports.ended(pass);
    };
    watches.add(connection, spec, { isLookedAt: true, queue: () => connection.queue, gone: ended });
    const aborted = () => connection.dismiss(CLOSE.goingAway, "", "now", "vanished");
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted);
    return new Response(null, { status: 101, webSocket: pair[0], headers: upgradeHeaders(spec) });
  }
}

/** A longer message is kept in several records: one has to fit into a row. */
const MAX_RECORD_BYTES = 64 * 1024;

/**
 * Records one connection that is passed on to a ttyd: its owner, start, end, and each typed message. Output is not recorded.
 */
class ConnectionRecord {
  readonly #audit: Pick<SessionAudit, "note">;
  readonly #keeping: InputKeeping;
  readonly #actor: Actor;
  readonly #client = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  #offset = 0;

  constructor(
    audit: Pick<SessionAudit, "note">,
    keeping: InputKeeping,
    actor: Actor,
    who: Pick<AttachDeed, "name" | "kind">,
  ) {
    this.#audit = audit;
    this.#keeping = keeping;
    this.#actor = actor;
    audit.note({ type: "attach", name: who.name, role: "driver", kind: who.kind }, this.#client, actor);
  }

  /** Reads `content` at once. */
  input(content: Uint8Array): void {
    for (let at = 0; at < content.length; at += MAX_RECORD_BYTES) {
      const piece = content.subarray(at, at + MAX_RECORD_BYTES);
      const batch = new InputBatch(this.#client, this.#offset, "typed", this.#keeping, false);
      batch.add(this.#client, this.#offset, piece, "typed", false);
      this.#offset += piece.length;
      this.#audit.note(batch.finish(), this.#client, this.#actor);
    }
  }

  ended(code: number): void {
    this.#audit.note({ type: "detach", code }, this.#client, this.#actor);
  }
}
