// What both kinds of container object do with the bridge in their container: its environment, and asking it without a start.

import { type BridgeAnswer, type BridgeQuestion, questionTo, readAnswer } from "../bridge/question.ts";
import { type LogEnv, log } from "../log.ts";
import { BRIDGE_PORT } from "./containers.ts";
import type { EgressEnv } from "./egress.ts";
import { type BridgeSecretEnv, containerToken } from "./secret.ts";

/** What a container's object reads, whichever way it is made. */
export interface SandboxEnv extends BridgeSecretEnv, EgressEnv, LogEnv {
  /** How long a container with no session left is kept: seconds, or a number with s, m or h. Default: 10m. */
  readonly SLEEP_AFTER?: string;
}

/** What the bridge is started with. @throws {AuthFault} `misconfigured`. */
export async function bridgeEnvironment(env: SandboxEnv, id: DurableObjectId): Promise<Record<string, string>> {
  const { LOG_LEVEL = "", STDIO_TRACE = "" } = env;
  return { LOG_LEVEL, STDIO_TRACE, STDIO_TOKEN: await containerToken(env, id) };
}

/** @returns undefined where no bridge answers in time. */
export async function askBridgeInside(
  { id, container }: DurableObjectState,
  env: BridgeSecretEnv,
  question: BridgeQuestion,
  sandbox: string,
): Promise<BridgeAnswer | undefined> {
  if (container?.running !== true) return undefined;
  const { path, init } = questionTo(question, sandbox, await containerToken(env, id));
  try {
    const response = await container.getTcpPort(BRIDGE_PORT).fetch(`http://bridge${path}`, init);
    return await readAnswer(response);
  } catch (error) {
    log.warn(`no answer from the bridge in container ${id}:`, error);
    return undefined; // It is starting, took too long, or stopped just now.
  }
}
