// What reaches the process, byte by byte: what a person typed, and nothing else. In a real browser.

import { describe, expect, test } from "vitest";
import { pasteInto } from "../browser.ts";
import { MAIN, useBrowser, useOnePage } from "../fixture.ts";

const browser = useBrowser();

/** Every sequence that a terminal may answer, by name. */
const QUERIES: Readonly<Record<string, string>> = {
  DA1: "\x1b[c",
  DA2: "\x1b[>c",
  DA3: "\x1b[=c",
  "DSR status": "\x1b[5n",
  "DSR cursor": "\x1b[6n",
  "DSR cursor, private": "\x1b[?6n",
  "DECRQM, ANSI": "\x1b[4$p",
  "DECRQM, private": "\x1b[?2004$p",
  XTVERSION: "\x1b[>q",
  "Kitty keyboard": "\x1b[?u",
  DECREQTPARM: "\x1b[x",
  "XTWINOPS size": "\x1b[18t",
  "XTWINOPS title": "\x1b[21t",
  DECRQSS: "\x1bP$qm\x1b\\",
  XTGETTCAP: "\x1bP+q544e\x1b\\",
  "OSC 4": "\x1b]4;1;?\x1b\\",
  "OSC 4, set and ask": "\x1b]4;2;rgb:12/34/56;2;?\x07",
  "OSC 10": "\x1b]10;?\x1b\\",
  "OSC 11": "\x1b]11;?\x07",
  "OSC 12": "\x1b]12;?\x07",
  "OSC 52": "\x1b]52;c;?\x07",
  ENQ: "\x05",
  "focus report": "\x1b[?1004h",
};

describe("terminal queries", () => {
  test("a log full of them, replayed, types nothing into the process", async () => {
    const process = browser.server.process("main");
    for (const query of Object.values(QUERIES)) process.print(query);
    process.print("\x1b[?1004l\r\nready\r\n");
    const page = await browser.attached();
    await page.shows("ready");
    await page.page.reload();
    await page.shows("ready");
    // What is typed now comes after anything that the replay could have sent.
    await page.type("!");
    await expect.poll(() => process.typed).toBe("!");
  });

  test("asked live they are answered once, by one page of two", async () => {
    const first = await browser.attached();
    const second = await browser.attached();
    const process = browser.server.process("main");
    process.print(
      `${QUERIES["DSR status"]}${QUERIES["OSC 11"]}${QUERIES["DECRQM, private"]}${QUERIES.DECRQSS}done\r\n`,
    );
    await first.shows("done");
    await second.shows("done");
    const answers = "\x1b[0n\x1b]11;rgb:1717/1818/1c1c\x1b\\\x1b[?2004;2$y\x1bP1$r0m\x1b\\";
    await expect.poll(() => process.typed).toBe(answers);
    await second.type("x");
    await expect.poll(() => process.typed).toBe(`${answers}x`);
  });

  test("one that began in the replay and ends live is answered; one that ended with it is not", async () => {
    const process = browser.server.process("main");
    process.print("\x1b[5n\x1b[5");
    const page = await browser.attached();
    process.print("nlive\r\n");
    await page.shows("live");
    await page.type("!");
    await expect.poll(() => process.typed).toBe("\x1b[0n!");
  });
});

