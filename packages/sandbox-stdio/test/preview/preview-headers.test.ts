// What passes between a browser and a server in the sandbox.

import fc from "fast-check";
import { expect, test } from "vitest";
import { cookiesToBrowser, headersToBrowser, headersToServer } from "../../src/index.ts";

const ENDS = { origin: "https://x.preview.example", port: 5173, cookie: "__Host-sbx_preview" };

test("whatever a browser sends, nothing of ours or of one hop passes", () => {
  const name = fc.constantFrom(
    ...["Cookie", "Host", "Connection", "Upgrade", "Transfer-Encoding", "TE", "X-Stdio-Ticket", "X-Preview-Cookie"],
    ...["CF-Connecting-IP", "X-Forwarded-For", "Sec-WebSocket-Key", "X-Own", "Origin", "Referer"],
    "Proxy-Authorization",
  );
  const value = fc.constantFrom(
    ...["__Host-sbx_preview=v.secret", "a=1; __Host-sbx_preview=v.secret;b=2", " __Host-sbx_preview = v.secret"],
    "x-own",
    ...["close, X-Own", "https://sbx.example/?ticket=secret", "websocket", "1.2.3.4"],
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 8 }), (headers) => {
      const passed = headersToServer(headers, ENDS);
      const names = passed.map(([one]) => one);
      expect(names.filter((one) => !["cookie", "x-own", "origin", "referer"].includes(one))).toEqual([]);
      const cookies = passed.filter(([one]) => one === "cookie").map(([, text]) => text);
      expect(cookies.join().includes("secret")).toBe(cookies.some((text) => text.includes("ticket=secret")));
      expect(passed.filter(([one]) => one === "referer")).toEqual([]);
    }),
  );
});

test("a server is led to itself by its own name, and nowhere else", () => {
  const leads = (to: string) => headersToBrowser([["Location", to]], ENDS)[0]?.[1];
  expect(leads("http://localhost:5173/a?b#c")).toBe("https://x.preview.example/a?b#c");
  expect(leads("http://127.0.0.1:5173")).toBe("https://x.preview.example");
  const others = ["http://localhost:5174/", "http://localhost:5173.evil.example/", "https://elsewhere.example/"];
  for (const to of ["/a", ...others]) expect(leads(to)).toBe(to);
});

test("a cookie passes that is for the server's own origin, and is not ours", () => {
  const given = [
    "a=1",
    "b=2; Domain=preview.example",
    "c=3; DOMAIN",
    "__Host-sbx_preview=v.x; Path=/",
    "__host-SBX_preview=",
    "=d",
    // A browser sends these without the first equals sign: under our name.
    "=__Host-sbx_preview=v.x",
    " = __Host-sbx_preview=v.x; Path=/",
    "__Host-sbx_preview",
  ];
  expect(cookiesToBrowser(given, ENDS)).toEqual(["a=1", "=d"]);
});
