// What the platform or the SDK says of a container: how it has ended, and that nothing listens in it.

import type { StartFailure } from "./start-attempts.ts";

export type ContainerEnd = StartFailure & { readonly isCapacity?: boolean };

const NO_CAPACITY = /no container instance|too many containers per second/i;
const EXIT_CODE = /(?:exit code|signalled the container to exit): ?(\d+)/i;

/** Whether a request has failed since nothing listens on its port: it has reached nobody, and what should listen there starts, or has ended. */
export function isNotListening(error: unknown): boolean {
  return /not listening/i.test(String(error));
}

/** @param reason The error that `monitor` rejects with; undefined if it resolves, which is an exit with 0. */
export function endOf(reason: unknown): ContainerEnd {
  if (reason === undefined) return { why: "its program ended", exitCode: 0 };
  const said = reason instanceof Error ? reason.message : String(reason);
  if (NO_CAPACITY.test(said)) return { why: said, isCapacity: true };
  const code = EXIT_CODE.exec(said)?.[1];
  return code === undefined ? { why: said } : { why: "its program ended", exitCode: Number(code) };
}