describe("on one page", () => {
  const one = useOnePage(MAIN, { width: 1200, height: 500 });

  test("a paste of 300,000 characters arrives whole, in brackets where the program asked for them", async () => {
    const page = await one.blank();
    const process = one.server.process("main");
    process.print("\x1b[?2004hready\r\n");
    await page.shows("ready");
    const text = Array.from({ length: 30_000 }, (_, i) => `line-${String(i).padStart(5, "0")}`.slice(1)).join("");
    await pasteInto(page, text);
    await expect.poll(() => process.typedBytes.length).toBe(text.length + 12);
    expect(process.typed).toBe(`\x1b[200~${text}\x1b[201~`);
  });

  test("what came while the connection was down is replay too, and so is a snapshot, which has a clean screen", async () => {
    const page = await one.blank();
    const process = one.server.process("main");
    one.server.isReachable = false;
    one.server.cut();
    await page.state("waiting");
    process.print("\x1b[5nmissed\r\n");
    one.server.isReachable = true;
    await page.shows("missed");
    process.print("\x1b[6nlive\r\n\x1b]0;torn");
    await page.shows("live");
    await page.type("!");
    await expect.poll(() => process.typed).toBe("\x1b[2;1R!");
    const snapshot = new TextEncoder().encode("\x03\x1b[5n\x1b[?1004hnew\r\n");
    for (const connection of process.connections) connection.sendOutput(snapshot, 0);
    await page.shows("new");
    process.print("\x1b[5nlater\r\n");
    await page.shows("later");
    await expect.poll(() => process.typed).toBe("\x1b[2;1R!\x1b[0n");
    expect((await page.rows()).filter((row) => row !== "")).toEqual(["new", "later"]);
    // The program has the focus reported from then on.
    await page.page.locator(".xterm-helper-textarea").blur();
    await expect.poll(() => process.typed).toBe("\x1b[2;1R!\x1b[0n\x1b[O");
  });

  test("keys, control keys and characters of any script arrive as UTF-8, the mouse in its oldest encoding as bytes", async () => {
    const page = await one.blank();
    await page.type("é日🚀");
    for (const key of ["Enter", "Tab", "Escape", "ArrowUp", "Control+c", "Control+w", "Backspace"])
      await page.page.keyboard.press(key);
    const process = one.server.process("main");
    const keys = "é日🚀\r\t\x1b\x1b[A\x03\x17\x7f";
    await expect.poll(() => process.typed).toBe(keys);
    process.print("\x1b[?9hready\r\n");
    await page.shows("ready");
    const box = await page.page.locator(".xterm-screen").boundingBox();
    if (box === null) throw new Error("Cannot find the screen");
    const cols = Number(await page.data("cols"));
    await page.page.mouse.click(box.x + (box.width / cols) * 119.5, box.y + 8);
    const click = [0x1b, 0x5b, 0x4d, 32, 32 + 120, 32 + 1];
    await expect.poll(() => [...process.typedBytes.subarray(Buffer.byteLength(keys))]).toEqual(click);
    // Where it moves while the connection is down is no key that was not sent.
    process.print("\x1b[?1003h\x1b[?1006hmoves\r\n");
    await page.shows("moves");
    one.server.isReachable = false;
    one.server.cut();
    await page.state("waiting");
    await page.page.mouse.move(box.x + 50, box.y + 50, { steps: 5 });
    await page.type("k");
    await page.waitForData("unsent-keys", 1);
  });
});

test("a process on pipes is shown in the whole window, line by line, and Enter ends a line for it", async () => {
  const page = await browser.open("/?session=pipes&renderer=dom&cmd=cat&tty=0");
  await page.button("Run");
  await page.state("attached");
  const process = browser.server.process("pipes");
  process.print("one\ntwo\n");
  await page.shows("two");
  expect((await page.rows()).slice(0, 3)).toEqual(["one", "two", ""]);
  await page.type("three");
  await page.page.keyboard.press("Enter");
  await expect.poll(() => process.typed).toBe("three\n");
  const cols = Number(await page.data("cols"));
  expect(cols).toBe(Number(browser.server.attaches[0]?.get("cols")));
  await page.page.setViewportSize({ width: 1200, height: 500 });
  await page.page.waitForFunction((before) => {
    const { dataset } = document.querySelector<HTMLElement>(".sbx-terminal") ?? {};
    return Number(dataset?.cols) > before && dataset?.framed === "false";
  }, cols);
});

