// Which process a call means (R2), and how the input of *run* goes on at a process that is there (U4).
import { expect, test } from "vitest";
import { Programs } from "../support/clients/programs.ts";
import { person } from "../support/system/system.ts";

const programs = async () => new Programs(await person());
const CALLS: readonly [string, string, object?][] = [
  ["GET", "/sessions/s"],
  ["PUT", "/sessions/s", { cmd: "cat" }],
  ["POST", "/run", { cmd: "cat", session: "s", waitMs: 0 }],
  ["POST", "/sessions/s/input", { text: "x" }],
  ["POST", "/sessions/s/signal", { signal: "SIGKILL" }],
  ["DELETE", "/sessions/s"],
];

test.each(CALLS)(
  "R2: %s %s takes incarnation in its query and its body; another one is 404",
  async (method, path, body) => {
    const at = await programs();
    const { incarnation } = (await at.put("s", { cmd: "cat" })).body;
    const refusal = { status: 404, body: { error: "other_incarnation", incarnation } };
    expect(await at.ask(method, `${path}?incarnation=other`, body)).toMatchObject(refusal);
    if (method !== "GET") expect(await at.ask(method, path, { ...body, incarnation: "other" })).toMatchObject(refusal);
    expect((await at.describe("s")).body).toMatchObject({ incarnation, state: "running", inputOffset: 0 });
    const meant = await at.ask(method, `${path}?incarnation=${incarnation}`, body);
    expect(meant.body).not.toMatchObject({ error: "other_incarnation" });
  },
);

test("R2: a call that means one process starts no other under its name", async () => {
  const at = await programs();
  const missing = { status: 404, body: { error: "not_found" } };
  expect(await at.put("s", { cmd: "cat", incarnation: "gone" })).toMatchObject(missing);
  expect(await at.run({ cmd: "cat", session: "s", incarnation: "gone" })).toMatchObject(missing);
  const { incarnation } = (await at.run({ cmd: "true", session: "s" })).body;
  const anew = { cmd: "true", session: "s", ended: "replace", incarnation };
  const second = (await at.run({ ...anew, attempt: "1" })).body;
  expect(second).toMatchObject({ state: "exited", exit: { code: 0 } });
  expect(second.incarnation).not.toBe(incarnation);
  // The first is not there any more: what means it replaces nothing.
  expect(await at.run({ ...anew, attempt: "2" })).toMatchObject({ status: 404, body: { error: "other_incarnation" } });
});

test("U4: at a process without input run types its stdin once as writer run, its end included", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat" });
  const text = "zeile ü\n".repeat(30_000);
  const body = { cmd: "cat", session: "s", stdin: text, maxBytes: 1_048_576 };
  const runs = await Promise.all([at.run(body), at.run(body)]);
  for (const { body: said } of [...runs, await at.run(body)]) {
    expect(said).toMatchObject({ state: "exited", exit: { code: 0 } });
    expect(said.output === text).toBe(true);
  }
  const repeated = await at.ask("POST", "/sessions/s/input", { text: "again", writer: "run", at: 0 });
  expect(repeated.body).toMatchObject({ duplicate: true, to: Buffer.byteLength(text) });
});

test("U4: input that a process does not read in time goes on with the repeated call", async () => {
  const at = await programs();
  const process = { cmd: "sh", args: ["-c", "echo deaf; while [ ! -e go ]; do sleep 0.05; done; sha256sum; rm go"] };
  await at.put("s", process);
  expect((await at.wait("s", { until: { text: "deaf" }, from: 0 })).body.outcome).toBe("met");
  const body = { ...process, session: "s", stdin: "0123456789abcde\n".repeat(40_000) };
  expect((await at.run({ ...body, waitMs: 300 })).body).toMatchObject({ state: "running", output: "deaf\n" });
  await at.run({ cmd: "touch", args: ["go"] });
  const { body: said } = await at.run({ ...body, waitMs: 60_000 });
  const straight = await at.run({ cmd: "sha256sum", stdin: body.stdin });
  expect(said).toMatchObject({ state: "exited", output: `deaf\n${straight.body.output}` });
});

test("U4: without stdin run leaves the input of a process that is there alone", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat" });
  expect((await at.run({ cmd: "cat", session: "s", waitMs: 100 })).body).toMatchObject({ state: "running" });
  expect((await at.run({ cmd: "cat", session: "s", stdin: "", waitMs: 60_000 })).body).toMatchObject({
    state: "exited",
  });
});
