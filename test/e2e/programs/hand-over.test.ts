// A program and people at one keyboard, without a page: who is shown what, and who may type.
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { fresh, mint, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

test("K9: what a program types is shown to people who drive, and to nobody else", async () => {
  const who = await person({ scope: "sandbox:connect sandbox:exec" });
  const at = new Programs(who);
  await at.put("s", { cmd: "sh", args: ["-c", "stty raw -echo; exec cat"], tty: true });
  const session = { sandbox: at.sandbox, session: "s" };
  const driver = await connect(who, session);
  const viewer = await connect(who, { ...session, role: "viewer" });
  const token = await mint({ sub: fresh("other"), org: who.org, scope: "sandbox:connect sandbox:exec" });
  const agent = new Programs({ ...who, token }, at.sandbox);
  await Promise.all([driver.hello(), viewer.hello()]);
  const written = await agent.ask("POST", "/sessions/s/input", { text: "npm test", enter: true, writer: "builder" });
  expect(written.status).toBe(200);
  const typed = await driver.message("typed");
  const { participants } = { participants: driver.messages("join").map(({ participant }) => participant) };
  expect(typed).toEqual({ type: "typed", id: expect.any(String), text: "npm test⏎" });
  expect(participants).toContainEqual(expect.objectContaining({ id: typed.id, kind: "program" }));
  await viewer.output("npm test\r");
  expect(viewer.messages("typed")).toEqual([]);
});

test("K2d, W4: a person takes a program's keyboard; its write is refused, and it waits for its return", async () => {
  const who = await person({ scope: "sandbox:connect sandbox:exec" });
  const at = new Programs(who);
  await at.put("s", { cmd: "cat", tty: true, mode: "exclusive" });
  expect((await at.ask("POST", "/sessions/s/keyboard", { do: "request" })).body).toMatchObject({ mine: true });
  const human = await connect(who, { sandbox: at.sandbox, session: "s" });
  const { you } = (await human.hello()) as { you?: { id: string } };
  human.say({ type: "request_stdin" });
  await until("the keyboard", () => human.messages("stdin_holder").some(({ id }) => id === you?.id));
  const refused = await at.ask("POST", "/sessions/s/input", { text: "x", at: 0 });
  expect(refused).toMatchObject({ status: 409, body: { error: "not_stdin_holder", holder: you?.id } });
  const back = at.wait("s", { until: { keyboard: true }, timeoutMs: 60_000 });
  human.type("by hand\r");
  await human.output("by hand");
  human.say({ type: "release_stdin" });
  expect((await back).body).toMatchObject({ outcome: "met" });
  expect((await at.ask("POST", "/sessions/s/keyboard", { do: "request" })).body).toMatchObject({ mine: true });
  // Refused input was not counted: the same call goes on where it was.
  expect(await at.ask("POST", "/sessions/s/input", { text: "x", at: 0 })).toMatchObject({
    status: 200,
    body: { to: 1 },
  });
});
