// Clients that know only the first protocol, with no subprotocol: the command line and the Terminal.tsx of the original
// design, whose logic is repeated here word for word, and what such a client is told.
import { expect, test } from "vitest";
import WebSocket from "ws";
import { attachUrl, connect } from "../support/clients/client.ts";
import { fresh, type Person, person } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

function unpack(data: Uint8Array): { streamId: number | undefined; payload: Uint8Array } {
  return { streamId: data[0], payload: data.subarray(1) };
}

interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The original command line: buildWsUrl, then stdin in, both streams out, and the code of `exit`. */
function originalCli(who: Person, sandbox: string, cmd: string, args: string[], stdin: string[]): Promise<CliRun> {
  const url = attachUrl({});
  url.searchParams.set("sandbox", sandbox);
  url.searchParams.set("cmd", cmd);
  url.searchParams.set("token", who.token);
  for (const arg of args) url.searchParams.append("arg", arg);
  const ws = new WebSocket(url.toString());
  ws.binaryType = "arraybuffer";
  let exitCode: number | null = null;
  let stdout = "";
  let stderr = "";
  return new Promise((resolve, reject) => {
    ws.onopen = () => {
      for (const chunk of stdin) ws.send(Buffer.from(chunk));
    };
    ws.onmessage = (event) => {
      if (typeof event.data === "string") {
        const message = JSON.parse(event.data);
        if (message.type === "exit") {
          exitCode = message.code;
          ws.close();
        }
        return;
      }
      const { streamId, payload } = unpack(new Uint8Array(event.data as ArrayBuffer));
      if (streamId === 0x01) stdout += Buffer.from(payload).toString();
      else if (streamId === 0x02) stderr += Buffer.from(payload).toString();
    };
    ws.onclose = () => resolve({ exitCode: exitCode ?? 0, stdout, stderr });
    ws.onerror = (event) => reject(new Error(event.message));
  });
}

/** The original Terminal.tsx, with an array of lines in the place of the screen. */
class OriginalTerminal {
  readonly ws: WebSocket;
  screen = "";
  exit: number | undefined;
  #cols = 80;
  #rows = 24;

  constructor(wsUrl: string, token: string) {
    const url = new URL(wsUrl);
    url.searchParams.set("token", token);
    const ws = new WebSocket(url.toString());
    ws.binaryType = "arraybuffer";
    ws.onopen = () => this.#sendSize();
    ws.onmessage = (event) => {
      if (typeof event.data === "string") {
        const message = JSON.parse(event.data);
        if (message.type === "exit") this.exit = message.code;
        return;
      }
      const { payload } = unpack(new Uint8Array(event.data as ArrayBuffer));
      this.screen += new TextDecoder().decode(payload);
    };
    this.ws = ws;
  }

  onData(data: string): void {
    this.ws.send(new TextEncoder().encode(data));
  }

  onResize(cols: number, rows: number): void {
    this.#cols = cols;
    this.#rows = rows;
    this.#sendSize();
  }

  #sendSize(): void {
    this.ws.send(JSON.stringify({ type: "resize", cols: this.#cols, rows: this.#rows }));
  }

  shows(text: string): Promise<unknown> {
    return until(`"${text}" on the screen`, () => this.screen.includes(text));
  }
}

test("the original command line runs a command: input, both outputs, exit code", async () => {
  const script = "read a; read b; echo out:$a:$b; echo err >&2; exit 5";
  const run = originalCli(await person(), fresh("sandbox"), "bash", ["-lc", script], ["one\n", "two\n"]);
  expect(await within("the run", run)).toEqual({ exitCode: 5, stdout: "out:one:two\n", stderr: "err\n" });
});

test("the original command line, run twice in a sandbox, runs two processes", async () => {
  const alice = await person();
  const runs = [1, 2].map(() => originalCli(alice, "same", "sh", ["-c", "echo $$"], []));
  const [one, two] = await within("both runs", Promise.all(runs));
  expect(one?.stdout).toMatch(/^\d+\n$/);
  expect(one?.stdout).not.toBe(two?.stdout);
});

test("the original Terminal.tsx gets a shell on a PTY that follows its size, and the exit code", async () => {
  const alice = await person();
  const terminal = new OriginalTerminal(attachUrl({ sandbox: fresh("sandbox"), tty: 1 }).toString(), alice.token);
  await until("a prompt", () => terminal.screen !== "");
  terminal.onData("stty size\r");
  await terminal.shows("24 80\r\n");
  terminal.onResize(101, 31);
  terminal.onData("stty size\r");
  await terminal.shows("31 101\r\n");
  terminal.onData("exit 9\r");
  await until("exit", () => terminal.exit !== undefined);
  expect(terminal.exit).toBe(9);
  terminal.ws.close();
});

test("a client that never says anything reads 6 MiB whole, and the exit", async () => {
  const bytes = 6 * 1024 * 1024;
  const script = `head -c ${bytes} /dev/zero | tr '\\0' x; exit 3`;
  const place = { session: fresh("much"), cmd: "sh", arg: ["-c", script], tty: 1 };
  const client = await connect(await person(), place, { protocols: [] });
  await client.until("the exit", () => client.messages("exit").length > 0);
  const { exit, code } = await client.end();
  const output = client.bytes();
  expect([output.length, output.equals(Buffer.alloc(bytes, "x"))]).toEqual([bytes, true]);
  expect([exit, code]).toEqual([expect.objectContaining({ code: 3 }), 1000]);
});

test("a plain client that attaches again is replayed the log from its beginning", async () => {
  const alice = await person();
  const first = await connect(alice, { session: "s", cmd: "sh", arg: ["-c", "echo one; cat"] }, { protocols: [] });
  await first.output("one\n");
  first.type("two\n");
  await first.output("two\n");
  first.drop();
  const second = await connect(alice, { session: "s" }, { protocols: [] });
  expect(await second.output("two\n")).toBe("one\ntwo\n");
  expect((await second.hello()).live).toBe(8);
});
