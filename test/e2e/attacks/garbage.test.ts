// Clients that send garbage, for a bounded time, by seed: nothing crashes, nothing grows, and the next client is served.
import { readFileSync } from "node:fs";
import { connect as dial } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect, HttpRefusal, type Params, type TestClient } from "../support/client.ts";
import { namedInGroup, residentBytes } from "../support/processes.ts";
import { api, fresh, type Person, person, pids, system } from "../support/system.ts";
import { within } from "../support/wait.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
/** Of another run: `SEED=… vitest …`. A failure tells it too. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
/** `FUZZ_RUNS=N FUZZ_SECONDS=S` searches longer: so many clients of each kind, or for so long. */
const LIMIT_MS = Number(process.env.FUZZ_SECONDS ?? 5) * 1000;
vi.setConfig({ testTimeout: 60_000 + 2 * LIMIT_MS });
const settings = {
  seed,
  // Each may be a session with a Durable Object of its own, whose memory stays: so many at most, however fast.
  numRuns: Number(process.env.FUZZ_RUNS ?? 120),
  // A run that is cut short has passed.
  interruptAfterTimeLimit: LIMIT_MS,
  markInterruptAsFailure: false,
} as const;

// ---- Garbage -----------------------------------------------------------------------------------------------------

const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -1, 1, 80, 2 ** 31, 2 ** 32, 2 ** 53, 1e308, 0.5),
);
const value = fc.oneof(
  { weight: 4, arbitrary: number },
  { weight: 2, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, [], {}, "SIGWINCH", "SIGCONT", "left", "vanished") },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
const OUTER_TYPES = "resize signal eof ack ping auth request_stdin release_stdin grant_stdin force_take".split(" ");
const INNER_TYPES = "attach detach ack eof signal resize stdin_holder ping".split(" ");
const OTHER_TYPES = "hello bye exit gap status __proto__ constructor toString".split(" ");

/** Messages that are nearly right: their types and fields exist, their values may be anything. */
function nearly(types: readonly string[]): fc.Arbitrary<string> {
  const fields = ["cols", "rows", "signal", "offset", "token", "to", "client", "slot", "name", "role", "how", "window"];
  const more = ["acked", "admin", "delivery", "acknowledges", "id", "stdin", "__proto__"];
  const message = fc.record(
    { type: fc.constantFrom(...types), ...Object.fromEntries([...fields, ...more].map((field) => [field, value])) },
    { requiredKeys: ["type"] },
  );
  return message.map((one) => JSON.stringify(one));
}

const text = (types: readonly string[]) =>
  fc.oneof(
    { weight: 6, arbitrary: nearly([...types, ...OTHER_TYPES]) },
    { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
    { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "[".repeat(16_000),
        '{"type":'.repeat(1_000),
        "",
        "\0",
        "9".repeat(1_000),
        `"${"x".repeat(20_000)}"`,
      ),
    },
  );
const binary = fc.oneof(
  { weight: 8, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  // A frame of the inner hop: type, slot, offset, bytes.
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(3), fc.nat(100), fc.uint8Array({ maxLength: 40 }))
      .map(([slot, offset, bytes]) => Uint8Array.of(0x10, 0, 0, 0, slot, 0, 0, 0, 0, 0, 0, 0, offset, ...bytes)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(64 * KIB, 64 * KIB + 1, MIB, MIB + 1).map((length) => new Uint8Array(length)),
  },
);

type Action =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array };

const actions = (types: readonly string[]) =>
  fc.array(
    fc.oneof(
      text(types).map((said): Action => ({ kind: "text", text: said })),
      binary.map((bytes): Action => ({ kind: "binary", bytes })),
    ),
    { maxLength: 25 },
  );
const ending = fc.constantFrom("drop", "leave", "4000", "wait");

/** Sends it all in one go and waits until it was dealt with: it is answered, or the connection is closed. */
async function send(client: TestClient, garbage: readonly Action[], how: string): Promise<void> {
  for (const action of garbage) client.socket.send(action.kind === "text" ? action.text : action.bytes);
  const pongs = client.messages("pong").length;
  client.socket.send('{"type":"ping"}');
  if (how === "drop") client.drop();
  else if (how === "leave") client.socket.close(1000);
  else if (how === "4000") client.socket.close(4000);
  else await client.until("an answer or a close", () => client.messages("pong").length > pongs).catch(() => undefined);
  if (client.socket.readyState === client.socket.OPEN) client.drop();
  await within("the close", client.closed);
}

/** Bytes where HTTP, or a WebSocket, is expected. */
const rawBytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.string({ maxLength: 200 }).map((line) => Buffer.from(`GET /attach?${line} HTTP/1.1\r\nHost: ${line}\r\n\r\n`)),
  fc
    .tuple(fc.constantFrom("stdio.v1", "stdio.inner.v1", "x"), fc.uint8Array({ maxLength: 400 }))
    .map(([protocol, frames]) =>
      Buffer.concat([
        Buffer.from(
          "GET /attach?cmd=cat&keep=0 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
            `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n` +
            "Authorization: Bearer TOKEN\r\n\r\n",
        ),
        frames,
      ]),
    ),
);

