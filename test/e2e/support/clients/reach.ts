// A server of the test's own, at the same port of a sandbox. On this machine it is there anyway; into a container a program
// leads every connection to it.
import { connect as dial, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { NODE, runsFile } from "../system/sandbox-node.ts";
import { fresh, type Person, system } from "../system/system.ts";
import { until } from "../system/wait.ts";
import { connect } from "./client.ts";

const RELAY = fileURLToPath(new URL("../servers/relay.mjs", import.meta.url));

type Event = {
  readonly id: number;
  readonly what: "ready" | "open" | "data" | "end" | "close";
  readonly data?: string;
};

/** Resolves once the sandbox reaches the server that listens on `port` of this machine's loopback. */
export async function reach(who: Person, sandbox: string, port: number): Promise<void> {
  if (system.sandboxesDir !== "") return;
  const arg = [...runsFile(RELAY), String(port)];
  const relay = await connect(who, { sandbox, session: fresh("relay"), cmd: NODE, arg });
  const say = (event: Event) => relay.type(`${JSON.stringify(event)}\n`);
  const sockets = new Map<number, Socket>();
  let isReady = false;
  let rest = "";

  const opened = (id: number): void => {
    const socket = dial({ port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.set(id, socket);
    socket.on("data", (data) => say({ id, what: "data", data: data.toString("base64") }));
    socket.on("end", () => say({ id, what: "end" }));
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(id) && say({ id, what: "close" }));
  };
  const happened = ({ id, what, data = "" }: Event): void => {
    const socket = sockets.get(id);
    if (what === "ready") isReady = true;
    else if (what === "open") opened(id);
    else if (what === "data") socket?.write(Buffer.from(data, "base64"));
    else if (what === "end") socket?.end();
    else if (sockets.delete(id)) socket?.destroy();
  };
  const read = (text: string): void => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) happened(JSON.parse(line) as Event);
  };
  // What has come already, and what comes.
  read(relay.text(1));
  relay.socket.on("message", (message: Buffer, isBinary: boolean) => {
    if (isBinary && message[0] === 1) read(message.toString("latin1", 1));
  });
  relay.socket.on("close", () => {
    for (const socket of sockets.values()) socket.destroy();
  });
  await until(`the relay to ${sandbox}`, () => isReady);
}
