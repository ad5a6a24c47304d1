// The terminal of `/v1/sandbox` (V5), as its clients speak it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ApiSandbox } from "../support/agents/sandbox-api.ts";
import { foreign, foreignRefused } from "../support/clients/foreign-client.ts";
import { shows } from "../support/generators/foreign-routes.ts";
import { api, type Person, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const path = ({ id }: ApiSandbox, query: Record<string, string> = {}) =>
  `/v1/sandbox/${id}/pty?${new URLSearchParams({ cols: "80", rows: "24", ...query })}`;

/** What is refused before the upgrade: its status, and its code. */
async function refusedPty(who: Person | undefined, at: string): Promise<[number, string]> {
  const { status, body } = await foreignRefused(who, at);
  const { error, code } = JSON.parse(body) as { error: string; code: string };
  if (typeof error !== "string") throw new Error(`No words: ${body}`);
  return [status, code];
}

test("V5: what is there comes before ready, keys go in as bytes, and the exit closes it", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  const client = await foreign(who, path(box, { shell: "sh" }));
  await client.message("ready");
  client.socket.send(Buffer.from("stty size; echo $((40 + 2))\n"));
  await shows(client, /24 80[\s\S]*42/);
  client.socket.send(JSON.stringify({ type: "resize", cols: 100, rows: 30 }));
  client.socket.send(JSON.stringify({ type: "resize", cols: 0, rows: 30 }));
  expect(await client.message("error")).toEqual({ type: "error", message: expect.stringContaining("0 by 30") });
  client.socket.send(Buffer.from("stty size; exit 7\n"));
  expect(await client.message("exit")).toEqual({ type: "exit", code: 7 });
  expect((await client.end()).code).toBe(1000);
  expect(client.received.join("")).toContain("30 100");
});

test("V5: a client that comes later gets the screen, free of questions, before ready; a named one outlives its clients", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  const first = await foreign(who, path(box, { shell: "sh", session: "work" }));
  await first.message("ready");
  first.socket.send(Buffer.from("seq 1 20000; printf '\\033[6n'; echo the last line\n"));
  // Not the command as it is echoed.
  await shows(first, /\n20000\r\n[\s\S]*the last line/);
  first.socket.terminate();
  const next = await foreign(who, path(box, { session: "work" }));
  await next.message("ready");
  const before = next.received.slice(0, next.received.indexOf('{"type":"ready"}')).join("");
  expect(before).toContain("the last line");
  expect(before).not.toContain("\u001b[6n");
  expect(before.length).toBeLessThan(65_536 + 10_000);
});

test("V5: without a name the terminal ends with its last client", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  const client = await foreign(who, path(box));
  await client.message("ready");
  client.socket.close(1000);
  await until("nothing runs", async () => (await box.alive()) === 0);
});

test("V5: the token may stand in the query, and beside it in the header", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  const authorization = `Bearer ${who.token}`;
  for (const as of [undefined, who]) {
    const client = await foreign(as, path(box, { authorization }));
    await client.message("ready");
  }
  expect(await refusedPty(undefined, path(box, { authorization: "Bearer none" }))).toEqual([401, "malformed"]);
  const admin = await person({ ...who, scope: "sandbox:admin sandbox:exec sandbox:connect" });
  const record = await (await api(admin, "/api/audit")).text();
  const names = readdirSync(join(system.dir, "logs")).filter((name) => name.endsWith(".log"));
  const logs = names.map((name) => readFileSync(join(system.dir, "logs", name), "utf8"));
  expect(logs.length).toBeGreaterThan(0);
  for (const said of [record, ...logs]) expect(said.includes(who.token.slice(-40))).toBe(false);
  expect(await refusedPty(undefined, path(box))).toEqual([401, "no_token"]);
  expect(await refusedPty(await person(), path(box))).toEqual([404, "not_found"]);
  const viewer = await person({ ...who, scope: "sandbox:connect" });
  expect(await refusedPty(viewer, path(box))).toEqual([403, "forbidden"]);
  expect(await refusedPty(viewer, path(box, { role: "viewer" }))).toEqual([403, "forbidden"]);
  expect(await refusedPty(who, path(box, { cols: "0" }))).toEqual([400, "bad_request"]);
});
