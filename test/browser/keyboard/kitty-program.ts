// A program in a tab's shell that sets the keyboard's protocol and keeps what it is sent, and the keys pressed for it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { until } from "../../e2e/support/system/wait.ts";
import type { Tab } from "../support/tab.ts";
import { KEYS, specified } from "./kitty-keys.ts";

/** A terminal in raw mode and two `cat`: what is written to `out` is printed, and what is typed is kept. */
export async function startProgram(tab: Tab, directory: string) {
  await tab.run("clear; mkfifo out; exec 3<>out; stty raw -echo; cat <&3 & exec cat > typed 3<&-");
  const typed = () => readFileSync(join(directory, "typed"), "latin1");
  await until("the program", () => {
    try {
      return typed() === "";
    } catch {
      return false; // It is not there yet.
    }
  });
  const print = (text: string) => writeFileSync(join(directory, "out"), text);
  let read = 0;
  /** Asks the terminal something, whose answer comes behind all keys. @returns What came before it. */
  const before = async (question: string, answer: string) => {
    print(question);
    await until(`the answer to ${JSON.stringify(question)}`, () => typed().slice(read).endsWith(answer));
    const sent = typed().slice(read, -answer.length);
    read = typed().length;
    return sent;
  };
  return { print, before };
}

export type Program = Awaited<ReturnType<typeof startProgram>>;

export async function setFlags({ before }: Program, flags: number): Promise<void> {
  await before(`\x1b[=${flags}u\x1b[?u`, `\x1b[?${flags}u`);
}

/** Every sixth key, of all kinds: they show which flags there are. */
export const SOME_KEYS = KEYS.filter((_key, index) => index % 6 === 0);

/** Presses each key, which must send what the specification says with these flags. */
export async function pressAll(tab: Tab, { before }: Program, flags: number, keys = KEYS): Promise<void> {
  await tab.page.locator(".xterm-helper-textarea").focus();
  for (const { press } of keys) await tab.page.keyboard.press(press);
  const expected = keys.map((key) => specified(key, flags)).join("");
  const sent = await before("\x1b[5n", "\x1b[0n");
  expect({ flags, sent: visible(sent) }).toEqual({ flags, sent: visible(expected) });
}

const visible = (text: string): string => text.replaceAll("\x1b", "\nESC ");
