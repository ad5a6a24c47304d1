// The way to a sandbox's container. There are two, a folder each: sdk/, the Sandbox SDK's, and native/, the platform's own.
// The Worker's entry file chooses one, so that nothing of the other is bundled.

import type { BridgeAnswer, BridgeQuestion } from "./question.ts";

/** The port of the bridge in its container. */
export const BRIDGE_PORT = 8080;
/** Names the port that a container's object passes a request to. The SDK's objects read the same. */
export const PORT_HEADER = "cf-container-target-port";
/** How long a container with nothing to do is kept, unless SLEEP_AFTER says otherwise. */
export const SLEEP_AFTER = "10m";

/** One sandbox's container, from outside of its object. */
export interface ContainerAccess {
  /**
   * Passes a request to a port of the container, an upgrade as well, and starts the container if it does not run.
   * A failure to start is a status from 500 on, with Retry-After where waiting helps.
   */
  fetch(request: Request, port: number): Promise<Response>;
}

/** The methods of a container's object, whichever way it is made. */
export interface SandboxObject extends Rpc.DurableObjectBranded {
  /** Whether the container runs, by the runtime's own account. */
  isRunning(): boolean;
  /**
   * Asks the bridge something. @returns undefined where none answers: the container is never started for it.
   * @param sandbox The name that the bridge lists by, since a local one serves several.
   */
  askBridge(question: BridgeQuestion, sandbox?: string): Promise<BridgeAnswer | undefined>;
  /** Ends the container at once, with all that runs in it. */
  endContainer(): Promise<void>;
}

export interface ContainersEnv {
  readonly Sandbox: DurableObjectNamespace<SandboxObject>;
}

export type ContainerWay = (env: ContainersEnv, sandboxKey: string) => ContainerAccess;

let chosen: ContainerWay | undefined;

/** Called once, by the entry file. */
export function useContainers(way: ContainerWay): void {
  chosen = way;
}

/** @throws {Error} If the entry file has chosen no way. */
export function containerOf(env: ContainersEnv, sandboxKey: string): ContainerAccess {
  if (chosen === undefined) throw new Error("the entry file has chosen no way to a container");
  return chosen(env, sandboxKey);
}
