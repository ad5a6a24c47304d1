// What a client hears first. Attaching changes the session (its size, who answers), and none of that may overtake the
// greeting: a client that is sent output before it cannot count it.

import { expect, test } from "vitest";
import {
  type AttachRequest,
  OutputLog,
  type Peer,
  ProcessSession,
  STREAM_STDOUT,
  type TerminalSize,
} from "../../src/index.ts";

function sessionOf(): ProcessSession {
  const nothing = (): void => undefined;
  return new ProcessSession({
    facts: { sandbox: "dev", session: "main", incarnation: "i1", tty: true, mode: "collaborative", delivery: "live" },
    log: new OutputLog({ cols: 80, rows: 24 }, 4096),
    upstream: {
      input: nothing,
      attached: nothing,
      signal: nothing,
      resize: nothing,
      kill: nothing,
      pane: nothing,
      acked: nothing,
      departed: nothing,
      holder: nothing,
      answerer: () => false,
    },
    now: () => 0,
    reuseFrames: false,
  });
}

/** Attaches a client with this window and notes the kinds of what it is sent. */
function attach(session: ProcessSession, id: string, size: TerminalSize): string[] {
  const heard: string[] = [];
  const peer: Peer = {
    send: (message) => heard.push(message.type === "hello" ? `hello ${message.cols}x${message.rows}` : message.type),
    sendOutput: (frame) => heard.push(`output ${new TextDecoder().decode(frame.subarray(1))}`),
    sendSnapshot: (frame) => heard.push(`snapshot ${new TextDecoder().decode(frame.subarray(1))}`),
    isWritable: () => true,
    bye: () => heard.push("bye"),
    finish: () => heard.push("finish"),
  };
  const request: AttachRequest = {
    id,
    name: "",
    role: "driver",
    isAdmin: false,
    delivery: "live",
    acknowledges: true,
    size,
    isResume: false,
    resume: id,
  };
  expect(session.attach(request, peer).ok).toBe(true);
  return heard;
}

test("a client whose window changes the PTY's size hears hello first, then the log, then its own change of size", () => {
  const session = sessionOf();
  attach(session, "c1", { cols: 100, rows: 40 });
  session.log.append(new TextEncoder().encode("prompt"), STREAM_STDOUT);
  session.appended();
  expect(attach(session, "c2", { cols: 40, rows: 20 })).toEqual(["hello 100x40", "output prompt", "resize"]);
});

test("the first client hears hello before that it is the one to answer", () => {
  const [first] = attach(sessionOf(), "c1", { cols: 100, rows: 40 });
  expect(first).toBe("hello 100x40");
});