/** Sends bytes over TCP, with `token` in the place of TOKEN, and half-closes. */
function sendRaw(address: string, bytes: Uint8Array, token: string): Promise<void> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = dial({ host: hostname, port: Number(port) });
    const latin = Buffer.from(bytes)
      .toString("latin1")
      .replace("Bearer TOKEN", `Bearer ${token}`)
      .replace("Host: localhost\r", `Host: localhost:${port}\r`);
    socket.end(Buffer.from(latin, "latin1"));
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), 200);
    socket.on("error", () => undefined); // It may be reset: it asked for it.
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// ---- What has to hold --------------------------------------------------------------------------------------------

/** Process ids and memory of all that must survive. */
async function vitals() {
  const { worker, bridge } = await pids();
  const workerd = namedInGroup("workerd", worker);
  return { ids: { worker, bridge, workerd }, bytes: [bridge, ...workerd].map(residentBytes) };
}

const inMib = (bytes: number[]) => bytes.map((one) => Math.round(one / MIB)).join(", ");

async function expectServed(who: Person | undefined, options: ConnectOptions = {}): Promise<void> {
  const client = await connect(who, { session: fresh("next"), cmd: "cat", keep: 0 }, options);
  await client.hello();
  client.type("served");
  expect(await client.output("served")).toBe("served");
  await client.leave();
}

/** Who sends, in a long search one after the other: nobody may attach without end. */
let who: Person;
let attaches = 0;
const ATTACHES_EACH = 300;
async function nextPerson(): Promise<void> {
  attaches += 1;
  if (attaches % ATTACHES_EACH === 0) who = await person();
}

let before: Awaited<ReturnType<typeof vitals>>;

beforeAll(async () => {
  console.log(`seed ${seed}`);
  who = await person();
  await expectServed(who);
  before = await vitals();
});

describe("the Worker serves the next client after one that sends", () => {
  test("garbage on a session of its own, while another client works on undisturbed", async () => {
    const bystander = await connect(await person(), { session: "steady", cmd: "cat" });
    await bystander.hello();
    let rounds = 0;
    const garbage = fc.asyncProperty(
      actions(OUTER_TYPES),
      ending,
      fc.constantFrom<Params>({ cmd: "cat" }, { cmd: "cat", tty: 1 }, { cmd: "cat", tty: 1, mode: "exclusive" }),
      fc.constantFrom([], ["stdio.v1"]),
      fc.boolean(),
      async (garbageActions, how, params, protocols, isGreeted) => {
        rounds += 1;
        await nextPerson();
        const client = await connect(who, { ...params, session: fresh("g"), keep: 0 }, { protocols, acks: false });
        if (isGreeted) await client.hello();
        await send(client, garbageActions, how);
        if (rounds % 10 === 0) await expectServed(who);
        bystander.type(`${rounds}\n`);
        await bystander.output(`${rounds}\n`);
      },
    );
    await fc.assert(garbage, settings);
    console.log(`${rounds} clients of the Worker's with garbage on their sessions`);
    expect(rounds).toBeGreaterThan(0);
    await expectServed(who);
  });

  test("garbage on one session that many share, and does not grow with it", async () => {
    const session = fresh("shared");
    const host = await connect(who, { session, cmd: "cat", tty: 1, mode: "exclusive" });
    await host.hello();
    let rounds = 0;
    const garbage = fc.asyncProperty(
      actions(OUTER_TYPES),
      ending,
      fc.constantFrom("driver", "viewer"),
      async (garbageActions, how, role) => {
        rounds += 1;
        const client = await connect(who, { session, role }, { acks: false });
        const first = await client.until("a greeting or a refusal", () => {
          return client.messages("hello")[0] ?? client.messages("bye")[0];
        });
        // Those that vanished keep their places for a while.
        if (first.type === "bye") expect(first.code).toBe(1013);
        else await send(client, garbageActions, how);
      },
    );
    // The first pass fills what is kept of clients that are gone; from then on, each takes the place of an older one.
    const sizes: number[][] = [];
    for (let pass = 0; pass < 3; pass += 1) {
      await fc.assert(garbage, { ...settings, seed: seed + pass, numRuns: 120, interruptAfterTimeLimit: LIMIT_MS / 2 });
      sizes.push((await vitals()).bytes);
    }
    const growth = sizes[2]?.map((bytes, i) => bytes - (sizes[0]?.[i] ?? 0)) ?? [];
    console.log(`${rounds} clients with garbage on one session; grown by ${inMib(growth)} MiB in the last two thirds`);
    expect(rounds).toBeGreaterThan(0);
    expect(Math.max(...growth)).toBeLessThan(64 * MIB);
    host.say({ type: "request_stdin" });
    host.type("mine\n");
    await host.output("mine\r\nmine\r\n");
    await api(who, `/api/sandboxes/default/sessions/${session}`, { method: "DELETE" });
  });

  test("a query of garbage", async () => {
    const names = "sandbox session cmd arg env tty cols rows cwd name role mode delivery keep wake offset resume".split(
      " ",
    );
    const someValue = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom("0", "1", "cat", "-1", "99999999999999999999", "a=b", "/", "viewer", "x".repeat(3_000)),
    );
    const query = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 10 })), someValue, {
      maxKeys: 8,
    });
    let refused = 0;
    const garbage = fc.asyncProperty(query, fc.constantFrom([], ["stdio.v1"]), async (params, protocols) => {
      await nextPerson();
      const options = { protocols, acks: false };
      const client = await connect(who, { ...params, keep: 0 }, options).catch((error: unknown) => {
        if (!(error instanceof HttpRefusal)) throw error;
        // A plain answer, never one of something that broke.
        expect([400, 403, 404, 409, 422]).toContain(error.status);
        refused += 1;
      });
      if (client === undefined) return;
      const first = await client.until("a greeting or a refusal", () => {
        return client.messages("hello")[0] ?? client.messages("bye")[0];
      });
      if (first.type === "bye") expect([4400, 4403, 4404, 4409, 4422]).toContain(first.code);
      client.drop();
    });
    await fc.assert(garbage, settings);
    expect(refused).toBeGreaterThan(0);
    await expectServed(who);
  });

  test("bytes that are no HTTP, and WebSocket frames that are none", async () => {
    const garbage = fc.asyncProperty(rawBytes, (bytes) => sendRaw(system.origin, bytes, who.token));
    await fc.assert(garbage, { ...settings, interruptAfterTimeLimit: LIMIT_MS / 2 });
    await expectServed(who);
  });
});

