// Sharing a session: the ticket in a link, and the dialog that makes links.

import { DEFAULT_SHARE_SECONDS } from "sandbox-stdio/core";
import { describe, expect, test } from "vitest";
import { type AddressBar, keptTicket, takeTicket } from "../../src/app/page.ts";
import { readPageAddress } from "../../src/app/page-address.ts";
import { MAIN, useBrowser } from "../fixture.ts";

/** More than in a usual link of the Worker, which has 285. */
const LONG_TICKET = 330;

const browser = useBrowser();

/** An address bar, and what it says afterwards. */
function bar(address: string): AddressBar & { readonly shown: string } {
  const stored = new Map<string, string>();
  let url = new URL(address, "https://sbx.example");
  return {
    get location() {
      return url;
    },
    history: {
      replaceState: (_state, _title, next) => {
        url = new URL(String(next), url);
      },
    },
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
    },
    get shown() {
      return url.pathname + url.search + url.hash;
    },
  };
}

describe("the ticket in a link", () => {
  test("is taken out of the address and kept for that session", () => {
    const page = bar("/?sandbox=dev&session=main&role=viewer#ticket=s.abc-_9");
    expect(takeTicket(page)).toBe("s.abc-_9");
    expect(page.shown).toBe("/?sandbox=dev&session=main&role=viewer");
    expect(keptTicket("?session=main&sandbox=dev", page.storage)).toBe("s.abc-_9");
    expect(keptTicket("?session=other&sandbox=dev", page.storage)).toBeUndefined();
    expect(takeTicket(page)).toBeUndefined();
  });

  test("may stand alone in the fragment; what is no ticket to share stays there", () => {
    expect(takeTicket(bar("/?session=main#s.abc"))).toBe("s.abc");
    const attach = bar("/?session=main#ticket=a.abc");
    expect([takeTicket(attach), attach.shown]).toEqual([undefined, "/?session=main#ticket=a.abc"]);
  });

  test("credentials that stand in the query are taken out too, and not used", () => {
    const page = bar("/?session=main&token=t&ticket=s.x&resume=r&renderer=dom#there");
    expect([takeTicket(page), page.shown]).toEqual([undefined, "/?session=main&renderer=dom#there"]);
  });

  test("is what the attach shows, with the role of the link and nothing that would describe a process", () => {
    const search = "?sandbox=dev&session=main&role=viewer&cmd=rm&arg=x&cwd=/&mode=exclusive&name=Ann";
    const { attachUrl, actions } = readPageAddress(search, () => "", "s.abc");
    expect(attachUrl).toBe("/attach?sandbox=dev&role=viewer&name=Ann&ticket=s.abc");
    expect(actions).toEqual([]);
  });
});

describe("a shared link", () => {
  const link = `${MAIN}&role=viewer#ticket=s.one`;

  test("opens the session for a guest, whose address bar and history hold no ticket, and again after a reload", async () => {
    browser.server.user = undefined;
    const page = await browser.attached(link);
    expect(page.page.url()).toBe(`${browser.server.url}${MAIN}&role=viewer`);
    expect(await page.page.locator(".sbx-user").textContent()).toBe("Guest");
    expect(await page.page.getByRole("button", { name: "Share" }).count()).toBe(0);
    await page.page.reload();
    await page.state("attached");
    expect(browser.server.attaches.map((query) => [query.has("ticket"), query.get("role")])).toEqual([
      [false, "viewer"],
      [false, "viewer"],
    ]);
    expect(browser.server.offered).toEqual(["stdio.v1, ticket.s.one", "stdio.v1, ticket.s.one"]);
    expect(await page.page.evaluate(() => performance.getEntriesByType("navigation").map(({ name }) => name))).toEqual([
      page.page.url(),
    ]);
  });

  test("that asks for a login offers one, and comes back with the ticket", async () => {
    browser.server.user = undefined;
    browser.server.refusal = { code: 4401, reason: "Log in, or give a token", retry: "never" };
    const page = await browser.open(link);
    await page.state("refused");
    expect(await page.page.getByRole("alert").locator("p").textContent()).toBe("This link requires a login.");
    await page.page.route("**/login?*", (route) =>
      route.fulfill({
        status: 302,
        headers: { Location: new URL(route.request().url()).searchParams.get("return_to") ?? "" },
      }),
    );
    browser.server.user = "Bob";
    browser.server.refusal = undefined;
    await page.page.getByRole("alert").getByRole("button", { name: "Log in" }).click();
    await page.state("attached");
    expect(await page.page.locator(".sbx-user").textContent()).toBe("Bob");
    expect(browser.server.offered).toEqual(["stdio.v1, ticket.s.one", "stdio.v1, ticket.s.one"]);
  });

  test("put into a tab that has the session open already is taken up too", async () => {
    const page = await browser.attached(`${MAIN}&role=viewer`);
    await page.page.goto(browser.server.url + link);
    await expect.poll(() => browser.server.offered.at(-1)).toBe("stdio.v1, ticket.s.one");
    await page.state("attached");
    expect(page.page.url()).toBe(`${browser.server.url}${MAIN}&role=viewer`);
  });

  test("that was revoked says so, and offers neither a login nor a session of its own", async () => {
    browser.server.refusal = { code: 4401, reason: "The ticket was revoked, or its session is gone", retry: "never" };
    const page = await browser.open(link);
    await page.state("refused");
    const card = page.page.getByRole("alert");
    expect(await card.locator("h2").textContent()).toBe("This link is no longer valid");
    expect(await card.getByRole("button").count()).toBe(0);
  });
});

