// Cuts, reloads and ends, in a real browser against the real session core: nothing lost, nothing doubled, all of it said.

import { describe, expect, test } from "vitest";
import { type Fixture, MAIN, useBrowser, useOnePage } from "../fixture.ts";

const browser: Fixture = useBrowser();

describe("a reload", () => {
  test("brings the screen back as the same client, in the session whose name the page made up; no address has a credential", async () => {
    const page = await browser.attached("/?renderer=dom&token=secret&resume=client-9&offset=7");
    const { attaches, closes, offered } = browser.server;
    const name = new URL(page.page.url()).searchParams.get("session") ?? "";
    expect(name).toMatch(/^web-[a-z1-9]{8}$/);
    const process = browser.server.process(name);
    process.print("one\r\ntwo\r\n$ ");
    await page.shows("two");
    await page.page.reload();
    await page.shows("two");
    expect((await page.rows()).slice(0, 4)).toEqual(["one", "two", "$", ""]);
    await page.type("ls");
    await expect.poll(() => process.typed).toBe("ls");
    expect(attaches.map((query) => ["token", "resume", "offset"].map((each) => query.get(each)))).toEqual([
      [null, null, null],
      [null, "client-1", "0"],
    ]);
    expect(offered).toEqual(["stdio.v1", "stdio.v1"]);
    expect([...process.session.clients].map((client) => client.id)).toEqual(["client-1"]);
    // A page that is closed gives its place up as soon as that can be told from a reload.
    expect(closes).toEqual([4001]);
    await page.page.goto("about:blank");
    await expect.poll(() => process.session.presentCount).toBe(0);
    expect(closes).toEqual([4001, 4001]);
    await page.page.goBack();
    await page.state("attached");
    expect(attaches.at(-1)?.get("resume")).toBe("client-1");
  });

  test("whose session is gone starts over once, and says so", async () => {
    const page = await browser.attached();
    browser.server.processes.clear();
    await page.page.reload();
    await page.state("attached");
    expect(browser.server.attaches.map((query) => query.get("resume"))).toEqual([null, "client-1", null]);
    expect(await page.page.locator(".sbx-notices p").allTextContents()).toEqual([
      "The previous session is gone (process lost): started a new one",
    ]);
  });

  test("in a tab that was duplicated takes a target of its own, and the first keeps its", async () => {
    const page = await browser.attached();
    const popup = page.page.context().waitForEvent("page");
    await page.page.evaluate(() => window.open(location.href));
    const copy = browser.adopt(await popup);
    await copy.state("attached");
    expect(browser.server.attaches[1]?.get("resume")).toBe(null);
    await copy.page.reload();
    await copy.state("attached");
    expect(browser.server.attaches[2]?.get("resume")).toBe("client-2");
    expect(await page.data("state")).toBe("attached");
  });
});