describe("the bridge serves the next client after one that knows its secret and sends", () => {
  const server = system.bridgeUrl.replace(/^http/, "ws");
  const headers = { Authorization: `Bearer ${system.bridgeToken}` };
  const options = { server, headers, acks: false };

  test("garbage, as a client or as a Durable Object", async () => {
    let rounds = 0;
    const garbage = fc.asyncProperty(
      actions([...OUTER_TYPES, ...INNER_TYPES]),
      ending,
      fc.constantFrom([], ["stdio.v1"], ["stdio.inner.v1"]),
      fc.boolean(),
      fc.boolean(),
      async (garbageActions, how, protocols, isShared, tty) => {
        rounds += 1;
        const session = isShared ? `shared-${tty}` : fresh("g");
        const params = { session, cmd: "cat", tty: tty ? 1 : 0, keep: isShared ? 60 : 0 };
        const client = await connect(undefined, params, { ...options, protocols });
        await send(client, garbageActions, how);
        if (rounds % 20 === 0) await expectServed(undefined, options);
      },
    );
    await fc.assert(garbage, settings);
    console.log(`${rounds} clients of the bridge's with garbage`);
    expect(rounds).toBeGreaterThan(0);
    await expectServed(undefined, options);
    await expectServed(who);
  });

  test("bytes that are no HTTP, and WebSocket frames that are none", async () => {
    const garbage = fc.asyncProperty(rawBytes, (bytes) => sendRaw(system.bridgeUrl, bytes, system.bridgeToken));
    await fc.assert(garbage, { ...settings, interruptAfterTimeLimit: LIMIT_MS / 2 });
    await expectServed(undefined, options);
    await expectServed(who);
  });
});

describe("after all of it", () => {
  test("the same processes run, and their memory has not grown out of bounds", async () => {
    const after = await vitals();
    expect(after.ids).toEqual(before.ids);
    const growth = after.bytes.map((bytes, i) => bytes - (before.bytes[i] ?? 0));
    console.log(`resident MiB of bridge and workerd: ${inMib(before.bytes)}; grown by ${inMib(growth)}`);
    expect(Math.max(...growth)).toBeLessThan(300 * MIB);
  });

  test("nothing was thrown that nobody caught", () => {
    // What the runtime itself says of a Host that is none, and of frames that are none: our code is not reached.
    const known = /remote\.jsg\.(TypeError: Invalid URL string|Error: WebSocket protocol error)/;
    for (const name of ["worker", "bridge"]) {
      const log = readFileSync(join(system.dir, "logs", `${name}.log`), "utf8");
      const lines = log
        .split("\n")
        .filter((line) => /uncaught|unhandled|panic|(Type|Range|Reference)Error/i.test(line));
      expect(lines.filter((line) => !known.test(line))).toEqual([]);
    }
  });
});
