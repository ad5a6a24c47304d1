// A wait between the Worker, which holds its caller's request and keeps the time, and the session's object, which may leave memory
// meanwhile: a WebSocket that outlives the object, and a handful of messages.

import { RESTARTED, type Target } from "./ask.ts";
import { type ProgramAnswer, unpackAnswer, type WaitCall } from "./operations/call.ts";

/** What the Worker says: to look whether the wait is met, or that its time is over. */
export type FromWorker = { readonly type: "look" | "over" };
/** What the object says: in how many milliseconds to say `look`, or what it comes to. */
export type FromObject =
  | { readonly type: "look"; readonly inMs: number }
  | { readonly type: "answer"; readonly answer: ProgramAnswer };

/** What the sockets of waits are known by among those of a session's object. */
export const WAIT_TAG = "wait";
const PATH = "/wait";
const HEADER = "x-wait";
/** An object that was told that the time is over may have to be made, and to reach its process, before it answers. */
const LAST_WORD_MS = 20_000;
const NORMAL = 1000;

/** Without the caller's signal, which would keep the object in memory: who goes away closes the socket. */
function requestOf(call: WaitCall): Request {
  const headers = { Upgrade: "websocket", [HEADER]: encodeURIComponent(JSON.stringify(call)) };
  return new Request(`http://session${PATH}`, { headers });
}

/** @returns undefined where the request is of another kind. */
export function waitCallOf(request: Request): WaitCall | undefined {
  // Only the Worker reaches a Durable Object, so what it says is taken as said.
  const call = new URL(request.url).pathname === PATH ? request.headers.get(HEADER) : null;
  return call === null ? undefined : (JSON.parse(decodeURIComponent(call)) as WaitCall);
}

/** Asks once, and waits for as long as the call says. @returns 503 where the object could not go on with it. */
export async function askWaiting(target: Target, call: WaitCall): Promise<ProgramAnswer> {
  const { env, sessionKey, signal } = target;
  const deadlineMs = Date.now() + call.operation.timeoutMs;
  try {
    const response = await env.SESSION.getByName(sessionKey).fetch(requestOf(call));
    const { webSocket } = response;
    return webSocket === null ? await unpackAnswer(response) : await answerOn(webSocket, deadlineMs, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    console.warn("a session's object did not answer:", error);
    return RESTARTED;
  }
}

function answerOn(socket: WebSocket, deadlineMs: number, signal: AbortSignal): Promise<ProgramAnswer> {
  return new Promise((resolve) => {
    let look: ReturnType<typeof setTimeout> | undefined;
    const done = (answer: ProgramAnswer) => {
      clearTimeout(over);
      clearTimeout(late);
      if (look !== undefined) clearTimeout(look);
      signal.removeEventListener("abort", gone);
      quietly(() => socket.close(NORMAL, ""));
      resolve(answer);
    };
    const say = (message: FromWorker) => quietly(() => socket.send(JSON.stringify(message)));
    const gone = () => done(RESTARTED);
    const leftMs = Math.max(0, deadlineMs - Date.now());
    const over = setTimeout(() => say({ type: "over" }), leftMs);
    const late = setTimeout(gone, leftMs + LAST_WORD_MS);
    signal.addEventListener("abort", gone);
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(String(data)) as FromObject;
      if (message.type === "answer") done(message.answer);
      else {
        if (look !== undefined) clearTimeout(look);
        look = setTimeout(() => say({ type: "look" }), message.inMs);
      }
    });
    // The socket ends with an answer, or because the object could not continue.
    socket.addEventListener("close", gone);
    socket.addEventListener("error", gone);
    socket.accept();
    if (signal.aborted) gone();
  });
}

function quietly(use: () => void): void {
  try {
    use();
  } catch {
    // The socket has just closed: its close event follows.
  }
}
