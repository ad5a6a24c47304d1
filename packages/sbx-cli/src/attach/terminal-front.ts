// A person at a terminal, and a PTY at the other end.

import { MAX_COLS, MAX_ROWS, MIB, type OutputStream, type PredictionMode, type StdioClient } from "sandbox-stdio/core";
import type { Escapes } from "../args/cli-command.ts";
import type { Notices } from "../base/notices.ts";
import type { Output } from "../base/output.ts";
import { leftOnMessage, roundTripMessage } from "../base/server-errors.ts";
import { type Drawing, TerminalOutput } from "../base/terminal-output.ts";
import { RawTerminal, sizeOf, type TerminalStreams } from "../base/tty.ts";
import type { Front } from "./front.ts";
import { KeyReader, readMenuKey } from "./keys.ts";
import { LocalEcho } from "./local-echo.ts";
import { MENU_KEY, Menu, type MenuAction } from "./menu.ts";
import { ParticipantsView } from "./participants-view.ts";
import { TILDE_HELP, type TildeAction, TildeReader } from "./tilde.ts";
import { TerminalTitle } from "./title.ts";

const STDOUT = 1;
const ENTER = 0x0d;
/** Limit of input that waits for the program. It is read ahead so that keys after a long paste still work. */
const MAX_WAITING_BYTES = 32 * MIB;
/** Mouse and focus reports: sent without the person typing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
const REPORT = /^\x1b\[(?:[IO]|M|<)/;

export const SECRET_ON = "secret input on: only the amount of typed input is recorded, until Ctrl+^ p";
const SECRET_OFF = "secret input off: typed input is recorded again, if the server records input";

export type TerminalFrontParts = {
  readonly client: StdioClient;
  readonly output: Output;
  readonly notices: Notices;
  readonly streams: TerminalStreams;
  /** Whether status is on from the beginning. */
  readonly hasStatus: boolean;
  /** The active escape keys. Absent: all. */
  readonly escapes?: Escapes | undefined;
  /** When to show typed characters before their echo. Default: `auto`. */
  readonly prediction?: PredictionMode | undefined;
  /** Ctrl+] was pressed, or the terminal is gone. */
  readonly onDetach: () => void;
};

export class TerminalFront implements Front {
  readonly #parts: TerminalFrontParts;
  readonly #screen: TerminalOutput;
  readonly #terminal: RawTerminal;
  readonly #keys: KeyReader;
  readonly #tildes: TildeReader | undefined;
  readonly #hasMenu: boolean;
  readonly #title: TerminalTitle;
  readonly #echo: LocalEcho;
  readonly participants: ParticipantsView;
  /** Present while the menu waits for a key. */
  #menu: Menu | undefined;
  readonly #onKeys = (chunk: Buffer) => this.#typed(chunk);
  readonly #onResize = () => this.#resized();
  readonly #onGone = () => this.#parts.onDetach();
  /** Whether the notice about discarded keys was shown in this outage. */
  #hasToldDiscard = false;
  #hasToldRest = false;
  /** Output that ends before this offset is replay. */
  #live: number | undefined;
  #farewell = "";
  /** Offset after the newest output that has come. */
  #receivedTo = 0;

