#!/usr/bin/env node
// Debian's Firefox, as Playwright launches it, with a proxy before its WebDriver BiDi: Playwright asks for colours and the like with
// commands that this Firefox does not have. They are answered here as done. Downloads get the name without which Playwright
// overlooks them. Everything else is passed on as it is.
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import WebSocket, { WebSocketServer } from "ws";

/** Commands that Firefox ESR has not; what they ask for matters to no test. */
const MISSING = new Set(["emulation.setMediaFeaturesOverride"]);
const DOWNLOADS = ["browsingContext.downloadWillBegin", "browsingContext.downloadEnd"];
const LISTENING = /^(.*WebDriver BiDi listening on )(ws:\/\/\S+)$/;

const [, , ...args] = process.argv;
const firefox = spawn(process.env.FIREFOX_PATH ?? "firefox-esr", args, { stdio: ["ignore", "inherit", "pipe"] });
firefox.on("exit", (code) => process.exit(code ?? 1));
process.on("SIGTERM", () => firefox.kill());

/** The page's downloads differ in the address of what is saved. */
function withName(text) {
  if (!DOWNLOADS.some((event) => text.includes(event))) return text;
  const message = JSON.parse(text);
  if (DOWNLOADS.includes(message.method)) message.params.download ??= message.params.url;
  return JSON.stringify(message);
}

/** @returns The address of a server that leads to `target`. */
async function proxyTo(target) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  server.on("connection", (near, { url }) => {
    const far = new WebSocket(target + url, { perMessageDeflate: false });
    const isOpen = once(far, "open");
    near.on("message", async (data) => {
      const { id, method } = JSON.parse(String(data));
      if (MISSING.has(method)) near.send(JSON.stringify({ type: "success", id, result: {} }));
      else {
        await isOpen;
        far.send(String(data));
      }
    });
    far.on("message", (data) => near.send(withName(String(data))));
    near.on("close", () => far.close());
    far.on("close", () => near.close());
    far.on("error", () => near.close());
  });
  await once(server, "listening");
  return `ws://127.0.0.1:${server.address().port}`;
}

let rest = "";
firefox.stderr.setEncoding("utf8");
firefox.stderr.on("data", async (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const [, words, address] = LISTENING.exec(line) ?? [];
    process.stderr.write(`${address === undefined ? line : words + (await proxyTo(address))}\n`);
  }
});
