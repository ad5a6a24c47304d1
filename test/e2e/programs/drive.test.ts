// Programs that signal, resize and hold the keyboard without a WebSocket, as clients of the session like any other (R5, T1).
import { expect, test } from "vitest";
import { exitedIn } from "../support/clients/exited-in.ts";
import { Programs } from "../support/clients/programs.ts";
import { person } from "../support/system/system.ts";

const programs = async () => new Programs(await person());
const sh = (script: string) => ({ cmd: "sh", args: ["-c", script] });

test("a signal reaches the process, and the terminal takes its size; both are refused after the exit", async () => {
  const at = await programs();
  const script = "trap 'stty size' WINCH; trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.05; done";
  await at.put("s", { ...sh(script), tty: true });
  expect((await at.wait("s", { until: { text: "ready" }, from: 0 })).body.outcome).toBe("met");
  expect((await at.ask("POST", "/sessions/s/resize", { cols: 101, rows: 33 })).status).toBe(204);
  expect((await at.wait("s", { until: { text: "33 101" }, from: 0 })).body.outcome).toBe("met");
  expect((await at.describe("s")).body).toMatchObject({ cols: 101, rows: 33, clients: 0 });
  expect((await at.ask("POST", "/sessions/s/signal", { signal: "SIGUSR1" })).status).toBe(204);
  expect((await exitedIn(at, "s")).exit).toEqual({ code: 5 });
  expect(await at.ask("POST", "/sessions/s/signal", { signal: "SIGUSR1" })).toMatchObject({
    status: 409,
    body: { error: "exited" },
  });
  expect((await at.ask("POST", "/sessions/s/signal", { signal: "SIGNONE" })).status).toBe(400);
});
