// What pages are made of that others have written, as it is: xterm.js with its AttachAddon, and zmodem.js with the real rz and
// sz of lrzsz. Pastes and files of real sizes come through byte for byte.
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import addonAttach from "@xterm/addon-attach";
import { Terminal } from "@xterm/headless";
import { afterAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import zmodem, { type Session } from "zmodem.js";
import { connect } from "../support/clients/client.ts";
import { fresh, type Person, person, system } from "../support/system/system.ts";
import { within } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

const dir = mkdtempSync(join(tmpdir(), "sbx-zmodem-"));
const sockets: WebSocket[] = [];

afterAll(() => {
  for (const socket of sockets) socket.terminate();
  rmSync(dir, { recursive: true, force: true });
});

const sum = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

async function dial(who: Person, path: string, protocol?: string): Promise<WebSocket> {
  const headers = { Authorization: `Bearer ${who.token}` };
  const socket = new WebSocket(`${system.origin.replace(/^http/, "ws")}${path}`, protocol, { headers });
  sockets.push(socket);
  await within("a connection", new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject)));
  return socket;
}

/** A terminal of the page's, in a real xterm.js. */
function terminal(): Terminal {
  return new Terminal({ cols: 80, rows: 24, allowProposedApi: true });
}

async function shows(screen: Terminal, text: string): Promise<void> {
  const isShown = () => {
    const { active } = screen.buffer;
    const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString() ?? "");
    return lines.join("").replaceAll(" ", "").includes(text);
  };
  await within(
    `${text} on the screen`,
    new Promise<void>((resolve) => {
      const look = () => isShown() && resolve();
      screen.onWriteParsed(look);
      look();
    }),
  );
}

describe("a paste of 4 MiB into xterm.js with its AttachAddon comes through whole", () => {
  const TAKE = `stty raw -echo; echo ready; head -c ${4 * MIB} | sha256sum`;
  test.each<[name: string, path: (sandbox: string) => string]>([
    [
      "a plain client with text=1",
      (sandbox) => `/attach?${new URLSearchParams({ sandbox, session: "main", text: "1" })}`,
    ],
  ])("on %s", async (_name, path) => {
    const [who, sandbox] = [await person(), fresh("box")];
    const watcher = await connect(who, { sandbox, session: "main", tty: 1, cmd: "sh", arg: ["-c", TAKE] });
    await watcher.output("ready");
    const screen = terminal();
    const socket = await dial(who, path(sandbox));
    screen.loadAddon(new addonAttach.AttachAddon(socket as unknown as globalThis.WebSocket));
    await shows(screen, "ready");
    const text = randomBytes(3 * MIB)
      .toString("base64")
      .slice(0, 4 * MIB);
    screen.input(text);
    await watcher.output(`${sum(text)}  -`);
    await shows(screen, sum(text));
  });
});

/** A page's terminal with zmodem.js before it, as its readme says. */
function withZmodem(socket: WebSocket, prefix: string, isOutput: (bytes: Buffer) => Buffer | undefined) {
  const screen = terminal();
  let receivedBytes = 0;
  const detected = new Promise<Session>((resolve) => {
    const sentry = new zmodem.Sentry({
      to_terminal: (bytes) => screen.write(Uint8Array.from(bytes)),
      on_detect: (detection) => resolve(detection.confirm()),
      on_retract: () => undefined,
      sender: (bytes) => socket.send(Buffer.concat([Buffer.from(prefix), Uint8Array.from(bytes)])),
    });
    socket.on("message", (bytes: Buffer, isBinary) => {
      const output = isBinary ? isOutput(bytes) : undefined;
      if (output === undefined) return;
      sentry.consume(output);
      receivedBytes += output.length;
    });
  });
  const type = (text: string) => socket.send(Buffer.from(prefix + text));
  return { screen, type, socket, received: () => receivedBytes, session: within("zmodem on the line", detected) };
}

type Route = readonly [name: string, open: (who: Person, sandbox: string) => Promise<ReturnType<typeof withZmodem>>];
const ROUTES: readonly Route[] = [
  [
    "a plain client",
    async (who, sandbox) =>
      withZmodem(await dial(who, `/attach?sandbox=${sandbox}&session=main`), "", (bytes) => bytes.subarray(1)),
  ],
  [
    "ttyd's route",
    async (who, sandbox) => {
      const socket = await dial(who, `/terminal/${sandbox}/ws`, "tty");
      const page = withZmodem(socket, "0", (bytes) => (bytes[0] === 0x30 ? bytes.subarray(1) : undefined));
      socket.send(Buffer.from('{"AuthToken":"","columns":80,"rows":24}'));
      return page;
    },
  ],
];

describe("K6b: a file of a MiB comes through whole, beside a client that answers queries", () => {
  /** A page on a shell script, which waits for a key of its. */
  async function pageAt([, open]: Route, text: string) {
    const [who, sandbox] = [await person(), fresh("box")];
    const arg = ["-c", `cd ${dir}; read go; ${text}`];
    const process = { tty: 1, cmd: "sh", arg };
    // The answerer sets the pace (W8), and the page may fall behind it: it acknowledges only what the page has got, too.
    let received = () => 0;
    const answerer = await connect(who, { sandbox, session: "main", ...process }, { acks: () => received() });
    await answerer.hello();
    const page = await open(who, sandbox);
    received = page.received;
    page.socket.on("message", () => answerer.acknowledge());
    page.type("\r");
    return { ...page, answerer };
  }

  test.each(ROUTES.slice(0, 1))("on %s, up by rz", async (...route) => {
    const name = fresh("file");
    const page = await pageAt(route, `rz -b -y; sha256sum < ${name}`);
    const session = await page.session;
    expect(session.type).toBe("send");
    const bytes = randomBytes(MIB);
    const transfer = await within("the offer", session.send_offer({ name, size: bytes.length }));
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) transfer?.send(bytes.subarray(at, at + CHUNK_BYTES));
    await within("the file's end", transfer?.end() ?? Promise.reject(new Error("It was skipped")));
    await within("the end of rz", session.close());
    await shows(page.screen, sum(bytes));
    expect(sum(readFileSync(join(dir, name)))).toBe(sum(bytes));
  });

  test.each(ROUTES.slice(1))("on %s, down by sz", async (...route) => {
    const name = fresh("file");
    const bytes = randomBytes(MIB);
    writeFileSync(join(dir, name), bytes);
    const page = await pageAt(route, `exec sz -b ${name}`);
    const session = await page.session;
    expect(session.type).toBe("receive");
    const received = new Promise<readonly Uint8Array[]>((resolve) => {
      session.on("offer", (offer) => void offer.accept().then(resolve));
    });
    session.start();
    expect(sum(Buffer.concat(await within("the file", received, 60_000)))).toBe(sum(bytes));
    // The page has said that it has all; lrzsz then ends without the "OO" that zmodem.js waits for.
    expect(await page.answerer.message("exit")).toMatchObject({ code: 0 });
  });
});
