// The addon against the real emulator, without a browser: what is on the screen after output that is cut anywhere.

import headless from "@xterm/headless";
import type { Terminal } from "@xterm/xterm";
import type { ClientState } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import type { BrowserConnectionEvents } from "../../src/connection/browser-connection.ts";
import { StdioAddon } from "../../src/terminal/terminal-addon.ts";

function harness() {
  const terminal = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  let events: Partial<BrowserConnectionEvents> = {};
  const typed: string[] = [];
  const dealt: number[] = [];
  const addon = new StdioAddon({
    state: { phase: "attached" } as ClientState,
    mayType: true,
    subscribe: (listener) => {
      events = listener;
      return () => undefined;
    },
    type: (bytes) => typed.push(new TextDecoder().decode(bytes)) > 0,
    processed: (end) => dealt.push(end),
    mayAnswer: () => true,
    isReplay: () => false,
    nextAnswerChange: () => Number.POSITIVE_INFINITY,
  });
  // The addon uses nothing of the page's terminal that the headless one lacks.
  addon.activate(terminal as unknown as Terminal);
  let end = 0;
  return {
    events,
    typed,
    dealt,
    output: (bytes: Uint8Array) => {
      end += bytes.length;
      events.output?.(1, bytes, end);
    },
    /** The first row, once all that was written is drawn. */
    row: async () => {
      await new Promise<void>((resolve) => terminal.write("", resolve));
      return terminal.buffer.active.getLine(0)?.translateToString(true);
    },
  };
}

const encode = (text: string) => new TextEncoder().encode(text);
/** One of each length, and of those that the emulator loses the first, the last and the commonest. */
const TEXT = "aé\u2010‘…›\u203f€日😀z";

test("every character is drawn, wherever two frames part it", async () => {
  const bytes = encode(TEXT);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const { output, row, dealt } = harness();
    output(bytes.subarray(0, cut));
    output(bytes.subarray(cut));
    expect(await row(), `cut at ${cut}`).toBe(TEXT);
    expect(dealt.at(-1)).toBe(bytes.length);
  }
  const single = harness();
  for (const byte of bytes) single.output(Uint8Array.of(byte));
  expect(await single.row()).toBe(TEXT);
});

test("the half of a character counts as dealt with: nobody waits for its other half to send it", async () => {
  const { output, row, dealt } = harness();
  output(encode("ab…").subarray(0, 4));
  expect(await row()).toBe("ab");
  expect(dealt).toEqual([4]);
});

test("a gap parts a character for good: what comes after it is drawn, and completes nothing", async () => {
  const { output, row, events } = harness();
  output(encode("a…").subarray(0, 3));
  events.gap?.(3, 10, false);
  output(Uint8Array.of(0xa6, 0x62));
  expect(await row()).toBe("ab");
});

test("a snapshot and a start from nothing have no half of a character before them", async () => {
  for (const startOver of ["snapshot", "reset"] as const) {
    const { output, row, events } = harness();
    output(encode("a…").subarray(0, 3));
    if (startOver === "snapshot") events.snapshot?.(encode("…new"), 100);
    else {
      events.reset?.();
      output(encode("…new"));
    }
    expect(await row()).toBe("…new");
  }
});

test("a query that is parted in the middle of its C1 control is answered once", async () => {
  const { output, row, typed } = harness();
  output(Uint8Array.of(0xc2));
  output(Uint8Array.of(0x9b, 0x35, 0x6e));
  expect(await row()).toBe("");
  expect(typed).toEqual(["\x1b[0n"]);
});
