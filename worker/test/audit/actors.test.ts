// Who is on record for what a client does.
import { env, runInDurableObject } from "cloudflare:test";
import { ServerConnection, STDIO } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import type { Actor } from "../../src/audit/record.ts";
import { SessionAudit } from "../../src/audit/session-audit.ts";
import { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";

const connection = () =>
  new ServerConnection(STDIO, { send: () => undefined, close: () => undefined, isWritable: () => true }, 0);
const from = (address: string): Actor => ({ tenant: "t", user: "alice", address });

test("a connection that was not attached after all acts for nobody: what its client does goes on under the one before", () =>
  runInDurableObject((env as unknown as Env).SESSION.getByName(crypto.randomUUID()), async (_object, { storage }) => {
    const trail = new AuditTrail(storage);
    const audit = new SessionAudit({
      trail,
      settings: { mode: "content", retentionMs: 1_000, allowsSecret: true },
      isTty: () => true,
      storing: () => undefined,
      stored: () => undefined,
      failed: (error) => {
        throw error;
      },
    });
    audit.admitted(connection(), "a", from("1.1.1.1"));
    audit.admitted(connection(), "a", from("2.2.2.2"))();
    audit.note({ type: "kill" }, "a");
    audit.admitted(connection(), "b", from("3.3.3.3"))();
    audit.note({ type: "kill" }, "b");
    await audit.flush();
    expect(trail.read(0, 10).records.map((record) => record.address)).toEqual(["1.1.1.1", undefined]);
  }));