describe("the renderer", () => {
  // With WebGL in software.
  const flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
  const drawn = useBrowser(...flags);

  test("is the DOM where the processor would draw WebGL, which no graphics card does here", async () => {
    const page = await drawn.attached("/?session=main");
    drawn.server.process("main").print("rows\r\n");
    await page.shows("rows");
    expect(await page.data("renderer")).toBe("dom");
  });

  test("is WebGL where the address asks for it, and the DOM after its context is lost", async () => {
    const page = await drawn.attached("/?session=main&renderer=webgl");
    await page.waitForData("renderer", "webgl");
    const size = `${await page.data("cols")}x${await page.data("rows")}`;
    expect(drawn.server.process("main").sizes).toEqual([size]);
    drawn.server.process("main").print("drawn twice\r\n");
    const canvases = await page.page.locator(".xterm-screen canvas").evaluateAll((found) =>
      found.map((canvas) => {
        const context = canvas instanceof HTMLCanvasElement ? canvas.getContext("webgl2") : null;
        context?.getExtension("WEBGL_lose_context")?.loseContext();
        return context !== null;
      }),
    );
    expect(canvases).toContain(true);
    await page.waitForData("renderer", "dom");
    await page.shows("drawn twice");
  });

  test("in a page that nobody sees takes output as it comes, though the browser holds back its timers", async () => {
    const page = await drawn.attached();
    await page.page.evaluate(() => {
      Object.defineProperty(document, "hidden", { get: () => true });
      const { setTimeout } = window;
      // As if the next second never came: what waits for such a timer waits for ever.
      const late = (callback: () => void, ms = 0) => (ms === 0 ? 0 : setTimeout(callback, ms));
      Object.assign(window, { setTimeout: late });
    });
    const process = drawn.server.process("main");
    const lines = new TextEncoder().encode(`${"x".repeat(98)}\r\n`.repeat(200));
    for (let left = 100; left > 0; ) {
      for (; left > 0 && !process.session.shouldHold; left -= 1) process.print(lines);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => [...process.session.clients].map((client) => client.acked)).toEqual([2_000_000]);
  });
});

describe("the component on somebody's page", () => {
  test("brings its token beside the subprotocol, renews it, tells the exit, leaves, and changes nothing of the page", async () => {
    const page = await browser.attached("/component.html");
    const styles = await page.page.evaluate(() => {
      const [body, root] = [document.body, document.getElementById("root") ?? document.body].map((one) =>
        getComputedStyle(one),
      );
      return [body?.margin, body?.backgroundColor, root?.backgroundColor, root?.height];
    });
    expect(styles).toEqual(["8px", "rgba(0, 0, 0, 0)", "rgba(0, 0, 0, 0)", expect.stringMatching(/^4\d\dpx$/)]);
    const { server } = browser;
    const process = server.process("main", "dev");
    expect(server.offered).toEqual(["stdio.v1, bearer.first.token-1"]);
    expect(server.attaches.map((query) => query.get("token"))).toEqual([null]);
    await page.button("Renew");
    await expect.poll(() => server.tokens).toEqual(["second.token-2"]);
    expect([process.session.presentCount, server.attaches.length]).toEqual([1, 1]);
    await page.button("Close");
    await expect.poll(() => process.session.presentCount).toBe(0);
    const other = await browser.attached("/component.html");
    process.exit({ code: 3 });
    await other.page.locator("output").filter({ hasText: "exit 3" }).waitFor();
  });
});

test("I11: secret input is asked for before what is typed in secret and ended after it; a viewer has none", async () => {
  const page = await browser.attached();
  const sent: string[] = [];
  page.page.on("websocket", (socket) => {
    socket.on("framesent", ({ payload }) => {
      const text = payload.toString();
      if (/^x$|secret/.test(text)) sent.push(text);
    });
  });
  await page.page.reload();
  await page.state("attached");
  const toggle = page.page.locator(".sbx-secret");
  expect([await toggle.textContent(), await toggle.getAttribute("aria-pressed")]).toEqual(["Secret input", "false"]);
  await toggle.click();
  expect([await toggle.textContent(), await toggle.getAttribute("aria-pressed")]).toEqual(["Secret input on", "true"]);
  // The focus is the terminal's again.
  await page.page.keyboard.type("x");
  await expect.poll(() => browser.server.process("main").typed).toBe("x");
  await toggle.click();
  await expect.poll(() => sent).toEqual(['{"type":"secret","on":true}', "x", '{"type":"secret","on":false}']);
  const viewer = await browser.attached(`${MAIN}&role=viewer`);
  expect(await viewer.page.locator(".sbx-secret").count()).toBe(0);
});

test("I11: secret input shows what the server says of it: that it goes on after a reload, that it is not to be had", async () => {
  const page = await browser.attached();
  const toggle = page.page.locator(".sbx-secret");
  const [connection] = browser.server.process("main").connections;
  connection?.send({ type: "secret", on: true });
  await expect.poll(() => toggle.getAttribute("aria-pressed")).toBe("true");
  const message = "secret input is switched off here: it is recorded like all other";
  connection?.send({ type: "error", code: "not_allowed", message });
  connection?.send({ type: "secret", on: false });
  await page.page.getByText(`Refused: ${message}`).waitFor();
  await expect.poll(() => toggle.getAttribute("aria-pressed")).toBe("false");
});
