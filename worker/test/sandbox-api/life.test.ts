// What a local bridge says of a sandbox's /workspace (V2), as the Worker takes it.
import { afterEach, expect, test, vi } from "vitest";
import type { SandboxApiEnv } from "../../src/sandbox-api/caller.ts";
import { prepare } from "../../src/sandbox-api/contract.ts";

const local = { BRIDGE_URL: "http://127.0.0.1:1", STDIO_TOKEN: "a secret of the bridge's" } as unknown as SandboxApiEnv;
const BOX = { sandboxKey: "key", sandbox: "box" };

afterEach(() => {
  vi.restoreAllMocks();
});

const answering = (answer: Response) => vi.spyOn(globalThis, "fetch").mockImplementation(async () => answer);

test("V2: where a namespace can't be had, the bridge's reason is told; a bridge that is away is one", async () => {
  answering(Response.json({ ok: true }));
  expect(await prepare(local, BOX)).toBeUndefined();
  answering(Response.json({ error: "no_workspace", message: "the bridge does not run as root" }, { status: 502 }));
  expect(await prepare(local, BOX)).toBe("the bridge does not run as root");
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("refused"));
  expect(await prepare(local, BOX)).toBe("the bridge does not answer");
});

test("V2: a container is not asked, and so not started", async () => {
  const asked = answering(Response.json({ ok: true }));
  expect(await prepare({ ...local, BRIDGE_URL: "" }, BOX)).toBeUndefined();
  expect(asked).not.toHaveBeenCalled();
});
