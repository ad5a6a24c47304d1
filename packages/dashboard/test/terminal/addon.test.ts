// The addon against a terminal that draws when the test says so. No browser.

import type { Terminal } from "@xterm/xterm";
import type { ClientState } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import type { BrowserConnectionEvents } from "../../src/connection/browser-connection.ts";
import { StdioAddon, type TerminalLink } from "../../src/terminal/terminal-addon.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const encode = (word: string) => new TextEncoder().encode(word);

/** What happens at the terminal and at the connection, in order; what is written waits until it is drawn by hand. */
function harness() {
  const log: string[] = [];
  const undrawn: (() => void)[] = [];
  const queryHandlers: (() => boolean)[] = [];
  const note = { dispose: () => undefined };
  const watch = (_id: unknown, handler: () => boolean) => {
    queryHandlers.push(handler);
    return note;
  };
  let send: (data: string) => void = () => undefined;
  const terminal = {
    cols: 80,
    rows: 24,
    options: {} as { convertEol?: boolean },
    parser: { registerCsiHandler: watch, registerDcsHandler: watch, registerOscHandler: watch },
    onData: (listener: (data: string) => void) => {
      send = listener;
      return note;
    },
    onBinary: () => note,
    resize: (cols: number, rows: number) => log.push(`size ${cols}x${rows}`),
    write: (bytes: Uint8Array, drawn: () => void) => {
      log.push(`write ${JSON.stringify(text(bytes))}`);
      undrawn.push(drawn);
    },
  };
  let events: Partial<BrowserConnectionEvents> = {};
  let answerableFrom = 0;
  const link: TerminalLink = {
    state: { phase: "attached" } as ClientState,
    mayType: true,
    subscribe: (listener) => {
      events = listener;
      return () => undefined;
    },
    type: (bytes) => {
      log.push(`type ${JSON.stringify(text(bytes))}`);
      return true;
    },
    processed: (end) => log.push(`dealt ${end}`),
    mayAnswer: (offset) => offset >= answerableFrom,
    isReplay: (offset) => offset < answerableFrom,
    nextAnswerChange: (offset) => (offset < answerableFrom ? answerableFrom : Number.POSITIVE_INFINITY),
  };
  // The addon needs no more of a terminal than stands above.
  new StdioAddon(link).activate(terminal as unknown as Terminal);
  return {
    events,
    log,
    /** Draws what was written first; `answer` is what the emulator says while it does. */
    draw: (answer?: string) => {
      if (answer !== undefined) {
        queryHandlers[0]?.();
        send(answer);
      }
      undrawn.shift()?.();
    },
    /** The emulator finds a query, and answers. */
    ask: (answer: string) => {
      queryHandlers[0]?.();
      send(answer);
    },
    press: (key: string) => send(key),
    answerFrom: (offset: number) => {
      answerableFrom = offset;
    },
  };
}

test("output is dealt with when it has been drawn, not when it came", () => {
  const { events, log, draw } = harness();
  events.output?.(1, encode("ab"), 2);
  events.output?.(1, encode("c"), 3);
  expect(log).toEqual(['write "ab"', 'write "c"']);
  draw();
  draw();
  expect(log.slice(2)).toEqual(["dealt 2", "dealt 3"]);
});

test("a new size waits until the bytes before it are drawn, and the bytes after it wait for the size", () => {
  const { events, log, draw } = harness();
  events.output?.(1, encode("wide"), 4);
  events.resize?.(40, 10, 4);
  events.output?.(1, encode("narrow"), 10);
  events.resize?.(60, 10, 10);
  expect(log).toEqual(['write "wide"']);
  draw();
  draw();
  expect(log.slice(1)).toEqual(["dealt 4", "size 40x10", 'write "narrow"', "dealt 10", "size 60x10"]);
});

test("a frame in whose middle the right to answer begins is cut there: only the second half's answer is sent", () => {
  const { events, log, draw, answerFrom } = harness();
  answerFrom(3);
  events.output?.(1, encode("abcdef"), 6);
  draw("first");
  draw("second");
  expect(log).toEqual(['write "abc"', 'write "def"', "dealt 3", 'type "second"', "dealt 6"]);
});

test("a key that is pressed between two chunks is typed, whoever answers", () => {
  const { events, log, draw, press, answerFrom } = harness();
  answerFrom(100);
  events.output?.(1, encode("ab"), 2);
  events.output?.(1, encode("cd"), 4);
  draw("answer");
  press("k");
  draw();
  expect(log.slice(2)).toEqual(["dealt 2", 'type "k"', "dealt 4"]);
});

test("what an earlier client brought and is drawn after the next one attached is not dealt with in its name", () => {
  const { events, log, draw } = harness();
  events.output?.(1, encode("old"), 3000);
  events.reset?.();
  events.output?.(1, encode("new"), 3);
  for (let i = 0; i < 3; i += 1) draw();
  expect(log).toEqual(['write "old"', 'write "\\u0018\\u001bc"', 'write "new"', "dealt 3"]);
});

test("a snapshot starts on a clean screen, and what it asks is answered by nobody", () => {
  const { events, log, draw } = harness();
  events.snapshot?.(encode("screen"), 500);
  draw("answer");
  expect(log).toEqual(['write "\\u0018\\u001bcscreen"', "dealt 500"]);
});

test("35: a key that is pressed while a chunk is half parsed, behind a query in it, is typed as a key", async () => {
  const { events, log, ask, draw, press } = harness();
  events.output?.(1, encode("ab"), 2);
  ask("answer");
  // The terminal stops in the middle of the chunk, and the page does something else.
  await Promise.resolve();
  press("k");
  draw();
  expect(log.slice(1)).toEqual(['type "answer"', 'type "k"', "dealt 2"]);
});
