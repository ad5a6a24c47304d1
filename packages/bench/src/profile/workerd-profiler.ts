// Has workerd sample its own JavaScript, by the inspector's protocol. Its isolate holds the Worker and its Durable Objects.

import WebSocket from "ws";
import type { CpuProfile } from "./profile-table.ts";

type Answer = { readonly id?: number; readonly result?: { readonly profile?: CpuProfile }; readonly error?: unknown };

/** A sample in so many microseconds. */
const INTERVAL_US = 500;

/** @param address HOST:PORT of the inspector. @returns Ends it. */
export async function startProfiler(address: string): Promise<() => Promise<CpuProfile>> {
  const targets = (await (await fetch(`http://${address}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? "");
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let count = 0;
  const ask = (method: string, params = {}): Promise<Answer> => {
    const id = ++count;
    const answered = new Promise<Answer>((resolve, reject) => {
      const hear = (data: Buffer): void => {
        const answer = JSON.parse(String(data)) as Answer;
        if (answer.id !== id) return;
        socket.off("message", hear);
        if (answer.error === undefined) resolve(answer);
        else reject(new Error(`${method}: ${JSON.stringify(answer.error)}`));
      };
      socket.on("message", hear);
    });
    socket.send(JSON.stringify({ id, method, params }));
    return answered;
  };
  await ask("Profiler.enable");
  await ask("Profiler.setSamplingInterval", { interval: INTERVAL_US });
  await ask("Profiler.start");
  return async () => {
    const { result } = await ask("Profiler.stop");
    socket.close();
    if (result?.profile === undefined) throw new Error("workerd gave no profile");
    return result.profile;
  };
}