describe("a cut of a page that goes on", () => {
  const one = useOnePage();

  test("is told in words, comes back by itself with nothing lost or doubled, and counts what is typed during it", async () => {
    const page = await one.blank();
    const { server } = one;
    const process = server.process("main");
    process.print("line 1\r\n");
    await page.shows("line 1");
    await page.type("ab");
    const cut = async () => {
      server.isReachable = false;
      server.cut();
      await page.state("waiting");
    };
    await cut();
    await page.says(/^Connection lost: retrying in \d+ s$/);
    for (let i = 2; i <= 20; i += 1) process.print(`line ${i}\r\n`);
    await page.type("é🚀x");
    await page.page.keyboard.press("ArrowUp");
    // What is typed soon after belongs to the same line (I4), but for its end.
    await page.page.keyboard.press("Enter");
    await page.waitForData("unsent-keys", 5);
    expect(await page.page.locator(".sbx-notices p").allTextContents()).toEqual([
      "5 keys typed while disconnected: not sent",
    ]);
    // The page says so for five seconds.
    const said = page.says("Resumed, nothing was lost");
    server.isReachable = true;
    await Promise.all([said, page.waitForData("resumes", 1)]);
    await page.shows("line 20");
    expect((await page.rows()).slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => `line ${i + 1}`));
    // The screen was cleared with two bytes, and "line 1" has eight.
    expect(server.attaches.at(-1)?.get("offset")).toBe("10");
    await page.type("cd");
    await expect.poll(() => process.typed).toBe("abcd");
    await page.waitForData("unsent-keys", 0);
    await page.says("Connected");
    // A notice that is dismissed gives the keyboard back to the terminal.
    await cut();
    await page.type("x");
    await page.page.keyboard.press("Enter");
    server.isReachable = true;
    await page.waitForData("resumes", 2);
    await page.button("Dismiss");
    await page.waitForData("unsent-keys", 0);
    await page.page.keyboard.type("y");
    await expect.poll(() => process.typed).toBe("abcdy");
  });

  test("in a window that gets small meanwhile keeps letters that can be read", async () => {
    const page = await one.blank();
    const size = () =>
      page.page.locator(".xterm-rows").evaluate((rows) => Number.parseFloat(getComputedStyle(rows).fontSize));
    one.server.isReachable = false;
    one.server.cut();
    await page.state("waiting");
    await page.page.setViewportSize({ width: 360, height: 500 });
    await page.waitForData("framed", "true");
    expect(await size()).toBeGreaterThan(10.5);
    one.server.isReachable = true;
    await page.waitForData("framed", "false");
    expect(await size()).toBe(14);
    await page.page.setViewportSize({ width: 900, height: 500 });
  });

  test("by a session that sleeps waits for a key, which wakes it and is typed; one by the device is over when it is online", async () => {
    const page = await one.blank();
    const process = one.server.process("main");
    for (const connection of process.connections) connection.bye(4408, "idle", "after");
    await page.state("asleep");
    await page.says("Asleep: press a key to wake it");
    await page.type("xyz");
    await page.state("attached");
    await expect.poll(() => process.typed).toBe("xyz");
    expect(await page.data("unsent-keys")).toBe("0");
    await page.page.context().setOffline(true);
    await page.state("waiting");
    await page.says("Offline: reconnects when the network is back");
    await page.page.context().setOffline(false);
    await page.state("attached");
    await page.type("back");
    await expect.poll(() => process.typed).toBe("xyzback");
  });

  test("after which the person does not want to wait ends at the press of a button", async () => {
    const page = await one.blank();
    // Each wait is then as long as it can be.
    await page.page.evaluate(() => {
      Math.random = () => 1;
    });
    one.server.isReachable = false;
    one.server.cut();
    // Until the wait is so long that it is not over before the button is pressed.
    await page.page
      .locator(".sbx-seconds")
      .filter({ hasText: /[5-9] s/ })
      .waitFor();
    one.server.isReachable = true;
    const before = one.server.attaches.length;
    await page.button("Retry now");
    await page.state("attached");
    expect(one.server.attaches.length).toBe(before + 1);
  });
});

describe("a cut", () => {
  test("of which the session's log remembers too little leaves a gap that is told, not drawn, as does a reload", async () => {
    browser.server.logBytes = 4096;
    const page = await browser.attached();
    const process = browser.server.process("main");
    process.print("before\r\n");
    await page.shows("before");
    browser.server.isReachable = false;
    browser.server.cut();
    await page.state("waiting");
    process.print(`${"x".repeat(5000)}\x1b[2J\x1b[Hafter\r\n`);
    // For five seconds.
    const said = page.says("Resumed, some output was lost");
    browser.server.isReachable = true;
    await Promise.all([said, page.shows("after")]);
    // 8 and 5,014 bytes were printed, 4,096 are held, 8 were drawn.
    await page.waitForData("missed-bytes", 918);
    expect((await page.rows()).filter((row) => row !== "")).toEqual(["after"]);
    process.print(`${"line\r\n".repeat(2000)}last\r\n`);
    await page.shows("last");
    await page.page.reload();
    await page.shows("last");
    await page.page.getByText(/^Older output is missing from the scrollback/).waitFor();
    expect([await page.data("missed-bytes"), browser.server.attaches.at(-1)?.get("offset")]).toEqual(["0", "0"]);
  });

  test.each([
    ["our page", "/?sandbox=dev&session=main&renderer=dom"],
    ["somebody else's page, which keeps no target over a reload", "/component.html"],
  ])(
    "by another connection in its target is final, until the person takes it back onto a clean screen: on %s",
    async (_name, path) => {
      const page = await browser.attached(path);
      const process = browser.server.process("main", "dev");
      process.print("once\r\n");
      await page.shows("once");
      for (const connection of process.connections) connection.bye(4409, "replaced by a newer connection", "never");
      await page.state("refused");
      await page.page.getByRole("alert").getByText("Replaced by a newer connection.").waitFor();
      await page.button("Retry now");
      await page.state("attached");
      await page.shows("once");
      expect((await page.rows()).filter((row) => row !== "")).toEqual(["once"]);
    },
  );
});