describe("the dialog", () => {
  test("makes a link with role, lifetime and guests, copies, lists and revokes it, says why it can't, or is not there", async () => {
    const page = await browser.attached();
    await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.button("Share");
    const dialog = page.page.getByRole("dialog", { name: "Share main" });
    // As the command line's and the API's, unless somebody chooses.
    expect(await dialog.getByLabel("For how long").inputValue()).toBe(String(DEFAULT_SHARE_SECONDS));
    await dialog.getByLabel("What they may do").selectOption("type");
    await dialog.getByLabel("Who may use the link").selectOption("with the link");
    await dialog.getByLabel("For how long").selectOption("15 minutes");
    await dialog.getByRole("button", { name: "Copy link" }).click();
    const field = dialog.getByLabel(/^Link, valid/);
    const url = `${browser.server.url}/?sandbox=default&session=main&role=driver#ticket=s.ticket-1`;
    expect(await field.inputValue()).toBe(url);
    await dialog.getByRole("button", { name: "Copy link" }).click();
    await dialog.getByText("Copied").waitFor();
    const clipboard = () => page.page.evaluate(() => navigator.clipboard.readText());
    expect(await clipboard()).toBe(url);
    await page.page.evaluate(() => navigator.clipboard.writeText("something else"));
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await expect.poll(clipboard).toBe(url);
    await dialog
      .getByText("works on this computer only. For others, serve with a certificate: sbx-stdio serve --bind")
      .waitFor();
    const { role, guests, expiresAt } = browser.server.tickets.get("1") ?? { expiresAt: "" };
    expect([role, guests]).toEqual(["driver", true]);
    expect(browser.server.tickets.size).toBe(1);
    const seconds = (Date.parse(expiresAt) - Date.now()) / 1000;
    expect(seconds > 840 && seconds <= 900, `${seconds} s`).toBe(true);
    await expect.poll(() => dialog.locator("tbody tr").count()).toBe(1);
    await dialog.getByRole("button", { name: /^Revoke/ }).click();
    await dialog.locator("tbody tr").waitFor({ state: "detached" });
    expect(browser.server.tickets.size).toBe(0);
    expect(await field.count()).toBe(0);
    browser.server.scopes = ["sandbox:connect"];
    await dialog.getByRole("button", { name: "Copy link" }).click();
    await dialog.getByText("needs the scope sandbox:exec").waitFor();
    // The browser's own word for it.
    const refused = "Failed to load resource: the server responded with a status of 403 (Forbidden)";
    await expect.poll(() => page.problems).toEqual([refused]);
    page.problems.length = 0;
    await page.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.page.reload();
    await page.state("attached");
    expect(await page.page.getByRole("button", { name: "Share" }).count()).toBe(0);
  });

  test("has a code that a camera can read, whose modules are whole dots, on any screen", async () => {
    browser.server.ticketTail = "x".repeat(LONG_TICKET);
    const page = await browser.attached();
    const devTools = await page.page.context().newCDPSession(page.page);
    const dialog = page.page.getByRole("dialog", { name: "Share main" });
    const code = page.page.getByRole("button", { name: "The link as a QR code" });
    const look = () =>
      code.locator("svg").evaluate((svg: SVGSVGElement) => {
        const { left, right, width } = svg.getBoundingClientRect();
        const dialog = svg.closest("dialog")?.firstElementChild ?? svg;
        const style = getComputedStyle(dialog);
        return {
          module: width / svg.viewBox.baseVal.width,
          modules: svg.viewBox.baseVal.width,
          room: dialog.clientWidth - Number.parseFloat(style.paddingLeft) * 2,
          isWithin: left >= 0 && right <= dialog.getBoundingClientRect().right,
          shape: getComputedStyle(svg).shapeRendering,
        };
      });
    /** The browser's lengths are whole 64ths of a pixel. */
    const fraction = (of: number) => Math.abs(of - Math.round(of));
    for (const [width, dots] of [
      [900, 1],
      [900, 1.5],
      [360, 3],
      [320, 2],
    ] as const) {
      const on = `${width} px wide at ${dots} dots a pixel`;
      const screen = { width, height: 740, deviceScaleFactor: dots, mobile: width < 400 };
      await devTools.send("Emulation.setDeviceMetricsOverride", screen);
      await devTools.send("Emulation.setTouchEmulationEnabled", { enabled: screen.mobile });
      await page.page.reload();
      await page.state("attached");
      expect(await page.page.evaluate(() => [innerWidth, devicePixelRatio]), on).toEqual([width, dots]);
      await page.button("Share");
      await dialog.getByRole("button", { name: "Copy link" }).click();
      const small = await look();
      expect(small, on).toMatchObject({ isWithin: true, shape: "crispedges" });
      expect(small.modules, on).toBeGreaterThan(60);
      expect(small.module, on).toBeGreaterThanOrEqual(4);
      expect(fraction(small.module * dots), on).toBeLessThan(0.01);
      await code.click();
      const large = await look();
      expect(large.isWithin, on).toBe(true);
      expect(fraction(large.module * dots), on).toBeLessThan(0.01);
      // One dot more a module would be beyond the dialog.
      expect((large.module + 1 / dots) * large.modules, on).toBeGreaterThan(large.room);
      await code.click();
      expect(await look(), on).toEqual(small);
    }
  });
});
