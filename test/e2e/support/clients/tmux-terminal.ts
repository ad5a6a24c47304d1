// What a ttyd is that was started as `ttyd tmux new-session -A -s main`: each connection a tmux client on a PTY of its own, all
// of them in one session. The PTY is made by script(1), since Node has none.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { TtydConnection } from "../servers/ttyd-server.ts";

export class TmuxTerminal {
  readonly #directory = mkdtempSync(join(tmpdir(), "sbx-ttyd-"));
  readonly #clients = new Set<ChildProcess>();

  /** Clients of tmux that run now. */
  get clientCount(): number {
    return this.#clients.size;
  }

  /** Speaks ttyd's protocol with this connection. */
  serve = (connection: TtydConnection): void => {
    const { socket } = connection;
    const say = (text: string) => socket.send(Buffer.from(text));
    let client: ChildProcess | undefined;
    socket.on("message", (message: Buffer) => {
      const rest = message.subarray(1);
      switch (String.fromCharCode(message[0] ?? 0)) {
        case "{": {
          if (client !== undefined) return;
          const { columns, rows } = JSON.parse(message.toString()) as { columns?: number; rows?: number };
          client = this.#start(columns || 80, rows || 24);
          say(`1tmux (${hostname()})`);
          say("2{ }");
          client.stdout?.on("data", (output: Buffer) => socket.send(Buffer.concat([Buffer.from("0"), output])));
          client.once("exit", (code) => socket.close(code === 0 ? 1000 : 1011));
          return;
        }
        case "0":
          client?.stdin?.write(rest);
          return;
        case "2":
          client?.stdout?.pause();
          return;
        case "3":
          client?.stdout?.resume();
      }
    });
    socket.on("close", () => client?.kill("SIGHUP"));
  };

  close(): void {
    try {
      execFileSync("tmux", ["-S", join(this.#directory, "socket"), "kill-server"], { stdio: "ignore" });
    } catch {
      // No client ever came, so there is no server.
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #start(columns: number, rows: number): ChildProcess {
    const tmux = `tmux -S ${join(this.#directory, "socket")} -f /dev/null new-session -A -s main`;
    const shell = "env PS1='tmux$ ' bash --norc --noprofile -i";
    const command = `stty cols ${Number(columns)} rows ${Number(rows)}; exec ${tmux} "${shell}"`;
    const client = spawn("script", ["-qefc", command, "/dev/null"], {
      env: { ...process.env, SHELL: "/bin/sh", TERM: "xterm-256color", LC_ALL: "C.UTF-8", TMUX: "" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    client.stdin.on("error", () => undefined); // It has ended; its exit is told.
    this.#clients.add(client);
    client.once("exit", () => this.#clients.delete(client));
    return client;
  }
}
