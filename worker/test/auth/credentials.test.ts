// Where the token is found, in which order, and what is refused on the way.
import { describe, expect, test } from "vitest";
import { findCredential, findTicket, offeredProtocols } from "../../src/auth/credentials.ts";
import { faultOf, ORIGIN } from "./realm.ts";

const COOKIE = "__Host-sbx_session";

function find(headers: Record<string, string>, query = "") {
  return findCredential(new Request(`${ORIGIN}/attach${query}`, { headers }), COOKIE);
}

describe("places", () => {
  test("a request without a token has none", () => {
    expect(find({ Cookie: "other=1; sbx_session=2", "Sec-WebSocket-Protocol": "stdio.v1" }, "?sandbox=a")).toBe(
      undefined,
    );
    expect(find({ Cookie: `${COOKIE}=` }, "?token=")).toBe(undefined);
  });

  test("each place is found, and named", () => {
    expect(find({ Authorization: "Bearer a.b-_c" })).toEqual({ source: "authorization", value: "a.b-_c" });
    expect(find({ Authorization: "bearer   abc=" })).toEqual({ source: "authorization", value: "abc=" });
    expect(find({ "Sec-WebSocket-Protocol": "stdio.v1, bearer.a.b.c" })).toEqual({
      source: "subprotocol",
      value: "a.b.c",
    });
    expect(find({ "Sec-WebSocket-Protocol": "bearer.a.b.c,tty" })).toEqual({ source: "subprotocol", value: "a.b.c" });
    expect(find({ Cookie: `x=1;  ${COOKIE}=ab+/c== ; y=2` })).toEqual({ source: "cookie", value: "ab+/c==" });
    expect(find({}, "?token=a.b.c")).toEqual({ source: "query", value: "a.b.c" });
    expect(find({}, "?access_token=a.b.c")).toEqual({ source: "query", value: "a.b.c" });
  });

  test("the header comes before the subprotocol, that before the cookie, that before the query", () => {
    const query = "?token=query";
    const cookie = { Cookie: `${COOKIE}=cookie` };
    const protocol = { "Sec-WebSocket-Protocol": "stdio.v1, bearer.protocol" };
    const header = { Authorization: "Bearer header" };
    expect(find({ ...cookie, ...protocol, ...header }, query)?.value).toBe("header");
    expect(find({ ...cookie, ...protocol }, query)?.value).toBe("protocol");
    expect(find({ ...cookie }, query)?.value).toBe("cookie");
    expect(find({}, query)?.value).toBe("query");
  });

  test("another scheme's Authorization is not for us", () => {
    expect(find({ Authorization: "Basic YTpi" }, "?token=t")).toEqual({ source: "query", value: "t" });
    expect(find({ Authorization: "Bearerx" })).toBe(undefined);
  });

  test("of two cookies of the name, the first counts", () => {
    expect(find({ Cookie: `${COOKIE}=one; ${COOKIE}=two` })?.value).toBe("one");
  });
});

describe("refusals", () => {
  test.each(["Bearer", "Bearer ", "Bearer a b", "Bearer a, Bearer b", 'Bearer "a"'])(
    "%j can't be read, and the query does not stand in",
    async (value) => {
      expect(await faultOf(() => find({ Authorization: value }, "?token=t"))).toBe("malformed");
    },
  );

  test("bearer.TOKEN alone is refused with 400, also beside a good header", async () => {
    const act = () => find({ "Sec-WebSocket-Protocol": "bearer.a.b.c", Authorization: "Bearer a" });
    expect(await faultOf(act)).toBe("bad_subprotocol");
    expect(act).toThrow(expect.objectContaining({ status: 400 }));
  });

  test("two tokens as subprotocols are refused", async () => {
    expect(await faultOf(() => find({ "Sec-WebSocket-Protocol": "stdio.v1, bearer.a, bearer.b" }))).toBe(
      "bad_subprotocol",
    );
  });
});

test("the subprotocols to select from never hold the token", () => {
  const headers = { "Sec-WebSocket-Protocol": " stdio.v1 ,bearer.a.b.c,, tty" };
  expect(offeredProtocols(new Request(ORIGIN, { headers }))).toEqual(["stdio.v1", "tty"]);
  expect(offeredProtocols(new Request(ORIGIN))).toEqual([]);
});

describe("a ticket (T1)", () => {
  const PROTOCOL = "Sec-WebSocket-Protocol";
  const ticketOf = (headers: Record<string, string>, query = "") =>
    findTicket(new Request(`${ORIGIN}/attach${query}`, { headers }));

  test("is found in the header, in the subprotocols and in the query, and nowhere else", () => {
    expect(ticketOf({ "X-Stdio-Ticket": "s.one" })).toBe("s.one");
    expect(ticketOf({ [PROTOCOL]: "ticket.s.a-_b, stdio.v1, bearer.t" })).toBe("s.a-_b");
    expect(ticketOf({}, "?ticket=s.three")).toBe("s.three");
    expect(ticketOf({}, "?ticket=")).toBe("");
    expect(ticketOf({ Authorization: "Bearer s.t", Cookie: "ticket=s.c", [PROTOCOL]: "stdio.v1" })).toBe(undefined);
  });

  test.each([
    ["header and query", { "X-Stdio-Ticket": "s.one" }, "?ticket=s.one"],
    ["header and subprotocol", { "X-Stdio-Ticket": "s.one", [PROTOCOL]: "stdio.v1, ticket.s.one" }, ""],
    ["subprotocol and query", { [PROTOCOL]: "stdio.v1, ticket.s.one" }, "?ticket=s.two"],
    ["query twice", {}, "?ticket=s.one&ticket=s.two"],
  ] as [string, Record<string, string>, string][])("by %s is refused, as two tokens are", async (_, headers, query) => {
    expect(await faultOf(() => ticketOf(headers, query))).toBe("malformed");
  });

  test.each(["ticket.s.one", "ticket.s.one, bearer.t", "stdio.v1, ticket.s.one, ticket.s.two"])(
    "%j is refused with 400: nothing to select, or two of them",
    async (offer) => {
      const act = () => ticketOf({ [PROTOCOL]: offer });
      expect(await faultOf(act)).toBe("bad_subprotocol");
      expect(act).toThrow(expect.objectContaining({ status: 400 }));
    },
  );

  test("is never among the subprotocols to select from, so no answer repeats it", () => {
    const headers = { [PROTOCOL]: "ticket.s.one, stdio.v1, bearer.t" };
    expect(offeredProtocols(new Request(ORIGIN, { headers }))).toEqual(["stdio.v1"]);
  });
});
