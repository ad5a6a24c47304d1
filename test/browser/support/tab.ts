// A browser tab with a shell in it, as a person has it: what is on the screen, what was, and typing. Reads the terminal's
// own buffer through ?debug=1, so that it doesn't matter how the screen is drawn.
import type { Terminal } from "@xterm/xterm";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { BrowserConnection } from "../../../packages/dashboard/src/connection/browser-connection.ts";
import { NOW_AND_THEN, TerminalPage } from "../../../packages/dashboard/test/browser.ts";

declare global {
  interface Window {
    /** Only under ?debug=1. */
    sbx: { terminal: Terminal; client: BrowserConnection };
  }
}

/** The prompt of {@link Tab.shell}, without the blank at its end. */
export const PROMPT = "$";

/** Long: the machine may be busy. Nothing waits this long unless it fails. */
const LIMIT_MS = 120_000;

/**
 * Types a line and Enter where the focus is. All of it comes at once, as from dictation: as keys, a line of fifty takes half a second of a
 * processor. Who is to show that keys arrive has them pressed.
 */
export async function enter(page: Page, line: string): Promise<void> {
  // Playwright sets the field's value in Firefox, which types nothing.
  if (page.context().browser()?.browserType().name() === "firefox") await page.keyboard.type(line);
  else if (line !== "") await page.keyboard.insertText(line);
  await page.keyboard.press("Enter");
}

export class Tab extends TerminalPage {
  constructor(page: Page) {
    super(page);
    // Also of the windows that it opens.
    page.context().setDefaultTimeout(LIMIT_MS);
  }

  /** The rows on the screen, top to bottom, without blanks at their ends. */
  override async rows(): Promise<string[]> {
    const lines = await this.page.evaluate(() => {
      const { buffer, rows } = window.sbx.terminal;
      const { active } = buffer;
      return Array.from({ length: rows }, (_, y) => active.getLine(active.baseY + y)?.translateToString() ?? "");
    });
    return lines.map((line) => line.trimEnd());
  }

  /** Every line of the scrollback and the screen, put together again where it was wrapped; no blank ones at the end. */
  async lines(): Promise<string[]> {
    const lines = await this.page.evaluate(() => {
      const { active } = window.sbx.terminal.buffer;
      const lines: string[] = [];
      for (let y = 0; y < active.length; y += 1) {
        const line = active.getLine(y);
        const text = line?.translateToString() ?? "";
        if (line?.isWrapped) lines.push((lines.pop() ?? "") + text);
        else lines.push(text);
      }
      return lines;
    });
    const trimmed = lines.map((line) => line.trimEnd());
    return trimmed.slice(0, trimmed.findLastIndex((line) => line !== "") + 1);
  }

  /** Waits until a row of the screen reads just this. */
  override async shows(row: string): Promise<void> {
    const escaped = row.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    await this.find(new RegExp(`^${escaped}$`));
  }

  /** Waits until a row of the screen matches, blanks at its end left out. @returns The first that does. */
  async find(pattern: RegExp): Promise<RegExpExecArray> {
    try {
      const found = await this.page.waitForFunction(
        (source) => {
          const { terminal } = window.sbx ?? {};
          if (terminal === undefined) return false;
          const { active } = terminal.buffer;
          for (let y = active.baseY; y < active.baseY + terminal.rows; y += 1) {
            const text = (active.getLine(y)?.translateToString() ?? "").trimEnd();
            if (new RegExp(source).test(text)) return { text };
          }
          return false;
        },
        pattern.source,
        NOW_AND_THEN,
      );
      const value = await found.jsonValue();
      const match = value === false ? null : pattern.exec(value.text);
      if (match !== null) return match;
    } catch (error) {
      await this.#sayWhatIsShown(`a row ${pattern}`, error);
    }
    throw new Error(`Cannot match ${pattern} here as the page did`);
  }

  /** Waits until the shell waits for a command and nothing has been typed: the cursor stands behind its prompt. */
  async prompt(): Promise<void> {
    try {
      await this.page.waitForFunction(
        (prompt) => {
          const { terminal } = window.sbx ?? {};
          if (terminal === undefined) return false;
          const { active } = terminal.buffer;
          const line = active
            .getLine(active.baseY + active.cursorY)
            ?.translateToString()
            .trimEnd();
          return line === prompt && active.cursorX === prompt.length + 1;
        },
        PROMPT,
        NOW_AND_THEN,
      );
    } catch (error) {
      await this.#sayWhatIsShown(`the prompt ${PROMPT}`, error);
    }
  }

  /** Waits for the shell's own first prompt, whatever it looks like, then gives it a plain one on an empty screen. */
  async shell(): Promise<void> {
    await this.state("attached");
    await this.find(/[$#]$/);
    await this.run(`PS1='${PROMPT} '; clear`);
    await this.prompt();
  }

  /** Types a command and Enter. What it prints, the caller waits for. */
  async run(command: string): Promise<void> {
    await this.type("");
    await enter(this.page, command);
  }

  /** Clears what is there, which is more than a prompt: that looks like the one that follows. */
  async clear(): Promise<void> {
    await this.run("clear");
    await expect.poll(() => this.lines()).toEqual([PROMPT]);
    await this.prompt();
  }

  async #sayWhatIsShown(wanted: string, error: unknown): Promise<never> {
    const rows = await this.rows().catch(() => ["(no terminal)"]);
    const shown = rows.filter((row) => row !== "").join("\n");
    const words = await this.words().catch(() => "nothing");
    throw new Error(`Waited for ${wanted}; the page says "${words}" and shows\n${shown}`, { cause: error });
  }
}
