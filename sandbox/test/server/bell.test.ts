// H20a over a real bridge: it announces its calls to session objects once a test call was answered, and not before.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SECRET, testBridge } from "../support/bridge.ts";
import { Hop } from "../support/clients.ts";

/** A server that records calls. */
function answering() {
  const asked: string[] = [];
  const answer = { status: 404 };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      asked.push(`${request.headers.get("authorization")} ${await request.text()}`);
      return new Response(null, answer);
    },
  });
  onTestFinished(() => server.stop(true));
  return { asked, answer, url: server.url.href };
}

test("H20a: a bridge whose calls nobody answers says of none, and says so once they are answered", async () => {
  const { asked, answer, url: bell } = answering();
  const { url } = testBridge({ STDIO_BELL_URL: bell });
  const open = (session: string) => Hop.open(url, SECRET, { session, cmd: "cat" });
  const early = await open("early");
  expect(early.messages.find(({ type }) => type === "hello")?.calls).toBeUndefined();
  expect(early.messages.some(({ type }) => type === "calls")).toBe(false);
  answer.status = 204;
  await early.until(() => early.messages.some(({ type }) => type === "calls"));
  const late = await open("late");
  expect(late.messages.find(({ type }) => type === "hello")?.calls).toBe(true);
  // A stranger who listens there learns nothing that opens the bridge.
  const shown = createHash("sha256").update(`bell ${SECRET}`).digest("hex");
  expect(new Set(asked)).toEqual(new Set([`Bearer ${shown} {}`]));
  for (const hop of [early, late]) hop.close();
});

test("the call goes to its address also where the environment names a proxy, which would get the secret", async () => {
  const { asked, url: proxy } = answering();
  const script = `
    import { BellLine } from "./src/session/bell.ts";
    const own = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(null, { status: 204 }) });
    const line = new BellLine({ url: "http://127.0.0.1:" + own.port + "/bell", token: "t" }, () => undefined);
    console.log(await line.call({ session: "s", incarnation: "i" }));
    process.exit();
  `;
  const env = { ...process.env, HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: "", no_proxy: "" };
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: join(import.meta.dirname, "../.."),
    env,
    stdout: "pipe",
  });
  expect([await new Response(child.stdout).text(), asked]).toEqual(["204\n", []]);
});
