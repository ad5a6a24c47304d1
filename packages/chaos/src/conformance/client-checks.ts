// Checks of a client: the vectors of frames, messages and resumes, and its behaviour over disconnects. The client is a program that
// takes an attach URL, `--` and a command, and behaves as that command: stdin, stdout, stderr and exit code.

import { type Check, holds, type Sayings, same, vectorsOf } from "./check.ts";
import { Host, type Visit } from "./host.ts";
import { pause, SILENCE_MS } from "./probe.ts";

type Connection = {
  readonly query: Readonly<Record<string, string | null>>;
  readonly receives: readonly { readonly text?: string; readonly hex?: string }[];
  readonly writes: readonly string[];
  readonly sends: string;
  readonly acks?: number;
};
type Scenario = {
  readonly name: string;
  readonly connections: readonly Connection[];
  readonly output: string;
  readonly exit?: { readonly code: number };
};
type FrameVector = {
  readonly bytes: string;
  readonly kind: string;
  readonly stream?: number;
  readonly payload: string;
};

const bytesOf = (hex: string): Buffer => Buffer.from(hex, "hex");
const text = (hex: string): string => bytesOf(hex).toString("latin1");

/** @param play Gets the client's first connection. */
function withClientReading(
  isRead: boolean,
  play: (host: Host, first: Visit) => Promise<void>,
): (command: string) => Promise<void> {
  return async (command) => {
    const host = await Host.start(command, isRead);
    try {
      await play(host, await host.visit(0));
    } finally {
      host.close();
    }
  };
}
const withClient = (play: (host: Host, first: Visit) => Promise<void>) => withClientReading(true, play);

/** Ends the process and waits for the client to exit. */
async function end(host: Host, visit: Visit, offset: number, code = 0): Promise<void> {
  visit.say({ type: "exit", code, offset });
  visit.close(1000);
  same("the exit code", await host.ended(), code);
}

async function playConnection(
  host: Host,
  visit: Visit,
  { query, receives, writes, sends, acks }: Connection,
): Promise<void> {
  for (const [name, value] of Object.entries(query)) same(`the query's ${name}`, visit.query.get(name), value);
  for (const [i, message] of receives.entries()) {
    if (message.text === undefined) visit.frame(bytesOf(message.hex ?? ""));
    else visit.say(message.text);
    if (i > 0) continue;
    for (const written of writes) host.type(bytesOf(written));
    // The next messages depend on that input.
    if (sends !== "") await host.until(`input ${sends}`, () => visit.input.length >= sends.length / 2);
  }
  if (acks !== undefined) await host.until(`acknowledgement of ${acks}`, () => visit.acked === acks);
  if (host.exit === undefined && sends === "") await pause(SILENCE_MS);
  same("the input", visit.input.toString("hex"), sends);
}

/** The output of one stream in all frames of a scenario. */
function streamOf({ connections }: Scenario, kind: number): string {
  const frames = connections.flatMap(({ receives }) => receives.flatMap(({ hex }) => (hex === undefined ? [] : [hex])));
  return frames
    .filter((hex) => Number.parseInt(hex.slice(0, 2), 16) === kind)
    .map((hex) => text(hex.slice(2)))
    .join("");
}

async function playScenario(command: string, scenario: Scenario): Promise<void> {
  const host = await Host.start(command);
  try {
    for (const [i, connection] of scenario.connections.entries()) {
      const visit = await host.visit(i);
      await playConnection(host, visit, connection);
      const last = connection.receives.at(-1)?.text ?? "";
      if (last.includes('"exit"')) visit.close(1000);
      else visit.cut();
    }
    const exit = await host.ended();
    same("stdout", host.stdout, streamOf(scenario, 1));
    if (scenario.exit === undefined) holds("a refused client ended with 0", exit !== 0);
    else {
      same("stderr", host.stderr, streamOf(scenario, 2));
      same("the exit code", exit, scenario.exit.code);
    }
    same("connections", host.visitCount, scenario.connections.length);
  } finally {
    host.close();
  }
}

const scenarios = vectorsOf("resume").scenarios as readonly Scenario[];

/** The rule is the first word of a vector's name. */
const VECTORS: readonly Check<string>[] = scenarios.map((scenario) => {
  const [, rule = "", title = ""] = /^(\w+): (.*)$/.exec(scenario.name) ?? [];
  return { rules: [rule], title: `(resume.json) ${title}`, run: (command) => playScenario(command, scenario) };
});

