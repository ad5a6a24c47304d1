// A session's process, beside what is told of it on the inner hop.

import { InnerServer, parseAttachQuery } from "sandbox-stdio/core";
import { expect, onTestFinished, test } from "vitest";
import { SessionHost } from "../src/host.ts";
import { ENV } from "./process-harness.ts";

/** Asks 2000 times, in so many writes. */
const ASKING = "stty raw -echo; for i in {1..2000}; do printf '\\e[5n'; done; sleep 60";

test("H13: that the bridge answers is said before the query's last byte is sent, whenever that is", async () => {
  const params = new URLSearchParams({ sandbox: "box", cmd: "bash", tty: "1" });
  for (const arg of ["-c", ASKING]) params.append("arg", arg);
  const result = parseAttachQuery(params);
  if (!result.ok) throw new Error(result.detail);
  const names = { sandbox: "box", label: "box", session: "main" };
  const host = SessionHost.start(names, result.query, { env: ENV, home: "/" }, () => undefined);
  if ("fault" in host) throw new Error(String(host.fault));
  onTestFinished(async () => {
    await host.kill();
    host.remove();
  });
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
