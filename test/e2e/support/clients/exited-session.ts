// A session whose process has ended, and what everybody can still read of it.
import { expect } from "vitest";
import { fresh, type Person } from "../system/system.ts";
import { connect } from "./client.ts";

/** Runs a process that prints to both streams and ends with 4. @returns The session's name. */
export async function exitedSession(who: Person): Promise<string> {
  const session = fresh("exited");
  const client = await connect(who, { session, cmd: "sh", arg: ["-c", "echo out; echo err >&2; exit 4"] });
  await client.end();
  return session;
}

/** Every kind of client reads its output, stream by stream, and its exit. */
export async function expectReadable(who: Person, session: string): Promise<void> {
  for (const protocols of [["stdio.v1"], []]) {
    const reader = await connect(who, { session, role: "viewer" }, { protocols });
    await reader.message("exit");
    // As the original plain clients do; one that neither closes nor says anything waits for the runtime.
    if (protocols.length === 0) reader.socket.close();
    const { exit, bye, code } = await reader.end();
    expect([exit, bye]).toEqual([{ type: "exit", code: 4, offset: 8 }, undefined]);
    if (protocols.length > 0) expect(code).toBe(1000);
    expect([reader.text(1), reader.text(2)]).toEqual(["out\n", "err\n"]);
    expect((await reader.hello()).live).toBe(8);
  }
}
