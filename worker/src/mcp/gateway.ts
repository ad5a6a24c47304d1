// The gateway's part in the session's Durable Object (M2): one MCP session with one stdio server, which is the session's process. Its
// output is read, and its input written, by the operations that all programs have; the core decides which message goes where.

import {
  type EventPlace,
  JsonLines,
  LISTENING,
  type Line,
  MAX_UNANSWERED_BYTES,
  PRIMED_SINCE,
  placeOf,
  refusalOf,
  type Sent,
  Streams,
  TOO_LONG,
} from "@sbx/mcp/gateway";
import type { RelaySession } from "sandbox-stdio/core";
import type { Actor } from "../audit/record.ts";
import { type Operation, type ProgramAnswer, refused } from "../programs/operations/call.ts";
import type { ProgramCalls } from "../programs/program-calls.ts";
import { respond } from "../programs/respond.ts";
import { GatewayStore } from "../records/gateway-store.ts";
import type { SessionStore } from "../records/session-store.ts";
import type { Lifetimes } from "../sockets/lifetimes.ts";
import { EventConnection } from "./event-connection.ts";
import type { CallerFacts, GatewayCall } from "./gateway-call.ts";
import { ServerOutput } from "./server-output.ts";

/** A server whose client has gone is read for so long as if it came back. */
const LINGER_MS = 30_000;
/** A client that has gone before its `initialize` was answered may come back for so long: then the server is ended. */
const UNTAKEN_MS = 5_000;
const WRITE_MS = 30_000;
/** Before a call is repeated that could not be answered. */
const PAUSE_MS = 250;

export interface GatewayPorts {
  readonly storage: DurableObjectStorage;
  readonly store: SessionStore;
  readonly programs: Pick<ProgramCalls, "answer">;
  readonly lifetimes: Lifetimes;
  readonly maxStreams: number;
  /** The session as it is held here now. */
  session(): RelaySession | undefined;
  /** Something may be due at another time than before, or the process needed no more. */
  changed(): void;
  end(by: Actor): Promise<boolean>;
  waitUntil(promise: Promise<unknown>): void;
}

/** The state of the MCP session while this object lives. */
type Live = { readonly incarnation: string; readonly streams: Streams; readonly lines: JsonLines };

export class McpGateway {
  readonly #at: GatewayPorts;
  readonly #store: GatewayStore;
  readonly #connections = new Set<EventConnection>();
  #live: Live | undefined;
  /** The last caller: the gateway reads and writes for this caller. */
  #caller: CallerFacts | undefined;
  #output: ServerOutput | undefined;
  #isWriting = false;
  #lingersUntilMs = 0;

  constructor(ports: GatewayPorts) {
    this.#at = ports;
    this.#store = new GatewayStore(ports.storage);
  }

  async answer(call: GatewayCall, signal: AbortSignal): Promise<Response> {
    const { ask, binding, ...caller } = call;
    const incarnation = this.#at.store.record?.facts.incarnation;
    if (ask.type === "begin" && incarnation !== undefined) this.#store.begin(incarnation, binding, ask.version);
    const { head } = this.#store;
    if (head === undefined || head.incarnation !== incarnation || head.binding !== binding || head.isOver)
      return gone();
    this.#caller = caller;
    if (ask.type !== "begin") this.#taken();
    if (ask.type === "end") return this.#end(caller);
    const located = await this.#ask({ type: "locate" }, signal);
    if (located.status === 503 || located.status === 401) return respond(located);
    if (located.status !== 200 || located.body.state !== "running") {
      return ask.type === "begin" ? endedAtOnce(call.session) : gone();
    }
    const live = this.#liven(incarnation);
    if (this.#connections.size >= this.#at.maxStreams) {
      return respond({ ...refused(429, "too_many_waits", "too many streams on this session"), retryAfterSeconds: 5 });
    }
    const isPrimed = (ask.version ?? head.version) >= PRIMED_SINCE;
    if (ask.type === "listen") return this.#listen(live, ask.lastEventId, isPrimed, signal);
    return this.#post(live, ask.sent, isPrimed, signal);
  }

