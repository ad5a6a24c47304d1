// Tickets as texts: what they open, and that nothing but what was sealed here opens anything.
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { completeQuery } from "../../src/attach/attach-right.ts";
import { sealText } from "../../src/auth/sealed-text.ts";
import {
  type AttachTicket,
  openTicket,
  type Role,
  type ShareTicket,
  sealTicket,
  type Ticket,
  ticketId,
} from "../../src/auth/ticket.ts";
import { AuthFault } from "../../src/refusal/fault.ts";
import { advanceClock, restoreClock } from "./clock.ts";
import { faultOf } from "./realm.ts";

const SECRET = "a secret of these tests, longer than 32 characters";
const TENANT = { issuer: "https://id.org.ai", tenantClaim: "sub", tenantValue: "alice" } as const;

function shareTicket(fields: Partial<ShareTicket> = {}): ShareTicket {
  const base = { tenant: TENANT, sandbox: "dev", session: "build", role: "driver", maker: "alice" } as const;
  return { kind: "share", id: ticketId(), ...base, expiresAtMs: Date.now() + 60_000, admitsGuests: false, ...fields };
}

function attachTicket(): AttachTicket {
  const { admitsGuests: _, ...base } = shareTicket();
  const maker = { makerName: "Alice", isAdmin: false, tokenExpiresAtMs: base.expiresAtMs, origin: "" };
  return { ...base, ...maker, kind: "attach" };
}

afterEach(restoreClock);

describe("a ticket", () => {
  test.each<Ticket>([attachTicket(), shareTicket()])("opens as what was sealed: $kind", async (ticket) => {
    const text = await sealTicket(ticket, SECRET);
    expect(text).toMatch(ticket.kind === "attach" ? /^a\.[\w-]+$/ : /^s\.[\w-]+$/);
    expect(await openTicket(text, SECRET)).toEqual(ticket);
  });

  test("to share is short enough for a QR code on a phone, and older links open as well", async () => {
    const ticket = shareTicket({ makerToken: crypto.randomUUID(), makerIssuedAt: 1_796_000_000 });
    expect((await sealTicket(ticket, SECRET)).length).toBeLessThan(285);
    expect(await openTicket(await sealText("s", ticket, SECRET), SECRET)).toEqual(ticket);
    expect(await openTicket(await sealTicket(ticket, SECRET), SECRET)).toEqual(ticket);
  });

  test("does not tell its holder whose it is", async () => {
    const text = await sealTicket(shareTicket({ maker: "alice-in-wonderland" }), SECRET);
    expect(atob(text.slice(2).replaceAll("-", "+").replaceAll("_", "/"))).not.toContain("alice");
  });

  test("ends at its time, to the millisecond", async () => {
    advanceClock(0);
    const text = await sealTicket(shareTicket(), SECRET);
    advanceClock(59_999);
    expect((await openTicket(text, SECRET)).kind).toBe("share");
    advanceClock(1);
    expect(await faultOf(() => openTicket(text, SECRET))).toBe("ticket_expired");
  });

  test("is none with another secret", async () => {
    const text = await sealTicket(shareTicket(), SECRET);
    expect(await faultOf(() => openTicket(text, `${SECRET}.`))).toBe("bad_ticket");
  });

  test("is none as the other kind: to share is not to attach", async () => {
    const share = await sealTicket(shareTicket(), SECRET);
    const attach = await sealTicket(attachTicket(), SECRET);
    expect(await faultOf(() => openTicket(`a${share.slice(1)}`, SECRET))).toBe("bad_ticket");
    expect(await faultOf(() => openTicket(`s${attach.slice(1)}`, SECRET))).toBe("bad_ticket");
  });

  test("is none with any one character changed, added or taken away", async () => {
    const text = await sealTicket(shareTicket(), SECRET);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(text.length - 1),
        fc.constantFrom(..."ABCabc019-_.=+/ %\0é"),
        fc.constantFrom("change", "add", "take"),
        async (at, character, how) => {
          const rest = text.slice(how === "add" ? at : at + 1);
          const changed = text.slice(0, at) + (how === "take" ? "" : character) + rest;
          if (changed === text) return;
          expect(await faultOf(() => openTicket(changed, SECRET))).toBe("bad_ticket");
        },
      ),
      { numRuns: 500 },
    );
  });

  test("is none if it is anything at all but a ticket", async () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.base64String().map((text) => `s.${text}`),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        expect(await faultOf(() => openTicket(text, SECRET))).toBe("bad_ticket");
      }),
      { numRuns: 500 },
    );
    expect(await faultOf(() => openTicket(`s.${"A".repeat(100_000)}`, SECRET))).toBe("bad_ticket");
  });
});

describe("what a ticket opens", () => {
  const names = fc.constantFrom("dev", "build", "Dev", "dev2", "main", "default", "");
  const roles = fc.constantFrom("driver", "viewer", "admin", "");
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

  test("its own session in its own role or less, and nothing else, whatever the query says", () => {
    const asked = fc.record({ sandbox: maybe(names), session: maybe(names), role: maybe(roles) });
    const granted = fc.constantFrom<Role>("driver", "viewer");
    fc.assert(
      fc.property(asked, granted, (query, role) => {
        const params = new URLSearchParams();
        for (const [name, value] of Object.entries(query)) if (value !== undefined) params.append(name, value);
        const only = { tenant: TENANT, sandbox: "dev", session: "build", role };
        const isMeant =
          (query.sandbox ?? "dev") === "dev" &&
          (query.session ?? "build") === "build" &&
          (role === "driver" || (query.role ?? "viewer") === "viewer");
        let completed: URLSearchParams | undefined;
        try {
          completed = completeQuery(params, only, "wrong_ticket");
        } catch (error) {
          expect(error instanceof AuthFault && error.code).toBe("wrong_ticket");
        }
        expect(completed !== undefined).toBe(isMeant);
        if (completed === undefined) return;
        expect([completed.get("sandbox"), completed.get("session")]).toEqual(["dev", "build"]);
        expect(completed.get("role")).toBe(query.role ?? role);
      }),
      { numRuns: 1000 },
    );
  });

  test("the first of two values counts, as for whoever reads the query later", () => {
    const only = { tenant: TENANT, sandbox: "dev", session: "build", role: "viewer" } as const;
    const params = new URLSearchParams("session=build&session=other&role=viewer&role=driver");
    const completed = completeQuery(params, only, "wrong_ticket");
    expect([completed.get("session"), completed.get("role")]).toEqual(["build", "viewer"]);
  });
});

test("an id is never the same, and a word that no command line takes for an option", () => {
  const ids = Array.from({ length: 1_000 }, () => ticketId());
  expect(new Set(ids).size).toBe(1_000);
  expect(ids.filter((id) => !/^[0-9a-f]{32}$/.test(id))).toEqual([]);
});
