// A session's process, and the inner hop's messages about it.

import { InnerServer, parseAttachQuery, type ServerSocket, STREAM_STDOUT } from "sandbox-stdio/core";
import { expect, onTestFinished, test } from "vitest";
import { BellLine } from "../../src/session/bell.ts";
import { SessionHost } from "../../src/session/host.ts";
import { ENV } from "../support/process-harness.ts";

/** 2000 queries, in as many writes. */
const ASKING = "stty raw -echo; for i in {1..2000}; do printf '\\e[5n'; done; sleep 60";

/** @param bell How its object is called. */
function started(query: Record<string, string>, args: readonly string[] = [], bell?: BellLine) {
  const params = new URLSearchParams({ sandbox: "box", ...query });
  for (const arg of args) params.append("arg", arg);
  const result = parseAttachQuery(params);
  if (!result.ok) throw new Error(result.detail);
  const names = { sandbox: "box", label: "box", session: "main" };
  const host = SessionHost.start(names, result.query, { env: ENV, home: "/", bell }, () => undefined);
  if ("fault" in host) throw new Error(String(host.fault));
  onTestFinished(async () => {
    await host.kill();
    host.remove();
  });
  return host;
}

test("H13: that the bridge answers is said before the query's last byte is sent, whenever that is", async () => {
  const host = started({ cmd: "bash", tty: "1" }, ["-c", ASKING]);
  let [answered, output, early] = [0, "", 0];
  const socket = {
    send: (frame: string | Uint8Array) => {
      if (typeof frame !== "string") {
        output += Buffer.from(frame.subarray(1)).toString("latin1");
        if (output.lastIndexOf("n") >= answered) early += 1;
        return;
      }
      const message = JSON.parse(frame) as { type: string; offset: number };
      if (message.type === "answered") answered = message.offset;
    },
    close: () => undefined,
    isWritable: () => true,
  };
  const inner = new InnerServer(host.session, socket, performance.now());
  host.setInner(inner, undefined);
  while (output.length < 2000 * 4) {
    await new Promise((resolve) => setImmediate(resolve));
    // The hop's socket has room again, in the middle of the process's output.
    inner.drained();
  }
  expect(early).toBe(0);
});

test("H20, H21e: a process lives on for as long as its parked object said that somebody waits", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null, { status: 204 }) });
  onTestFinished(() => server.stop(true));
  const url = server.url.href;
  const bell = await new Promise<BellLine>((resolve) => {
    const line: BellLine = new BellLine({ url, token: "a secret" }, () => resolve(line));
  });
  const host = started({ cmd: "sleep", arg: "60", keep: "0" }, [], bell);
  const socket: ServerSocket = { send: () => undefined, close: () => undefined, isWritable: () => true };
  const inner = new InnerServer(host.session, socket, performance.now());
  host.setInner(inner, undefined);
  const park = { type: "park", offset: 0, seconds: 1, after: 0, bell: "its object" };
  inner.receive(JSON.stringify(park), performance.now());
  const parkedAt = performance.now();
  inner.closed(1000);
  host.removeInner(inner);
  expect(await host.exited).toMatchObject({ signal: "SIGHUP" });
  expect(performance.now() - parkedAt).toBeGreaterThanOrEqual(1_000);
});

test("what output says is told behind that output, even if it still waits for more of a flood", async () => {
  const host = started({ cmd: "sleep", arg: "60" });
  const sent: string[] = [];
  const send = (frame: string | Uint8Array) => {
    sent.push(typeof frame === "string" ? (JSON.parse(frame) as { type: string }).type : "output");
  };
  const socket = { send, close: () => undefined, isWritable: () => true };
  host.setInner(new InnerServer(host.session, socket, performance.now()), undefined);
  sent.length = 0;
  host.session.log.append(Buffer.from("flood"), STREAM_STDOUT);
  host.commandEnded({ to: 5, exit: 0 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual(["output", "command_end"]);
});