const MESSAGES: readonly Check<string>[] = [
  {
    rules: ["F1", "F4"],
    title: "(frames.json) each frame is written to its stream, and a frame of an unknown type is ignored",
    run: withClient(async (host, visit) => {
      const frames = (vectorsOf("frames").frames as readonly FrameVector[]).filter(({ kind }) => kind !== "snapshot");
      visit.greet({ window: 524_288 });
      for (const { bytes } of frames) visit.frame(bytesOf(bytes));
      const of = (stream: number) =>
        frames.flatMap((one) => (one.stream === stream ? [text(one.payload)] : [])).join("");
      await end(host, visit, of(1).length + of(2).length);
      same("stdout and stderr", [host.stdout, host.stderr], [of(1), of(2)]);
    }),
  },
  {
    rules: ["C2", "F4"],
    title: "(messages.json) messages beside the stream, and unknown ones, change no byte",
    run: withClient(async (host, visit) => {
      const { valid, invalid } = vectorsOf("messages").server as Sayings;
      const unknown = invalid.filter(({ fault }) => fault === "unknown_type").map((one) => one.text);
      const isBeside = (one: string) => !/"(hello|gap|stdin_ack|exit|bye|error|resize)"/.test(one);
      visit.greet();
      visit.output(1, "before");
      for (const one of [...valid.filter(isBeside), ...unknown]) visit.say(one);
      visit.output(1, " after");
      await end(host, visit, 12);
      same("stdout", host.stdout, "before after");
    }),
  },
  {
    rules: ["C4"],
    title: "a client pings when the socket opens, in exactly that text",
    run: withClient(async (host, visit) => {
      visit.greet();
      await host.until("ping", () => visit.texts.includes('{"type":"ping"}'));
      await end(host, visit, 0);
    }),
  },
];

const BREAKS: readonly Check<string>[] = [
  {
    rules: ["R10"],
    title: "attempt has one LIFE for all connections, and a number that grows",
    run: withClient(async (host, first) => {
      first.greet();
      first.cut();
      const second = await host.visit(1);
      second.cut();
      const third = await host.visit(2);
      const attempts = [first, second, third].map(({ query }) => query.get("attempt")?.split(".") ?? []);
      same("LIFEs", new Set(attempts.map(([life]) => life)).size, 1);
      const [a = 0, b = 0, c = 0] = attempts.map(([, number]) => Number(number));
      holds(`the numbers are ${a}, ${b}, ${c}`, a < b && b < c);
      third.greet();
      await end(host, third, 0);
    }),
  },
  {
    rules: ["R11"],
    title: "a client comes back after 1012, and after 1000 without exit or bye",
    run: withClient(async (host, first) => {
      first.greet();
      first.close(1012);
      const second = await host.visit(1);
      second.greet();
      second.close(1000);
      const third = await host.visit(2);
      third.greet();
      await end(host, third, 0);
    }),
  },
  {
    rules: ["R11", "Z"],
    title: "a client does not come back after 4403",
    run: withClient(async (host, visit) => {
      visit.close(4403);
      holds("it ended with 0", (await host.ended()) !== 0);
      same("connections", host.visitCount, 1);
    }),
  },
  {
    rules: ["C5"],
    title: "after bye with retry after, a client waits at least the seconds that it says",
    run: withClient(async (host, first) => {
      first.say({ type: "bye", code: 4429, reason: "too many", retry: "after", seconds: 1 });
      first.close(4429);
      const before = performance.now();
      const second = await host.visit(1);
      const ms = performance.now() - before;
      holds(`it came back after ${Math.round(ms)} ms`, ms >= 950);
      second.greet();
      await end(host, second, 0);
    }),
  },
  {
    rules: ["O7"],
    title: "on a PTY a client that has a gap and nothing behind it comes back at its previous position",
    run: withClient(async (host, first) => {
      first.greet({ tty: true });
      first.output(1, "abc");
      await host.until("acknowledgement of 3", () => first.acked === 3);
      first.say({ type: "gap", from: 3, to: 100 });
      await pause(SILENCE_MS);
      first.cut();
      const second = await host.visit(1);
      same("the offset", second.query.get("offset"), "3");
      second.greet({ tty: true, offset: 3, live: 3 });
      await end(host, second, 3);
    }),
  },
  {
    rules: ["X1"],
    title: "the exit code is the process's, after its last byte",
    run: withClient(async (host, visit) => {
      visit.greet();
      visit.output(1, "last");
      await end(host, visit, 4, 42);
      same("stdout", host.stdout, "last");
    }),
  },
];