describe("the beginning and the end", () => {
  test("a container that starts is waited for, X8: one that stops is told of, and an exit shows its code after the last output", async () => {
    browser.server.isStarting = true;
    const page = await browser.open();
    await page.state("starting");
    await page.says("Starting the container…");
    browser.server.startContainer();
    await page.state("attached");
    const process = browser.server.process("main");
    for (const connection of process.connections) connection.send({ type: "stopping", seconds: 840 });
    await page.page.getByText("The sandbox stops in 14 min: what still runs then is ended").waitFor();
    process.print(
      "\x1b]633;P;Cwd=/srv\x07\x1b]133;A\x07$ \x1b]133;B\x07\x1b]633;E;exit 7\x07\x1b]133;C\x07\r\nbye\r\n",
    );
    await expect.poll(() => page.page.title()).toBe("exit 7 · main");
    const mark = page.page.locator(".sbx-command-mark");
    expect(await mark.getAttribute("data-state")).toBe("running");
    process.exit({ code: 7 });
    await page.state("exited");
    // The command that ran ended with the process.
    await expect.poll(() => mark.getAttribute("data-state")).toBe("bad");
    await expect.poll(() => page.page.title()).toBe("main");
    await page.says("Process exited with code 7");
    expect(await page.data("exit-code")).toBe("7");
    await page.shows("bye");
    await page.button("New session");
    await page.state("attached");
    const name = new URL(page.page.url()).searchParams.get("session");
    expect(name).toMatch(/^web-/);
    browser.server.process(name ?? "").print("fresh\r\n");
    await page.shows("fresh");
    expect((await page.rows()).filter((row) => row !== "")).toEqual(["fresh"]);
  });

  test("a death by signal names it, and a reload reads screen and end again", async () => {
    const page = await browser.attached();
    const process = browser.server.process("main");
    process.print("working\r\n");
    process.exit({ code: 137, signal: "SIGKILL" });
    await page.says("Process killed by SIGKILL (137)");
    await page.page.reload();
    await page.says("Process killed by SIGKILL (137)");
    await page.shows("working");
    expect([await page.data("exit-code"), await page.data("exit-signal")]).toEqual(["137", "SIGKILL"]);
  });

  test("a refusal says why and what to do", async () => {
    browser.server.refusal = { code: 4401, reason: "token expired", retry: "never" };
    const page = await browser.open();
    await page.state("refused");
    const card = page.page.getByRole("alert");
    expect(await card.locator("h2").textContent()).toBe("Not logged in");
    expect(await card.locator("p").textContent()).toBe("Token expired. Log in again to continue.");
    expect(await card.getByRole("button").first().textContent()).toBe("Log in");
    expect(browser.server.attaches.length).toBe(1);
  });
});

describe("the card over the terminal", () => {
  test("lies above every layer that WebGL draws in", async () => {
    browser.server.refusal = { code: 4404, reason: "no such session", retry: "never" };
    const page = await browser.open("/?sandbox=dev&session=nosuch&role=viewer&renderer=webgl");
    await page.state("refused");
    await page.waitForData("renderer", "webgl");
    await page.page.locator("canvas.xterm-link-layer").waitFor({ state: "attached" });
    const button = page.page.getByRole("alert").getByRole("button", { name: "New session" });
    const hit = await button.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const found = document.elementFromPoint(left + width / 2, top + height / 2);
      return found === element ? "the button" : `${found?.tagName}.${found?.className}`;
    });
    expect(hit).toBe("the button");
  });
});

describe("who may", () => {
  test("logging out leaves the session and the page, where a login is offered that comes back here", async () => {
    const page = await browser.attached(`${MAIN}&sandbox=dev`);
    expect(await page.page.locator(".sbx-user").textContent()).toBe("Ada Lovelace");
    await page.logOut();
    const link = page.page.getByRole("link", { name: "Log in" });
    await link.waitFor();
    expect(browser.server.user).toBe(undefined);
    await expect.poll(() => browser.server.process("main", "dev").session.presentCount).toBe(0);
    await page.page.reload();
    expect(await link.getAttribute("href")).toBe(
      `/login?return_to=${encodeURIComponent("/?session=main&renderer=dom&sandbox=dev")}`,
    );
    expect(browser.server.attaches).toHaveLength(1);
  });

  test("a link that wants something run asks first, and once only", async () => {
    const page = await browser.open(`/?session=main&renderer=dom&cmd=sh&arg=-c&arg=${encodeURIComponent("echo 'hi'")}`);
    expect(await page.page.locator("pre").textContent()).toBe("sh -c 'echo '\\''hi'\\'''");
    expect(browser.server.attaches).toEqual([]);
    await page.button("Run");
    await page.state("attached");
    await page.page.reload();
    await page.state("attached");
    expect(browser.server.attaches.map((query) => [query.get("cmd"), query.getAll("arg"), query.get("tty")])).toEqual([
      ["sh", ["-c", "echo 'hi'"], "1"],
      ["sh", ["-c", "echo 'hi'"], "1"],
    ]);
  });
});
