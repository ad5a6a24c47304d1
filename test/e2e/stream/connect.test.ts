// The library's connect() over the real system: web streams in both directions, breaks, backpressure, refusals, later lives.
import { createHash, randomBytes } from "node:crypto";
import {
  type Connection,
  type ConnectionState,
  type ConnectOptions,
  connect,
  StdioError,
  sandbox,
} from "sandbox-stdio/client";
import { expect, onTestFinished, test } from "vitest";
import NodeWebSocket from "ws";
import { cutInnerHop, fresh, mint, type Person, person, restartWorker, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const sh = (script: string) => ({ cmd: "sh", args: ["-c", script] });
const sha = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Sockets that a test can break, as a lost network would. */
class BreakableSocket extends NodeWebSocket {
  static readonly open = new Set<BreakableSocket>();
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { perMessageDeflate: false });
    BreakableSocket.open.add(this);
    this.once("close", () => BreakableSocket.open.delete(this));
  }
  static breakAll(): void {
    for (const socket of BreakableSocket.open) socket.terminate();
  }
}

function attach(who: Person, options: ConnectOptions): Connection {
  const connection = connect(system.origin, { token: who.token, sandbox: fresh("box"), ...options });
  onTestFinished(() => connection.close());
  return connection;
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
const textOf = async (stream: ReadableStream<Uint8Array>) => (await bytesOf(stream)).toString();

async function write(connection: Connection, input: Uint8Array | string): Promise<void> {
  const writer = connection.stdin.getWriter();
  await writer.write(input);
  await writer.close();
}

async function failure(promise: Promise<unknown>): Promise<StdioError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StdioError);
  return error as StdioError;
}

test.each([
  ["the runtime's own WebSocket", {}],
  ["the package ws", { WebSocket: NodeWebSocket }],
])("X1: three pipes and the exit come apart and whole, over %s", async (_, options) => {
  const states: ConnectionState["phase"][] = [];
  const onState = ({ phase }: ConnectionState) => states.push(phase);
  const connection = attach(await person(), { ...sh("cat; echo err >&2; exit 7"), ...options, onState });
  const [stdout, stderr] = await Promise.all([
    textOf(connection.stdout),
    textOf(connection.stderr),
    write(connection, "grün\n"),
  ]);
  expect([stdout, stderr]).toEqual(["grün\n", "err\n"]);
  expect(await connection.exited).toEqual({ code: 7 });
  expect(states.filter((phase) => phase !== "starting")).toEqual(["connected", "closed"]);
  expect(connection.state).toMatchObject({ phase: "closed", exit: { code: 7 } });
});

test("R1, I5: bytes pass both ways once and in order, over cut connections and a restarted Worker", async () => {
  const input = randomBytes(2_000_000);
  const phases = new Set<string>();
  const onState = ({ phase }: ConnectionState) => phases.add(phase);
  const connection = attach(await person(), { cmd: "cat", WebSocket: BreakableSocket, onState });
  const writer = connection.stdin.getWriter();
  const writing = (async () => {
    for (let at = 0; at < input.length; at += 50_000) await writer.write(input.subarray(at, at + 50_000));
    await writer.close();
  })();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let breaks = 0;
  for await (const chunk of connection.stdout) {
    chunks.push(chunk);
    length += chunk.length;
    if (length < (breaks + 1) * 250_000 || breaks >= 6) continue;
    breaks += 1;
    if (breaks === 2) await cutInnerHop();
    else if (breaks === 4) await restartWorker();
    else BreakableSocket.breakAll();
  }
  await writing;
  expect(await connection.exited).toEqual({ code: 0 });
  expect(sha(Buffer.concat(chunks))).toBe(sha(input));
  expect(phases).toContain("reconnecting");
});

test("W7: a reader that stops holds the process back, and nothing is lost", async () => {
  const who = await person();
  const [box, session] = [fresh("box"), fresh("s")];
  const connection = attach(who, { ...sh("head -c 3000000 /dev/zero; echo end >&2"), sandbox: box, session });
  const http = sandbox(system.origin, { token: who.token, sandbox: box }).session(session);
  // How far the window has grown by then is the machine's affair, but it is never under 16 KiB (W4).
  await until("the least window to be spent", async () => {
    const { offset } = await http.describe().catch(() => ({ offset: 0 }));
    return offset >= 16_384 ? offset : undefined;
  });
  const { outcome } = await http.wait({ until: { exit: true }, timeoutMs: 1_000 });
  expect(outcome).toBe("timeout");
  expect((await http.describe()).offset).toBeLessThan(2_000_000);
  const [stdout, stderr] = await Promise.all([bytesOf(connection.stdout), textOf(connection.stderr)]);
  expect([stdout.length, stderr]).toEqual([3_000_000, "end\n"]);
});

test("F1: a write waits while the process does not read, and a signal gets through meanwhile", async () => {
  const script = 'trap go=1 USR1; echo ready; while [ -z "$go" ]; do sleep 0.05; done; wc -c';
  const connection = attach(await person(), sh(script));
  const reader = connection.stdout.getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("ready\n");
  const writer = connection.stdin.getWriter();
  let isWritten = false;
  const writing = writer.write(new Uint8Array(2_000_000)).then(() => {
    isWritten = true;
  });
  await until("all room to be taken", () => connection.hello !== undefined && writer.desiredSize === 0);
  expect(isWritten).toBe(false);
  connection.signal("SIGUSR1");
  await writing;
  await writer.close();
  expect(
    Buffer.from((await reader.read()).value ?? [])
      .toString()
      .trim(),
  ).toBe("2000000");
});

test("T1: a token is asked for at each connection, and a refusal says why", async () => {
  const who = await person();
  let asked = 0;
  const token = async () => {
    asked += 1;
    return who.token;
  };
  const connection = attach(who, { cmd: "cat", token, WebSocket: BreakableSocket });
  await until("the greeting", () => connection.hello);
  BreakableSocket.breakAll();
  await until("the reconnection", () => connection.state.phase === "connected" && asked === 2);

  const expired = await failure(attach(who, { token: await mint({ sub: who.sub, expires: -60 }) }).exited);
  expect(expired).toMatchObject({ code: "refused", closeCode: 4401 });
  const noProtocol = await failure(attach(who, { token: "no token at all" }).exited);
  expect(noProtocol.message).toContain("characters");
  const badName = attach(who, { sandbox: "-" });
  expect(await failure(badName.exited)).toMatchObject({ closeCode: 4400 });
  expect(await failure(bytesOf(badName.stdout))).toMatchObject({ closeCode: 4400 });
  expect(() => connect("ftp://nowhere")).toThrow("must begin with https://");
});

test("R2: a later life goes on with the next byte that nobody has read", async () => {
  const who = await person();
  const box = fresh("box");
  const first = attach(who, { ...sh("cat"), sandbox: box });
  const writer = first.stdin.getWriter();
  const reader = first.stdout.getReader();
  await writer.write("one");
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("one");
  const point = first.suspend();
  expect((await failure(first.exited)).code).toBe("left");
  expect(point).toMatchObject({ session: first.session, offset: 3 });
  if (point === undefined) return;
  const second = attach(who, { sandbox: box, resume: point });
  await write(second, "two");
  expect(await textOf(second.stdout)).toBe("two");
  expect(await second.exited).toEqual({ code: 0 });
});
