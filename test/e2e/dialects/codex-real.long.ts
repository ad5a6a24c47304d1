// The real codex command line through an editing and testing task in a sandbox, while connections on both hops are cut.
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { guidedConfig, installCli } from "../support/agents/codex.ts";
import { CodexCli } from "../support/agents/codex-cli.ts";
import { codexUrl } from "../support/agents/codex-raw.ts";
import { folder, runTask } from "../support/agents/codex-task.ts";
import { Outage } from "../support/agents/outage.ts";
import { CLI, cliEnv } from "../support/clients/cli.ts";
import {
  cutInnerHop,
  cutRelay,
  fresh,
  holdInnerHop,
  person,
  releaseInnerHop,
  restartWorker,
  system,
} from "../support/system/system.ts";

/** Of each hop; the task takes about so many fifths of a second. */
const CUTS = Number(process.env.CODEX_CUTS ?? 100);
const LINES = CUTS * 2;

const OUTAGE_SECONDS = Number(process.env.CODEX_OUTAGE_SECONDS ?? 90);
/** As lines some 50 MB. */
const NUMBERS = 6_500_000;
const RELAY = system.relayOrigin;

/** The task to its end: each line once, and what was typed typed once. */
async function wholeTask(
  environments: string,
  work: string,
  path: string[],
  breaks: (isOver: () => boolean) => Promise<unknown>,
) {
  const { code, out, said, lines, added } = await runTask(environments, work, path, LINES, breaks);
  // In the sandbox, whose name is part of the path there; codex works on without one where it can't have it.
  expect([code, out]).toEqual([0, expect.stringContaining("b/sbx/added.txt")]);
  expect(added).toBe("hello\n");
  expect(said.match(/got abc/g)).toHaveLength(1);
  expect(lines).toEqual(Array.from({ length: LINES }, (_, i) => i + 1));
}

/** Cuts at both hops, and a restart of the Worker. */
async function cutBoth(isOver: () => boolean): Promise<void> {
  let cuts = 0;
  const restartAt = Math.floor(CUTS / 2);
  while (!isOver() && cuts < CUTS) {
    await delay(150);
    await cutRelay();
    cuts += 1;
    await cutInnerHop();
    if (cuts === restartAt) await restartWorker();
  }
  console.log(`${cuts} cuts of each hop`);
}

test("by url: codex edits, tests and waits, over cuts of both hops", async () => {
  const [who, work] = [await person(), folder()];
  const { url } = await codexUrl(who, fresh("box"));
  const address = url.replace(/^ws:\/\/[^/]+/, RELAY.replace(/^http/, "ws"));
  await wholeTask(`default = "sbx"\n\n[[environments]]\nid = "sbx"\nurl = "${address}"\n`, work, [], cutBoth);
});

test("by program: the same through sbx-stdio codex", async () => {
  const [who, work, bin] = [await person(), folder(), folder()];
  installCli(bin, CLI, cliEnv(who));
  await wholeTask(guidedConfig(RELAY, bin), work, [bin], cutBoth);
});

test("by url: an outage of 40 s, as long as codex waits", async () => {
  const [who, work] = [await person(), folder()];
  const { outage, origin } = await Outage.make();
  const { url } = await codexUrl(who, fresh("box"));
  const address = url.replace(/^ws:\/\/[^/]+/, origin.replace(/^http/, "ws"));
  const environments = `default = "sbx"\n\n[[environments]]\nid = "sbx"\nurl = "${address}"\n`;
  await wholeTask(environments, work, [], () => breakFor(outage, 40));
});

test("by program: an outage that is longer than codex would wait", async () => {
  const [who, work, bin] = [await person(), folder(), folder()];
  const { outage, origin } = await Outage.make();
  installCli(bin, CLI, cliEnv(who));
  await wholeTask(guidedConfig(origin, bin), work, [bin], () => breakFor(outage, OUTAGE_SECONDS));
});

test("by url: an outage behind the Worker, as long as any", async () => {
  const [who, work] = [await person(), folder()];
  const { url } = await codexUrl(who, fresh("box"));
  await wholeTask(`default = "sbx"\n\n[[environments]]\nid = "sbx"\nurl = "${url}"\n`, work, [], async () => {
    await holdInnerHop();
    await cutInnerHop();
    await delay(OUTAGE_SECONDS * 1_000);
    await releaseInnerHop();
  });
});

async function breakFor(outage: Outage, seconds: number): Promise<void> {
  outage.begin();
  await delay(seconds * 1_000);
  outage.end();
}

test("50 MB in one command, by sbx-stdio codex over cuts: each line once", async () => {
  const client = new CodexCli(await person(), ["--sandbox", fresh("box")], RELAY);
  await client.answer(client.ask("initialize", { clientName: "test", resumeSessionId: null }));
  let [rest, next, bytes, seq, failures] = ["", 1, 0, 0, 0];
  client.onMessage = ({ method, params }) => {
    if (method !== "process/output") return false;
    if (params?.seq !== seq + 1) failures += 1;
    seq = Number(params?.seq);
    const piece = Buffer.from(String(params?.chunk), "base64");
    bytes += piece.length;
    const lines = (rest + piece.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== String(next)) failures += 1;
      next += 1;
    }
    return true;
  };
  const params = { processId: "p", argv: ["seq", "1", String(NUMBERS)], cwd: "file:///tmp", env: {}, tty: false };
  await client.answer(client.ask("process/start", params));
  const isClosed = () => client.told("process/closed").length > 0;
  let cuts = 0;
  while (!isClosed()) {
    await delay(1_000);
    await (cuts % 2 === 0 ? cutRelay() : cutInnerHop());
    cuts += 1;
  }
  console.log(`${bytes} bytes in ${seq} chunks over ${cuts} cuts`);
  expect([failures, next - 1, rest]).toEqual([0, NUMBERS, ""]);
});