  #post(live: Live, sent: readonly Sent[], isPrimed: boolean, signal: AbortSignal): Response {
    const { streams } = live;
    if (sent.some(({ id }) => id !== undefined && streams.isPending(id))) {
      return respond(refused(400, "bad_request", "a request that is not answered yet has this id"));
    }
    if (!streams.hasRoomFor(sent.filter(({ id }) => id !== undefined).length)) {
      return respond({ ...refused(429, "too_many_waits", "too many requests are not answered"), retryAfterSeconds: 5 });
    }
    const { stream, waiting } = this.#together(() => {
      const opened = streams.open(sent);
      for (const { cancels } of sent) if (cancels !== undefined) streams.refuse(cancels, "cancelled");
      const lengths = sent.map(({ line }) => this.#store.addInput(line));
      this.#store.save({ last: streams.last });
      return { stream: opened, waiting: lengths.at(-1) ?? 0 };
    });
    if (waiting > MAX_UNANSWERED_BYTES) {
      this.#overflowed("the server does not read what it is sent");
      return gone();
    }
    this.#wakeAll();
    const answer =
      stream === undefined
        ? new Response(null, { status: 202 })
        : this.#connect(live, { stream, offset: streams.last.offset }, isPrimed, signal);
    this.#work(live);
    return answer;
  }

  #listen(live: Live, lastEventId: string | undefined, isPrimed: boolean, signal: AbortSignal): Response {
    const { streams } = live;
    const place = lastEventId === undefined ? undefined : placeOf(lastEventId);
    if (lastEventId !== undefined && (place === undefined || !streams.has(place))) {
      // Not 404: that would tell the client that its session is gone.
      return respond(refused(400, "bad_request", "Last-Event-ID is none of this session's: leave it out"));
    }
    const stream = place?.stream ?? LISTENING;
    // A client that comes again has lost its connection, whether that is known here or not.
    for (const connection of [...this.#connections]) if (connection.stream === stream) connection.close();
    const answer = this.#connect(live, { stream, offset: place?.offset ?? streams.listeningFrom }, isPrimed, signal);
    this.#work(live);
    return answer;
  }

  #connect(live: Live, place: EventPlace, isPrimed: boolean, signal: AbortSignal): Response {
    const caller = this.#caller;
    if (caller === undefined) throw new TypeError("Cannot connect nobody");
    const { streams } = live;
    const { stream, offset: after } = place;
    streams.connected(stream);
    const source = {
      next: (behind: number) => streams.next(stream, behind),
      delivered: (offset: number) => {
        streams.delivered(stream, offset);
        this.#taken();
      },
      isDone: () => streams.isAnswered(stream) || this.#live !== live,
    };
    const connection: EventConnection = new EventConnection(stream, after, isPrimed, source, () => {
      this.#connections.delete(connection);
      this.#at.lifetimes.remove(connection);
      streams.disconnected(stream);
      this.#lingersUntilMs = Date.now() + LINGER_MS;
      this.#look();
      if (this.#isUntaken) setTimeout(() => this.#endUntaken(), UNTAKEN_MS);
    });
    this.#connections.add(connection);
    this.#at.lifetimes.add(connection, caller.who, caller.pass);
    signal.addEventListener("abort", () => connection.close());
    return connection.response;
  }

  async #end({ actor }: CallerFacts): Promise<Response> {
    this.#store.save({ isOver: true });
    this.#leave();
    await this.#at.end(actor);
    return new Response(null, { status: 204 });
  }

  // ---- A client that gives up --------------------------------------------------------------------------------------

  get #isUntaken(): boolean {
    return this.#connections.size === 0 && this.#store.head?.isTaken === false;
  }

  #taken(): void {
    if (this.#store.head?.isTaken === false) this.#store.save({ isTaken: true });
  }

  /** Nobody else knows the session's id. */
  #endUntaken(): void {
    if (this.#isUntaken) this.#overflowed("its client gave up before it was answered");
  }

  // ---- The server --------------------------------------------------------------------------------------------------

  #liven(incarnation: string): Live {
    if (this.#live?.incarnation === incarnation) return this.#live;
    this.#leave();
    const { end = 0, last, long } = this.#store.head ?? {};
    const lines = new JsonLines(end, this.#store.partial(), long);
    this.#live = { incarnation, lines, streams: new Streams(this.#store, last) };
    return this.#live;
  }

  /** All of it is stored, or nothing: then the state in memory goes too, and is read anew where it is needed. */
  #together<T>(work: () => T): T {
    try {
      return this.#store.together(work);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Reads and writes as long as a client wants that. */
  #work(live: Live): void {
    if (this.#live !== live) return;
    if (!this.#isWriting) this.#at.waitUntil(this.#write(live));
    // Without a client, the server's output waits in the log, and does not keep the process from its end.
    if (this.#isWanted) this.#hear(live);
  }

  get #isWanted(): boolean {
    if (this.#connections.size > 0) return true;
    return this.#live?.streams.isAwaiting === true && Date.now() < this.#lingersUntilMs;
  }

  #look(): void {
    if (this.#isWanted && this.#connections.size === 0) setTimeout(() => this.#look(), LINGER_MS + 1);
    if (this.#isWanted) return;
    this.#output?.leave();
    this.#output = undefined;
    this.#at.changed();
  }

  /** Hears the server, as a client of the session that is here now. */
  #hear(live: Live): void {
    const { session } = this.#at;
    const current = session();
    const caller = this.#caller;
    if (current === undefined || caller === undefined || this.#output?.isOf(current) === true) return;
    const output = new ServerOutput(current, {
      took: (pieces, logNext) => this.#took(live, pieces, logNext),
      lost: () => this.#overflowed("messages of the server were lost: it said more than is kept"),
      exited: (code) => this.#over(`the MCP server exited with code ${code}`),
      left: (isGone) => {
        if (isGone) this.#over("the MCP server was lost");
        // Clients come back, and find it as it is then.
        else for (const connection of [...this.#connections]) connection.close();
      },
    });
    this.#output = output;
    const { logNext = 0 } = this.#store.head ?? {};
    const refusal = output.attach(`mcp-${crypto.randomUUID()}`, `${caller.who.name} (MCP)`, logNext);
    if (refusal !== undefined) this.#overflowed(`the server can't be heard: ${refusal}`);
    this.#at.changed();
  }

  #took(live: Live, pieces: readonly Uint8Array[], logNext: number): void {
    if (this.#live !== live) return;
    const { lines, streams } = live;
    let hasRefused = false;
    this.#together(() => {
      for (const piece of pieces) {
        const { lineStart } = lines;
        const known = lines.partial.length;
        for (const line of lines.push(piece)) {
          streams.add(line);
          if (line.isTooLong === true && this.#refuseQuestion(line)) hasRefused = true;
        }
        // An unfinished line may be longer than the log that it is read from. It may turn out to be no message.
        const isFinished = lines.lineStart !== lineStart || lines.long !== undefined;
        if (isFinished && known > 0) this.#store.clearPartial();
        this.#store.savePartial(lines.partial, isFinished ? 0 : known);
      }
      this.#store.save({ logNext, end: lines.end, last: streams.last, long: lines.long });
    });
    if (streams.isFull) this.#overflowed("more than 8 MiB, or 50,000 messages, wait for their client");
    else this.#wakeAll();
    if (hasRefused) this.#work(live);
  }

  /** A request of the server's own that is too long for its client is answered here. */
  #refuseQuestion({ message: { id, method } }: Line): boolean {
    const isQuestion = id !== undefined && method !== undefined;
    if (isQuestion) this.#store.addInput(refusalOf(JSON.stringify(id), TOO_LONG));
    return isQuestion;
  }

  async #write(live: Live): Promise<void> {
    this.#isWriting = true;
    try {
      for (let input = this.#store.nextInput(); input !== undefined; input = this.#store.nextInput()) {
        const { at, bytes } = input;
        const latin1 = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
        const operation = { type: "write", writer: "mcp", at, bytes: latin1, waitMs: WRITE_MS } as const;
        const { status } = await this.#ask(operation, new AbortController().signal);
        if (this.#live !== live) return;
        // The write has its place: the bridge does not type again the input that it took before.
        if (status === 200 || status === 202) this.#store.dropInput(at);
        else if (status === 429 || status === 503) await pause();
        // The reader sees the exit, behind all output before it.
        else return;
      }
    } finally {
      this.#isWriting = false;
    }
  }

  #ask(operation: Operation, signal: AbortSignal): Promise<ProgramAnswer> {
    const caller = this.#caller;
    if (caller === undefined) throw new TypeError("Cannot ask for nobody");
    const incarnation = this.#at.store.record?.facts.incarnation;
    return this.#at.programs.answer({ ...caller, incarnation, mayStart: false, operation }, signal);
  }

  // ---- Its end -----------------------------------------------------------------------------------------------------

  /** The server has ended: the gateway refuses the requests that are still open. */
  #over(message: string): void {
    const live = this.#live;
    if (live === undefined) return;
    this.#together(() => {
      live.streams.refuseAll(message);
      this.#store.save({ isOver: true, last: live.streams.last });
    });
    this.#live = undefined;
    this.#output?.leave();
    this.#output = undefined;
    this.#wakeAll();
  }

  /** More than is kept: nothing after that would be whole. */
  #overflowed(message: string): void {
    const { actor } = this.#caller ?? {};
    this.#over(message);
    if (actor !== undefined) this.#at.waitUntil(this.#at.end(actor));
  }

  #leave(): void {
    this.#live = undefined;
    this.#output?.leave();
    this.#output = undefined;
    for (const connection of [...this.#connections]) connection.close();
  }

  #wakeAll(): void {
    for (const connection of [...this.#connections]) connection.wake();
  }
}

function gone(message = "there is no such MCP session: initialize a new one"): Response {
  return respond(refused(404, "not_found", message));
}

function endedAtOnce(session: string): Response {
  return respond(
    refused(502, "server_ended", `the MCP server ended at once: the log of session "${session}" says why`),
  );
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
