// `serve`: hands over to the part that has the Worker, the bridge and the issuer, which is a separate bundle.

import type { ServeCommand } from "@sbx/serve/request";
import { CliError, exitWith, type Outcome } from "../base/outcome.ts";
import { VERSION } from "../base/version.ts";

/** @throws {CliError} */
export async function serve(command: ServeCommand): Promise<Outcome> {
  const { run } = await import("@sbx/serve").catch((error: unknown) => {
    throw new CliError("serve is only in the npm package of sbx-stdio, not in this program", undefined, {
      cause: error,
    });
  });
  const result = await run(command, VERSION);
  if (typeof result === "string") throw new CliError(result);
  return exitWith(result);
}
