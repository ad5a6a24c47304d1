// Listens on a port of the sandbox, and leads every connection out over its own stdin and stdout: a line of JSON for each event.
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const open = new Map();
let last = 0;

const server = createServer({ allowHalfOpen: true }, (socket) => {
  last += 1;
  const id = last;
  open.set(id, socket);
  say({ id, what: "open" });
  socket.on("data", (data) => say({ id, what: "data", data: data.toString("base64") }));
  socket.on("end", () => say({ id, what: "end" }));
  socket.on("error", () => undefined);
  socket.on("close", () => {
    open.delete(id);
    say({ id, what: "close" });
  });
});
server.listen(Number(process.argv.at(-1)), "127.0.0.1", () => say({ what: "ready" }));

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, what, data } = JSON.parse(line);
  const socket = open.get(id);
  if (what === "data") socket?.write(Buffer.from(data, "base64"));
  else if (what === "end") socket?.end();
  else socket?.destroy();
});
