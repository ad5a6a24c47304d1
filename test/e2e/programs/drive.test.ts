// Programs that signal, resize and hold the keyboard without a WebSocket, as clients of the session like any other (R5, T1).
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { exitedIn } from "../support/clients/exited-in.ts";
import { Programs } from "../support/clients/programs.ts";
import { mint, person } from "../support/system/system.ts";

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

test("R5: the keyboard of an exclusive session goes from a program to a person and back", async () => {
  const at = await programs();
  await at.put("s", { ...sh("trap 'echo got' USR1; echo ready; while :; do sleep 0.05; done"), mode: "exclusive" });
  expect((await at.wait("s", { until: { text: "ready" }, from: 0 })).body.outcome).toBe("met");
  const keyboard = (wish: string, writer?: string) => at.ask("POST", "/sessions/s/keyboard", { do: wish, writer });
  expect((await keyboard("request")).body).toMatchObject({ mine: true });
  const human = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  const { holder, you } = (await human.hello()) as unknown as { holder: string; you: { id: string } };
  expect(holder).not.toBe(you.id);
  // Another writer of the same person is another client.
  expect((await keyboard("request", "other")).body).toEqual({ holder, mine: false });
  expect((await keyboard("release", "other")).body).toMatchObject({ error: "not_stdin_holder", holder });
  expect((await keyboard("take")).body).toMatchObject({ error: "insufficient_scope" });
  expect((await keyboard("release")).body).toEqual({ holder: "", mine: false });
  human.say({ type: "request_stdin" });
  await human.until("the keyboard", () => human.messages("stdin_holder").some(({ id }) => id === you.id));
  const refused = await at.ask("POST", "/sessions/s/signal", { signal: "SIGUSR1" });
  expect(refused).toMatchObject({ status: 409, body: { error: "not_stdin_holder", holder: you.id } });
  const waiting = at.wait("s", { until: { keyboard: true } });
  const token = await mint({ sub: "boss", org: at.who.org, scope: "sandbox:admin" });
  const boss = new Programs({ ...at.who, sub: "boss", token }, at.sandbox);
  expect((await boss.ask("POST", "/sessions/s/keyboard", { do: "take" })).body).toMatchObject({ mine: true });
  expect((await boss.ask("POST", "/sessions/s/signal", { signal: "SIGUSR1" })).status).toBe(204);
  expect((await at.wait("s", { until: { text: "got" }, from: 0 })).body.outcome).toBe("met");
  expect((await boss.ask("POST", "/sessions/s/keyboard", { do: "release" })).body).toMatchObject({ holder: "" });
  expect((await waiting).body.outcome).toBe("met");
});
