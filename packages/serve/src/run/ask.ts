// Questions to the person at the terminal.
import { createInterface } from "node:readline/promises";

/** Reads a password: from a terminal unseen, else the first line of standard input. */
export async function askPassword(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true) return lineOf(stdin);
  stderr.write(prompt);
  // Without an output nothing is echoed.
  const lines = createInterface({ input: stdin, terminal: true });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    stderr.write("\n");
  }
}

/** Whether the person says yes; no where nobody can. */
export async function confirm(question: string): Promise<boolean> {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true) return false;
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

async function lineOf(input: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: input })) return line;
  return "";
}
