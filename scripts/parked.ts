// `node scripts/run.mjs parked [MINUTES] [SPEED]`: a session with three quiet clients, and whether any handler or constructor of its
// Durable Object runs while it is parked. Takes five real minutes, so that it is no test of `npm test`. With SPEED the object's clock
// and alarms run so much faster: 5 and 12 are an hour.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "sandbox-stdio/client";
import WebSocket from "ws";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";
import { buildCli } from "../packages/local/src/build/builds.ts";
import { buildAndStart } from "../packages/local/src/system/parts.ts";

const minutes = Number(process.argv[2] ?? 5);
const speed = Number(process.argv[3] ?? 1);
const PARK_SECONDS = 2;
/** The runtime takes an object that has nothing to do out of memory after ten seconds. */
const SETTLE_MS = 30_000;
const LIMIT_MS = 180_000;
const PING_MS = 15_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const limit = Date.now() + LIMIT_MS; !isSo(); await pause(20)) {
    if (Date.now() > limit) throw new Error(`Waited ${LIMIT_MS / 1000} s for ${what}`);
  }
}

await buildCli();
const dir = mkdtempSync(join(tmpdir(), "sbx-parked-"));
const system = await buildAndStart({
  dir,
  workerEntry: join(ROOT, "worker/test/support/counting-entry.ts"),
  workerVars: { PARK_SECONDS: String(PARK_SECONDS), PARK_PLAIN: "1", CHAOS_SPEED: String(speed) },
  signal: stopSignal(),
});
const counted = (): string[] => {
  const text = readFileSync(system.worker.logFile, "utf8");
  return [...text.matchAll(/counted: (\w+)/g)].map(([, what]) => what ?? "");
};
let line: ChildProcess | undefined;
try {
  const token = await system.mintToken({ sub: "alice", org: "local", expires: 7_200 });
  /** Of the stdio client, the command line and the plain client. */
  const outputs = ["", "", ""];
  const first = connect(system.origin, { token, session: "parked", cmd: "cat" });
  const read = async (): Promise<void> => {
    for await (const bytes of first.stdout) outputs[0] += Buffer.from(bytes).toString();
  };
  const reading = read().catch(() => undefined);
  const keys = first.stdin.getWriter();
  await keys.write("one\n");
  await until("the first echo", () => outputs[0] === "one\n");
  line = spawn(
    process.execPath,
    [join(ROOT, "packages/sbx-cli/dist/sbx-stdio.js"), system.origin, "--session", "parked"],
    {
      env: { ...process.env, SBX_TOKEN: token, HOME: dir },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  line.stdout?.on("data", (bytes) => (outputs[1] += String(bytes)));
  const plain = new WebSocket(`${system.origin.replace("http", "ws")}/attach?session=parked`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  plain.on("message", (data, isBinary) => {
    if (isBinary) outputs[2] += String(data).slice(1); // After the byte that names the stream.
  });
  await new Promise((resolve) => plain.once("open", resolve));
  const pings = setInterval(() => plain.send('{"type":"ping"}'), PING_MS);
  plain.send('{"type":"ping"}');
  await until("the output of all clients", () => outputs.every((output) => output === "one\n")).catch((error) => {
    throw new Error(`${error}: ${JSON.stringify(outputs)}`);
  });
  await pause(SETTLE_MS);
  const before = counted().length;
  await pause(minutes * 60_000);
  const during = counted().slice(before);
  await keys.write("two\n");
  // By a faster clock clients have been silent for long, since their own is not: some come back first, and a plain one can't.
  const back = speed === 1 ? outputs.length : 2;
  await until("the echo after it", () => outputs.slice(0, back).every((output) => output === "one\ntwo\n"));
  const woken = counted().slice(before + during.length);
  console.log(
    `${minutes * speed} min of its clock parked with 3 clients: ${during.length} handlers and constructors ran ${during.join(" ")}`,
  );
  console.log(`then a line was typed: ${woken[0]} first, and ${back} clients had its echo`);
  if (during.length > 0 || woken[0] !== "constructor") process.exitCode = 1;
  clearInterval(pings);
  plain.terminate();
  first.close();
  await reading;
} finally {
  line?.kill();
  await system.stop();
  rmSync(dir, { recursive: true, force: true });
}