/** Most bytes that buffers of the client and of the system may hold between it and its reader. */
const MOST_UNREAD = 1_048_576;

const FLOW: readonly Check<string>[] = [
  {
    rules: ["W1"],
    title: "output is acknowledged when it was processed: while nobody reads a client's stdout, it does not go on",
    run: withClientReading(false, async (host, visit) => {
      const piece = "x".repeat(16_384);
      const window = 65_536;
      let sent = 0;
      visit.greet({ window });
      // Until it stops acknowledging, because its buffers and the pipe to its reader are full.
      for (let last = -1; visit.acked > last && sent < 4 * MOST_UNREAD; await pause(SILENCE_MS)) {
        last = visit.acked;
        for (; sent - visit.acked + piece.length <= window; sent += piece.length) visit.output(1, piece);
      }
      holds(`${visit.acked} bytes were acknowledged that nobody has read`, visit.acked <= MOST_UNREAD);
      host.read();
      await host.until("acknowledgement of all", () => visit.acked === sent);
      await end(host, visit, sent);
    }),
  },
  {
    rules: ["W13", "F6"],
    title: "a snapshot is drawn, does not move the offset, and is acknowledged at its offset",
    run: withClient(async (host, visit) => {
      visit.greet({ tty: true, offset: 500, live: 500 });
      visit.output(3, "screen");
      await host.until("acknowledgement of 500", () => visit.acked === 500);
      visit.output(1, "+6");
      await host.until("acknowledgement of 502", () => visit.acked === 502);
      await end(host, visit, 502);
      holds(`stdout is ${JSON.stringify(host.stdout)}`, /screen[\s\S]*\+6/.test(host.stdout));
    }),
  },
  {
    rules: ["I3", "F2"],
    title: "not more than 256 KiB of input are under way unacknowledged, in frames of at most 64 KiB",
    run: withClient(async (host, visit) => {
      visit.greet();
      host.type(new Uint8Array(1_048_576));
      await host.until("256 KiB of input", () => visit.input.length >= 262_144);
      await pause(SILENCE_MS);
      same("what is under way", visit.input.length, 262_144);
      holds(`a frame has ${visit.longest} bytes`, visit.longest <= 65_536);
      visit.say({ type: "stdin_ack", offset: 65_536 });
      await host.until("64 KiB more", () => visit.input.length >= 262_144 + 65_536);
      await end(host, visit, 0);
    }),
  },
  {
    rules: ["I9"],
    title: "the end of input is said behind its last byte, and again on the next connection",
    run: withClient(async (host, first) => {
      const eofs = (visit: Visit) => visit.said.filter(({ type }) => type === "eof");
      first.greet();
      host.type("abc");
      host.endInput();
      await host.until("eof", () => eofs(first)[0]);
      same("the eof", eofs(first), [{ type: "eof", offset: 3 }]);
      first.cut();
      const second = await host.visit(1);
      second.greet({ stdin: 3 });
      await host.until("eof again", () => eofs(second)[0]);
      same("the eof again", eofs(second), [{ type: "eof", offset: 3 }]);
      same("input sent again", second.input.length, 0);
      await end(host, second, 0);
    }),
  },
  {
    rules: ["I7"],
    title: "a client that is told stdin_closed, before hello too, sends no more input",
    run: withClient(async (host, first) => {
      first.greet();
      host.type("one");
      await host.until("input", () => first.input.length === 3);
      first.say({ type: "error", code: "stdin_closed", message: "the process takes no more input" });
      first.say({ type: "stdin_ack", offset: 3 });
      await pause(SILENCE_MS);
      first.cut();
      const second = await host.visit(1);
      second.say({ type: "error", code: "stdin_closed", message: "the process takes no more input" });
      second.greet({ stdin: 3 });
      host.type("two");
      await pause(SILENCE_MS);
      same("input", second.input.toString(), "");
      await end(host, second, 0);
    }),
  },
  {
    rules: ["F2", "A8"],
    title: "no input goes out before hello",
    run: withClient(async (host, visit) => {
      host.type("early");
      await pause(SILENCE_MS);
      same("input before hello", visit.input.length, 0);
      visit.greet();
      await host.until("input", () => visit.input.toString() === "early");
      await end(host, visit, 0);
    }),
  },
];

export const CLIENT_CHECKS: readonly Check<string>[] = [...VECTORS, ...MESSAGES, ...BREAKS, ...FLOW];