  constructor(parts: TerminalFrontParts) {
    this.#parts = parts;
    const { client, output, notices, streams, escapes = { control: true, tilde: true } } = parts;
    // Cached by Node: no system call per sequence.
    const size = () => ({ cols: streams.output.columns || MAX_COLS, rows: streams.output.rows || MAX_ROWS });
    this.#keys = new KeyReader(escapes.control);
    this.#hasMenu = escapes.control;
    this.#tildes = escapes.tilde ? new TildeReader() : undefined;
    this.#screen = new TerminalOutput((offset) => client.mayAnswer(offset), size);
    this.#echo = new LocalEcho({
      mode: parts.prediction ?? "auto",
      write: (text) => output.push(STDOUT, Buffer.from(text)),
      mayDraw: () => this.#screen.isBetweenSequences,
      isAlternate: () => this.#screen.modes.isAlternate,
      isEncoded: () => this.#screen.modes.keyboardFlags !== 0,
      size,
      measure: (told) => client.time(told),
    });
    const draw = (text: string) => {
      if (this.#screen.isBetweenSequences) this.#print(Buffer.from(text));
    };
    this.#title = new TerminalTitle(draw, () => this.#screen.modes.title);
    this.participants = new ParticipantsView(notices, parts.hasStatus, { title: (text) => this.#title.set(text) });
    this.#terminal = new RawTerminal(
      streams,
      () => this.#title.resetSequence() + this.#screen.resetSequence + this.#farewell,
    );
    notices.aim({
      kind: "terminal",
      draw,
      isAlternate: () => this.#screen.modes.isAlternate,
    });
  }

  get isFullScreen(): boolean {
    return this.#screen.modes.isAlternate;
  }

  /** Keys that were typed earlier are still in the terminal and come now. */
  start(): void {
    const { input, output } = this.#parts.streams;
    input.once("error", this.#onGone);
    this.#terminal.enter();
    input.on("data", this.#onKeys);
    input.once("end", this.#onGone);
    output.on("resize", this.#onResize);
    this.#resized();
    this.#echo.measure();
  }

  /** The connection broke: nothing confirms predictions. */
  disconnected(): void {
    this.#echo.disconnected();
  }

  /** The terminal began or stopped echoing typed characters. */
  echoes(isOn: boolean): void {
    this.#echo.echoes(isOn);
  }

  /** After a reconnect: resets the outage notices, and has a full-screen program redraw. */
  resumed(): void {
    this.#hasToldDiscard = false;
    this.#hasToldRest = false;
    // A message follows the greeting if the terminal does not echo.
    this.#echo.echoes(true);
    if (this.#screen.modes.isAlternate && this.participants.mayType) this.#parts.client.signal("SIGWINCH");
  }

  output(_stream: OutputStream, bytes: Uint8Array, end: number): void {
    this.#receivedTo = end;
    this.#live ??= this.#parts.client.hello?.live;
    if (this.#screen.isTransfer && !this.participants.mayType) this.#screen.endTransfer();
    const offset = end - bytes.length;
    this.#draw(() => this.#screen.draw(bytes, offset, this.#live));
    const leftOn = this.#screen.takeLeftOn();
    if (leftOn.length > 0 && offset >= (this.#live ?? 0)) this.#parts.notices.say(leftOnMessage(leftOn));
  }

  snapshot(bytes: Uint8Array, offset: number): void {
    this.#draw(() => this.#screen.redraw(bytes, offset));
  }

  gap(): void {
    this.#print(this.#screen.flush());
  }

  inputDrained(): void {
    const { client, streams } = this.#parts;
    const { input } = streams;
    this.#echo.answered(client.unackedInput);
    if (this.#terminal.isRaw && input.isPaused()) input.resume();
  }

  discarded(isLineSent: boolean): void {
    const { notices, client } = this.#parts;
    notices.bell();
    const isBack = client.state.phase === "attached";
    if (isBack && !this.#hasToldRest) {
      this.#hasToldRest = true;
      notices.say("the rest of that line is discarded too; press Enter and type it again");
    }
    if (isBack || this.#hasToldDiscard) return;
    this.#hasToldDiscard = true;
    const half = isLineSent ? "; the beginning of this line was already sent, Ctrl+U clears it" : "";
    notices.say(`not connected: typed keys are discarded (Enter retries now, Ctrl+] detaches)${half}`);
  }

  inputClosed(): void {
    // A PTY has no final end of input.
  }

  finish(): void {
    this.#print(this.#screen.flush());
  }

  close(isSudden: boolean): void {
    const { input, output } = this.#parts.streams;
    input.off("data", this.#onKeys);
    input.off("end", this.#onGone);
    input.off("error", this.#onGone);
    output.off("resize", this.#onResize);
    input.pause();
    this.#echo.close();
    // What is printed next must not follow a prompt on its line.
    if (isSudden) this.#farewell = "\r\n";
    this.#terminal.leave();
  }

  #draw(read: () => Drawing): void {
    const { client, output } = this.#parts;
    const isOpen = this.#screen.isBetweenSequences;
    const { parts, end } = read();
    // Ours can't go into the middle of a sequence, so a title in two frames stays.
    if (isOpen && this.#screen.modes.title !== "") this.#print(Buffer.from(this.#title.keep()));
    for (const part of parts) this.#print(part);
    output.push(STDOUT, new Uint8Array(0), end);
    this.#title.follow();
    if (end >= (client.hello?.live ?? 0)) this.participants.caughtUp();
  }

  #print(bytes: Uint8Array): void {
    this.#echo.withdraw();
    this.#parts.output.push(STDOUT, bytes);
    this.#echo.printed(bytes);
  }

  #typed(chunk: Buffer): void {
    if (this.participants.mayType) this.#screen.typed(chunk);
    // Bytes of a file transfer. A single byte is a key, so that Ctrl+] ends a transfer that this terminal does not support.
    if (this.#screen.isTransfer && chunk.length > 1) {
      this.#type(chunk);
      return;
    }
    const afterMenuKey = this.#menu === undefined && this.#hasMenu ? readMenuKey(chunk) : undefined;
    if (this.#menu !== undefined) this.#chosen(chunk);
    else if (afterMenuKey === undefined || this.participants.people === undefined) this.#send(chunk);
    else {
      this.#menu = new Menu(this.participants.people, this.#parts.client.isSecret);
      if (afterMenuKey.length > 0) this.#chosen(afterMenuKey);
      else this.#parts.notices.say(this.#menu.text);
    }
  }

  #send(chunk: Uint8Array): void {
    const { client, notices, streams, onDetach } = this.#parts;
    const { bytes, isDetach } = this.#keys.read(chunk);
    const read = this.#tildes?.read(bytes) ?? { bytes };
    if (read.bytes.length > 0) this.#type(read.bytes);
    if (isDetach) onDetach();
    else if (read.action !== undefined) this.#escape(read.action);
    else if (client.unackedInput >= MAX_WAITING_BYTES) {
      streams.input.pause();
      notices.say(`${MAX_WAITING_BYTES / MIB} MiB of input are waiting for the program; keys are paused`);
    }
  }

  #escape(action: TildeAction): void {
    const { notices, onDetach } = this.#parts;
    if (action === "detach") onDetach();
    else if (action === "help") notices.say(TILDE_HELP);
    else if (action === "round_trip") this.#sayRoundTrip();
    else this.#suspend();
  }

  #suspend(): void {
    const { modes, resetSequence } = this.#screen;
    this.#echo.reset();
    // The program's screen is gone after a suspend: it must redraw, as after an outage.
    process.once("SIGCONT", () => this.resumed());
    this.#terminal.suspend(this.#title.resetSequence() + resetSequence, modes.resumeSequence);
  }

  #sayRoundTrip(): void {
    const { client, notices } = this.#parts;
    const isOpen = client.time((ms) => {
      const behind = Math.max(0, this.#receivedTo - (client.resumePoint?.offset ?? 0));
      notices.say(roundTripMessage(ms, behind, client.unackedInput));
    });
    if (!isOpen) notices.say("not connected: cannot measure the round trip");
  }

  #type(bytes: Uint8Array): void {
    const { client, notices } = this.#parts;
    // While disconnected, the outage notice has priority.
    if (client.state.phase !== "attached" || this.participants.mayType) {
      if (client.state.phase !== "attached" || client.isSecret || this.#screen.isTransfer) this.#echo.reset();
      else this.#echo.typed(bytes);
      client.type(bytes);
      if (bytes.length === 1 && bytes[0] === ENTER) client.retryNow();
    } else if (!REPORT.test(String.fromCharCode(...bytes.subarray(0, 3)))) {
      notices.bell();
      this.participants.refused();
    }
  }

  /** Handles the key after Ctrl+^. An escape sequence counts as one key that the menu does not have. */
  #chosen(keys: Uint8Array): void {
    const menu = this.#menu;
    const isMenuKey = readMenuKey(keys)?.length === 0;
    const key = isMenuKey ? MENU_KEY : (keys[0] ?? 0);
    // Ctrl+] detaches from the menu, too.
    if (this.#keys.read(keys).isDetach) this.#parts.onDetach();
    else if (menu !== undefined) this.#do(menu.press(key));
  }

  #do(action: MenuAction): void {
    const { client, notices, onDetach } = this.#parts;
    if (action.kind !== "more") this.#menu = undefined;
    switch (action.kind) {
      case "ask":
        client.send({ type: "request_stdin" });
        return;
      case "decline":
        client.send({ type: "decline_ask", id: action.id });
        return;
      case "release":
        client.send({ type: "release_stdin" });
        return;
      case "take":
        client.send({ type: "force_take" });
        return;
      case "give":
        client.send({ type: "grant_stdin", to: action.to });
        return;
      case "secret":
        client.setSecret(!client.isSecret);
        notices.say(client.isSecret ? SECRET_ON : SECRET_OFF);
        return;
      case "who":
        notices.say(this.participants.summary);
        return;
      case "status":
        this.participants.toggle();
        return;
      case "round_trip":
        this.#sayRoundTrip();
        return;
      case "detach":
        onDetach();
        return;
      case "literal":
        this.#type(Uint8Array.of(MENU_KEY));
        return;
      case "more":
      case "nothing":
        if (action.text !== undefined) notices.say(action.text);
    }
  }

  #resized(): void {
    const size = sizeOf(this.#parts.streams.output);
    if (size === undefined) return;
    this.#echo.resized(size);
    this.#parts.client.resize(size.cols, size.rows);
  }
}
