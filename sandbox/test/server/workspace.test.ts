// A sandbox's /workspace on a machine with many sandboxes, as the Worker asks for it.
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Namespace } from "../../src/base/namespace.ts";
import { HEADERS, temporary, testBridge } from "../support/bridge.ts";

test("V2: a namespace may take longer than a connection may be silent", async () => {
  const root = temporary();
  let made: (fault: string) => void = () => undefined;
  const making = new Promise<string>((resolve) => {
    made = resolve;
  });
  vi.spyOn(Namespace, "make").mockReturnValue(making);
  onTestFinished(() => void vi.restoreAllMocks());
  const { url } = testBridge({}, root);
  // Made by an earlier bridge.
  mkdirSync(join(root, ".workspaces"));
  writeFileSync(join(root, ".workspaces/known"), root);
  const answers = [
    fetch(`${url}/workspace?sandbox=dev`, { method: "POST", headers: HEADERS }),
    fetch(`${url}/sessions?sandbox=known`, { headers: HEADERS }),
  ];
  await expect.poll(() => vi.mocked(Namespace.make).mock.calls.length).toBe(2);
  // Half a request, which is ended for its silence, and not before these would be.
  const silent = connect(Number(new URL(url).port), "127.0.0.1");
  silent.write("GET / HTTP/1.1\r\n");
  await once(silent, "close");
  made("too busy");
  const said = async (answer: Promise<Response>) => [(await answer).status, await (await answer).json()];
  expect(await Promise.all(answers.map(said))).toEqual(
    [502, 503].map((status) => [status, { error: "no_workspace", message: "too busy" }]),
  );
});
