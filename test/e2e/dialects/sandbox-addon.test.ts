// SandboxAddon's protocol over the real system; the class itself is tested in a browser.
import { expect, test } from "vitest";
import { foreign } from "../support/clients/foreign-client.ts";
import { addon, addonPath, shows } from "../support/generators/foreign-routes.ts";
import { fresh, person } from "../support/system/system.ts";

test("who comes back gets a reset, the log, and ready after it", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const first = await addon(who, sandbox, { session: "build" });
  first.type("echo one: $((10 + 1))\r");
  const before = await shows(first, /one: 11\s[\s\S]*[$#] \S+133;B\S$/);
  first.socket.terminate();
  const again = await addon(who, sandbox, { session: "build" });
  const texts = again.received.map((frame) => frame.toString());
  expect(texts.pop()).toBe('{"type":"ready"}');
  expect(texts.join("")).toBe(`\u001bc${before}`);
});

test("exit is told with its code; the process is gone, and the next connection is a new shell", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const client = await addon(who, sandbox);
  client.type("exit 4\r");
  expect(await client.message("exit")).toEqual({ type: "exit", code: 4 });
  expect((await client.end()).code).toBe(1000);
  const next = await addon(who, sandbox);
  next.type("echo new: $((4 * 4))\r");
  await shows(next, "new: 16");
});

test("an exit while nobody is there is told to who comes next, without ready", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const client = await addon(who, sandbox);
  client.type("sleep 0.2; exit 6\r");
  await shows(client, "exit 6");
  client.socket.terminate();
  const late = await foreign(who, addonPath(sandbox));
  expect(await late.message("exit")).toEqual({ type: "exit", code: 6 });
});
