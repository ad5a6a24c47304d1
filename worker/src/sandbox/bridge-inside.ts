// The parts that both kinds of container object share: the bridge's environment, and asking the bridge without a start.

import { ARCHIVE_PATH, FILES_PATH, PREVIEW_PATH } from "sandbox-stdio/core";
import { type LogEnv, log } from "../base/log.ts";
import type { LifeEnv } from "../refusal/life.ts";
import { BELL_HOST, BELL_PATH } from "./bell.ts";
import { BRIDGE_PORT } from "./containers.ts";
import type { EgressEnv } from "./egress.ts";
import { responseInTime } from "./given-up.ts";
import type { HangWatch } from "./hang-watch.ts";
import { type BridgeAnswer, type BridgeQuestion, questionTo, readAnswer } from "./question.ts";
import { type BridgeSecretEnv, containerToken } from "./secret.ts";

/** The variables that a container's object reads, whichever way it is made. */
export interface SandboxEnv extends BridgeSecretEnv, EgressEnv, LifeEnv, LogEnv {
  /** How long a container without sessions is kept: seconds, or a number with s, m or h. Default: `10m`. */
  readonly SLEEP_AFTER?: string;
  /**
   * How long processes may run on after their container is told to stop. The platform ends it after 15 minutes.
   * Default: 840.
   */
  readonly STOP_SECONDS?: string;
  /**
   * Bytes a second that a process may write with no client attached, after 16 times as many at once (W14); 0: no limit.
   * Default: 1048576.
   */
  readonly UNATTENDED_BYTES_PER_SECOND?: string;
  /** Under the `durable_object` policy only: `lite`, or `standard-1` to `standard-4`. Default: `standard-1`. */
  readonly CONTAINER_SIZE?: string;
}

/** The platform ends a container 15 minutes after its SIGTERM. A minute of them is for ending, and telling. */
const DEFAULT_STOP_SECONDS = "840";
/** How long a server in a container may take to answer a request that needs no start. */
const ANSWER_PATIENCE_MS = 10_000;
/** What takes longer. The bridge gives up a server that is looked at, and an order for files, after 60 s. */
const PATIENCE_MS: Readonly<Record<string, number>> = {
  [PREVIEW_PATH]: 70_000,
  [FILES_PATH]: 70_000,
  // As long as a caller sends an archive of 1 GiB.
  [ARCHIVE_PATH]: 900_000,
};

/**
 * The environment that the bridge is started with.
 * @param hasBell Whether the bridge's calls to {@link BELL_HOST} come to this Worker.
 * @throws {AuthFault} `misconfigured`.
 */
export async function bridgeEnvironment(
  env: SandboxEnv,
  id: DurableObjectId,
  hasBell: boolean,
): Promise<Record<string, string>> {
  const { LOG_LEVEL = "", STDIO_TRACE = "", STOP_SECONDS = "", UNATTENDED_BYTES_PER_SECOND = "" } = env;
  return {
    LOG_LEVEL,
    STDIO_TRACE,
    UNATTENDED_BYTES_PER_SECOND,
    STOP_SECONDS: STOP_SECONDS || DEFAULT_STOP_SECONDS,
    STDIO_TOKEN: await containerToken(env, id),
    ...(hasBell ? { STDIO_BELL_URL: `http://${BELL_HOST}${BELL_PATH}` } : {}),
  };
}

/** @returns undefined where no bridge answers in time. */
export async function askBridgeInside(
  { id, container }: DurableObjectState,
  env: BridgeSecretEnv,
  question: BridgeQuestion,
  sandbox: string,
  hang: HangWatch,
): Promise<BridgeAnswer | undefined> {
  if (container?.running !== true) return undefined;
  const { path, init } = questionTo(question, sandbox, await containerToken(env, id));
  try {
    const response = await container.getTcpPort(BRIDGE_PORT).fetch(`http://bridge${path}`, init);
    return await readAnswer(response);
  } catch (error) {
    log.warn(`no answer from the bridge in container ${id}:`, error);
    if (error instanceof Error && error.name === "TimeoutError") hang.suspect();
    return undefined; // It is starting, took too long, or stopped just now.
  }
}

/** Whether a request is for a server that is looked at: such a one starts no container. */
export function isPreview(request: Request | string | URL): boolean {
  return pathOf(request) === PREVIEW_PATH;
}

/** Whether a request's body is an archive: too much to be kept for another try. */
export function isArchive(request: Request | string | URL): boolean {
  return pathOf(request) === ARCHIVE_PATH;
}

function pathOf(request: Request | string | URL): string {
  return URL.parse(request instanceof Request ? request.url : request)?.pathname ?? "";
}

/** @returns undefined if `answer` does not come in time. */
export function withinPatience(
  request: Request | string | URL,
  answer: Promise<Response>,
): Promise<Response | undefined> {
  return responseInTime(answer, PATIENCE_MS[pathOf(request)] ?? ANSWER_PATIENCE_MS);
}

/** The answer in the place of a container that can't be reached: to be tried again. */
export function unavailable(message: string, seconds: number): Response {
  return Response.json({ message }, { status: 503, headers: { "Retry-After": String(seconds) } });
}
