// The entry of `sbx-stdio serve`. The command line imports it when it is needed.
import { NotReadyError } from "../../local/src/processes/ready.ts";
import { ServeError } from "./base/refusal.ts";
import type { LocalRun, ServeCommand, ServerChoice } from "./base/request.ts";
import { act } from "./run/actions.ts";
import { serve } from "./run/serve.ts";

/** @returns The exit code, or what was wrong, for a person. */
export async function run(command: ServeCommand, version: string): Promise<number | string> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  try {
    return command.kind === "serve" ? await serve(command, version, say) : await act(command, say);
  } catch (error) {
    // Of the system, such as a full disk.
    const isTold = error instanceof Error && "syscall" in error;
    if (error instanceof ServeError || error instanceof NotReadyError || isTold) return error.message;
    throw error;
  }
}

/** `npm start`. @returns What was wrong, for a person. */
export async function runLocal(choice: ServerChoice & { state: string }, local: LocalRun): Promise<string | undefined> {
  const request = { ...choice, kind: "serve", dir: choice.state, bind: "localhost", local } as const;
  const ended = await run(request, "of this checkout");
  return typeof ended === "string" ? ended : undefined;
}
