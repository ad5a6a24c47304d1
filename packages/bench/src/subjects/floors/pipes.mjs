// The floor of a command line on pipes: a command's input and output over a WebSocket, whole, to the floor of a bridge. It ends
// when so many bytes of output have come. Words: URL BYTES COMMAND…
import WebSocket from "ws";

const HIGH_WATER_BYTES = 1024 * 1024;

const [url, bytes, ...command] = process.argv.slice(2);
let missing = Number(bytes);
const socket = new WebSocket(url, { perMessageDeflate: false });
socket.on("open", () => {
  socket.send(JSON.stringify({ command, session: `${process.pid}`, tty: false }));
  process.stdin.on("data", (chunk) => {
    socket.send(chunk, () => {
      if (socket.bufferedAmount < HIGH_WATER_BYTES) process.stdin.resume();
    });
    if (socket.bufferedAmount >= HIGH_WATER_BYTES) process.stdin.pause();
  });
});
socket.on("message", (frame) => {
  missing -= frame.length - 1;
  if (missing <= 0) process.stdout.write(frame.subarray(1), () => process.exit());
  else if (!process.stdout.write(frame.subarray(1))) socket.pause();
});
process.stdout.on("drain", () => socket.resume());
