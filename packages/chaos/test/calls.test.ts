// A cut call of the kit is repeated: how long each attempt may take.
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { Random } from "../../local/src/base/random.ts";
import { Calls } from "../src/programs/calls.ts";
import { Report } from "../src/programs/report.ts";

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";

afterEach(() => void vi.restoreAllMocks());

test("an attempt has more time only if another was given up before it, not for each that broke", async () => {
  const patience: number[] = [];
  let giveUp: () => void = () => undefined;
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const given = new AbortController();
    patience.push(ms);
    giveUp = () => given.abort(new DOMException("", "TimeoutError"));
    return given.signal;
  });
  let requests = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      requests += 1;
      // Three break, two are silent for longer than the kit waits, the last is answered.
      if (requests <= 3) socket.resetAndDestroy();
      else if (requests <= 5) giveUp();
      else socket.end(ANSWER);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const { port } = server.address() as { readonly port: number };
    const base = new URL(`http://127.0.0.1:${port}`);
    const calls = new Calls({ base, tokens: ["t"], report: new Report(), attemptMs: 3_000 });
    const { status } = await calls.call("POST", "/", {}, () => undefined, new Random(1, "calls"));
    expect([status, ...patience]).toEqual([200, 3_000, 3_000, 3_000, 3_000, 6_000, 9_000]);
  } finally {
    server.close();
  }
});
