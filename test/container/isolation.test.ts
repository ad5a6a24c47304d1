// What keeps sandboxes apart: a container each, with a secret of its own that no process is given.
import { expect, test } from "vitest";
import { docker } from "../../packages/local/src/base/docker.ts";
import { connect } from "../e2e/support/clients/client.ts";
import { fresh, type Person, person } from "../e2e/support/system/system.ts";
import { containerOf, environmentOf } from "./containers.ts";

const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });

/** The container of a sandbox, which stays for the test: it would go to sleep once it had no session for a few seconds. */
async function heldContainerOf(who: Person, sandbox = "default"): Promise<string> {
  const client = await connect(who, { sandbox, session: fresh("held"), cmd: "cat" });
  await client.hello();
  return containerOf(who, sandbox);
}

/** The status with which the bridge in `container` answers, asked from inside of it. */
async function statusOf(container: string, path: string, ...options: string[]): Promise<string> {
  const write = ["-s", "-o", "/dev/null", "-w", "%{http_code}"];
  return await docker("exec", container, "curl", ...write, ...options, `http://127.0.0.1:8080${path}`);
}

test("two sandboxes of one tenant are two containers, with files and secrets of their own", async () => {
  const who = await person();
  const [one, two] = [await heldContainerOf(who, "one"), await heldContainerOf(who, "two")];
  expect(one).not.toBe(two);
  const writer = await connect(who, { sandbox: "one", session: fresh("s"), ...sh("echo mine >/workspace/file") });
  await writer.message("exit");
  const reader = await connect(who, { sandbox: "two", session: fresh("s"), ...sh("ls /workspace") });
  expect(await reader.message("exit")).toMatchObject({ code: 0 });
  expect(reader.text()).toBe("");
  const [first, second] = [(await environmentOf(one)).STDIO_TOKEN, (await environmentOf(two)).STDIO_TOKEN];
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).toMatch(/^[0-9a-f]{64}$/);
  expect(first).not.toBe(second);
  // The bridge of each takes its own and not the other's.
  expect(await statusOf(one, "/sessions", "-H", `Authorization: Bearer ${first}`)).toBe("200");
  expect(await statusOf(one, "/sessions", "-H", `Authorization: Bearer ${second}`)).toBe("401");
});

test("the same sandbox name of two tenants is two containers", async () => {
  const [alice, bob] = [await person(), await person()];
  expect(await containerOf(alice, "dev")).not.toBe(await containerOf(bob, "dev"));
});

test("a sandbox keeps its secret when its container is a new one", async () => {
  const who = await person();
  const container = await containerOf(who);
  const { STDIO_TOKEN } = await environmentOf(container);
  await docker("kill", container);
  const next = await containerOf(who);
  expect(next).not.toBe(container);
  expect((await environmentOf(next)).STDIO_TOKEN).toBe(STDIO_TOKEN);
});

test("a process is not given the secret", async () => {
  const who = await person();
  const { STDIO_TOKEN } = await environmentOf(await heldContainerOf(who));
  const client = await connect(who, { session: fresh("s"), ...sh("env; tr '\\0' '\\n' </proc/self/environ") });
  await client.message("exit");
  expect(client.text()).toContain("PWD=/workspace\n");
  expect(client.text()).not.toContain("STDIO_");
  expect(client.text()).not.toContain(String(STDIO_TOKEN));
});

test("the bridge answers nobody without its secret, and no page", async () => {
  const container = await heldContainerOf(await person());
  const { STDIO_TOKEN } = await environmentOf(container);
  const authorized = ["-H", `Authorization: Bearer ${STDIO_TOKEN}`];
  expect(await statusOf(container, "/healthz")).toBe("200");
  expect(await statusOf(container, "/sessions")).toBe("401");
  expect(await statusOf(container, "/sessions", ...authorized)).toBe("200");
  expect(await statusOf(container, "/sessions", ...authorized, "-H", "Origin: http://localhost")).toBe("403");
});
