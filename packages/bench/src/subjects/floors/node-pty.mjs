// The usual way to put a shell on a WebSocket in Node: node-pty and ws, as their READMEs show it. A peer, not a floor.
// Both packages are found from the directory that NODE_PATH names: node-pty is compiled there when the benchmark runs.

import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const pty = require("node-pty");
const { WebSocketServer } = require("ws");

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket) => {
  let terminal;
  socket.on("message", (message) => {
    if (terminal !== undefined) {
      terminal.write(message);
      return;
    }
    const [file, ...args] = JSON.parse(String(message)).command;
    terminal = pty.spawn(file, args, { name: "xterm-256color", cols: 80, rows: 24, encoding: null });
    terminal.onData((chunk) => socket.send(Buffer.concat([Buffer.of(1), chunk])));
    terminal.onExit(() => socket.close(1000));
  });
  socket.on("close", () => terminal?.kill("SIGKILL"));
});
server.on("listening", () => {
  process.stdout.write(`${JSON.stringify({ listening: `http://127.0.0.1:${server.address().port}` })}\n`);
});
