import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { act } from "../src/run/actions.ts";
import { temporaryDirectory } from "./temporary.ts";

test("a process that has the id of a server that was killed is not taken for it, and never ended", async () => {
  const state = temporaryDirectory();
  chmodSync(state, 0o700);
  const facts = { origin: "http://localhost:1", path: "/", pid: process.pid, secretsDir: state, isShared: false };
  writeFileSync(join(state, "server.json"), JSON.stringify(facts));
  const said: string[] = [];
  const place = { state, port: 1 };
  expect(await act({ kind: "stop", ...place, isNow: true }, (text) => said.push(text))).toBe(0);
  expect(said).toEqual(["Nothing ran"]);
  const link = { kind: "link", ...place, linkFile: join(state, "link"), name: undefined } as const;
  await expect(act(link, (text) => said.push(text))).rejects.toThrow("No server runs at port 1");
});
