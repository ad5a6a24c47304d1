// Which TCP ports processes listen on, as /proc tells it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { allProcesses } from "./processes.ts";

export interface ListeningPort {
  readonly port: number;
  /** 127.0.0.1 as 0100007F, in the kernel's words. */
  readonly address: string;
  /** The process's name. */
  readonly owner: string;
}

const LISTEN = "0A";
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/** Of all processes in the groups. */
export function listeningPorts(groups: readonly number[]): ListeningPort[] {
  const sockets = listeningSockets();
  const found = allProcesses()
    .filter(({ group }) => groups.includes(group))
    .flatMap(({ pid, name }) =>
      socketsOf(pid).flatMap((inode) => {
        const socket = sockets.get(inode);
        return socket === undefined ? [] : [{ ...socket, owner: name }];
      }),
    );
  return found.sort((a, b) => a.port - b.port);
}

/** By inode. */
function listeningSockets(): Map<string, { port: number; address: string }> {
  const lines = TABLES.flatMap((path) => readFileSync(path, "utf8").trim().split("\n").slice(1));
  const sockets = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === LISTEN);
  return new Map(
    sockets.map(([, local = "", , , , , , , , inode = ""]) => {
      const [address = "", port = ""] = local.split(":");
      return [inode, { address, port: Number.parseInt(port, 16) }];
    }),
  );
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    return []; // It has ended meanwhile.
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // It was closed meanwhile.
  }
}
