// Pages with other products' clients, as their packages and documents have them: written into a document that comes from the
// system's own address, with the packages' files put in the way of the browser.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { BrowserContext } from "playwright-core";
import { system } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import type { Tab } from "./tab.ts";

const FOLDER = "/other-clients/";

/** Files of the packages, as they are published, by the names that the pages import them by. */
const FILES: ReadonlyMap<string, readonly [file: string, contentType: string]> = new Map([
  ["@xterm/xterm", ["@xterm/xterm/lib/xterm.mjs", "text/javascript"]],
  ["@cloudflare/sandbox/xterm", ["@cloudflare/sandbox/xterm", "text/javascript"]],
  ["xterm.css", ["@xterm/xterm/css/xterm.css", "text/css"]],
]);

const page = (script: string): string => `<!doctype html>
<title>Somebody's page</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${FOLDER}xterm.css">
<div id="term"></div>
<script type="importmap">${JSON.stringify({
  imports: Object.fromEntries([...FILES.keys()].map((name) => [name, `${FOLDER}${name}`])),
})}</script>
<script type="module">
${script}
</script>
`;

/** As its documentation has it, for whoever used `sandbox.terminal()`. */
const ADDON = `
import { Terminal } from "@xterm/xterm";
import { SandboxAddon } from "@cloudflare/sandbox/xterm";

const states = [];
const asked = new URLSearchParams(location.search);
const terminal = new Terminal({ cols: 80, rows: 24 });
const addon = new SandboxAddon({
  getWebSocketUrl: ({ sandboxId, sessionId, origin }) => {
    const params = new URLSearchParams({ id: sandboxId });
    if (sessionId) params.set("session", sessionId);
    return \`\${origin}/ws/terminal?\${params}\`;
  },
  onStateChange: (state, error) => states.push(error === undefined ? state : \`\${state}: \${error.message}\`),
});
terminal.loadAddon(addon);
terminal.open(document.getElementById("term"));
addon.connect({ sandboxId: asked.get("sandbox"), sessionId: asked.get("session") ?? undefined });
window.sbx = { terminal, states };
`;

/** The browser example of PandaStack's page on terminals, to the letter. */
const PTY_EXAMPLE = `
import { Terminal } from "@xterm/xterm";
const ws = new WebSocket(
\`wss://api.pandastack.ai/v1/sandboxes/\${id}/exec/pty?rows=40&cols=120\`,
["pds-pty", \`bearer.\${token}\`], // subprotocol-based auth for browsers
);
ws.binaryType = "arraybuffer";
const term = new Terminal({ rows: 40, cols: 120 });
term.open(document.getElementById("term")!);
ws.onmessage = (ev) => {
if (typeof ev.data === "string") {
const msg = JSON.parse(ev.data);
if (msg.type === "exit") term.write(\`\\r\\n[process exited \${msg.code}]\\r\\n\`);
} else {
term.write(new Uint8Array(ev.data));
}
};
term.onData((data) => ws.send(new TextEncoder().encode(data)));
term.onResize(({ rows, cols }) => ws.send(JSON.stringify({ type: "resize", rows, cols })));
`;

/** The terminal of a page at the project's first protocol, which offers no subprotocol and knows three messages. */
const PLAIN = `
import { Terminal } from "@xterm/xterm";

const term = new Terminal({ cols: 80, rows: 24 });
term.open(document.getElementById("term"));
const ws = new WebSocket(url);
ws.binaryType = "arraybuffer";
ws.onopen = () => ws.send(JSON.stringify({ type: "resize", cols: term.cols, rows: term.rows }));
ws.onmessage = (ev) => {
  if (typeof ev.data === "string") {
    const msg = JSON.parse(ev.data);
    if (msg.type === "exit") term.write(\`[exit \${msg.code}]\`);
    return;
  }
  const payload = new Uint8Array(ev.data).subarray(1);
  term.write(new TextDecoder().decode(payload));
};
term.onData((data) => ws.send(new TextEncoder().encode(data)));
window.sbx = { terminal: term };
`;

/** Only where it finds its service is not to the letter, and TypeScript's "!", which browsers do not read. */
function ptyExample(sandbox: string, token: string): string {
  const snippet = PTY_EXAMPLE.replace("wss://api.pandastack.ai", system.origin.replace(/^http/, "ws"));
  const given = `const [id, token] = ${JSON.stringify([sandbox, token])};`;
  return `${given}\n${snippet.replace(")!);", "));")}\nwindow.sbx = { terminal: term };`;
}

/** A tab with SandboxAddon in it, which connects to a sandbox with the profile's cookie. */
export function openAddon(browser: Fixture, profile: BrowserContext, sandbox: string): Promise<Tab> {
  return open(browser, profile, `/healthz?sandbox=${sandbox}`, ADDON);
}

/** A tab with PandaStack's example in it. */
export function openPtyExample(
  browser: Fixture,
  profile: BrowserContext,
  sandbox: string,
  token: string,
): Promise<Tab> {
  return open(browser, profile, "/healthz", ptyExample(sandbox, token));
}

/** A tab with a plain client in it: stock xterm.js, and a WebSocket with the token in its address. It decodes each frame by itself. */
export function openPlain(browser: Fixture, profile: BrowserContext, sandbox: string, token: string): Promise<Tab> {
  const query = new URLSearchParams({ sandbox, session: "main", token });
  const url = `${system.origin.replace(/^http/, "ws")}/attach?${query}`;
  return open(browser, profile, "/healthz", `const url = ${JSON.stringify(url)};\n${PLAIN}`);
}

/** A document that did not come from the loopback itself may not connect to it: so one that did is written over. */
async function open(browser: Fixture, profile: BrowserContext, path: string, script: string): Promise<Tab> {
  await profile.route(
    (url) => url.pathname.startsWith(FOLDER),
    async (route) => {
      const name = new URL(route.request().url()).pathname.slice(FOLDER.length);
      const [source, contentType] = FILES.get(name) ?? ["", ""];
      await route.fulfill({ contentType, body: await readFile(fileURLToPath(import.meta.resolve(source)), "utf8") });
    },
  );
  const tab = await browser.open(profile, path);
  await tab.page.setContent(page(script));
  return tab;
}
