// A13: a port of the sandbox, here, over the whole system and over cuts, with real servers and real clients.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as dial, type Socket } from "node:net";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { Random } from "../../../packages/local/src/base/random.ts";
import { auditOf, said } from "../support/clients/audit.ts";
import { type CliChild, exitCode, runCli, startCli } from "../support/clients/cli.ts";
import { Programs } from "../support/clients/programs.ts";
import { NODE } from "../support/system/sandbox-node.ts";
import { api, cutInnerHop, cutRelay, fresh, mint, type Person, person, system } from "../support/system/system.ts";
import { MOVING_MS, until, within } from "../support/system/wait.ts";

const MB = 1_000_000;
const LENGTH = 3 * MB;
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** A server in the sandbox, in a session of its own: `script` is Node's, and `listening(server)` prints the port. */
function serve(who: Person, script: string): Promise<number> {
  const listening =
    'const listening = (server) => server.listen(0, "127.0.0.1", () => console.log(server.address().port));';
  return serveBy(who, NODE, "-e", `${listening}${script}`);
}

/** A program in the sandbox that first prints the port which it listens on. */
async function serveBy(who: Person, ...program: string[]): Promise<number> {
  const [at, session] = [new Programs(who, "default"), fresh("server")];
  const [cmd = "", ...args] = program;
  expect((await at.put(session, { cmd, args })).status).toBe(201);
  ended.push(() => at.ask("DELETE", `/sessions/${session}`));
  const { match } = (await at.wait(session, { until: { match: "(\\d+)\\n" }, from: 0 })).body;
  return Number(match?.groups?.[0]);
}

type Forward = { readonly child: CliChild; readonly port: number; stderr(): string };

async function forward(who: Person, port: number | string, origin = system.origin): Promise<Forward> {
  const child = startCli(who, ["--json", `0:${port}`], "forward", origin);
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const over = exitCode(child);
  ended.push(() => {
    child.kill("SIGTERM");
    return over;
  });
  const [line] = (await within("the address", once(child.stdout, "data"))) as [Buffer];
  const { address, port: here, remotePort } = JSON.parse(line.toString()) as Record<string, unknown>;
  expect([address, remotePort]).toEqual(["127.0.0.1", Number(port)]);
  return { child, port: Number(here), stderr: () => stderr };
}

async function socketTo(port: number): Promise<Socket> {
  const socket = dial({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  ended.push(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  return once(socket, "end").then(() => Buffer.concat(chunks));
}

const curl = async (...words: string[]) =>
  (await promisify(execFile)("curl", ["-sS", "--fail", "--max-time", "50", ...words])).stdout;

test("A13: curl reads a web server of the sandbox, several times at once", async () => {
  const who = await person();
  const port = await serve(
    who,
    'listening(require("http").createServer((request, response) => response.end("you asked for " + request.url)));',
  );
  const { port: here } = await forward(who, port);
  const asked = ["a", "b", "c"].map((path) => curl(`http://127.0.0.1:${here}/${path}`));
  expect(await Promise.all(asked)).toEqual(["a", "b", "c"].map((path) => `you asked for /${path}`));
  // Where localhost leads browsers first.
  expect(await curl("-g", `http://[::1]:${here}/d`)).toBe("you asked for /d");
});

test(
  "A13: 3 MB each way at once arrive whole over cuts of both hops",
  async () => {
    const who = await person();
    const port = await serve(
      who,
      'listening(require("net").createServer({ allowHalfOpen: true }, (one) => one.pipe(one)));',
    );
    const random = new Random(21);
    const { port: here, stderr } = await forward(who, port, system.relayOrigin);
    const socket = await socketTo(here);
    const sent = createHash("sha256");
    const came = createHash("sha256");
    let length = 0;
    const cuts = [() => cutRelay(), () => cutInnerHop()];
    const cutAt = Array.from({ length: 8 }, () => random.int(1, LENGTH)).sort((a, b) => a - b);
    let cutCount = 0;
    socket.on("data", (chunk: Buffer) => {
      came.update(chunk);
      length += chunk.length;
      if (length < (cutAt[cutCount] ?? Number.POSITIVE_INFINITY)) return;
      void cuts[cutCount % 2]?.();
      cutCount += 1;
    });
    const over = Promise.race([once(socket, "end"), once(socket, "close")]);
    for (let i = 0; i < LENGTH / MB; i += 1) {
      const bytes = Buffer.from(random.bytes(MB));
      sent.update(bytes);
      if (!socket.write(bytes)) await Promise.race([once(socket, "drain"), over]);
    }
    socket.end();
    await over;
    expect([length, stderr().replace(/^sbx-stdio: (connection lost|reconnected).*\n/gm, "")]).toEqual([LENGTH, ""]);
    expect(came.digest("hex")).toBe(sent.digest("hex"));
    expect(cutCount).toBeGreaterThan(3);
    expect(stderr()).toMatch(/^sbx-stdio: connection lost, reconnecting…$/m);
    expect(stderr()).toMatch(/^sbx-stdio: reconnected, nothing lost$/m);
  },
  MOVING_MS,
);

test("A13a: a port that nothing listens on ends the connection and is said; the next one is tried again", async () => {
  const who = await person();
  const { port: here, stderr } = await forward(who, 1);
  const socket = dial(here, "127.0.0.1");
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  expect(error.code).toBe("ECONNRESET");
  await until("the reason", () => stderr() !== "");
  expect(stderr()).toBe("sbx-stdio: Cannot connect to port 1 of the sandbox: nothing listens there\n");
});

test("A13: it needs the scope to run commands, and is on record as a connection to that port", async () => {
  const who = await person();
  const viewer = { ...who, token: await mint({ sub: who.sub, org: who.org, scope: "sandbox:connect" }) };
  const { port: here, stderr } = await forward(viewer, 1);
  await once(dial(here, "127.0.0.1"), "error");
  await until("the reason", () => /sandbox:exec/.test(stderr()));
  const port = await serve(who, 'listening(require("net").createServer((one) => one.end()));');
  const { port: open } = await forward(who, port);
  await readAll(await socketTo(open));
  const answer = await api(who, "/api/sandboxes/default/sessions?limit=100");
  const { sessions } = (await answer.json()) as { sessions: { session: string; cmd: string; tty: boolean }[] };
  const made = sessions.find(({ session }) => session.startsWith("tcp-"));
  expect(made).toMatchObject({ cmd: `tcp:${port}`, tty: false });
  const records = (await auditOf(who, made?.session ?? "")).map(said);
  expect(records).toContainEqual(expect.objectContaining({ type: "start", command: [`tcp:${port}`], tty: false }));
});

test("forward to the very port that it listens on is refused; to the same number elsewhere it is not", async () => {
  const who = await person();
  const port = await anyFreePort();
  const refused = await runCli(who, [String(port)], "", "forward");
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(/^sbx-stdio: the sandbox is on this machine, and its port \d+ is this one; .+\n$/);
  // The same number at another address of this machine leads to the server, and not back.
  const served = await serve(
    who,
    'listening(require("http").createServer((_request, response) => response.end("served")));',
  );
  const child = startCli(who, [`127.0.0.2:${served}:${served}`], "forward");
  const over = exitCode(child);
  ended.push(() => {
    child.kill("SIGTERM");
    return over;
  });
  const [line] = (await within("the address", once(child.stdout, "data"))) as [Buffer];
  expect(String(line)).toBe(`127.0.0.2:${served} is port ${served} of sandbox default\n`);
  expect(await curl(`http://127.0.0.2:${served}/`)).toBe("served");
});
