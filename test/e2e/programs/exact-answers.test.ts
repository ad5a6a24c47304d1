// Calls that look like others, or that nobody understands: each is answered for itself, or refused (R4a, R4b, U4a, D4a, T6, W4).
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { person } from "../support/system/system.ts";

const programs = async () => new Programs(await person());

test("U4a: a repeated run with another stdin is 409 other_input; the same, or none, finds the process", async () => {
  const at = await programs();
  const other = { status: 409, body: { error: "other_input" } };
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const given = { cmd: "cat", session: "given", stdin: "one" };
  const first = await at.run(given);
  expect(first.body).toMatchObject({ state: "exited", output: "one" });
  for (const same of [
    given,
    { ...given, stdin: undefined },
    { ...given, stdin: undefined, stdinBase64: base64("one") },
  ]) {
    expect((await at.run(same)).body).toEqual(first.body);
  }
  for (const stdin of ["two", "", null]) expect(await at.run({ ...given, stdin })).toMatchObject(other);
  expect(await at.run({ ...given, stdin: undefined, stdinBase64: base64("two") })).toMatchObject(other);
  // Of one without input, and of one whose input stays open.
  const none = { cmd: "cat", session: "none" };
  expect((await at.run(none)).body).toMatchObject({ state: "exited", output: "" });
  expect((await at.run({ ...none, stdin: "" })).status).toBe(200);
  for (const stdin of ["late", null]) expect(await at.run({ ...none, stdin })).toMatchObject(other);
  const open = { cmd: "cat", session: "open", stdin: null, waitMs: 0 };
  expect((await at.run(open)).body).toMatchObject({ state: "running" });
  expect((await at.run(open)).status).toBe(200);
  expect(await at.run({ ...open, stdin: "late" })).toMatchObject(other);
  // Of one that a create has made, the first input counts.
  await at.put("made", { cmd: "cat" });
  const typed = { cmd: "cat", session: "made", stdin: "first" };
  expect((await at.run(typed)).body).toMatchObject({ state: "exited", output: "first" });
  expect((await at.run(typed)).status).toBe(200);
  expect(await at.run({ ...typed, stdin: "second" })).toMatchObject(other);
});

test("D4a: text that is not all of the bytes says so; base64 has them", async () => {
  const at = await programs();
  const script = (bytes: string) => ({ cmd: "sh", args: ["-c", `printf '${bytes}'`] });
  const bad = await at.run({ ...script("gr\\374n\\n"), session: "bad" });
  expect(bad.body).toMatchObject({ output: "gr\ufffdn\n", stdout: "gr\ufffdn\n", lossy: true });
  const good = await at.run({ ...script("gr\\303\\274n \\357\\277\\275\\n"), session: "good" });
  expect(good.body).toMatchObject({ output: "grün \ufffd\n" });
  expect(good.body).not.toHaveProperty("lossy");
  for (const format of ["text", "plain"] as const) {
    expect((await at.read("bad", { format })).body).toMatchObject({ output: "gr\ufffdn\n", lossy: true });
    expect((await at.read("good", { format })).body).not.toHaveProperty("lossy");
  }
  const { body } = await at.read("bad", { format: "base64" });
  expect([Buffer.from(body.output, "base64").toString("latin1"), "lossy" in body]).toEqual(["gr\xfcn\n", false]);
  const waited = await at.wait("bad", { until: { match: "gr.n" }, from: 0 });
  expect(waited.body).toMatchObject({ outcome: "met", searchedTo: 4, match: { text: "gr\ufffdn" }, lossy: true });
});

test("T6: commandEnd of a shell that has gone by its own command is exited, with the shell's exit", async () => {
  const at = await programs();
  for (const [name, line, exit] of [
    ["left", "exit 3", { code: 3 }],
    ["killed", "kill -9 $$", { code: 137, signal: "SIGKILL" }],
  ] as const) {
    await at.put(name, { cmd: "bash", tty: true });
    expect((await at.wait(name, { until: { match: "\\$ $|# $" }, from: 0 })).body.outcome).toBe("met");
    const typed = await at.ask<{ outputOffset: number }>("POST", `/sessions/${name}/input`, {
      text: line,
      enter: true,
    });
    const request = { until: { commandEnd: true }, from: typed.body.outputOffset };
    expect((await at.wait(name, request)).body).toMatchObject({ outcome: "exited", exit });
    expect((await at.wait(name, request)).body).toMatchObject({ outcome: "exited", exit });
  }
});

test("W4: a keyboard that is nobody's is said to be free, and how to take it", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat", mode: "exclusive" });
  const write = (text: string) => at.ask("POST", "/sessions/s/input", { text });
  const refused = { status: 409, body: { error: "not_stdin_holder", holder: "" } };
  const free = { message: expect.stringMatching(/free.*\{"do":"request"\}/) };
  expect((await write("first\n")).status).toBe(200);
  await at.ask("POST", "/sessions/s/keyboard", { do: "release" });
  expect(await write("x")).toMatchObject({ ...refused, body: { ...refused.body, ...free } });
  expect(await at.ask("POST", "/sessions/s/signal", { signal: "SIGINT" })).toMatchObject({
    ...refused,
    body: { ...refused.body, ...free },
  });
  expect((await at.ask("POST", "/sessions/s/keyboard", { do: "request" })).body).toMatchObject({ mine: true });
  expect((await write("x\n")).status).toBe(200);
  const person = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await person.hello();
  await at.ask("POST", "/sessions/s/keyboard", { do: "release" });
  person.say({ type: "request_stdin" });
  await person.until("the keyboard", () => person.messages("stdin_holder").some(({ id }) => id !== ""));
  expect((await write("x")).body).toMatchObject({ message: expect.stringMatching(/another's.*\{"do":"request"\}/) });
});
