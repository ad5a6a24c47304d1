// Which party answers the terminal queries of a session, and from where on (K5). The same on both hops: the Durable Object
// chooses among its clients and tells the bridge. The bridge answers if no client does.

import type { Answerer } from "../terminal/answerer-history.ts";
import { isReport } from "../terminal/reports.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Keyboard } from "./keyboard.ts";
import type { Upstream } from "./session-types.ts";

/** How long a former answerer's reports are still taken after the hand-over: it was asked before. */
const LATE_REPORT_MS = 2_000;

export interface AnswererChoicePorts {
  readonly clients: Clients;
  readonly keyboard: Keyboard;
  readonly now: () => number;
  /** As far as there has been output. */
  end(): number;
  /** To be told upstream. @see Upstream.answerer */
  decided(answerer: Answerer): boolean;
}

export class AnswererChoice {
  readonly #ports: AnswererChoicePorts;
  #current: Answerer;
  /** The answerer that the Durable Object has told: its own client, or none. */
  #told: Answerer | undefined;
  #former: { readonly id: string; readonly untilMs: number } | undefined;
  /** The bridge has answered queries that end before this. */
  #answered = 0;
  #hasChosen = false;
  /** The bridge was told that it answers, and may not have heard of it: until it has, it announces nothing of what it will answer. */
  #isUnheard = false;

  constructor(ports: AnswererChoicePorts) {
    this.#ports = ports;
    this.#current = { id: "", offset: 0 };
  }

  get current(): Answerer {
    return this.#current;
  }

  /** Whether no other client's answers are still taken, and no hand-over lies ahead. */
  get isSettled(): boolean {
    const { end, now } = this.#ports;
    const isHandedOver = now() >= (this.#former?.untilMs ?? 0) && !this.#isUnheard;
    return isHandedOver && this.#current.offset <= end() && this.#answered <= end();
  }

  get kept(): Answerer & { readonly hasChosen: boolean } {
    return { ...this.#current, hasChosen: this.#hasChosen };
  }

  /** It goes on from the state that {@link kept} returned. */
  restore({ hasChosen, id, offset }: Answerer & { readonly hasChosen: boolean }): void {
    this.#current = { id, offset };
    this.#hasChosen = hasChosen;
  }

  /** To be called whenever a client comes or goes, or the keyboard is handed over. */
  choose(): void {
    this.#decide(this.#chosen(), Math.max(this.#ports.end(), this.#answered));
  }

  /** The bridge is told the answerer at the far end of its inner hop. */
  tell(answerer: Answerer): void {
    this.#told = answerer;
    const id = this.#chosen();
    this.#decide(id, id === answerer.id ? answerer.offset : this.#ports.end());
  }

  /**
   * Tells the bridge after its greeting. A new object does not know the earlier answerers.
   * @param hasClients Whether the bridge knew of clients that are attached: else it has answered anyway, and has nothing new to hear.
   */
  told(upstream: Pick<Upstream, "answerer">, hasClients: boolean): void {
    const isAwaited = upstream.answerer(this.#hasChosen ? this.#current : { id: "", offset: this.#ports.end() });
    this.#isUnheard = isAwaited && hasClients;
  }

  /** The bridge has heard that it answers: what it answers of later output it announces. A client may take over. */
  heard(): void {
    if (!this.#isUnheard) return;
    this.#isUnheard = false;
    this.choose();
  }

  /** The bridge says, before their last bytes, that it answers the queries that end before `offset`. */
  answered(offset: number): void {
    this.#answered = Math.max(this.#answered, offset);
    const { id, offset: from } = this.#current;
    if (id === "" || from >= offset) return;
    // Chosen while this was on its way. No client has been sent those bytes yet.
    this.#set({ id: "", offset: from });
    this.#set({ id, offset });
  }

  /**
   * Whether an exclusive session takes this from a client that does not hold the keyboard: an answer from the answerer, while
   * the keyboard is free for it to take, or late from the one that answered until just now.
   */
  mayReport(client: ClientRecord, bytes: Uint8Array): boolean {
    if (client.role !== "driver") return false;
    const isDue = this.#ports.keyboard.holder === "" && this.#current.id === client.id;
    const isLate = this.#former?.id === client.id && this.#ports.now() < this.#former.untilMs;
    return (isDue || isLate) && isReport(bytes);
  }

  #decide(id: string, offset: number): void {
    if (id === this.#current.id) return;
    this.#former = { id: this.#current.id, untilMs: this.#ports.now() + LATE_REPORT_MS };
    this.#hasChosen = true;
    this.#set({ id, offset });
    this.#isUnheard = this.#ports.decided(this.#current);
  }

  #set(answerer: Answerer): void {
    this.#current = answerer;
    this.#ports.clients.tellAll({ type: "answerer", ...answerer });
  }

  /** The client that the Durable Object has told of; else the holder, else the longest attached driver. "": the bridge. */
  #chosen(): string {
    // Of what has come since, the bridge will answer what was sent before it hears, and can't announce it any more.
    if (this.#isUnheard) return "";
    const { keyboard, clients } = this.#ports;
    const told = clients.get(this.#told?.id ?? "");
    // One that may come back to the Durable Object has not left.
    if (told?.isPresent === true) return told.id;
    const holder = clients.get(keyboard.holder);
    if (holder !== undefined && this.#canAnswer(holder)) return holder.id;
    // No other client may type.
    if (holder?.isPresent === true && !holder.isAttached && keyboard.mode === "exclusive") return "";
    let chosen: ClientRecord | undefined;
    for (const client of clients.present()) {
      if (client.role !== "driver" || !this.#canAnswer(client)) continue;
      if (chosen === undefined || client.order < chosen.order) chosen = client;
    }
    return chosen?.id ?? "";
  }

  #canAnswer(client: ClientRecord): boolean {
    if (client.isProgram) return false;
    const { phase } = client.presence;
    // The Durable Object chooses among those that it has attached, and tells.
    return phase === "greeted" || phase === "greeting" || (phase === "remote" && this.#told === undefined);
  }
}
