// Which bytes a read answers with, and in which form (D1, D2, D4, D6).
import { expect, test } from "vitest";
import { Programs } from "../support/clients/programs.ts";
import { api, person } from "../support/system/system.ts";
import { LIMIT_MS } from "../support/system/wait.ts";

const programs = async () => new Programs(await person());
const sh = (script: string) => ({ cmd: "sh", args: ["-c", script] });

test("D6: a stream with to ends there, while the process runs on, and is 204 after it", async () => {
  const at = await programs();
  await at.put("s", sh("echo 0123456789; cat"));
  const path = at.path("/sessions/s/output?from=2&to=6");
  const ask = (headers: Record<string, string>) =>
    api(at.who, path, { headers: { Accept: "text/event-stream", ...headers }, signal: AbortSignal.timeout(LIMIT_MS) });
  const { body } = await at.read("s", { from: 0, waitMs: 60_000 });
  const text = await (await ask({})).text();
  const id = `${body.incarnation}.6`;
  const data = JSON.stringify({ from: 2, next: 6, output: "2345" });
  expect(text.replace(/^(: \n\n)+/, "")).toBe(`event: output\nid: ${id}\ndata: ${data}\n\n`);
  expect((await ask({ "Last-Event-ID": id })).status).toBe(204);
  expect((await at.describe("s")).body.state).toBe("running");
});
