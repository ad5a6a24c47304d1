// `doctor`: tries every step of a connection, one after the other, until one fails, and names the fault and its remedy.

import type { TokenSource } from "../account/credentials.ts";
import type { CliCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { networkPhrase } from "../base/network-words.ts";
import { CliError, EXIT, type Outcome } from "../base/outcome.ts";
import { oneLine, safeJson } from "../base/plain-text.ts";
import { Printer } from "../base/print.ts";
import { stepsOf } from "./doctor-steps.ts";

type DoctorCommand = Extract<CliCommand, { kind: "doctor" }>;

/** @returns 0 where every step is good, else 255. */
export async function diagnose(command: DoctorCommand, source: TokenSource, env: Environment): Promise<Outcome> {
  const printer = new Printer();
  const steps: { name: string; state: string; text: string; advice?: string }[] = [];
  let code: number = EXIT.ok;
  for (const [name, advice, step] of stepsOf(command, source, env)) {
    try {
      const { state, text } = await step();
      steps.push({ name, state, text: oneLine(text) });
    } catch (error) {
      const [text, remedy] = [oneLine(reasonOf(error)), typeof advice === "string" ? advice : advice(error)];
      steps.push({ name, state: "failed", text, ...(remedy === "" ? {} : { advice: remedy }) });
      code = EXIT.failed;
    }
    if (!command.isJson) await printer.print(steps.slice(-1).map(lineOf).join(""));
    if (code !== EXIT.ok) break;
  }
  if (command.isJson) await printer.print(`${safeJson({ ok: code === EXIT.ok, steps }, 2)}\n`);
  return printer.end(code);
}

const MARKS: Readonly<Record<string, string>> = { ok: "ok", unknown: "-", failed: "FAIL" };

function lineOf({ name, state, text, advice }: { name: string; state: string; text: string; advice?: string }): string {
  const line = `${(MARKS[state] ?? "").padEnd(5)} ${name.padEnd(10)} ${text}\n`;
  return advice === undefined ? line : `${line}      ${advice}\n`;
}

function reasonOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return networkPhrase(cause instanceof Error ? cause : error);
}
