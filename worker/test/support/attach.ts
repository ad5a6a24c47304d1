// Clients that attach to a session's object directly, as the Worker has it done.
import { type AttachQuery, attachParams, parseAttachQuery } from "sandbox-stdio/core";
import { type AttachSpec, requestOf } from "../../src/attach/attach-spec.ts";
import type { SessionObject } from "../../src/objects/session-object.ts";

function upgrade(isTransient = false, wish: Partial<AttachQuery> = {}): Request {
  const process = { cmd: "cat", args: [], ...(isTransient ? { keep: 0 } : {}) };
  const query = parseAttachQuery(new URLSearchParams(attachParams({ session: "s", process, ...wish })));
  if (!query.ok) throw new Error(query.detail);
  const own = { persons: [{ subject: "alice" }], tokenIds: [] };
  const may = { mayExec: true, isAdmin: false, mayCreate: true };
  const expiresAtMs = Date.now() + 3_600_000;
  const spec: AttachSpec = {
    dialect: "stdio",
    subprotocol: "stdio.v1",
    refusal: "close",
    sandboxKey: "0123456789abcdef",
    session: "s",
    query: query.query,
    isTransient,
    who: { subject: "alice", name: "Alice", isGuest: false, ...may, ...own, own, expiresAtMs, origin: "" },
    actor: { tenant: "alice", user: "alice", address: "" },
    pass: { connection: crypto.randomUUID(), address: "unknown", homeKey: "home" },
  };
  return requestOf(spec);
}

type Told = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Attaches a client that notes what it is told. */
export async function attach(object: SessionObject, isTransient = false, wish?: Partial<AttachQuery>) {
  const { webSocket } = await object.fetch(upgrade(isTransient, wish));
  if (!webSocket) throw new Error("no upgrade");
  const told: Told[] = [];
  const waiting = new Map<string, (message: Told) => void>();
  webSocket.accept();
  webSocket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Told;
    told.push(message);
    waiting.get(message.type)?.(message);
  });
  const next = (type: string) =>
    new Promise<Told>((resolve) => {
      const come = told.find((message) => message.type === type);
      if (come === undefined) waiting.set(type, resolve);
      else resolve(come);
    });
  return { webSocket, next, told };
}
