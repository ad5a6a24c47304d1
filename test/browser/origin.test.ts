// What other sites can do to a person who is logged in here, which is nothing, and what the page's policy forbids.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { system } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";

const browser = setUpBrowser();
let servers: Server[] = [];
afterEach(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  servers = [];
});

/** Somebody else's site: another port, hence another origin. @returns Its port. */
async function otherSite(body: string): Promise<number> {
  const server = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.setHeader("Connection", "close");
    response.end(`<!doctype html><title>Somebody else</title>${body}`);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The other site has no port");
  return address.port;
}

/** Opens a WebSocket from the page it runs in, and closes it after the first message. @returns That, and the close code. */
function attach(url: string): Promise<(string | number)[]> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, ["stdio.v1"]);
    const heard: string[] = [];
    socket.onmessage = ({ data }) => {
      heard.push(String(data));
      if (!String(data).includes('"bye"')) socket.close();
    };
    socket.onclose = ({ code }) => resolve([...heard.slice(0, 1), code]);
  });
}

/** A tab of somebody else's site in the browser of a person who is logged in here. */
async function lured(host: string, body = "") {
  const profile = await browser.member();
  const evil = await profile.newPage();
  const said: string[] = [];
  evil.on("console", (message) => said.push(message.text()));
  await evil.goto(`http://${host}:${await otherSite(body)}/`);
  return { profile, evil, said };
}

const attachUrl = (): string => new URL("/attach?sandbox=theirs", system.origin.replace("http", "ws")).href;

test("a page on another port, to which the browser sends the cookie, can't attach with it; our own can", async () => {
  const { evil, said } = await lured("localhost");
  expect(await evil.evaluate(attach, attachUrl())).toEqual([1006]);
  // 403 and not 401: the cookie was there, and the page that used it was the wrong one.
  expect(said).toEqual([
    `WebSocket connection to '${attachUrl()}' failed: Error during WebSocket handshake: Unexpected response code: 403`,
  ]);
  const { tab: ours } = await browser.sameShell();
  const [hello, code] = await ours.page.evaluate(attach, attachUrl());
  expect([JSON.parse(String(hello)).type, code]).toEqual(["hello", 1000]);
});

test("a page on another host, to which the browser does not send the cookie, is nobody", async () => {
  const { evil } = await lured("127.0.0.1");
  const bye = '{"type":"bye","code":4401,"reason":"Log in, or give a token","retry":"never"}';
  expect(await evil.evaluate(attach, attachUrl())).toEqual([bye, 4401]);
});

test("another site can't read who is logged in, log the person out, or show the page in a frame", async () => {
  const { profile, evil } = await lured("localhost", `<iframe src="${system.origin}/"></iframe>`);
  const read = (origin: string) =>
    fetch(`${origin}/api/me`, { credentials: "include" }).then(
      () => "read",
      () => "blocked",
    );
  expect(await evil.evaluate(read, system.origin)).toBe("blocked");
  const post = (origin: string) =>
    fetch(`${origin}/logout`, { method: "POST", mode: "no-cors", credentials: "include" }).then(({ type }) => type);
  expect(await evil.evaluate(post, system.origin)).toBe("opaque");
  expect(evil.frames().map((frame) => frame.url().split("/")[0])).toEqual(["http:", "chrome-error:"]);
  expect((await profile.request.get(`${system.origin}/api/me`)).status()).toBe(200);
});

test("the page's policy lets no script run but its own files, and nothing be fetched from elsewhere", async () => {
  const { tab } = await browser.sameShell();
  const blocked = await tab.page.evaluate(
    () =>
      new Promise((resolve) => {
        const directives: string[] = [];
        document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
          directives.push(effectiveDirective);
          if (directives.length === 5) resolve([directives.sort(), "ran" in window]);
        });
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        const image = document.createElement("img");
        image.setAttribute("onerror", "window.ran = true");
        image.src = "https://elsewhere.test/x.png";
        const foreign = document.createElement("script");
        foreign.src = "https://elsewhere.test/x.js";
        document.body.append(script, image, foreign);
        fetch("https://elsewhere.test/").catch(() => undefined);
      }),
  );
  const directives = ["connect-src", "img-src", "script-src-attr", "script-src-elem", "script-src-elem"];
  expect(blocked).toEqual([directives, false]);
  // They are what the page was made to say here, and all that it said.
  expect(tab.problems.filter((problem) => !problem.includes("Content Security Policy"))).toEqual([]);
  tab.problems.length = 0;
});

test("what is opened from the page learns nothing of its address", async () => {
  const { tab } = await browser.sameShell();
  const elsewhere = createServer((_request, response) => response.end("elsewhere"));
  onTestFinished(() => {
    elsewhere.close();
    elsewhere.closeAllConnections();
  });
  elsewhere.listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  const referrer = once(elsewhere, "request").then(([request]) => (request as IncomingMessage).headers.referer);
  // By the machine's usual names a link leads to the sandbox, and is not opened here.
  const { port } = elsewhere.address() as AddressInfo;
  await tab.run(String.raw`clear; printf '\e]8;;http://elsewhere.localhost:${port}/\e\\link\e]8;;\e\\\n'`);
  await tab.shows("link");
  const box = await tab.page.locator(".xterm-screen").boundingBox();
  if (box === null) throw new Error("Cannot find the screen");
  await tab.page.mouse.move(box.x + 12, box.y + 8, { steps: 4 });
  await tab.page.locator(".xterm-cursor-pointer").waitFor();
  await tab.page.mouse.click(box.x + 12, box.y + 8);
  await tab.page.getByRole("dialog").getByRole("button", { name: "Open" }).click();
  expect(await referrer).toBeUndefined();
});
