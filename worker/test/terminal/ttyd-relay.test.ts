// What stands between a client and a ttyd: what it holds back, and how the end of one is told to the other. Over real
// sockets of the runtime; how much waits in them is said by the test, since this runtime can't tell.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TtydRelay } from "../../src/terminal/relay.ts";

const MIB = 1024 * 1024;

type End = { readonly socket: WebSocket; readonly heard: string[]; readonly closed: Promise<[number, string]> };

/** The far end of a connection, and what it hears. */
function far(socket: WebSocket): End {
  const heard: string[] = [];
  socket.accept();
  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", ({ data }) => {
    heard.push(typeof data === "string" ? data : new TextDecoder().decode(data as ArrayBuffer));
  });
  const closed = new Promise<[number, string]>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve([code ?? 0, reason ?? ""]));
  });
  return { socket, heard, closed };
}

/** @param isThere What is found out when the ttyd's connection is lost. */
function relay(isThere = true) {
  const [client, ttyd] = [new WebSocketPair(), new WebSocketPair()];
  for (const pair of [client, ttyd]) for (const end of [pair[0], pair[1]]) end.binaryType = "arraybuffer";
  const waiting = { client: 0, ttyd: 0 };
  Object.defineProperty(client[1], "bufferedAmount", { get: () => waiting.client });
  Object.defineProperty(ttyd[0], "bufferedAmount", { get: () => waiting.ttyd });
  const typed: string[] = [];
  const ended: [number, string][] = [];
  const one = new TtydRelay(client[1], ttyd[0], {
    input: (content) => typed.push(new TextDecoder().decode(content)),
    ended: (code, reason) => ended.push([code, reason]),
    isTtydThere: async () => isThere,
  });
  return { one, client: far(client[0]), ttyd: far(ttyd[1]), waiting, typed, ended };
}

const bytes = (text: string) => new TextEncoder().encode(text);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Waits for messages, and does not look now and then: vi.waitFor and expect.poll move the false clock on whenever they look. */
async function hears({ socket, heard }: End, what: string[]): Promise<void> {
  while (heard.length < what.length) {
    await new Promise((resolve) => socket.addEventListener("message", resolve, { once: true }));
  }
  expect(heard).toEqual(what);
}

describe("output", () => {
  test("to a client that has a MiB waiting is paused by ttyd's own word, until there is room", async () => {
    const { client, ttyd, waiting } = relay();
    waiting.client = MIB;
    ttyd.socket.send(bytes("0a"));
    await hears(ttyd, ["2"]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ttyd.heard).toEqual(["2"]);
    waiting.client = 0;
    await vi.advanceTimersByTimeAsync(20);
    await hears(ttyd, ["2", "3"]);
    expect(client.heard).toEqual(["0a"]);
  });

  test("that no client takes for 30 s ends both connections with 1011", async () => {
    const { client, ttyd, waiting, ended } = relay();
    waiting.client = MIB;
    ttyd.socket.send(bytes("0a"));
    await hears(ttyd, ["2"]);
    await vi.advanceTimersByTimeAsync(29_900);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    const end = [1011, "the client can't be written to"];
    expect([await client.closed, await ttyd.closed, ended]).toEqual([end, end, [end]]);
  });

  test("goes at 8 MiB a second where the runtime can't tell what waits", async () => {
    const { ttyd } = relay();
    for (let i = 0; i < 4 * MIB; i += 64 * 1024) ttyd.socket.send(new Uint8Array(64 * 1024));
    await hears(ttyd, ["2"]);
    await vi.advanceTimersByTimeAsync(100);
    expect(ttyd.heard).toEqual(["2"]);
    await vi.advanceTimersByTimeAsync(400);
    await hears(ttyd, ["2", "3"]);
  });

  test("that its client has paused is resumed by nobody else", async () => {
    const { client, ttyd, waiting } = relay();
    client.socket.send(bytes("2"));
    waiting.client = MIB;
    ttyd.socket.send(bytes("0a"));
    await hears(ttyd, ["2", "2"]);
    waiting.client = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ttyd.heard).toEqual(["2", "2"]);
    client.socket.send(bytes("3"));
    await hears(ttyd, ["2", "2", "3"]);
  });

  test("that its client resumes too early is paused again", async () => {
    const { client, ttyd, waiting } = relay();
    waiting.client = MIB;
    ttyd.socket.send(bytes("0a"));
    await hears(ttyd, ["2"]);
    client.socket.send(bytes("3"));
    await hears(ttyd, ["2", "3", "2"]);
    waiting.client = 0;
    await vi.advanceTimersByTimeAsync(20);
    await hears(ttyd, ["2", "3", "2", "3"]);
  });
});

describe("input", () => {
  test("is told to whoever keeps a record: what was typed, without its first character, and nothing else", async () => {
    const { client, ttyd, typed } = relay();
    const said = ['{"AuthToken":""}', "0ls\r", '1{"columns":1,"rows":1}', "2", "3", "x", ""];
    for (const message of said) client.socket.send(message);
    client.socket.send(bytes("0ä"));
    await hears(ttyd, [...said, "0ä"]);
    expect(typed).toEqual(["ls\r", "ä"]);
  });

  test("beyond a MiB that the ttyd does not take ends both connections with 1008", async () => {
    const { client, ttyd, waiting, ended } = relay();
    waiting.ttyd = MIB + 1;
    client.socket.send("0a");
    const end = [1008, "more input waits than the terminal takes"];
    expect([await client.closed, await ttyd.closed, ended]).toEqual([end, end, [end]]);
    expect(ttyd.heard).toEqual([]);
  });
});

describe("the end", () => {
  test.each<[string, [number, string], boolean, [number, string]]>([
    ["a shell that has ended", [1000, ""], true, [1000, ""]],
    ["a ttyd's own refusal", [1008, "no"], true, [1008, "no"]],
    ["a process that failed", [1011, ""], true, [1011, "the terminal has closed the connection"]],
    [
      "a container that is gone, as the SDK tells it",
      [1000, "WebSocket disconnected without sending Close frame."],
      false,
      [4503, "Container not running"],
    ],
    ["an error of the container", [1011, "Container WebSocket error"], false, [4503, "Container not running"]],
  ])("of the ttyd by %s is told to the client", async (_name, [code, reason], isThere, told) => {
    const { client, ttyd, ended } = relay(isThere);
    ttyd.socket.close(code, reason);
    expect(await client.closed).toEqual(told);
    expect(ended).toEqual([told]);
  });

  test.each([
    [1000, "bye"],
    [1001, ""],
    [4000, "x".repeat(123)],
  ])("of the client by %i is told to the ttyd", async (code, reason) => {
    const { client, ttyd, ended } = relay();
    client.socket.close(code, reason);
    expect(await ttyd.closed).toEqual([code, reason]);
    expect(ended).toEqual([[code, reason]]);
  });

  test("by us is told to both, once", async () => {
    const { one, client, ttyd, ended } = relay();
    one.close(4401, "Unauthorized");
    one.close(1000, "");
    expect([await client.closed, await ttyd.closed]).toEqual([
      [4401, "Unauthorized"],
      [4401, "Unauthorized"],
    ]);
    expect(ended).toEqual([[4401, "Unauthorized"]]);
  });
});
