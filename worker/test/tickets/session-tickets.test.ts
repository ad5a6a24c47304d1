// The tickets of a session, in the storage of a real object: which of them count, and the reason why one does not.
import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Grant } from "../../src/attach/grant.ts";
import type { NewShareTicket } from "../../src/attach/session-calls.ts";
import type { Env } from "../../src/env.ts";
import { MAX_SHARE_TICKETS, SessionTickets } from "../../src/tickets/session-tickets.ts";

const NOW = 1_000_000;
const HOUR = 3_600_000;
const real = env as unknown as Env;

const withStorage = (run: (storage: DurableObjectStorage) => void): Promise<void> =>
  runInDurableObject(real.TENANT.getByName(crypto.randomUUID()), (_made, state) => run(state.storage));
const share = (id: string, differs: Partial<NewShareTicket> = {}): NewShareTicket => ({
  ...{ id, role: "viewer", guests: false, maxClients: 3, maker: "alice", expiresAtMs: NOW + HOUR, recording: false },
  ...differs,
});
const byShare = (id: string): Grant => ({ share: { id } }) as Grant;
const byAttachTicket = (id: string): Grant => ({ attachTicket: { id, expiresAtMs: NOW + HOUR } }) as Grant;

test("a share ticket opens the process that it was made for until its end, also in an object made anew", () =>
  withStorage((storage) => {
    expect(new SessionTickets(storage).look(byShare("a"), "first", NOW)).toBe("revoked");
    expect(new SessionTickets(storage).add(share("a"), "first", NOW)).toBe(true);
    const tickets = new SessionTickets(storage);
    expect(tickets.share("a", "first", NOW + HOUR - 1)).toEqual({ id: "a", maxClients: 3 });
    expect(tickets.share("a", undefined, NOW)).toBeUndefined();
    const seen = (incarnation: string | undefined, nowMs = NOW) => tickets.look(byShare("a"), incarnation, nowMs);
    expect([seen("first"), seen("second"), seen(undefined)]).toEqual(["good", "replaced", "removed"]);
    expect(seen("first", NOW + HOUR)).toBe("revoked");
    expect(tickets.look(byShare("b"), "first", NOW)).toBe("revoked");
  }));

test("a list holds what still counts for the process, oldest first, and says which give the recording", () =>
  withStorage((storage) => {
    const tickets = new SessionTickets(storage);
    expect(tickets.list("first", NOW)).toEqual([]);
    tickets.add(share("b", { recording: true, guests: true }), "first", NOW + 1);
    tickets.add(share("a", { expiresAtMs: NOW + 2 * HOUR }), "first", NOW);
    const listed = tickets.list("first", NOW + HOUR - 1);
    expect(listed.map(({ id, guests, recording }) => [id, guests, recording])).toEqual([
      ["a", false, undefined],
      ["b", true, true],
    ]);
    expect(listed[0]).toMatchObject({ createdAt: "1970-01-01T00:16:40.000Z", expiresAt: "1970-01-01T02:16:40.000Z" });
    expect(tickets.list("first", NOW + HOUR).map(({ id }) => id)).toEqual(["a"]);
    expect(tickets.list("second", NOW)).toEqual([]);
  }));

test("there is room for so many that count, and for one more when one is revoked", () =>
  withStorage((storage) => {
    const tickets = new SessionTickets(storage);
    const added = (id: string) => tickets.add(share(id), "first", NOW);
    const all = Array.from({ length: MAX_SHARE_TICKETS }, (_, i) => added(`${i}`));
    expect(all).not.toContain(false);
    expect([added("one more"), tickets.revoke("7"), tickets.revoke("7"), added("one more")]).toEqual([
      ...[false, true, false, true],
    ]);
    expect(tickets.look(byShare("7"), "first", NOW)).toBe("revoked");
  }));

test("a session that is forgotten leaves neither its tickets nor their right to the recording", () =>
  withStorage((storage) => {
    const tickets = new SessionTickets(storage);
    tickets.clear();
    tickets.add(share("a", { recording: true }), "first", NOW);
    tickets.add(share("b", { recording: true }), "first", NOW);
    tickets.revoke("b");
    expect([tickets.givesRecording("a"), tickets.givesRecording("b")]).toEqual([true, false]);
    tickets.clear();
    expect([tickets.list("first", NOW), tickets.givesRecording("a")]).toEqual([[], false]);
  }));

test("an attach ticket counts once, and its use is remembered for a minute past its end", () =>
  withStorage((storage) => {
    const tickets = new SessionTickets(storage);
    expect(tickets.look(byAttachTicket("a"), undefined, NOW)).toBe("good");
    expect([tickets.use(byAttachTicket("a"), NOW), tickets.use(byAttachTicket("a"), NOW)]).toEqual([true, false]);
    expect(tickets.look(byAttachTicket("a"), undefined, NOW)).toBe("used");
    expect(tickets.look(byAttachTicket("b"), undefined, NOW)).toBe("good");
    expect([tickets.use({} as Grant, NOW), tickets.use({} as Grant, NOW)]).toEqual([true, true]);
    const end = NOW + HOUR + 60_000;
    tickets.use(byAttachTicket("b"), end - 1);
    expect(tickets.look(byAttachTicket("a"), undefined, end)).toBe("used");
    tickets.use(byAttachTicket("c"), end);
    expect(tickets.look(byAttachTicket("a"), undefined, end)).toBe("good");
  }));
