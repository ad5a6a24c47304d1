// The floor of a bridge: the least program that runs a command on a terminal and shows it over a WebSocket. No flow
// control, no resume, no log. Its numbers are the runtime's alone. Also a command on pipes, with its input and output, and one by a
// request.

const HEADER = 0x01;

type Input = { write(bytes: Uint8Array): unknown; resize?(cols: number, rows: number): unknown };
type Data = { input: Input | undefined; kill: () => void };
type Asked = { readonly command: readonly string[]; readonly session: string; readonly tty?: boolean };

type Run = { readonly cmd: string; readonly args: readonly string[] };

/** Runs a command for one request, and answers as the path's *run* does. */
async function runOf({ cmd, args }: Run): Promise<Response> {
  const code = await Bun.spawn([cmd, ...args], { stdin: "ignore", stdout: "ignore" }).exited;
  return Response.json({ state: "exited", exit: { code } });
}

/** Sockets that only watch, by the name that they watch. */
const viewers = new Map<string, Set<{ send(frame: Uint8Array): unknown }>>();

const server = Bun.serve<Data>({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? "0"),
  async fetch(request, self) {
    if (request.method === "POST") return runOf((await request.json()) as Run);
    if (self.upgrade(request, { data: { input: undefined, kill: () => undefined } })) return undefined;
    return new Response("ok\n");
  },
  websocket: {
    backpressureLimit: 1 << 30,
    idleTimeout: 0,
    open(socket) {
      // The command comes as the first message, so that relays in front need not carry a query.
      socket.data.input = undefined;
    },
    message(socket, message) {
      const { input } = socket.data;
      if (input !== undefined) {
        if (typeof message === "string") {
          const size = JSON.parse(message) as { cols: number; rows: number };
          input.resize?.(size.cols, size.rows);
        } else input.write(message);
        return;
      }
      const { command, session, tty = true } = JSON.parse(String(message)) as Asked;
      const watching = viewers.get(session) ?? new Set();
      viewers.set(session, watching);
      watching.add(socket);
      socket.data.kill = () => watching.delete(socket);
      if (command.length === 0) return;
      const framed = (chunk: Uint8Array) => {
        const frame = new Uint8Array(1 + chunk.length);
        frame[0] = HEADER;
        frame.set(chunk, 1);
        return frame;
      };
      if (!tty) {
        const piped = Bun.spawn([...command], { stdin: "pipe", stdout: "pipe" });
        socket.data.input = piped.stdin;
        socket.data.kill = () => piped.kill("SIGKILL");
        void (async () => {
          for await (const chunk of piped.stdout) socket.send(framed(chunk));
          await piped.exited;
          socket.close(1000);
        })();
        return;
      }
      const child = Bun.spawn([...command], {
        env: { ...process.env, TERM: "xterm-256color" },
        terminal: {
          cols: 80,
          rows: 24,
          data(_terminal: Bun.Terminal, chunk: Uint8Array) {
            const frame = framed(chunk);
            for (const viewer of watching) viewer.send(frame);
          },
        },
      });
      socket.data.input = child.terminal;
      socket.data.kill = () => {
        child.kill("SIGKILL");
        viewers.delete(session);
      };
      void child.exited.then(() => socket.close(1000));
    },
    close(socket) {
      socket.data.kill();
    },
  },
});

console.log(JSON.stringify({ listening: `http://127.0.0.1:${server.port}` }));
